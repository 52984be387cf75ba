//go:build ros

package rclgo

// #include <rcl/error_handling.h>
// #include <rcl/subscription.h>
// #include <stdlib.h>
//
// // Where a subscription's messages are taken to, one after the other.
// typedef struct {
//   rmw_serialized_message_t cdr;
//   rmw_message_info_t info;
// } taken_t;
//
// static bool taken_init(taken_t *t) {
//   const rcutils_allocator_t allocator = rcutils_get_default_allocator();
//   t->cdr = rmw_get_zero_initialized_serialized_message();
//   return rmw_serialized_message_init(&t->cdr, 0, &allocator) == RMW_RET_OK;
// }
//
// static void taken_fini(taken_t *t) {
//   if (rmw_serialized_message_fini(&t->cdr) != RMW_RET_OK) abort(); // only without an allocator
// }
//
// static bool take(const rcl_subscription_t *subscription, taken_t *t) {
//   t->info = rmw_get_zero_initialized_message_info();
//   if (rcl_take_serialized_message(subscription, &t->cdr, &t->info, NULL) == RCL_RET_OK) return true;
//   rcl_reset_error();
//   return false;
// }
import "C"

import (
	"errors"
	"unsafe"

	rcl "github.com/tiiuae/rclgo/pkg/rclgo"

	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/driver"
)

// taker takes one message after the other, each into the place of the one before: rclgo's own way makes garbage
// of each, and does not tell which publisher it is from.
type taker struct {
	taken C.taken_t
	gids  gids
}

func (t *taker) init(domain int) error {
	t.gids = newGIDs(domain)
	if !C.taken_init(&t.taken) {
		return errors.New("no memory for a message")
	}
	return nil
}

func (t *taker) close() { C.taken_fini(&t.taken) }

// take reports false if there is nothing to take. The bytes are there until the next call.
func (t *taker) take(sub *rcl.Subscription) (cdr []byte, from driver.GID, ok bool) {
	if !C.take((*C.rcl_subscription_t)(handle(sub, "rcl_subscription_t")), &t.taken) {
		return nil, from, false
	}
	cdr = unsafe.Slice((*byte)(t.taken.cdr.buffer), int(t.taken.cdr.buffer_length))
	return cdr, t.gids.of(&t.taken.info.publisher_gid), true
}
