package conformance

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"robot_link/ros2_ws/src/robot_link_bridge/rosbus"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/msgs"
)

type (
	setBool       = func(*msgs.SetBoolRequest, func(*msgs.SetBoolResponse) error)
	setBoolClient = rosbus.Client[msgs.SetBoolRequest, msgs.SetBoolResponse]
)

func serve(t *testing.T, b rosbus.Bus, service string, fn setBool) io.Closer {
	t.Helper()
	s, err := rosbus.Serve(b, service, fn)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func client(t *testing.T, b rosbus.Bus, service string) *setBoolClient {
	t.Helper()
	c, err := rosbus.NewClient[msgs.SetBoolRequest, msgs.SetBoolResponse](b, service)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func call(t *testing.T, c *setBoolClient, data bool) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), Deadline)
	defer cancel()
	res, err := c.Call(ctx, &msgs.SetBoolRequest{Data: data})
	if err != nil {
		t.Error(err)
		return ""
	}
	if res.Success != data {
		t.Errorf("success is %v for %v", res.Success, data)
	}
	return res.Message
}

// parrot answers at once.
func parrot(name string) setBool {
	return func(req *msgs.SetBoolRequest, reply func(*msgs.SetBoolResponse) error) {
		_ = reply(&msgs.SetBoolResponse{Success: req.Data, Message: name})
	}
}

func serviceAnswers(t *testing.T, s *suite) {
	a, b := s.node(t), s.node(t)
	long := strings.Repeat("long ", 1000)
	serve(t, a, "enable", parrot("a says ö"))
	serve(t, a, "/other", parrot(long))
	enable, other := client(t, b, "enable"), client(t, b, "other")
	for i := range 20 {
		if got := call(t, enable, i%2 == 0); got != "a says ö" {
			t.Errorf("got %q", got)
		}
	}
	if got := call(t, other, true); got != long {
		t.Errorf("got %d bytes, want %d", len(got), len(long))
	}
	if _, err := rosbus.Serve(a, "trigger", func(_ *msgs.TriggerRequest, reply func(*msgs.TriggerResponse) error) {
		_ = reply(&msgs.TriggerResponse{Success: true, Message: "done"})
	}); err != nil {
		t.Fatal(err)
	}
	trigger, err := rosbus.NewClient[msgs.TriggerRequest, msgs.TriggerResponse](a, "trigger") // of its own node
	if err != nil {
		t.Fatal(err)
	}
	if res, err := trigger.Call(t.Context(), &msgs.TriggerRequest{}); err != nil || !res.Success || res.Message != "done" {
		t.Errorf("got %+v, %v", res, err)
	}
}

func answersComeLater(t *testing.T, s *suite) {
	a, b := s.node(t), s.node(t)
	// The first request is answered after the second, and from elsewhere.
	held := make(chan func(*msgs.SetBoolResponse) error, 1)
	serve(t, a, "enable", func(req *msgs.SetBoolRequest, reply func(*msgs.SetBoolResponse) error) {
		if req.Data {
			held <- reply
			return
		}
		_ = reply(&msgs.SetBoolResponse{Message: "second"})
		go func() { _ = (<-held)(&msgs.SetBoolResponse{Success: true, Message: "first"}) }()
	})
	enable := client(t, b, "enable")
	first := make(chan string)
	go func() { first <- call(t, enable, true) }()
	Eventually(t, "the first is held", func() bool { return len(held) == 1 })
	if got := call(t, enable, false); got != "second" {
		t.Errorf("got %q", got)
	}
	if got := <-first; got != "first" {
		t.Errorf("got %q", got)
	}
}

func clientsAreApart(t *testing.T, s *suite) {
	a := s.node(t)
	serve(t, a, "enable", parrot("answer"))
	serve(t, a, "other", parrot("other's"))
	var wg sync.WaitGroup
	for range 3 {
		b := s.node(t)
		for range 2 {
			enable, other := client(t, b, "enable"), client(t, b, "other")
			wg.Go(func() {
				for i := range 30 {
					if got := call(t, enable, i%3 == 0); got != "answer" {
						t.Errorf("got %q", got)
					}
					if got := call(t, other, i%2 == 0); got != "other's" {
						t.Errorf("got %q", got)
					}
				}
			})
		}
	}
	wg.Wait()
}

