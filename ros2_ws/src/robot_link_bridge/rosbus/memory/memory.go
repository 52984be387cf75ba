// Package memory is a ROS graph without a network: nodes of one process that share a Net, for tests of
// what sits on rosbus. Matching, history and callbacks follow the same rules as the real adapters.
//
//	net := memory.New()
//	bus, err := rosbus.OpenWith(rosbus.Options{Node: "a"}, net.Open)
package memory

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"sync"

	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/driver"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/names"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/rpc"
)

// Net is one network. Its Open may be called from any goroutine.
type Net struct {
	mu      sync.Mutex // guards all that hangs on the Net, except callbacks
	writers []*writer
	readers []*reader
	last    uint64 // the last endpoint's number
}

// New makes a network without nodes.
func New() *Net { return &Net{} }

// Open is an adapter for rosbus.OpenWith.
func (n *Net) Open(o driver.Options) (driver.Conn, error) {
	c := &conn{net: n, domain: o.DomainID, node: names.Join(o.Namespace, o.Node), done: make(chan struct{})}
	c.work = sync.NewCond(&n.mu)
	go c.run()
	return c, nil
}

type conn struct {
	net    *Net
	domain int
	node   string
	work   *sync.Cond // a queue got a message, or closed was set
	closed bool
	done   chan struct{} // run has returned
}

type endpoint struct {
	conn         *conn
	gid          driver.GID
	topic, typ   string
	qos          driver.QoS
	incompatible int
	closed       bool
}

type message struct {
	cdr  []byte
	from driver.GID
}

type writer struct {
	endpoint
	history []message // for late readers, if transient local
}

type reader struct {
	endpoint
	take  driver.Take
	queue []message

	calling sync.Mutex // held around take, so that Close can wait for it; taken before Net.mu
	gone    bool       // guarded by calling
}

// pair says whether the two are on the same topic, and whether QoS lets them match.
func pair(w *writer, r *reader) (same, match bool) {
	same = w.conn.domain == r.conn.domain && w.topic == r.topic && w.typ == r.typ
	return same, same && driver.Mismatch(&driver.Endpoint{QoS: w.qos}, &driver.Endpoint{QoS: r.qos}) == ""
}

func (c *conn) NewWriter(topic, typ string, qos driver.QoS) (driver.Writer, error) {
	c.net.mu.Lock()
	defer c.net.mu.Unlock()
	if c.closed {
		return nil, driver.ErrClosed
	}
	w := &writer{endpoint: c.endpoint(topic, typ, qos)}
	for _, r := range c.net.readers {
		if same, match := pair(w, r); same && !match {
			w.incompatible++
			r.incompatible++
		}
	}
	c.net.writers = append(c.net.writers, w)
	return w, nil
}

func (c *conn) NewReader(topic, typ string, qos driver.QoS, take driver.Take) (driver.Reader, error) {
	c.net.mu.Lock()
	defer c.net.mu.Unlock()
	if c.closed {
		return nil, driver.ErrClosed
	}
	r := &reader{endpoint: c.endpoint(topic, typ, qos), take: take}
	for _, w := range c.net.writers {
		switch same, match := pair(w, r); {
		case match && r.qos.TransientLocal:
			for _, m := range w.history {
				r.push(m)
			}
		case same && !match:
			w.incompatible++
			r.incompatible++
		}
	}
	c.net.readers = append(c.net.readers, r)
	return r, nil
}

// endpoint numbers a new one; Net.mu is held.
func (c *conn) endpoint(topic, typ string, qos driver.QoS) endpoint {
	c.net.last++
	e := endpoint{conn: c, topic: topic, typ: typ, qos: qos}
	binary.BigEndian.PutUint64(e.gid[:], c.net.last)
	return e
}

func (c *conn) Publishers(topic string) (list []driver.Endpoint, err error) {
	c.net.mu.Lock()
	defer c.net.mu.Unlock()
	for _, w := range c.net.writers {
		list = c.list(list, topic, &w.endpoint)
	}
	return list, c.check()
}

func (c *conn) Subscriptions(topic string) (list []driver.Endpoint, err error) {
	c.net.mu.Lock()
	defer c.net.mu.Unlock()
	for _, r := range c.net.readers {
		list = c.list(list, topic, &r.endpoint)
	}
	return list, c.check()
}

// list adds an endpoint as others see it, if it is one of the topic.
func (c *conn) list(list []driver.Endpoint, topic string, e *endpoint) []driver.Endpoint {
	if e.conn.domain != c.domain || e.topic != topic {
		return list
	}
	qos := e.qos
	qos.Depth = 0
	return append(list, driver.Endpoint{GID: e.gid, Node: e.conn.node, Own: e.conn == c, Type: e.typ, QoS: qos})
}

func (c *conn) check() error {
	if c.closed {
		return driver.ErrClosed
	}
	return nil
}

