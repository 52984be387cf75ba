package rosbus

import (
	"context"
	"fmt"
	"io"

	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/cdr"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/driver"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/msgs"
)

// Request is a service's request, which names its service.
type Request = msgs.Request

// Serve answers a service. fn is called with each request, one at a time with all callbacks of the node;
// reply sends the response, once, then or later, from any goroutine. A request that can't be decoded gets no
// response. Closing what is returned ends the service: no call is running then, and none comes.
func Serve[Req Request, Res any](b Bus, service string, fn func(req *Req, reply func(*Res) error)) (io.Closer, error) {
	var zero Req
	return b.ServeCDR(service, zero.ROSService(), func(request []byte, send driver.Reply) {
		req := new(Req)
		if cdr.Decode(request, req) != nil {
			return
		}
		fn(req, func(res *Res) error {
			response, err := cdr.Append(nil, res)
			if err == nil {
				err = send(response)
			}
			if err != nil {
				return fmt.Errorf("answer on %s: %w", service, err)
			}
			return nil
		})
	})
}

// Client calls a service; from any goroutine, but not from a callback of its own node.
type Client[Req Request, Res any] struct {
	service string
	client  driver.Client
}

// NewClient makes a client. It is closed with the bus.
func NewClient[Req Request, Res any](b Bus, service string) (*Client[Req, Res], error) {
	var zero Req
	c, err := b.ClientCDR(service, zero.ROSService())
	if err != nil {
		return nil, err
	}
	return &Client[Req, Res]{service, c}, nil
}

// Call sends a request as soon as there is a server, and waits for its response until ctx ends.
func (c *Client[Req, Res]) Call(ctx context.Context, req *Req) (*Res, error) {
	res := new(Res)
	request, err := cdr.Append(nil, req)
	if err == nil {
		var response []byte
		if response, err = c.client.Call(ctx, request); err == nil {
			err = cdr.Decode(response, res)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("call %s: %w", c.service, err)
	}
	return res, nil
}

// Close ends the calls that wait, with ErrClosed.
func (c *Client[Req, Res]) Close() error { return c.client.Close() }
