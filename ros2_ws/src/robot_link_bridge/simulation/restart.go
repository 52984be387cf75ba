package simulation

import (
	"math/rand/v2"
)

// Restart measures, for a host that is killed in motion and started again at once over a network that loses
// a share of the datagrams (of a million) each way, how long it takes until the robot may move on its word
// again. It returns -1 if that did not happen within limit. Times are in us.
func Restart(seed uint64, loss uint32, limit int64) int64 {
	const killAt = second
	w := &world{script: Script{Seed: seed, MCUs: 1, Hosts: 1}, rng: rand.New(rand.NewPCG(seed, 3)), calmAt: -1}
	w.build()
	h, m := w.hosts[0], w.mcus[0]
	killed := false
	for w.failure == nil && len(w.events.heap) > 0 {
		e := w.events.pop()
		w.now = e.at
		if !killed && w.now >= killAt {
			killed = true
			h.kill()
			h.up.loss, h.down.loss = loss, loss
			h.start()
			m.moveAt = -1
		}
		w.happen(&e)
		if killed && m.moveAt >= 0 && m.lastFrom[0].incarnation == h.incarnation {
			return m.moveAt - killAt
		}
		if w.now > killAt+limit {
			break
		}
	}
	return -1
}
