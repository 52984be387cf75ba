package rpc

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"sync"
	"time"

	"go.uber.org/multierr"

	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/driver"
)

type client struct {
	self     uint64
	requests driver.Writer
	replies  driver.Reader
	closed   chan struct{}
	closing  sync.Once
	closeErr error

	mu      sync.Mutex
	last    uint64
	waiting map[uint64]chan []byte // of the calls under way
}

// NewClient is driver.Conn's.
func NewClient(t Topics, service, typ string) (driver.Client, error) {
	request, err := requestType(typ)
	if err != nil {
		return nil, err
	}
	reply, err := replyType(typ)
	if err != nil {
		return nil, err
	}
	var self [8]byte
	_, _ = rand.Read(self[:]) // never fails
	c := &client{self: binary.LittleEndian.Uint64(self[:]), closed: make(chan struct{}), waiting: map[uint64]chan []byte{}}
	if c.replies, err = t.Reader(replyTopic(service), reply, qos, c.take); err != nil {
		return nil, err
	}
	if c.requests, err = t.Writer(requestTopic(service), request, qos); err != nil {
		return nil, multierr.Append(err, c.replies.Close())
	}
	return c, nil
}

// take gets the responses to all clients.
func (c *client) take(sample []byte, _ driver.GID) {
	of, cdr, ok := split(sample)
	if !ok || of.client != c.self {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if response := c.waiting[of.call]; response != nil { // else its call has given up
		delete(c.waiting, of.call)
		response <- cdr
	}
}

func (c *client) Call(ctx context.Context, request []byte) ([]byte, error) {
	if err := c.awaitServer(ctx); err != nil {
		return nil, err
	}
	response := make(chan []byte, 1)
	c.mu.Lock()
	c.last++
	call := c.last
	c.waiting[call] = response
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		delete(c.waiting, call)
		c.mu.Unlock()
	}()
	sample, err := join(id{c.self, call}, request)
	if err == nil {
		err = c.requests.Write(sample)
	}
	if err != nil {
		return nil, err
	}
	select {
	case cdr := <-response:
		return cdr, nil
	case <-c.closed:
		return nil, driver.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// awaitServer waits until a server hears us and we hear it: a request before that would be lost.
func (c *client) awaitServer(ctx context.Context) error {
	again := time.NewTicker(poll)
	defer again.Stop()
	for c.requests.Matched() == 0 || c.replies.Matched() == 0 {
		select {
		case <-again.C:
		case <-c.closed:
			return driver.ErrClosed
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

func (c *client) Close() error {
	c.closing.Do(func() {
		close(c.closed)
		c.closeErr = multierr.Append(c.requests.Close(), c.replies.Close())
	})
	return c.closeErr
}
