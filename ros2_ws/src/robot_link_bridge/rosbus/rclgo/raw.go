//go:build ros

package rclgo

// #include <rmw/rmw.h>
// #include <stdlib.h>
// #include <string.h>
//
// // Both return an rmw_ret_t.
// static int raw_serialize(const void *message, const void *type, rmw_serialized_message_t *out) {
//   *out = rmw_get_zero_initialized_serialized_message();
//   const rcutils_allocator_t allocator = rcutils_get_default_allocator();
//   const rmw_ret_t code = rmw_serialized_message_init(out, 0, &allocator);
//   return (code != RMW_RET_OK) ? code : rmw_serialize(message, type, out);
// }
//
// static void raw_free(rmw_serialized_message_t *serialized) {
//   if (rmw_serialized_message_fini(serialized) != RMW_RET_OK) abort(); // only without an allocator
// }
//
// static int raw_deserialize(const uint8_t *cdr, size_t size, const void *type, void *message) {
//   rmw_serialized_message_t in = rmw_get_zero_initialized_serialized_message();
//   const rcutils_allocator_t allocator = rcutils_get_default_allocator();
//   rmw_ret_t code = rmw_serialized_message_init(&in, size, &allocator);
//   if (code != RMW_RET_OK) return code;
//   memcpy(in.buffer, cdr, size);
//   in.buffer_length = size;
//   code = rmw_deserialize(&in, type, message);
//   raw_free(&in);
//   return code;
// }
import "C"

import (
	"unsafe"

	"github.com/tiiuae/rclgo/pkg/rclgo/types"
)

// rclgo's services know only messages of its bindings. These type supports let a request or a response pass as
// its bytes: the C struct of the binding is filled from them and read into them.

// raw is a serialized message that passes for one of rclgo's. Nil is one that could not be (de)serialized.
type raw struct {
	cdr     []byte
	support rawSupport
}

func (r *raw) CloneMsg() types.Message                  { return &raw{append([]byte(nil), r.cdr...), r.support} }
func (r *raw) SetDefaults()                             { r.cdr = nil }
func (r *raw) GetTypeSupport() types.MessageTypeSupport { return r.support }

// rawSupport is a binding's type support, for raw messages.
type rawSupport struct{ types.MessageTypeSupport }

func (s rawSupport) New() types.Message { return &raw{support: s} }

func (s rawSupport) AsCStruct(dst unsafe.Pointer, src types.Message) {
	cdr := src.(*raw).cdr
	if len(cdr) == 0 {
		return // the defaults, as the binding has made them
	}
	// A message of our own codec always fits its own type.
	_ = C.raw_deserialize((*C.uint8_t)(&cdr[0]), C.size_t(len(cdr)), s.TypeSupport(), dst)
}

func (s rawSupport) AsGoStruct(dst types.Message, src unsafe.Pointer) {
	var out C.rmw_serialized_message_t
	r := dst.(*raw)
	r.cdr = nil
	if C.raw_serialize(src, s.TypeSupport(), &out) == C.RMW_RET_OK {
		r.cdr = C.GoBytes(unsafe.Pointer(out.buffer), C.int(out.buffer_length))
	}
	C.raw_free(&out)
}

// rawService is a service's type support, for raw messages.
type rawService struct{ types.ServiceTypeSupport }

func (s rawService) Request() types.MessageTypeSupport {
	return rawSupport{s.ServiceTypeSupport.Request()}
}
func (s rawService) Response() types.MessageTypeSupport {
	return rawSupport{s.ServiceTypeSupport.Response()}
}
