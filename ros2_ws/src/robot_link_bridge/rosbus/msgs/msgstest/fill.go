// Package msgstest makes messages for tests.
package msgstest

import (
	"fmt"
	"math/rand/v2"
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
	fill(reflect.ValueOf(ptr).Elem(), rand.New(rand.NewPCG(seed, 1)))
}

func fill(v reflect.Value, r *rand.Rand) {
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(-1 - r.Int64N(1<<(v.Type().Bits()-1)-1))
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(1 + r.Uint64N(1<<(v.Type().Bits()-1)))
	case reflect.Float32, reflect.Float64:
		v.SetFloat(float64(float32(r.NormFloat64()*1000) + 0.25))
	case reflect.String:
		v.SetString(fmt.Sprintf("text %0*d é", 1+r.IntN(7), r.IntN(1000)))
	case reflect.Slice:
		n := 1 + r.IntN(3)
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		fallthrough
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i), r)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), r)
		}
	default:
		panic(fmt.Sprintf("msgstest: a %s can't be filled", v.Type()))
	}
}
