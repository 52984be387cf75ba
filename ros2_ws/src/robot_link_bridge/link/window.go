package link

type seqVerdict uint8

const (
	seqNew       seqVerdict = iota // ahead of all before
	seqLate                        // not seen before, but overtaken
	seqDuplicate                   // seen, or too old to know
)

// seqWindow judges sequence numbers, as they wrap, against the last 64. The zero value is ready.
type seqWindow struct {
	started bool
	last    uint32
	seen    uint64 // bit i: last - i was seen
}

// take judges seq, and for a new one says how many were skipped to get there.
func (w *seqWindow) take(seq uint32) (verdict seqVerdict, skipped uint32) {
	if !w.started {
		// What was before the first is nobody's loss: it went to the last session.
		*w = seqWindow{started: true, last: seq, seen: ^uint64(0)}
		return seqNew, 0
	}
	ahead := seq - w.last
	if int32(ahead) > 0 {
		w.seen = w.seen<<ahead | 1 // Go shifts by 64 and more to zero
		w.last = seq
		return seqNew, ahead - 1
	}
	behind := w.last - seq
	if behind >= 64 || w.seen&(1<<behind) != 0 {
		return seqDuplicate, 0
	}
	w.seen |= 1 << behind
	return seqLate, 0
}
