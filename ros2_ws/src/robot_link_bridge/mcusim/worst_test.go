package mcusim

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"robot_link/firmware/app"
)

// BenchmarkControlStepWorst times each control step of a robot that drives about, and reports the slowest, in us. What
// runs on the same core can take any step its milliseconds; but the firmware is deterministic, so the same life is
// lived again and again, and of each step the fastest run counts: what is slow each time is slow by itself. The plain
// maximum and the 99.9th percentile are there too.
func BenchmarkControlStepWorst(b *testing.B) {
	const steps, lives = 100_000, 100
	cfg := app.DefaultRobot()
	fastest := make([]time.Duration, steps)
	all := make([]time.Duration, 0, steps*lives)
	for b.Loop() {
		for i := range fastest {
			fastest[i] = math.MaxInt64
		}
		all = all[:0]
		var end pose
		for life := range lives {
			r := newRig(b, cfg, PlantOf(cfg), 1)
			rng := rand.New(rand.NewPCG(1, 1))
			r.Drive(0, 0, 0, 50)
			r.Flags = driven
			for i := range steps {
				if i%500 == 0 {
					r.Cmd = [3]float32{rng.Float32()*4 - 2, rng.Float32()*2 - 1, rng.Float32()*6 - 3}
				}
				if r.Now/stepUs%benchCmdMs == 0 {
					r.send(r.Flags)
				}
				r.Now += stepUs
				r.Robot.moveUntil(r.Now)
				s := r.Plant.Sensors()
				in := app.Inputs{Count: s.Count, Current: s.Current, BatteryMv: s.BatteryMv}
				began := time.Now()
				r.Core.Control(r.Now, &in, &r.Robot.out)
				took := time.Since(began)
				fastest[i] = min(fastest[i], took)
				all = append(all, took)
			}
			x, y, yaw := r.Core.Pose()
			if now := (pose{x, y, yaw}); life > 0 && now != end {
				b.Fatalf("lives differ: %v, %v", now, end)
			} else if end = now; r.Core.ActiveFault() != 0 {
				b.Fatalf("fault %d", r.Core.ActiveFault())
			}
		}
	}
	slices.Sort(all)
	us := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }
	b.ReportMetric(us(slices.Max(fastest)), "us-worst")
	b.ReportMetric(us(all[len(all)*999/1000]), "us-p99.9")
	b.ReportMetric(us(all[len(all)-1]), "us-max-with-machine")
	b.ReportMetric(0, "ns/op")
}

// pose is where a life ends: m, m, rad.
type pose struct{ x, y, yaw float64 }
