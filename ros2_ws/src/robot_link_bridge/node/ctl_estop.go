package node

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"time"

	"robot_link/ros2_ws/src/robot_link_bridge/link"
	"robot_link/ros2_ws/src/robot_link_bridge/monotonic"
	"robot_link/ros2_ws/src/robot_link_bridge/wire"
)

const (
	stopCopies   = 10
	stopPeriod   = 10 * time.Millisecond
	stopPatience = 500 * time.Millisecond // for the answers
	nameTimeout  = 2 * time.Second
)

// stopDirectly sends an emergency stop to the MCU itself, time after time, and with each the question who is there.
//
// That ESTOP has latched is shown in STATE, which only the host that holds the robot gets; who takes the robot to see
// it takes it from whoever brakes it. INFO comes back to anybody: it proves that the MCU hears this host and speaks its
// language, and no more is claimed.
func stopDirectly(ctx context.Context, mcu string) (string, error) {
	if _, _, err := net.SplitHostPort(mcu); err != nil {
		mcu = net.JoinHostPort(mcu, "5000")
	}
	dialer := net.Dialer{Timeout: nameTimeout}
	conn, err := dialer.DialContext(ctx, "udp4", mcu)
	if err != nil {
		return "", fmt.Errorf("the emergency stop was not sent: %w", err)
	}
	defer conn.Close()
	s := stopper{conn: conn, nonce: rand.Uint64() | 1}
	next := time.Now()
	for i := range uint32(stopCopies) {
		s.send(i + 1)
		next = next.Add(stopPeriod)
		s.receive(next, stopCopies+1) // to the end: the copies are spaced in time
	}
	s.receive(time.Now().Add(stopPatience), stopCopies)
	return s.report()
}

// stopper is one emergency stop on its way to an MCU.
type stopper struct {
	conn    net.Conn
	nonce   uint64
	sent    int
	heard   [stopCopies + 1]bool // the answer to each question, by its number
	answers int
	info    wire.Info
	trouble error // the last that the network said
}

func (s *stopper) send(seq uint32) {
	var buf [wire.MaxSize]byte
	n := link.EncodeEstop(monotonic.Now(), seq, buf[:])
	if _, err := s.conn.Write(buf[:n]); err != nil {
		s.trouble = err // refused by what came before, perhaps: go on
	} else {
		s.sent++
	}
	hello := wire.Hello{
		Header:     wire.Header{Seq: seq, TimeUs: uint64(monotonic.Now().Microseconds())},
		VersionMin: wire.VersionMin, VersionMax: wire.VersionMax, Want: wire.WantInfo, Nonce: s.nonce,
	}
	if _, err := s.conn.Write(buf[:hello.Encode(buf[:])]); err != nil {
		s.trouble = err
	}
}

// receive takes answers until then, or until there are enough.
func (s *stopper) receive(until time.Time, enough int) {
	_ = s.conn.SetReadDeadline(until) // can't fail on an open socket
	var buf [2 * wire.MaxSize]byte
	for s.answers < enough {
		n, err := s.conn.Read(buf[:])
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			return
		case err != nil:
			s.trouble = err
			continue
		}
		var info wire.Info
		if _, err := wire.Check(buf[:n], wire.Types(wire.TypeInfo)); err == nil && info.Decode(buf[:n]) == nil &&
			info.Nonce == s.nonce && info.Seq <= stopCopies && !s.heard[info.Seq] {
			s.info, s.heard[info.Seq] = info, true
			s.answers++
		}
	}
}

func (s *stopper) report() (string, error) {
	to := s.conn.RemoteAddr()
	switch {
	case s.answers == 0:
		err := fmt.Errorf("the emergency stop was sent to %v %d times, and nobody answers there: whether it arrived is not known", to, s.sent)
		if s.trouble != nil {
			err = fmt.Errorf("%w (%v)", err, s.trouble)
		}
		return "", err
	case !link.VersionsAgree(&s.info):
		return "", fmt.Errorf("the MCU at %v speaks protocol versions %d to %d, and did not understand the emergency stop, which was version %d",
			to, s.info.VersionMin, s.info.VersionMax, wire.Version)
	}
	return fmt.Sprintf("emergency stop sent %d times to %s at %v, which hears this host: it answered %d of %d questions sent along\n"+
		"that it has latched is only shown to the host that holds the robot: robot_link ctl status",
		s.sent, s.info.NameString(), to, s.answers, stopCopies), nil
}
