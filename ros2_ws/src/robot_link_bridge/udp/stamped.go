package udp

import (
	"fmt"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Stamped receives datagrams together with when the kernel had them. Make one for each thread with Socket.Stamped; its
// buffers are its own, so that nothing allocates.
type Stamped struct {
	fd      int
	from    Address
	part    unix.Iovec
	message unix.Msghdr
	control [64]byte // one timestamp with its header is 32 bytes
}

// Stamped asks the kernel to stamp what arrives (SO_TIMESTAMPNS): in software, when the driver hands it over.
func (s Socket) Stamped() (*Stamped, error) {
	if err := unix.SetsockoptInt(s.fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1); err != nil {
		return nil, fmt.Errorf("ask for receive timestamps: %w", err)
	}
	return &Stamped{fd: s.fd}, nil
}

// TryReceive is Socket.TryReceive, and tells when the kernel had the datagram, by the system's clock (CLOCK_REALTIME),
// which may be stepped; the zero time if it did not say.
func (r *Stamped) TryReceive(b []byte, from *Address) (n int, had time.Time, errno unix.Errno) {
	r.part.Base = unsafe.SliceData(b)
	r.part.SetLen(len(b))
	r.message = unix.Msghdr{Name: (*byte)(unsafe.Pointer(&r.from)), Namelen: unix.SizeofSockaddrInet4, Iov: &r.part, Control: &r.control[0]}
	r.message.SetIovlen(1)
	r.message.SetControllen(len(r.control))
	got, _, errno := unix.Syscall(unix.SYS_RECVMSG, uintptr(r.fd), uintptr(unsafe.Pointer(&r.message)), unix.MSG_DONTWAIT)
	if errno != 0 {
		return 0, time.Time{}, errno
	}
	*from = r.from
	return int(got), r.stamp(), 0
}

// stamp reads the first control message: no other kind was asked for.
func (r *Stamped) stamp() time.Time {
	var ts unix.Timespec
	if uint64(r.message.Controllen) < uint64(unix.CmsgLen(int(unsafe.Sizeof(ts)))) {
		return time.Time{}
	}
	h := (*unix.Cmsghdr)(unsafe.Pointer(&r.control[0]))
	if h.Level != unix.SOL_SOCKET || h.Type != unix.SO_TIMESTAMPNS {
		return time.Time{}
	}
	copy(unsafe.Slice((*byte)(unsafe.Pointer(&ts)), unsafe.Sizeof(ts)), r.control[unix.CmsgLen(0):])
	return time.Unix(ts.Unix())
}
