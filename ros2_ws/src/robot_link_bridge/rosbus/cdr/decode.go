package cdr

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"reflect"
)

// ErrMalformed is wrapped by every error that the bytes, not the types, are to blame for.
var ErrMalformed = errors.New("malformed CDR")

// Decode fills the struct that msg points to. The bytes may be hostile: whatever they say, no more
// memory is taken than their own length justifies. On an error msg is half filled. Bytes after the last
// field are ignored: RTPS pads, and a message type may have grown at its end.
func Decode(data []byte, msg any) error {
	v := reflect.ValueOf(msg)
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Kind() != reflect.Struct {
		return fmt.Errorf("cdr: %T is not a pointer to a struct", msg)
	}
	if len(data) < headerSize {
		return fmt.Errorf("cdr: %T: %w: %d bytes", msg, ErrMalformed, len(data))
	}
	d := decoder{data: data[headerSize:]}
	switch [2]byte(data) {
	case [2]byte{0, 0}:
		d.order = binary.BigEndian
	case [2]byte{0, 1}:
		d.order = binary.LittleEndian
	default:
		return fmt.Errorf("cdr: %T: %w: encapsulation %#x is not plain CDR", msg, ErrMalformed, data[:2])
	}
	if err := d.value(v.Elem()); err != nil {
		return fmt.Errorf("cdr: %T: %w", msg, err)
	}
	return nil
}

type decoder struct {
	data  []byte // after the encapsulation header
	pos   int
	order binary.ByteOrder
}

// take returns the next n bytes, aligned to align.
func (d *decoder) take(n, align int) ([]byte, error) {
	at := (d.pos + align - 1) &^ (align - 1)
	if at > len(d.data) || n > len(d.data)-at {
		return nil, fmt.Errorf("%w: ends at byte %d", ErrMalformed, len(d.data))
	}
	d.pos = at + n
	return d.data[at:d.pos], nil
}

func (d *decoder) u32() (uint32, error) {
	b, err := d.take(4, 4)
	if err != nil {
		return 0, err
	}
	return d.order.Uint32(b), nil
}

func (d *decoder) value(v reflect.Value) error {
	switch k := v.Kind(); k {
	case reflect.Bool, reflect.Int8, reflect.Uint8:
		b, err := d.take(1, 1)
		if err != nil {
			return err
		}
		switch k {
		case reflect.Bool:
			v.SetBool(b[0] != 0)
		case reflect.Int8:
			v.SetInt(int64(int8(b[0])))
		default:
			v.SetUint(uint64(b[0]))
		}
	case reflect.Int16, reflect.Uint16:
		b, err := d.take(2, 2)
		if err != nil {
			return err
		}
		if x := d.order.Uint16(b); k == reflect.Int16 {
			v.SetInt(int64(int16(x)))
		} else {
			v.SetUint(uint64(x))
		}
	case reflect.Int32, reflect.Uint32, reflect.Float32:
		x, err := d.u32()
		if err != nil {
			return err
		}
		switch k {
		case reflect.Int32:
			v.SetInt(int64(int32(x)))
		case reflect.Uint32:
			v.SetUint(uint64(x))
		default:
			v.SetFloat(float64(math.Float32frombits(x)))
		}
	case reflect.Int64, reflect.Uint64, reflect.Float64:
		b, err := d.take(8, 8)
		if err != nil {
			return err
		}
		switch x := d.order.Uint64(b); k {
		case reflect.Int64:
			v.SetInt(int64(x))
		case reflect.Uint64:
			v.SetUint(x)
		default:
			v.SetFloat(math.Float64frombits(x))
		}
	case reflect.String:
		s, err := d.string()
		if err != nil {
			return err
		}
		v.SetString(s)
	case reflect.Slice:
		return d.slice(v)
	case reflect.Array:
		return d.elements(v)
	case reflect.Struct:
		for i := range v.NumField() {
			if err := d.value(v.Field(i)); err != nil {
				return fmt.Errorf("%s: %w", v.Type().Field(i).Name, err)
			}
		}
	default:
		return fmt.Errorf("a %s has no CDR form", v.Type())
	}
	return nil
}

func (d *decoder) elements(v reflect.Value) error {
	for i := range v.Len() {
		if err := d.value(v.Index(i)); err != nil {
			return fmt.Errorf("[%d]: %w", i, err)
		}
	}
	return nil
}

// slice believes a length only if the bytes that are left could hold that many of the smallest elements,
// which bounds the memory by a small multiple of the length of the data.
func (d *decoder) slice(v reflect.Value) error {
	n, err := d.u32()
	if err != nil {
		return err
	}
	size := minSize(v.Type().Elem())
	if uint64(n)*uint64(size) > uint64(len(d.data)-d.pos) {
		return fmt.Errorf("%w: %d elements in %d bytes", ErrMalformed, n, len(d.data)-d.pos)
	}
	if n == 0 {
		v.SetZero()
		return nil
	}
	v.Set(reflect.MakeSlice(v.Type(), int(n), int(n)))
	return d.elements(v)
}

// minSize is the least number of bytes that a value of this type takes, padding left out.
func minSize(t reflect.Type) int {
	switch t.Kind() {
	case reflect.String:
		return 4 // a length; an empty one is not right, but is sent by some
	case reflect.Slice:
		return 4
	case reflect.Array:
		return t.Len() * minSize(t.Elem())
	case reflect.Struct:
		sum := 0
		for i := range t.NumField() {
			sum += minSize(t.Field(i).Type)
		}
		return sum
	default:
		return max(1, int(t.Size()))
	}
}

func (d *decoder) string() (string, error) {
	n, err := d.u32()
	if err != nil || n == 0 {
		return "", err
	}
	if uint64(n) > uint64(len(d.data)-d.pos) {
		return "", fmt.Errorf("%w: a string of %d bytes in %d", ErrMalformed, n, len(d.data)-d.pos)
	}
	b, err := d.take(int(n), 1)
	if err != nil {
		return "", err
	}
	if bytes.IndexByte(b, 0) != int(n)-1 {
		return "", fmt.Errorf("%w: a string does not end with its only NUL", ErrMalformed)
	}
	return string(b[:n-1]), nil
}
