// Package msgstest makes messages for tests.
package msgstest

import (
	"fmt"
	"reflect"

	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/msgs"
)

// Filled returns a pointer to a new message of m's type in which every field has a value that depends on
// the seed and is not zero; slices have one to three elements.
func Filled(m msgs.Message, seed uint64) msgs.Message {
	v := reflect.New(reflect.TypeOf(m))
	Fill(v.Interface(), seed)
	return v.Interface().(msgs.Message)
}

// Fill does the same to the struct that ptr points to.
func Fill(ptr any, seed uint64) {
	r := source(seed)
	r.fill(reflect.ValueOf(ptr).Elem())
}

// source is splitmix64. Golden files rest on its numbers, so they must never change.
type source uint64

func (s *source) next() uint64 {
	*s += 0x9e3779b97f4a7c15
	z := uint64(*s)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

func (s *source) fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(-1 - int64(s.next()>>(65-v.Type().Bits())))
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(1 + s.next()>>(65-v.Type().Bits()))
	case reflect.Float32, reflect.Float64:
		v.SetFloat(float64(int16(s.next())) + 0.125)
	case reflect.String:
		n := s.next()
		v.SetString(fmt.Sprintf("text %0*d é", 1+n%7, n>>32%1000))
	case reflect.Slice:
		n := int(1 + s.next()%3)
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		fallthrough
	case reflect.Array:
		for i := range v.Len() {
			s.fill(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			s.fill(v.Field(i))
		}
	default:
		panic(fmt.Sprintf("msgstest: a %s can't be filled", v.Type()))
	}
}
