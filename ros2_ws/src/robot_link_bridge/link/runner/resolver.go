package runner

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"sync/atomic"
	"time"
)

// resolveEvery is how often a name is looked up while the link is down.
const resolveEvery = 2 * time.Second

// resolver knows where the MCU is. An address is known at once; a name is looked up, and again while the
// link is down: the MCU may have come back under another address.
type resolver struct {
	host  string
	port  uint16
	found *atomic.Pointer[netip.AddrPort]
	err   *atomic.Pointer[error]
}

func newResolver(mcu string) (resolver, error) {
	host, portText, err := net.SplitHostPort(mcu)
	if err != nil || host == "" {
		return resolver{}, fmt.Errorf("MCU address %q: want HOST:PORT, for example 192.168.10.2:5000", mcu)
	}
	port, err := strconv.ParseUint(portText, 10, 16)
	if err != nil || port == 0 {
		return resolver{}, fmt.Errorf("MCU address %q: %q is not a port (1 to 65535)", mcu, portText)
	}
	r := resolver{host: host, port: uint16(port), found: new(atomic.Pointer[netip.AddrPort]), err: new(atomic.Pointer[error])}
	if ip, err := netip.ParseAddr(host); err == nil {
		if ip = ip.Unmap(); !ip.Is4() {
			return resolver{}, fmt.Errorf("MCU address %q: the link speaks IPv4", mcu)
		}
		at := netip.AddrPortFrom(ip, r.port)
		r.found.Store(&at)
		r.host = ""
	}
	return r, nil
}

func (r resolver) addr() netip.AddrPort {
	if a := r.found.Load(); a != nil {
		return *a
	}
	return netip.AddrPort{}
}

func (r resolver) trouble() string {
	if r.addr().IsValid() {
		return ""
	}
	if err := r.err.Load(); err != nil {
		return fmt.Sprintf("the MCU's name %q does not resolve: %v", r.host, *err)
	}
	return ""
}

// run looks the name up until ctx ends.
func (r resolver) run(ctx context.Context, linkIsDown func() bool) {
	if r.host == "" {
		<-ctx.Done()
		return
	}
	again := time.NewTicker(resolveEvery)
	defer again.Stop()
	for {
		if !r.addr().IsValid() || linkIsDown() {
			r.lookup(ctx)
		}
		select {
		case <-ctx.Done():
			return
		case <-again.C:
		}
	}
}

func (r resolver) lookup(ctx context.Context) {
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
