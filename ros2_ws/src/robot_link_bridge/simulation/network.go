package simulation

import (
	"math/rand/v2"
	"net/netip"
)

const us, ms, second = int64(1), int64(1000), int64(1_000_000)

// conditions is what one direction between a host and an MCU is like.
type conditions struct {
	loss    uint32 // of a million
	burst   uint32 // of a million: the chance that a burst begins in which all is lost
	burstN  int32  // datagrams that the longest burst takes
	dup     uint32 // of a million
	corrupt uint32 // of a million
	reorder uint32 // of a million: the chance to be held back by up to late
	late    int64  // us
	delay   int64  // us
	jitter  int64  // us
	cut     bool   // partition
	held    int64  // until this true time everything waits in a queue somewhere
}

func clean() conditions { return conditions{delay: 50 * us, jitter: 100 * us} }

// path is one direction, with its own random numbers, so that what happens on it depends on nothing else.
type path struct {
	conditions
	rng      *rand.PCG
	inBurst  int32
	released int64 // arrival of the last datagram that a queue held back: queues keep order

	sent, lost, extra, arrived uint64
}

// below reports something with a chance of n in a million.
func (p *path) below(n uint32) bool { return n > 0 && uint32(p.rng.Uint64()>>32)%1_000_000 < n }

// upTo is a random number from 0 to n - 1.
func (p *path) upTo(n int64) int64 {
	if n <= 0 {
		return 0
	}
	return int64(p.rng.Uint64()>>1) % n
}

// datagram is one on its way, and what only the simulation knows about it.
type datagram struct {
	b    [maxDatagram]byte
	n    int32
	from netip.AddrPort
	to   netip.AddrPort
	path *path

	sentAt      int64  // true time
	bornAt      int64  // when the planner spoke the motion in it, if motion is set
	motion      bool   // a CMD with MOTION_VALID from one of our hosts
	harmed      bool   // its bytes are not those that were sent
	host        int32  // who sent it,
	incarnation int32  // which start of it,
	id          uint64 // and which of its CMDs it is
	nextFree    int32
}

const maxDatagram = 128 // the longest packet, and room to grow by corruption

// corruptBytes damages a datagram in a way that the CRC always finds (1 to 3 bits anywhere, or a burst of up to 16
// before the CRC itself: it is stored low byte first, so that a burst across its border may pass), or cuts or
// extends it.
func (p *path) corruptBytes(d *datagram) {
	was, n := d.b, d.n
	defer func() { d.harmed = d.n != n || d.b != was }() // the same bit twice harms nothing
	switch p.upTo(6) {
	case 0:
		d.n = int32(p.upTo(int64(d.n)))
	case 1:
		grow := int32(1 + p.upTo(16))
		for i := d.n; i < d.n+grow; i++ {
			d.b[i] = byte(p.rng.Uint64())
		}
		d.n += grow
	case 2:
		first := p.upTo(int64(d.n)*8 - 32)
		pattern := p.rng.Uint64() | 1
		for i := range int64(16) {
			if pattern>>i&1 != 0 {
				d.b[(first+i)/8] ^= 1 << (7 - (first+i)%8) // in the order of the CRC
			}
		}
	default:
		for range 1 + p.upTo(3) {
			bit := p.upTo(int64(d.n) * 8)
			d.b[bit/8] ^= 1 << (bit % 8)
		}
	}
}

// send puts a datagram on its way: none, one or two arrivals.
func (w *world) send(d *datagram, kind eventKind, to int32) {
	p := d.path
	p.sent++
	if p.cut || p.below(p.loss) {
		p.lost++
		return
	}
	if p.inBurst > 0 {
		p.inBurst--
		p.lost++
		return
	}
	if p.below(p.burst) {
		p.inBurst = int32(p.upTo(int64(p.burstN)))
		p.lost++
		return
	}
	copies := 1
	if p.below(p.dup) {
		copies = 2
		p.extra++
	}
	for range copies {
		at := w.now + p.delay + p.upTo(p.jitter)
		if p.below(p.reorder) {
			at += p.upTo(p.late)
		}
		if at < p.held {
			at = max(p.held, p.released) + 1
			p.released = at
		}
		i := w.pool.take()
		c := &w.pool.all[i]
		*c = *d
		if p.below(p.corrupt) {
			p.corruptBytes(c)
		}
		w.events.push(event{at: at, kind: kind, to: to, arg: i})
	}
}

// pool keeps the datagrams that are on their way.
type pool struct {
	all  []datagram
	free int32 // 1 + the first free one
	used int
}

func (p *pool) take() int32 {
	p.used++
	if p.free == 0 {
		p.all = append(p.all, datagram{})
		return int32(len(p.all) - 1)
	}
	i := p.free - 1
	p.free = p.all[i].nextFree
	return i
}

func (p *pool) release(i int32) {
	p.used--
	p.all[i].nextFree, p.free = p.free, i+1
}