// Topics and services share nothing but the network: a topic's name has a "/" in front.
func (c *conn) Writer(topic, typ string, qos driver.QoS) (driver.Writer, error) {
	return c.NewWriter(topic, typ, qos)
}
func (c *conn) Reader(topic, typ string, qos driver.QoS, take driver.Take) (driver.Reader, error) {
	return c.NewReader(topic, typ, qos, take)
}

func (c *conn) NewServer(service, typ string, serve func([]byte, driver.Reply)) (driver.Server, error) {
	return rpc.NewServer(c, service, typ, serve)
}

func (c *conn) NewClient(service, typ string) (driver.Client, error) {
	return rpc.NewClient(c, service, typ)
}

// Announce does nothing: what is there is seen.
func (c *conn) Announce() error {
	c.net.mu.Lock()
	defer c.net.mu.Unlock()
	return c.check()
}

func (c *conn) Close() error {
	c.net.mu.Lock()
	c.closed = true
	c.net.writers = slices.DeleteFunc(c.net.writers, func(w *writer) bool { return w.conn == c })
	c.net.readers = slices.DeleteFunc(c.net.readers, func(r *reader) bool { return r.conn == c })
	c.work.Broadcast()
	c.net.mu.Unlock()
	<-c.done
	return nil
}

// run calls the callbacks, in turn over the readers that have something.
func (c *conn) run() {
	defer close(c.done)
	for {
		c.net.mu.Lock()
		ready := c.ready()
		for len(ready) == 0 && !c.closed {
			c.work.Wait()
			ready = c.ready()
		}
		closed := c.closed
		c.net.mu.Unlock()
		if closed {
			return
		}
		for _, r := range ready {
			r.call()
		}
	}
}

// ready lists the readers that have something; Net.mu is held.
func (c *conn) ready() (list []*reader) {
	for _, r := range c.net.readers {
		if r.conn == c && len(r.queue) > 0 {
			list = append(list, r)
		}
	}
	return list
}

// call hands the oldest message to the callback.
func (r *reader) call() {
	r.calling.Lock()
	defer r.calling.Unlock()
	r.conn.net.mu.Lock()
	if r.gone || r.conn.closed || len(r.queue) == 0 {
		r.conn.net.mu.Unlock()
		return
	}
	m := r.queue[0]
	r.queue = r.queue[1:]
	r.conn.net.mu.Unlock()
	r.take(m.cdr, m.from)
}

// push is keep last; Net.mu is held.
func (r *reader) push(m message) {
	r.queue = append(r.queue, m)
	if extra := len(r.queue) - r.qos.Depth; extra > 0 {
		r.queue = r.queue[extra:]
	}
	r.conn.work.Broadcast()
}

func (w *writer) Write(cdr []byte) error {
	if len(cdr) < 4 {
		return fmt.Errorf("%d bytes are no serialized message", len(cdr))
	}
	n := w.conn.net
	n.mu.Lock()
	defer n.mu.Unlock()
	if w.closed || w.conn.closed {
		return driver.ErrClosed
	}
	m := message{bytes.Clone(cdr), w.gid}
	if w.qos.TransientLocal {
		w.history = append(w.history, m)
		if extra := len(w.history) - w.qos.Depth; extra > 0 {
			w.history = w.history[extra:]
		}
	}
	for _, r := range n.readers {
		if _, match := pair(w, r); match {
			r.push(m)
		}
	}
	return nil
}

func (w *writer) Matched() (count int) {
	n := w.conn.net
	n.mu.Lock()
	defer n.mu.Unlock()
	if w.closed || w.conn.closed {
		return 0
	}
	for _, r := range n.readers {
		if _, match := pair(w, r); match {
			count++
		}
	}
	return count
}

func (r *reader) Matched() (count int) {
	n := r.conn.net
	n.mu.Lock()
	defer n.mu.Unlock()
	if r.closed || r.conn.closed {
		return 0
	}
	for _, w := range n.writers {
		if _, match := pair(w, r); match {
			count++
		}
	}
	return count
}

func (e *endpoint) Incompatible() int {
	e.conn.net.mu.Lock()
	defer e.conn.net.mu.Unlock()
	return e.incompatible
}

func (w *writer) Close() error {
	n := w.conn.net
	n.mu.Lock()
	defer n.mu.Unlock()
	w.closed = true
	n.writers = slices.DeleteFunc(n.writers, func(x *writer) bool { return x == w })
	return nil
}

func (r *reader) Close() error {
	n := r.conn.net
	n.mu.Lock()
	r.closed = true
	n.readers = slices.DeleteFunc(n.readers, func(x *reader) bool { return x == r })
	n.mu.Unlock()
	r.calling.Lock() // waits for a running callback
	r.gone = true
	r.calling.Unlock()
	return nil
}
