package msgs_test

import (
	"testing"
	"time"

	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/msgs"
)

func TestTimeConvertsBothWays(t *testing.T) {
	for _, c := range []struct {
		in   time.Time
		want msgs.Time
	}{
		{time.Unix(0, 0), msgs.Time{}},
		{time.Unix(1796000000, 123456789), msgs.Time{Sec: 1796000000, Nanosec: 123456789}},
		{time.Unix(-1, 1), msgs.Time{Sec: -1, Nanosec: 1}},
		{time.Unix(1<<31-1, 999999999), msgs.Time{Sec: 1<<31 - 1, Nanosec: 999999999}},
	} {
		got := msgs.TimeOf(c.in)
		if got != c.want || !got.Go().Equal(c.in) {
			t.Errorf("TimeOf(%v) = %+v, back %v, want %+v", c.in, got, got.Go(), c.want)
		}
	}
	if got := msgs.TimeOf(time.Unix(1<<31, 0)); got != (msgs.Time{Sec: 1<<31 - 1, Nanosec: 999999999}) {
		t.Errorf("past the end: %+v", got)
	}
	if got := msgs.TimeOf(time.Unix(-1<<31-1, 5)); got != (msgs.Time{Sec: -1 << 31}) {
		t.Errorf("before the start: %+v", got)
	}
}
