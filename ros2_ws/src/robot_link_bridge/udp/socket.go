// Package udp is a UDP socket for threads that keep time: blocking system calls on a locked OS thread, no
// netpoller, no allocation after Open. Both ends use it, the link's two threads and the virtual MCU. IPv4, Linux.
package udp

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"
	"unsafe"

	"go.uber.org/multierr"
	"golang.org/x/sys/unix"
)

// receiveTimeout bounds how long Receive blocks, so that its thread notices when it is to end.
const receiveTimeout = 100 * time.Millisecond

// dscpEF marks packets for expedited forwarding, where a switch or a Wi-Fi queue looks at that.
const dscpEF = 0xb8

// Socket is a bound UDP socket. One thread may send while another receives.
type Socket struct{ fd int }

// Address is a peer as the kernel writes it.
type Address = unix.RawSockaddrInet4

// Open binds a socket to [ADDRESS]:PORT. Its errors say what to do about them.
func Open(bind string) (Socket, error) {
	addr, err := bindAddr(bind)
	if err != nil {
		return Socket{}, err
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return Socket{}, fmt.Errorf("open a UDP socket: %w", err)
	}
	timeout := unix.NsecToTimeval(int64(receiveTimeout))
	if err := multierr.Combine(
		unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &timeout),
		// The socket is not connected, so that strangers are counted; IP_RECVERR gives a refused port even so.
		unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_RECVERR, 1),
		unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_TOS, dscpEF),
	); err != nil {
		unix.Close(fd)
		return Socket{}, fmt.Errorf("set up the UDP socket: %w", err)
	}
	if err := unix.Bind(fd, &unix.SockaddrInet4{Port: int(addr.Port()), Addr: addr.Addr().As4()}); err != nil {
		unix.Close(fd)
		return Socket{}, bindError(bind, addr, err)
	}
	return Socket{fd: fd}, nil
}

func bindAddr(bind string) (netip.AddrPort, error) {
	a, err := net.ResolveUDPAddr("udp4", bind)
	if err != nil {
		return netip.AddrPort{}, fmt.Errorf("bind address %q: want [ADDRESS]:PORT, for example :5001 (%w)", bind, err)
	}
	ip := netip.IPv4Unspecified()
	if a.IP != nil {
		ip, _ = netip.AddrFromSlice(a.IP.To4())
	}
	return netip.AddrPortFrom(ip, uint16(a.Port)), nil
}

func bindError(bind string, addr netip.AddrPort, err error) error {
	switch {
	case errors.Is(err, unix.EADDRINUSE):
		return fmt.Errorf("UDP port %d is in use: stop the program that has it (ss -ulpn 'sport = :%d'), or choose another port", addr.Port(), addr.Port())
	case errors.Is(err, unix.EADDRNOTAVAIL):
		return fmt.Errorf("no interface of this machine has the address %s: use one that it has (ip -4 addr), or :%d for all", addr.Addr(), addr.Port())
	case errors.Is(err, unix.EACCES):
		return fmt.Errorf("UDP port %d needs privileges: choose one above 1023", addr.Port())
	}
	return fmt.Errorf("bind %s: %w", bind, err)
}

// Close closes the socket. No other call may be running.
func (s Socket) Close() { unix.Close(s.fd) }

// LocalPort is the bound port, which the kernel chose if the bind address said 0.
func (s Socket) LocalPort() int {
	sa, err := unix.Getsockname(s.fd)
	if err != nil {
		return 0
	}
	return sa.(*unix.SockaddrInet4).Port
}

// Send never blocks: a CMD that finds no room is worth less than the next one.
func (s Socket) Send(b []byte, to *Address) unix.Errno {
	_, _, errno := unix.Syscall6(unix.SYS_SENDTO, uintptr(s.fd),
		uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)), unix.MSG_DONTWAIT,
		uintptr(unsafe.Pointer(to)), unix.SizeofSockaddrInet4)
	return errno
}

// Receive blocks for up to receiveTimeout. A datagram longer than b is cut, and then as wrong as it was.
func (s Socket) Receive(b []byte, from *Address) (int, unix.Errno) {
	return s.receive(b, from, 0)
}

func (s Socket) receive(b []byte, from *Address, flags uintptr) (int, unix.Errno) {
	size := uint32(unix.SizeofSockaddrInet4)
	n, _, errno := unix.Syscall6(unix.SYS_RECVFROM, uintptr(s.fd),
		uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)), flags,
		uintptr(unsafe.Pointer(from)), uintptr(unsafe.Pointer(&size)))
	return int(n), errno
}

// TryReceive is Receive without waiting: EAGAIN when nothing is there.
func (s Socket) TryReceive(b []byte, from *Address) (int, unix.Errno) {
	return s.receive(b, from, unix.MSG_DONTWAIT)
}

// Wait returns when something is there to receive, or after a timeout, whichever comes first.
func (s Socket) Wait(timeout time.Duration) {
	if timeout <= 0 {
		return
	}
	fds := [1]unix.PollFd{{Fd: int32(s.fd), Events: unix.POLLIN}}
	ts := unix.NsecToTimespec(int64(timeout))
	_, _ = unix.Ppoll(fds[:], &ts, nil) // an interrupted or failed wait is a short one
}

// DrainErrors empties the queue that IP_RECVERR fills, which would otherwise count against the receive
// buffer until nothing fits in any more.
func (s Socket) DrainErrors() {
	var scratch [256]byte
	for range 64 {
		if _, _, _, _, err := unix.Recvmsg(s.fd, scratch[:], scratch[:], unix.MSG_ERRQUEUE|unix.MSG_DONTWAIT); err != nil {
			return
		}
	}
}

// Raw is a in the kernel's form.
func Raw(a netip.AddrPort) Address {
	p := a.Port()
	return Address{Family: unix.AF_INET, Port: p<<8 | p>>8, Addr: a.Addr().As4()}
}

// AddrPort is r in Go's form.
func AddrPort(r *Address) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4(r.Addr), r.Port<<8|r.Port>>8)
}
