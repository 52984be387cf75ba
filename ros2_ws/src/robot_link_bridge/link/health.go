package link

import "time"

// The last second, as sums over tenths of it: cheap enough for every packet, and old trouble leaves by itself.
// The first is the tenth that is running.
const (
	buckets    = 1 + 10
	bucketTime = 100 * time.Millisecond
)

type rolling struct{ sum [buckets]uint32 }

func (r *rolling) add(n uint32) { r.sum[0] += n }

// shift makes room for the next tenth.
func (r *rolling) shift() {
	copy(r.sum[1:], r.sum[:buckets-1])
	r.sum[0] = 0
}

func (r *rolling) total() (n uint32) {
	for _, v := range r.sum {
		n += v
	}
	return n
}

// rate is the sum over the last whole second.
func (r *rolling) rate() float32 { return float32(r.total() - r.sum[0]) }

// roundTrips keeps the samples of the last second at 100 Hz, with some room.
const roundTripSamples = 128

type roundTripSample struct {
	at Time
	rt time.Duration
}

// health is what the last second was like.
type health struct {
	bucketAt Time

	cmdSent, received, lost, late rolling

	samples [roundTripSamples]roundTripSample
	next    int

	staleShown bool
	staleSince Time
}

// newSession forgets what belonged to the last session. Rates run on.
func (h *health) newSession() {
	h.lost, h.late = rolling{}, rolling{}
	h.samples = [roundTripSamples]roundTripSample{}
	h.staleShown = false
}

func (h *health) advance(now Time) {
	steps := int64(now-h.bucketAt) / int64(bucketTime)
	if steps <= 0 {
		return
	}
	h.bucketAt += Time(steps) * bucketTime
	for i := int64(0); i < min(steps, buckets); i++ {
		h.cmdSent.shift()
		h.received.shift()
		h.lost.shift()
		h.late.shift()
	}
}

func (h *health) addRoundTrip(now Time, rt time.Duration) {
	h.samples[h.next] = roundTripSample{at: now, rt: rt}
	h.next = (h.next + 1) % roundTripSamples
}

// worstRoundTrip is the largest of the last second, 0 when there was none.
func (h *health) worstRoundTrip(now Time) (worst time.Duration) {
	for i := range h.samples {
		if s := &h.samples[i]; s.at > now-time.Second && s.rt > worst {
			worst = s.rt
		}
	}
	return worst
}

// loss is the share of the last second's STATEs that did not come, 0 to 1.
func (h *health) loss() float32 {
	lost, late, got := h.lost.total(), h.late.total(), h.received.total()
	if late >= lost {
		return 0
	}
	lost -= late
	return float32(lost) / float32(lost+late+got)
}

func (h *health) stale(now Time, shown bool) {
	if shown && !h.staleShown {
		h.staleSince = now
	}
	h.staleShown = shown
}

func (h *health) staleFor(now Time) time.Duration {
	if !h.staleShown {
		return 0
	}
	return now - h.staleSince
}
