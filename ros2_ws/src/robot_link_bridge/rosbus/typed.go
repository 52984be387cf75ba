package rosbus

import (
	"fmt"
	"sync"
	"sync/atomic"

	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/cdr"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/driver"
)

// Publisher sends messages of type T on one topic, from any goroutine.
type Publisher[T Message] struct {
	topic  string
	writer driver.Writer

	mu  sync.Mutex
	buf []byte // guarded by mu; grown once, then no garbage per message
}

// Advertise starts to publish on a topic, written as in ROS 2: absolute, relative, or private ("~/x").
func Advertise[T Message](b Bus, topic string, qos QoS) (*Publisher[T], error) {
	var zero T
	w, err := b.AdvertiseCDR(topic, zero.ROSType(), qos)
	if err != nil {
		return nil, err
	}
	return &Publisher[T]{topic: topic, writer: w}, nil
}

// Publish sends one message. It does not wait for subscribers; with a reliable QoS it can wait up to
// 100 ms for one that is Depth messages behind, and then returns an error.
func (p *Publisher[T]) Publish(m *T) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	buf, err := cdr.Append(p.buf[:0], m)
	if err == nil {
		p.buf = buf
		err = p.writer.Write(buf)
	}
	if err != nil {
		return fmt.Errorf("publish on %s: %w", p.topic, err)
	}
	return nil
}

// Matched is the number of subscribers that get what is published.
func (p *Publisher[T]) Matched() int { return p.writer.Matched() }

// Incompatible counts the subscribers refused so far because they ask for more than this QoS offers,
// such as reliable from best effort; -1 when the adapter can't know.
func (p *Publisher[T]) Incompatible() int { return p.writer.Incompatible() }

// Close stops publishing. It is idempotent; Publish returns an error from then on.
func (p *Publisher[T]) Close() error { return p.writer.Close() }

// Subscription is a running subscription.
type Subscription struct {
	reader    driver.Reader
	malformed *atomic.Uint64
}

// Subscribe calls fn with each message, on one goroutine for the whole Bus: a callback that takes long
// holds up the others, and with Depth 1 it then sees only the latest message. m is fresh each time, so
// fn may keep it. fn can be called before Subscribe has returned.
func Subscribe[T Message](b Bus, topic string, qos QoS, fn func(m *T)) (*Subscription, error) {
	if fn == nil {
		return SubscribeFrom[T](b, topic, qos, nil)
	}
	return SubscribeFrom(b, topic, qos, func(m *T, _ GID) { fn(m) })
}

// SubscribeFrom is Subscribe for those who want to know which publisher a message is from: the GID is that of
// its Endpoint, or zero when the middleware does not tell.
func SubscribeFrom[T Message](b Bus, topic string, qos QoS, fn func(m *T, from GID)) (*Subscription, error) {
	var zero T
	s := &Subscription{malformed: new(atomic.Uint64)}
	malformed := s.malformed
	var take driver.Take // stays nil without fn, which is refused below
	if fn != nil {
		take = func(data []byte, from GID) {
			m := new(T)
			if cdr.Decode(data, m) != nil {
				malformed.Add(1)
				return
			}
			fn(m, from)
		}
	}
	var err error
	s.reader, err = b.SubscribeCDR(topic, zero.ROSType(), qos, take)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Matched is the number of publishers that are there now.
func (s *Subscription) Matched() int { return s.reader.Matched() }

// Incompatible counts the publishers refused so far because they offer less than this QoS asks for;
// -1 when the adapter can't know.
func (s *Subscription) Incompatible() int { return s.reader.Incompatible() }

// Malformed counts the messages that came but could not be decoded.
func (s *Subscription) Malformed() uint64 { return s.malformed.Load() }

// Close returns when fn is not running; it is not called again. It is idempotent, and must not be
// called from a callback.
func (s *Subscription) Close() error { return s.reader.Close() }
