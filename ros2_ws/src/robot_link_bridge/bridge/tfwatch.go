package bridge

import (
	"maps"

	"robot_link/ros2_ws/src/robot_link_bridge/rosbus"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/msgs"
)

// tfLooks is how many looks there are for each during which /tf is listened to, as long as its publishers are the
// same. To listen all the time would take 2 % of a core where the others send 200 Hz of 20 transforms; and Cyclone DDS
// 0.10 keeps some 300 bytes of every subscription that was.
const tfLooks = 30

// tfWatch listens to /tf now and then, from one look to the next, for those that publish a transform to a frame.
type tfWatch struct {
	sub     *rosbus.Subscription    // open while it listens
	hearing map[rosbus.GID]string   // its callback's, while it is open
	parents map[rosbus.GID]string   // of the frame, by who publishes it, as last heard
	others  map[rosbus.GID]struct{} // the publishers it has listened to
	looks   int                     // since it began to listen
}

// look ends to listen, or begins if it is time. pubs are the publishers of /tf.
func (w *tfWatch) look(bus rosbus.Bus, frame string, pubs []rosbus.Endpoint) error {
	if w.sub != nil {
		w.close()
		w.parents = w.hearing
	}
	w.looks++
	own, others := false, map[rosbus.GID]struct{}{}
	for i := range pubs {
		if pubs[i].Own {
			own = true
		} else {
			others[pubs[i].GID] = struct{}{}
		}
	}
	if !own {
		w.parents = nil
	}
	if !own || len(others) == 0 || (w.looks < tfLooks && maps.Equal(others, w.others)) {
		return nil
	}
	w.others, w.looks = others, 0
	hearing := map[rosbus.GID]string{}
	w.hearing = hearing
	var err error
	w.sub, err = rosbus.SubscribeFrom(bus, "/tf", rosbus.QoS{Depth: 100}, func(m *msgs.TFMessage, from rosbus.GID) {
		for i := range m.Transforms {
			if t := &m.Transforms[i]; t.ChildFrameID == frame {
				hearing[from] = t.Header.FrameID
			}
		}
	})
	return err
}

// close waits for the callback.
func (w *tfWatch) close() {
	if w.sub != nil {
		_ = w.sub.Close() // it goes with the bus at the latest
		w.sub = nil
	}
}
