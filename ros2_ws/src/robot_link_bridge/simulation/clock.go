package simulation

// clock is a party's own monotonic clock: it drifts against true time, and may jump ahead. Both are in
// microseconds; true time starts at 0.
type clock struct {
	ppm     int64 // parts per million faster than true time
	trueAt  int64 // the two
	localAt int64 // that belong together

	leapt  bool
	leapAt int64 // true time of the last leap, if leapt
}

func (c *clock) local(now int64) int64 {
	passed := now - c.trueAt
	return c.localAt + passed + passed*c.ppm/1e6
}

// when is the first true time at which the clock shows local, or later.
func (c *clock) when(local int64) int64 {
	t := c.trueAt + (local-c.localAt)*1e6/(1e6+c.ppm)
	for c.local(t) < local {
		t++
	}
	return t
}

// jump moves the clock ahead.
func (c *clock) jump(now, by int64) {
	c.localAt, c.trueAt = c.local(now)+by, now
	c.leapt, c.leapAt = true, now
}
