package udp

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"sync/atomic"
	"time"
)

// resolveEvery is how often a name is looked up while the MCU does not answer.
const resolveEvery = 2 * time.Second

// Resolver knows where the MCU is. An address is known at once; a name is looked up, and again while the MCU
// does not answer: it may have come back under another address. Its methods may be called from any goroutine.
type Resolver struct {
	host  string
	port  uint16
	found *atomic.Pointer[netip.AddrPort]
	err   *atomic.Pointer[error]
}

// NewResolver takes HOST:PORT. A name that does not resolve is no error, see Run.
func NewResolver(mcu string) (Resolver, error) {
	host, portText, err := net.SplitHostPort(mcu)
	if err != nil || host == "" {
		return Resolver{}, fmt.Errorf("MCU address %q: want HOST:PORT, for example 192.168.10.2:5000", mcu)
	}
	port, err := strconv.ParseUint(portText, 10, 16)
	if err != nil || port == 0 {
		return Resolver{}, fmt.Errorf("MCU address %q: %q is not a port (1 to 65535)", mcu, portText)
	}
	r := Resolver{host: host, port: uint16(port), found: new(atomic.Pointer[netip.AddrPort]), err: new(atomic.Pointer[error])}
	if ip, err := netip.ParseAddr(host); err == nil {
		if ip = ip.Unmap(); !ip.Is4() {
			return Resolver{}, fmt.Errorf("MCU address %q: the link speaks IPv4", mcu)
		}
		at := netip.AddrPortFrom(ip, r.port)
		r.found.Store(&at)
		r.host = ""
	}
	return r, nil
}

// Addr is where packets go; not valid while the name is not resolved.
func (r Resolver) Addr() netip.AddrPort {
	if a := r.found.Load(); a != nil {
		return *a
	}
	return netip.AddrPort{}
}

// Trouble says why Addr is not valid, "" when it is or nothing is known yet.
func (r Resolver) Trouble() string {
	if r.Addr().IsValid() {
		return ""
	}
	if err := r.err.Load(); err != nil {
		return fmt.Sprintf("the MCU's name %q does not resolve: %v", r.host, *err)
	}
	return ""
}

// Run looks the name up until ctx ends: until it resolves, and whenever isDown says that nobody answers there.
func (r Resolver) Run(ctx context.Context, isDown func() bool) {
	if r.host == "" {
		<-ctx.Done()
		return
	}
	again := time.NewTicker(resolveEvery)
	defer again.Stop()
	for {
		if !r.Addr().IsValid() || isDown() {
			r.lookup(ctx)
		}
		select {
		case <-ctx.Done():
			return
		case <-again.C:
		}
	}
}

func (r Resolver) lookup(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, resolveEvery)
	defer cancel()
	ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip4", r.host)
	if err != nil || len(ips) == 0 {
		r.err.Store(&err)
		return
	}
	at := netip.AddrPortFrom(ips[0].Unmap(), r.port)
	r.found.Store(&at)
}
