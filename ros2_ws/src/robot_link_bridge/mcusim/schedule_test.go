package mcusim

import "testing"

func TestScheduleIsAbsolute(t *testing.T) {
	d := schedule{next: 1000, period: 1000}
	for _, c := range []struct {
		now, at uint64
		ok      bool
	}{
		{999, 0, false},
		{1000, 1000, true},
		{1000, 0, false},
		{2400, 2000, true},     // late, but no later for it
		{2999, 0, false},       //
		{5500, 3000, true},     // three are due: each at its time
		{5500, 4000, true},     //
		{5500, 5000, true},     //
		{5500, 0, false},       //
		{600000, 600000, true}, // stopped for long: one late step
		{600000, 0, false},
		{601000, 601000, true},
	} {
		if at, ok := d.due(c.now); at != c.at || ok != c.ok {
			t.Fatalf("at %d: %d, %v; want %d, %v", c.now, at, ok, c.at, c.ok)
		}
	}
}
