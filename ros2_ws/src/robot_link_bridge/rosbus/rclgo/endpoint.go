//go:build ros

package rclgo

import (
	"fmt"
	"sync"

	rcl "github.com/tiiuae/rclgo/pkg/rclgo"
	"github.com/tiiuae/rclgo/pkg/rclgo/types"

	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/driver"
)

// unknown is what rclgo can't tell: it has no events.
const unknown = -1

type writer struct {
	conn *conn

	mu  sync.RWMutex // held for reading while pub is used
	pub *rcl.Publisher
}

func (w *writer) Write(cdr []byte) error {
	if len(cdr) < 4 {
		return fmt.Errorf("%d bytes are no serialized message", len(cdr))
	}
	w.mu.RLock()
	defer w.mu.RUnlock()
	if w.pub == nil {
		return driver.ErrClosed
	}
	if err := w.pub.PublishSerialized(cdr); err != nil {
		return oneLine("publish", err)
	}
	return nil
}

func (w *writer) Matched() int {
	w.mu.RLock()
	defer w.mu.RUnlock()
	if w.pub == nil {
		return 0
	}
	n, err := w.pub.GetSubscriptionCount()
	if err != nil {
		return 0
	}
	return n
}

func (w *writer) Incompatible() int { return unknown }

// Close waits for writes under way, and lets no other begin.
func (w *writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	pub := w.pub
	if pub == nil {
		return nil
	}
	w.pub = nil
	defer w.conn.forget(w)
	if err := pub.Close(); err != nil {
		return oneLine("close the publisher", err)
	}
	return nil
}

type reader struct {
	conn    *conn
	take    driver.Take
	taker   taker // deliver's own
	waiting *waiting

	mu  sync.RWMutex // held for reading while sub is asked
	sub *rcl.Subscription
}

func newReader(c *conn, topic string, support types.MessageTypeSupport, qos driver.QoS, take driver.Take) (*reader, error) {
	r := &reader{conn: c, take: take}
	err := r.taker.init(c.opts.DomainID)
	if err != nil {
		return nil, err
	}
	r.sub, err = c.node.NewSubscription(topic, support, &rcl.SubscriptionOptions{Qos: profile(qos)}, r.deliver)
	if err != nil {
		r.taker.close()
		return nil, oneLine("make the subscription", err)
	}
	if r.waiting, err = c.wait(topic, func(set *rcl.WaitSet) { set.AddSubscriptions(r.sub) }); err != nil {
		_ = r.sub.Close()
		r.taker.close()
		return nil, err
	}
	return r, nil
}

// deliver takes one message. That one is taken only when its callback may run: a message that waits in the
// middleware is replaced when a newer one comes, one that waits here would not be.
func (r *reader) deliver(sub *rcl.Subscription) {
	r.conn.calling.Lock()
	defer r.conn.calling.Unlock()
	// A publisher that leaves wakes a subscription that has nothing: that is no error.
	if cdr, from, ok := r.taker.take(sub); ok && len(cdr) >= 4 {
		r.take(cdr, from)
	}
}

func (r *reader) Matched() int {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if r.sub == nil {
		return 0
	}
	n, err := r.sub.GetPublisherCount()
	if err != nil {
		return 0
	}
	return n
}

func (r *reader) Incompatible() int { return unknown }

// Close lets the callback that is running end, and no other begin.
func (r *reader) Close() error {
	r.waiting.end()
	r.mu.Lock()
	defer r.mu.Unlock()
	sub := r.sub
	if sub == nil {
		return nil
	}
	r.sub = nil
	r.taker.close()
	defer r.conn.forget(r)
	if err := sub.Close(); err != nil {
		return oneLine("close the subscription", err)
	}
	return nil
}
