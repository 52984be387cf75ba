package bridge

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"robot_link/ros2_ws/src/robot_link_bridge/link"
	"robot_link/ros2_ws/src/robot_link_bridge/link/runner"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/msgs"
)

const (
	graphPeriod = time.Second
	// graphLooks is how many looks in a row must find a thing for it to be said: a node gets its name a little
	// after its publishers, and one source of cmd_vel may take over from another.
	graphLooks = 3
	// graphWarningsMax is how many warnings are told at a time.
	graphWarningsMax = 16
)

// graphTopics are those with ends that others may not match.
var graphTopics = []string{"cmd_vel", "odom", "/tf", "joint_states", "battery_state", "link/status", "/diagnostics"}

// graphCheck finds in the ROS graph what goes wrong in silence: ends of this node's topics that can't match,
// another publisher of its transform, and several nodes that command at a time. It names the nodes.
type graphCheck struct {
	bus    rosbus.Bus
	params func() *Params // in force
	cmdVel sources        // told by its callback

	inARow map[string]int // looks that found a thing, until now
	tf     tfWatch
	last   atomic.Pointer[graphReport]
}

// graphReport is what was found last. Nobody changes it.
type graphReport struct {
	warnings   []string // sorted
	commanders []commander
}

// commander is a node that publishes cmd_vel, with the rate at which it is heard in Hz; 0 if it is silent.
type commander struct {
	node string
	rate float32
}

func newGraphCheck(bus rosbus.Bus, params func() *Params) *graphCheck {
	g := &graphCheck{bus: bus, params: params}
	g.last.Store(&graphReport{})
	return g
}

// run looks until ctx ends. What keeps it from looking it tells to warn.
func (g *graphCheck) run(ctx context.Context, warn func(link.Time, error)) {
	every := time.NewTicker(graphPeriod)
	defer every.Stop()
	for {
		select {
		case <-ctx.Done():
			g.tf.close()
			return
		case <-every.C:
			now := runner.Now()
			if err := g.look(now); err != nil {
				warn(now, err)
			}
		}
	}
}

// look looks at the graph once.
func (g *graphCheck) look(now link.Time) error {
	var found []string
	var report graphReport
	for _, name := range graphTopics {
		topic, err := g.bus.Resolve(name)
		if err != nil {
			return err
		}
		pubs, err := g.bus.Publishers(name)
		if err != nil {
			return err
		}
		subs, err := g.bus.Subscriptions(name)
		if err != nil {
			return err
		}
		found = append(found, misfits(topic, pubs, subs)...)
		switch name {
		case "cmd_vel":
			report.commanders = commanders(pubs, subs, g.cmdVel.rates(now))
			found = append(found, contention(topic, report.commanders)...)
		case "/tf":
			if err := g.tf.look(g.bus, g.params().BaseFrameID, pubs); err != nil {
				return err
			}
			found = append(found, g.rivals(topic, pubs)...)
		}
	}
	report.warnings = g.settled(found)
	g.last.Store(&report)
	return nil
}

// settled are those of the findings that were found before as well.
func (g *graphCheck) settled(found []string) (list []string) {
	inARow := make(map[string]int, len(found))
	for _, text := range found {
		inARow[text] = g.inARow[text] + 1
	}
	g.inARow = inARow
	for text, looks := range inARow {
		if looks >= graphLooks {
			list = append(list, text)
		}
	}
	slices.Sort(list)
	return list[:min(len(list), graphWarningsMax)]
}

// misfits are the ends of others that this node's ends of a topic can't match.
func misfits(topic string, pubs, subs []rosbus.Endpoint) (list []string) {
	for i := range pubs {
		for j := range subs {
			pub, sub := &pubs[i], &subs[j]
			lacks := rosbus.Mismatch(pub, sub)
			switch {
			case pub.Own == sub.Own:
				// both of this node, or neither
			case sub.Own && pub.Type != sub.Type:
				list = append(list, fmt.Sprintf("%s: %s publishes %s, which is not heard here: %s", topic, nodeName(pub), pub.Type, typeAdvice(pub, sub)))
			case sub.Own && lacks != "":
				list = append(list, fmt.Sprintf("%s: %s does not offer %s, which is asked for here: it is not heard", topic, nodeName(pub), lacks))
			case pub.Own && pub.Type != sub.Type:
				list = append(list, fmt.Sprintf("%s: %s asks for %s, but it carries %s: it gets nothing", topic, nodeName(sub), sub.Type, pub.Type))
			case pub.Own && lacks != "":
				list = append(list, fmt.Sprintf("%s: %s asks for %s, which is not offered here: it gets nothing", topic, nodeName(sub), lacks))
			}
		}
	}
	return list
}

// typeAdvice is what to do about a publisher of another type.
func typeAdvice(pub, sub *rosbus.Endpoint) string {
	twist, stamped := msgs.Twist{}.ROSType(), msgs.TwistStamped{}.ROSType()
	switch {
	case pub.Type == stamped && sub.Type == twist:
		return "set use_stamped_vel to true"
	case pub.Type == twist && sub.Type == stamped:
		return "set use_stamped_vel to false"
	}
	return "publish " + sub.Type
}

// commanders are the nodes that can be heard on cmd_vel, by name.
func commanders(pubs, subs []rosbus.Endpoint, rates map[rosbus.GID]float32) (list []commander) {
	own := slices.IndexFunc(subs, func(e rosbus.Endpoint) bool { return e.Own })
	if own < 0 {
		return nil
	}
	byNode := map[string]float32{}
	for i := range pubs {
		if p := &pubs[i]; p.Type == subs[own].Type && rosbus.Mismatch(p, &subs[own]) == "" {
			byNode[nodeName(p)] += rates[p.GID]
		}
	}
	for _, node := range slices.Sorted(maps.Keys(byNode)) {
		list = append(list, commander{node, byNode[node]})
	}
	return list
}

// contention says which nodes command at the same time, if several do.
func contention(topic string, all []commander) []string {
	var sending []string
	for _, c := range all {
		if c.rate > 0 {
			sending = append(sending, c.node)
		}
	}
	if len(sending) < 2 {
		return nil
	}
	return []string{fmt.Sprintf("%s: several nodes command at the same time, and the latest message counts: %s", topic, strings.Join(sending, ", "))}
}

// rivals are the others that publish a transform to the base frame, where this node does. A frame has one parent.
func (g *graphCheck) rivals(topic string, pubs []rosbus.Endpoint) (list []string) {
	p := g.params()
	for i := range pubs {
		if parent, rival := g.tf.parents[pubs[i].GID]; rival && !pubs[i].Own {
			list = append(list, fmt.Sprintf("%s: %s publishes %s -> %s, and this node %s -> %s: set publish_tf to false, or stop it there",
				topic, nodeName(&pubs[i]), parent, p.BaseFrameID, p.OdomFrameID, p.BaseFrameID))
		}
	}
	return list
}

func nodeName(e *rosbus.Endpoint) string {
	if e.Node == "" {
		return "a node of unknown name"
	}
	return e.Node
}

// fill tells a status of what was found.
func (r *graphReport) fill(m *msgs.LinkStatus) {
	m.GraphWarnings = r.warnings
	for _, c := range r.commanders {
		m.CmdVelPublishers = append(m.CmdVelPublishers, c.node)
		m.CmdVelRates = append(m.CmdVelRates, c.rate)
	}
}
