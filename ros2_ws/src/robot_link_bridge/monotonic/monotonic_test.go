package monotonic

import (
	"testing"
	"time"
)

func TestWallTellsTheSystemsTimeOfAnInstant(t *testing.T) {
	before, beforeWall := Now(), time.Now().Round(0)
	at := Now()
	afterWall, after := time.Now().Round(0), Now()
	wall := Wall(at)
	// The two clocks are read one after the other: as long as that took, they are unsure.
	if unsure := after - before; wall.Before(beforeWall.Add(-unsure)) || wall.After(afterWall.Add(unsure)) {
		t.Errorf("%v is %v, and between %v and %v", at, wall, beforeWall, afterWall)
	}
	if early := Wall(at - time.Hour); wall.Sub(early).Round(time.Millisecond) != time.Hour {
		t.Errorf("an hour before %v is %v", wall, early)
	}
}
