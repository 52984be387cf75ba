package bridge

import (
	"sync"
	"time"

	"robot_link/ros2_ws/src/robot_link_bridge/link"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus"
)

// silence is how long a source is silent when it counts as one that does not send.
const silence = 2 * time.Second

// sources measures how often each publisher of a topic is heard. The zero value is ready; heard and rates may be
// called from different goroutines.
type sources struct {
	mu sync.Mutex
	by map[rosbus.GID]*source
}

// source has messages counted since an instant at which one came, so that the rate does not depend on when it is
// asked for.
type source struct {
	since, last link.Time
	messages    int // after since
	rate        float32
}

func (s *sources) heard(from rosbus.GID, now link.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.by == nil {
		s.by = make(map[rosbus.GID]*source)
	}
	f := s.by[from]
	if f == nil || now-f.last > silence {
		s.by[from] = &source{since: now, last: now}
		return
	}
	f.last = now
	f.messages++
}

// rates tells the rate of each that sends, in Hz, as measured since the last call. Those that are silent are
// forgotten.
func (s *sources) rates(now link.Time) map[rosbus.GID]float32 {
	s.mu.Lock()
	defer s.mu.Unlock()
	rates := make(map[rosbus.GID]float32, len(s.by))
	for from, f := range s.by {
		if now-f.last > silence {
			delete(s.by, from)
			continue
		}
		if f.last > f.since {
			f.rate = float32(float64(f.messages) / (f.last - f.since).Seconds())
			f.since, f.messages = f.last, 0
		}
		rates[from] = f.rate
	}
	return rates
}
