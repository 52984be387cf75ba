//go:build ros

package rclgo

// #include <rcl/publisher.h>
// #include <rmw/rmw.h>
import "C"

import (
	"time"

	rcl "github.com/tiiuae/rclgo/pkg/rclgo"

	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/driver"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/names"
)

func (c *conn) Publishers(topic string) ([]driver.Endpoint, error) {
	return c.endpoints(topic, c.node.GetPublishersInfoByTopic)
}

func (c *conn) Subscriptions(topic string) ([]driver.Endpoint, error) {
	return c.endpoints(topic, c.node.GetSubscriptionsInfoByTopic)
}

func (c *conn) endpoints(topic string, get func(string, bool) ([]rcl.TopicEndpointInfo, error)) ([]driver.Endpoint, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, driver.ErrClosed
	}
	infos, err := get(topic, true)
	if err != nil {
		return nil, oneLine("ask for the graph", err)
	}
	var list []driver.Endpoint
	for i := range infos {
		list = append(list, c.endpoint(&infos[i]))
	}
	return list, nil
}

func (c *conn) endpoint(info *rcl.TopicEndpointInfo) driver.Endpoint {
	q := &info.QosProfile
	e := driver.Endpoint{
		GID:      driver.GID(info.EndpointGID[:len(driver.GID{})]), // DDS's 16 of Humble's 24 bytes
		Type:     info.TopicType,
		QoS:      driver.QoS{Reliable: q.Reliability == rcl.ReliabilityReliable, TransientLocal: q.Durability == rcl.DurabilityTransientLocal},
		Deadline: bound(q.Deadline),
		Lease:    bound(q.LivelinessLeaseDuration),
	}
	if q.Liveliness == rcl.LivelinessManualByTopic {
		e.Liveliness = driver.ManualByTopic
	}
	if info.NodeName != "_NODE_NAME_UNKNOWN_" { // as the rmw layers of Humble call one that is not named yet
		e.Node = names.Join(info.NodeNamespace, info.NodeName)
	}
	if e.Own = participant(e.GID) == c.participant; c.participant == (prefix{}) {
		e.Own = e.Node == names.Join(c.opts.Namespace, c.opts.Node)
	}
	return e
}

// bound is 0 for what the rmw layers have for no bound: centuries.
func bound(d time.Duration) time.Duration {
	if d > 50*365*24*time.Hour {
		return 0
	}
	return d
}

// prefix is what the GIDs of one participant, which here is one node, have in common.
type prefix [12]byte

func participant(g driver.GID) prefix { return prefix(g[:]) }

// participantOf asks a publisher, since rmw tells no other GID of its own.
func (c *conn) participantOf(pub *rcl.Publisher) prefix {
	var gid C.rmw_gid_t
	rmw := C.rcl_publisher_get_rmw_handle((*C.rcl_publisher_t)(handle(pub, "rcl_publisher_t")))
	if rmw == nil || C.rmw_get_gid_for_publisher(rmw, &gid) != C.RMW_RET_OK {
		return prefix{}
	}
	g := newGIDs(c.opts.DomainID)
	return participant(g.of(&gid))
}
