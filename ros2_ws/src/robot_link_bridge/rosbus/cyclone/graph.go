//go:build cyclonedds

package cyclone

// #include <stdlib.h>
// #include "shim.h"
import "C"

import (
	"encoding/binary"
	"slices"
	"sync"
	"time"
	"unsafe"

	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/cdr"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/driver"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/msgs"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/names"
)

// graph is who is in the domain: what Cyclone's discovery tells of endpoints, and ROS's of the nodes that they
// belong to. It begins to look when it is first asked, and then reads only what is new: a robot has a thousand
// endpoints.
type graph struct {
	mu        sync.Mutex // taken after conn.mu
	looking   bool
	writers   ends
	readers   ends
	discovery C.dds_entity_t // a reader of ros_discovery_info
	nodes     map[C.dds_instance_handle_t]msgs.ParticipantEntitiesInfo
}

// ends are the writers, or the readers, of the domain.
type ends struct {
	news C.dds_entity_t
	all  map[C.dds_instance_handle_t]end
}

type end struct {
	driver.Endpoint
	topic string // in DDS
	guid  msgs.GID
}

func (c *conn) Publishers(topic string) ([]driver.Endpoint, error) {
	return c.endpoints(topic, &c.graph.writers)
}

func (c *conn) Subscriptions(topic string) ([]driver.Endpoint, error) {
	return c.endpoints(topic, &c.graph.readers)
}

func (c *conn) endpoints(topic string, of *ends) (list []driver.Endpoint, err error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if c.closed {
		return nil, driver.ErrClosed
	}
	g := &c.graph
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := c.look(); err != nil {
		return nil, err
	}
	if err := g.update(guidOf(c.participant)); err != nil {
		return nil, err
	}
	for _, e := range of.all {
		if e.topic != "rt"+topic {
			continue
		}
		if e.Node = g.nodeOf(e.guid); e.Own {
			e.Node = names.Join(c.opts.Namespace, c.opts.Node)
		}
		list = append(list, e.Endpoint)
	}
	slices.SortFunc(list, func(a, b driver.Endpoint) int { return slices.Compare(a.GID[:], b.GID[:]) })
	return list, nil
}

// look makes the graph's readers. They are Cyclone's to delete, with the participant.
func (c *conn) look() error {
	g := &c.graph
	if g.looking {
		return nil
	}
	for _, of := range []*ends{&g.writers, &g.readers} {
		if of.news > 0 {
			continue
		}
		of.all = map[C.dds_instance_handle_t]end{}
		of.news = C.rb_endpoints(c.participant, of == &g.writers)
		if err := check(of.news, "read the endpoints"); err != nil {
			return err
		}
	}
	ddsType, err := typeName(msgs.ParticipantEntitiesInfo{}.ROSType())
	if err != nil {
		return err
	}
	ctopic, ctype := C.CString("ros_discovery_info"), C.CString(ddsType)
	defer C.free(unsafe.Pointer(ctopic))
	defer C.free(unsafe.Pointer(ctype))
	// All participants' samples are of one instance: as deep as there may be changes from one look to the next.
	qos := qosC(driver.QoS{Reliable: true, TransientLocal: true, Depth: 1000})
	var unused C.dds_entity_t
	g.discovery = C.rb_reader(c.participant, ctopic, ctype, qos, &unused)
	if err := check(g.discovery, "read the nodes"); err != nil {
		return err
	}
	g.nodes = map[C.dds_instance_handle_t]msgs.ParticipantEntitiesInfo{}
	g.looking = true
	return nil
}

// update reads all that is new, whatever was asked for: what nobody reads piles up.
func (g *graph) update(own msgs.GID) error {
	for _, of := range []*ends{&g.writers, &g.readers} {
		if err := of.update(own); err != nil {
			return err
		}
	}
	return g.updateNodes()
}

func (of *ends) update(own msgs.GID) error {
	for {
		var e C.rb_endpoint_t
		switch n := C.rb_take_endpoint(of.news, &e); {
		case n < 0:
			return check(n, "read the endpoints")
		case n == 0:
			return nil
		case bool(e.alive):
			of.all[e.handle] = end{
				Endpoint: driver.Endpoint{
					GID: gidOf(e.handle), Own: rosGUID(e.participant) == own, Type: rosType(C.GoString(&e._type[0])),
					QoS:      driver.QoS{Reliable: bool(e.reliable), TransientLocal: bool(e.transient_local)},
					Deadline: time.Duration(e.deadline_ns), Liveliness: driver.Liveliness(e.liveliness), Lease: time.Duration(e.lease_ns),
				},
				topic: C.GoString(&e.topic[0]), guid: rosGUID(e.guid),
			}
		default:
			delete(of.all, e.handle)
		}
	}
}

// updateNodes keeps the last word of each participant that is still there.
func (g *graph) updateNodes() error {
	for {
		var s C.rb_sample_t
		n := C.rb_take(g.discovery, &s)
		if n < 0 {
			return check(n, "read the nodes")
		}
		if n == 0 {
			break
		}
		var info msgs.ParticipantEntitiesInfo
		if cdr.Decode(unsafe.Slice((*byte)(s.data), int(s.size)), &info) == nil { // later releases of ROS have another form
			g.nodes[s.writer] = info
		}
		C.rb_release(&s)
	}
	here := make([]C.dds_instance_handle_t, 1+2*len(g.nodes))
	n := C.dds_get_matched_publications(g.discovery, &here[0], C.size_t(len(here)))
	if n < 0 {
		return check(n, "read the nodes")
	}
	if int(n) > len(here) {
		return nil // another time: those that have just come do not fit
	}
	for writer := range g.nodes {
		if !slices.Contains(here[:n], writer) {
			delete(g.nodes, writer)
		}
	}
	return nil
}

func (g *graph) nodeOf(guid msgs.GID) string {
	for _, participant := range g.nodes {
		for _, n := range participant.NodeEntitiesInfoSeq {
			if slices.Contains(n.WriterGIDSeq, guid) || slices.Contains(n.ReaderGIDSeq, guid) {
				return names.Join(n.NodeNamespace, n.NodeName)
			}
		}
	}
	return ""
}

// gidOf makes a GID of the handle by which Cyclone names an endpoint in this process.
func gidOf(handle C.dds_instance_handle_t) (g driver.GID) {
	binary.BigEndian.PutUint64(g[:], uint64(handle))
	return g
}
