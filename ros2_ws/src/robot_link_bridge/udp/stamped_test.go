package udp

import (
	"fmt"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestADatagramIsStampedBetweenItsSendingAndItsReceiving(t *testing.T) {
	s, err := Open("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	r, err := s.Stamped()
	if err != nil {
		t.Fatal(err)
	}
	addr, err := bindAddr(fmt.Sprintf("127.0.0.1:%d", s.LocalPort()))
	if err != nil {
		t.Fatal(err)
	}
	to := Raw(addr)
	var b [8]byte
	var from Address
	if _, _, errno := r.TryReceive(b[:], &from); errno != unix.EAGAIN {
		t.Errorf("nothing was sent, and it says %v", errno)
	}
	for _, sent := range []string{"first", "second", "too long for it"} {
		before := time.Now()
		if errno := s.Send([]byte(sent), &to); errno != 0 {
			t.Fatal(errno)
		}
		s.Wait(10 * time.Second)
		n, had, errno := r.TryReceive(b[:], &from)
		after := time.Now()
		if errno != 0 || string(b[:n]) != sent[:min(len(sent), len(b))] || AddrPort(&from) != addr {
			t.Fatalf("%q from %v, %v", b[:n], AddrPort(&from), errno)
		}
		// UnixNano, since the kernel's clock is the system's and not Go's monotonic one.
		if ns := had.UnixNano(); ns < before.UnixNano() || ns > after.UnixNano() {
			t.Errorf("stamped %v, sent after %v and received before %v", had, before, after)
		}
	}
	if n := testing.AllocsPerRun(100, func() { _, _, _ = r.TryReceive(b[:], &from) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
