// Package cdr turns the structs of package msgs into ROS 2's serialized form and back: OMG CDR (XCDR
// version 1), plain, after a 4-byte encapsulation header. A struct's fields are written in order;
// bool, integers, floats, strings, slices, arrays and structs of these are supported.
//
// The package keeps no state but what it learned of the types, and may be used from any goroutine.
package cdr

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
)

const headerSize = 4 // the encapsulation header; alignment counts from after it

// Append serializes the struct that msg points to, little endian, and appends it to buf. Its alignment
// counts from its own start, so that it does not matter what buf holds already.
func Append(buf []byte, msg any) ([]byte, error) {
	v := reflect.ValueOf(msg)
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Kind() != reflect.Struct {
		return nil, fmt.Errorf("cdr: %T is not a pointer to a struct", msg)
	}
	e := encoder{buf: append(buf, 0, 1, 0, 0), start: len(buf) + headerSize}
	if err := e.value(v.Elem()); err != nil {
		return nil, fmt.Errorf("cdr: %T: %w", msg, err)
	}
	return e.buf, nil
}

type encoder struct {
	buf   []byte
	start int
}

var zeros [8]byte

func (e *encoder) align(n int) {
	if over := (len(e.buf) - e.start) & (n - 1); over != 0 {
		e.buf = append(e.buf, zeros[:n-over]...)
	}
}

func (e *encoder) u32(x uint32) {
	e.align(4)
	e.buf = binary.LittleEndian.AppendUint32(e.buf, x)
}

func (e *encoder) count(n int) error {
	if uint64(n) > math.MaxUint32-1 {
		return errors.New("longer than 32 bits can count")
	}
	e.u32(uint32(n))
	return nil
}

func (e *encoder) value(v reflect.Value) error {
	switch v.Kind() {
	case reflect.Bool:
		b := byte(0)
		if v.Bool() {
			b = 1
		}
		e.buf = append(e.buf, b)
	case reflect.Int8:
		e.buf = append(e.buf, byte(v.Int()))
	case reflect.Uint8:
		e.buf = append(e.buf, byte(v.Uint()))
	case reflect.Int16:
		e.align(2)
		e.buf = binary.LittleEndian.AppendUint16(e.buf, uint16(v.Int()))
	case reflect.Uint16:
		e.align(2)
		e.buf = binary.LittleEndian.AppendUint16(e.buf, uint16(v.Uint()))
	case reflect.Int32:
		e.u32(uint32(v.Int()))
	case reflect.Uint32:
		e.u32(uint32(v.Uint()))
	case reflect.Float32:
		e.u32(math.Float32bits(float32(v.Float())))
	case reflect.Int64:
		e.align(8)
		e.buf = binary.LittleEndian.AppendUint64(e.buf, uint64(v.Int()))
	case reflect.Uint64:
		e.align(8)
		e.buf = binary.LittleEndian.AppendUint64(e.buf, v.Uint())
	case reflect.Float64:
		e.align(8)
		e.buf = binary.LittleEndian.AppendUint64(e.buf, math.Float64bits(v.Float()))
	case reflect.String:
		return e.string(v.String())
	case reflect.Slice:
		if err := e.count(v.Len()); err != nil {
			return err
		}
		return e.elements(v)
	case reflect.Array:
		return e.elements(v)
	case reflect.Struct:
		for i := range v.NumField() {
			if err := e.value(v.Field(i)); err != nil {
				return fmt.Errorf("%s: %w", v.Type().Field(i).Name, err)
			}
		}
	default:
		return fmt.Errorf("a %s has no CDR form", v.Type())
	}
	return nil
}

func (e *encoder) elements(v reflect.Value) error {
	for i := range v.Len() {
		if err := e.value(v.Index(i)); err != nil {
			return fmt.Errorf("[%d]: %w", i, err)
		}
	}
	return nil
}

func (e *encoder) string(s string) error {
	// A NUL inside would end the string early at C and C++ readers: better refused here than cut there.
	if strings.IndexByte(s, 0) >= 0 {
		return errors.New("the string contains a NUL")
	}
	if err := e.count(len(s) + 1); err != nil {
		return err
	}
	e.buf = append(e.buf, s...)
	e.buf = append(e.buf, 0)
	return nil
}
