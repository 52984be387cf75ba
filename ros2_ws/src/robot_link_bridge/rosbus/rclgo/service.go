//go:build ros

package rclgo

// #include <rcl/client.h>
// #include <rcl/graph.h>
import "C"

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"time"
	"unsafe"

	rcl "github.com/tiiuae/rclgo/pkg/rclgo"
	"github.com/tiiuae/rclgo/pkg/rclgo/typemap"
	"github.com/tiiuae/rclgo/pkg/rclgo/types"

	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/driver"
)

type server struct {
	conn    *conn
	waiting *waiting

	mu      sync.RWMutex // held for reading while a response is sent
	service *rcl.Service
}

func (c *conn) NewServer(service, typ string, serve func([]byte, driver.Reply)) (driver.Server, error) {
	support, err := serviceSupport(typ)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, driver.ErrClosed
	}
	s := &server{conn: c}
	s.service, err = c.node.NewService(service, support, &rcl.ServiceOptions{Qos: serviceQoS()}, func(_ *rcl.ServiceInfo, request types.Message, send rcl.ServiceResponseSender) {
		if cdr := request.(*raw).cdr; cdr != nil {
			c.calling.Lock()
			defer c.calling.Unlock()
			serve(cdr, func(response []byte) error { return s.reply(send, response) })
		}
	})
	if err != nil {
		return nil, oneLine("make the service", err)
	}
	if s.waiting, err = c.wait(service, func(set *rcl.WaitSet) { set.AddServices(s.service) }); err != nil {
		_ = s.service.Close()
		return nil, err
	}
	c.open[s] = struct{}{}
	return s, nil
}

func (s *server) reply(send rcl.ServiceResponseSender, response []byte) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.service == nil {
		return driver.ErrClosed
	}
	if err := send.SendResponse(&raw{cdr: response}); err != nil {
		return oneLine("send the response", err)
	}
	return nil
}

func (s *server) Close() error {
	s.waiting.end()
	s.mu.Lock()
	defer s.mu.Unlock()
	service := s.service
	if service == nil {
		return nil
	}
	s.service = nil
	defer s.conn.forget(s)
	if err := service.Close(); err != nil {
		return oneLine("close the service", err)
	}
	return nil
}

// poll is how often a call looks for its server.
const poll = 5 * time.Millisecond

type client struct {
	conn    *conn
	waiting *waiting
	closed  chan struct{}

	closing  sync.Once
	closeErr error

	mu     sync.RWMutex // held for reading while a call is under way
	client *rcl.Client
}

func (c *conn) NewClient(service, typ string) (driver.Client, error) {
	support, err := serviceSupport(typ)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, driver.ErrClosed
	}
	cl := &client{conn: c, closed: make(chan struct{})}
	if cl.client, err = c.node.NewClient(service, support, &rcl.ClientOptions{Qos: serviceQoS()}); err != nil {
		return nil, oneLine("make the client", err)
	}
	if cl.waiting, err = c.wait(service, func(set *rcl.WaitSet) { set.AddClients(cl.client) }); err != nil {
		_ = cl.client.Close()
		return nil, err
	}
	c.open[cl] = struct{}{}
	return cl, nil
}

func (cl *client) Call(ctx context.Context, request []byte) ([]byte, error) {
	cl.mu.RLock()
	defer cl.mu.RUnlock()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-cl.closed:
			cancel()
		case <-ctx.Done():
		}
	}()
	response, err := cl.call(ctx, request)
	select {
	case <-cl.closed:
		return nil, driver.ErrClosed
	default:
		return response, err
	}
}

func (cl *client) call(ctx context.Context, request []byte) ([]byte, error) {
	again := time.NewTicker(poll)
	defer again.Stop()
	for !cl.available() {
		select {
		case <-again.C:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	response, _, err := cl.client.Send(ctx, &raw{cdr: request})
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, oneLine("call", err)
	}
	cdr := response.(*raw).cdr
	if cdr == nil {
		return nil, fmt.Errorf("the response can't be read")
	}
	return cdr, nil
}

// available reports whether a server hears this client and is heard: a request before that would be lost. rclgo
// has no way to ask, and keeps its handles to itself; its version is pinned.
func (cl *client) available() bool {
	var is C.bool
	code := C.rcl_service_server_is_available((*C.rcl_node_t)(handle(cl.conn.node, "rcl_node_t")),
		(*C.rcl_client_t)(handle(cl.client, "rclClient")), &is)
	return code == C.RCL_RET_OK && bool(is)
}

// handle reads a pointer that rclgo does not export.
func handle(of any, field string) unsafe.Pointer {
	return reflect.ValueOf(of).Elem().FieldByName(field).UnsafePointer()
}

func (cl *client) Close() error {
	cl.closing.Do(func() {
		close(cl.closed) // calls end
		cl.waiting.end()
		cl.mu.Lock()
		defer cl.mu.Unlock()
		defer cl.conn.forget(cl)
		if err := cl.client.Close(); err != nil {
			cl.closeErr = oneLine("close the client", err)
		}
	})
	return cl.closeErr
}

// serviceQoS is rmw's for parameter services: deeper than its 10 for others, since every client gets the responses to
// all.
func serviceQoS() rcl.QosProfile {
	qos := rcl.NewDefaultServiceQosProfile()
	qos.Depth = 1000
	return qos
}

func serviceSupport(typ string) (rawService, error) {
	support, ok := typemap.GetService(typ)
	if !ok || strings.Count(typ, "/") != 2 { // rclgo knows them by shorter names as well
		return rawService{}, fmt.Errorf("no binding for service type %q: bindings.go has to import its package", typ)
	}
	return rawService{support}, nil
}
