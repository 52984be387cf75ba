package rpc

import (
	"time"

	"go.uber.org/multierr"

	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/driver"
)

// A client that has found both topics may send before our writer has found its reader, which would then miss
// the response. Patience is how long a response waits for that, as rmw_cyclonedds has it.
const (
	patience = 100 * time.Millisecond
	poll     = 5 * time.Millisecond
)

type server struct {
	requests driver.Reader
	replies  driver.Writer
}

// NewServer is driver.Conn's.
func NewServer(t Topics, service, typ string, serve func(request []byte, reply driver.Reply)) (driver.Server, error) {
	request, err := requestType(typ)
	if err != nil {
		return nil, err
	}
	reply, err := replyType(typ)
	if err != nil {
		return nil, err
	}
	s := &server{}
	if s.replies, err = t.Writer(replyTopic(service), reply, qos); err != nil {
		return nil, err
	}
	ready := make(chan struct{}) // the reader may call before it is returned
	s.requests, err = t.Reader(requestTopic(service), request, qos, func(sample []byte, _ driver.GID) {
		<-ready
		if of, cdr, ok := split(sample); ok {
			serve(cdr, func(response []byte) error { return s.reply(of, response) })
		}
	})
	close(ready)
	if err != nil {
		return nil, multierr.Append(err, s.replies.Close())
	}
	return s, nil
}

func (s *server) reply(to id, response []byte) error {
	sample, err := join(to, response)
	if err != nil {
		return err
	}
	if s.everyClientListens() {
		return s.replies.Write(sample)
	}
	go func() {
		for end := time.Now().Add(patience); time.Now().Before(end) && !s.everyClientListens(); {
			time.Sleep(poll)
		}
		_ = s.replies.Write(sample) // a client that is gone by now misses nothing
	}()
	return nil
}

func (s *server) everyClientListens() bool { return s.replies.Matched() >= s.requests.Matched() }

func (s *server) Close() error { return multierr.Append(s.requests.Close(), s.replies.Close()) }