func callsWaitAndGiveUp(t *testing.T, s *suite) {
	a, b := s.node(t), s.node(t)
	enable := client(t, b, "enable")
	brief := func() error {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		_, err := enable.Call(ctx, &msgs.SetBoolRequest{})
		return err
	}
	if err := brief(); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "call enable") {
		t.Errorf("without a server: %v", err)
	}
	answer := make(chan string)
	go func() { answer <- call(t, enable, true) }()
	server := serve(t, a, "enable", parrot("at last"))
	if got := <-answer; got != "at last" {
		t.Errorf("got %q", got)
	}
	if err := server.Close(); err != nil {
		t.Error(err)
	}
	if err := server.Close(); err != nil {
		t.Errorf("closed twice: %v", err)
	}
	var reply func(*msgs.SetBoolResponse) error
	asked := make(chan struct{})
	mute := serve(t, a, "enable", func(_ *msgs.SetBoolRequest, r func(*msgs.SetBoolResponse) error) {
		if reply == nil {
			reply = r
			close(asked)
		}
	})
	Eventually(t, "a mute server is asked", func() bool {
		if err := brief(); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a mute server: %v", err)
		}
		select {
		case <-asked:
			return true
		default:
			return false
		}
	})
	if err := reply(&msgs.SetBoolResponse{}); err != nil {
		t.Errorf("a late answer: %v", err)
	}
	if err := mute.Close(); err != nil {
		t.Error(err)
	}
	if err := reply(&msgs.SetBoolResponse{}); !errors.Is(err, rosbus.ErrClosed) {
		t.Errorf("an answer after Close: %v", err)
	}
}

func closingEndsCalls(t *testing.T, s *suite) {
	a, b := s.node(t), s.node(t)
	asked := make(chan struct{}, 10)
	serve(t, a, "enable", func(*msgs.SetBoolRequest, func(*msgs.SetBoolResponse) error) { asked <- struct{}{} })
	closed, withBus := client(t, b, "enable"), client(t, b, "enable")
	lonely := client(t, b, "nobody")
	results := make(chan error, 3)
	for _, c := range []*setBoolClient{closed, withBus, lonely} {
		go func() {
			_, err := c.Call(t.Context(), &msgs.SetBoolRequest{})
			results <- err
		}()
	}
	next(t, asked, "a request")
	next(t, asked, "the other")
	if err := closed.Close(); err != nil {
		t.Error(err)
	}
	mustBeClosed(t, "a closed client's call", next(t, results, "the call's end"))
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	for range 2 {
		mustBeClosed(t, "a call on a closed bus", next(t, results, "the call's end"))
	}
	_, err := withBus.Call(t.Context(), &msgs.SetBoolRequest{})
	mustBeClosed(t, "a new call", err)
	if err := withBus.Close(); err != nil {
		t.Error(err)
	}
	_, err = rosbus.Serve(b, "enable", parrot("late"))
	mustBeClosed(t, "serve", err)
	_, err = rosbus.NewClient[msgs.SetBoolRequest, msgs.SetBoolResponse](b, "enable")
	mustBeClosed(t, "a new client", err)
}

func serviceNames(t *testing.T, s *suite) {
	remap := func(service string) string {
		if service == "/robot/enable" {
			return "/safety/enable"
		}
		return service
	}
	a, b := s.with(t, rosbus.Options{Node: "bridge", Namespace: "robot", RemapService: remap}), s.node(t)
	for name, full := range map[string]string{"enable": "/safety/enable", "~/estop": "/robot/bridge/estop", "/abs": "/abs"} {
		serve(t, a, name, parrot(name))
		if got := call(t, client(t, b, full), true); got != name {
			t.Errorf("%s: got %q", full, got)
		}
	}
	for _, bad := range []string{"", "a//b", "7up"} {
		if _, err := rosbus.Serve(a, bad, parrot("")); err == nil || !strings.Contains(err.Error(), "invalid") {
			t.Errorf("serve %q: %v", bad, err)
		}
	}
	for _, typ := range []string{"std_srvs/SetBool", "std_srvs/msg/SetBool", ""} {
		if _, err := a.ClientCDR("x", typ); err == nil {
			t.Errorf("a client of type %q was made", typ)
		}
	}
}
