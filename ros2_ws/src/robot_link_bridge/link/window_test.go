package link

import (
	"math"
	"testing"
)

func TestEachSequenceNumberIsNewLateOrDuplicateAlsoAcrossItsWrap(t *testing.T) {
	type step struct {
		ahead   int // of the first number
		verdict seqVerdict
		skipped uint32
	}
	steps := []step{
		{0, seqNew, 0},
		{0, seqDuplicate, 0},
		{-1, seqDuplicate, 0}, // before the first: nobody's loss
		{-63, seqDuplicate, 0},
		{1, seqNew, 0},
		{1, seqDuplicate, 0},
		{5, seqNew, 3},
		{3, seqLate, 0},
		{3, seqDuplicate, 0},
		{68, seqNew, 62},
		{4, seqDuplicate, 0}, // 64 behind: too old to know
		{6, seqLate, 0},      // 62 behind
		{5, seqDuplicate, 0},
		{68 + math.MaxInt32, seqNew, math.MaxInt32 - 1},
		{68, seqDuplicate, 0},
	}
	for _, first := range []uint32{1, math.MaxInt32, math.MaxUint32, math.MaxUint32 - 2, 0} {
		var w seqWindow
		for i, s := range steps {
			if verdict, skipped := w.take(first + uint32(s.ahead)); verdict != s.verdict || skipped != s.skipped {
				t.Errorf("from %d, step %d: %v, %d skipped", first, i, verdict, skipped)
			}
		}
	}
}
