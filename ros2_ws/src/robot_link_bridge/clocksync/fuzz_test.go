package clocksync

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"
	"time"
)

// FuzzHonest plays an honest MCU behind any network: the truth is within every bound.
func FuzzHonest(f *testing.F) {
	f.Add(uint64(1), uint16(100), uint16(100), uint16(50), uint8(0), int8(100), int8(-100))
	f.Add(uint64(2), uint16(60000), uint16(0), uint16(9000), uint8(120), int8(-100), int8(100))
	f.Fuzz(func(t *testing.T, seed uint64, upUs, downUs, jitterUs uint16, loss uint8, hostPPM, mcuPPM int8) {
		w := newWorld(t)
		w.mcu = float64(int64(seed>>40)) * 1e3
		w.run(rand.New(rand.NewPCG(seed, 0)), &network{
			base: [2]time.Duration{time.Duration(upUs) * us, time.Duration(downUs) * us}, jitter: time.Duration(jitterUs) * us,
			loss: float64(loss) / 256, hostPPM: 3 * float64(hostPPM), mcuPPM: 3 * float64(mcuPPM), wander: seed%2 == 0,
		}, 2*time.Second)
	})
}

// FuzzHostile plays an MCU that says anything. The host's clock is honest: stamps never go back, and never into the
// future.
func FuzzHostile(f *testing.F) {
	f.Add(make([]byte, 18*20))
	f.Fuzz(func(t *testing.T, script []byte) {
		var s Sync
		now, last := time.Hour, time.Duration(0)
		for ; len(script) >= 18; script = script[18:] {
			a, b := binary.LittleEndian.Uint64(script), binary.LittleEndian.Uint64(script[8:])
			passed := time.Duration(script[17]) * ms
			if script[16]%2 == 0 {
				s.Add(Sample{Sent: now, MCURx: a, MCUTx: b, Received: now + passed})
				now += passed
				continue
			}
			now += passed
			got := s.Stamp(a, now)
			if got.At < last || got.At > now || got.Synced && got.Bound <= 0 {
				t.Fatalf("%+v at %v, after %v", got, now, last)
			}
			last = got.At
			if status := s.Status(now); status.Bound < got.Bound {
				t.Fatalf("%+v after %+v", status, got)
			}
		}
	})
}
