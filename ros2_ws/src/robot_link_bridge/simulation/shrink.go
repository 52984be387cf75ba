package simulation

import (
	"slices"

	"robot_link/firmware/app"
)

// shrinkRuns bounds how often Shrink runs a script: some seconds.
const shrinkRuns = 2000

// Shrink takes lines out of a script that fails as long as it fails, so that a short story is left. It may
// end with another failure than the one that it began with: a fault is a fault.
func Shrink(f *Failure) *Failure {
	best := f
	runs := 0
	fails := func(s Script) *Failure {
		runs++
		return Run(s, nil)
	}
	// Halves first, then smaller and smaller pieces (Zeller's delta debugging).
	for size := (len(best.Script.Lines) + 1) / 2; size >= 1; {
		shorter := false
		for at := 0; at < len(best.Script.Lines) && runs < shrinkRuns; {
			s := best.Script
			s.Lines = slices.Delete(slices.Clone(s.Lines), at, min(at+size, len(s.Lines)))
			if g := fails(s); g != nil {
				best, shorter = g, true
			} else {
				at += size
			}
		}
		if !shorter || size > len(best.Script.Lines) {
			size /= 2
		}
	}
	for _, simpler := range []func(*Script){
		func(s *Script) { s.OneAddress = false }, func(s *Script) { s.NearWrap = false }, func(s *Script) { s.Drive = app.DriveNone },
		func(s *Script) { s.Hosts = max(1, s.MCUs) }, func(s *Script) { s.MCUs = 1 }, func(s *Script) { s.Hosts = 1 },
	} {
		s := best.Script
		if simpler(&s); s.Hosts >= s.MCUs {
			if g := fails(s); g != nil {
				best = g
			}
		}
	}
	return best
}
