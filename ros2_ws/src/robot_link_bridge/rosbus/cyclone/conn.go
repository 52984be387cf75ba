//go:build cyclonedds

package cyclone

// #cgo CFLAGS: -std=gnu11 -Wall -Wno-unused-variable -DDDS_NDEBUG
// #cgo LDFLAGS: -lddsc
// #include <stdlib.h>
// #include "shim.h"
import "C"

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unsafe"

	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/cdr"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/driver"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/msgs"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/rpc"
)

// maxBlocking is how long a reliable write may wait for a reader that does not keep up.
const maxBlockingNs = 100_000_000

// stopID is the waitset's name for the condition that ends run; readers count from 1.
const stopID = 0

type conn struct {
	opts        driver.Options
	participant C.dds_entity_t
	waitset     C.dds_entity_t
	stop        C.dds_entity_t // guard condition
	discovery   *writer
	graph       graph
	unlog       func()
	done        chan struct{} // run has returned

	closing  sync.Once
	closeErr error

	mu        sync.RWMutex // guards what follows, and that no entity is deleted while it is used
	closed    bool
	announced bool
	lastID    C.dds_attach_t
	readers   map[C.dds_attach_t]*reader
	writers   map[*writer]struct{}
}

// Open joins the domain as one participant with one node.
func Open(o driver.Options) (driver.Conn, error) {
	c, err := open(o)
	if err != nil {
		return nil, err
	}
	return c, nil
}

func open(o driver.Options) (*conn, error) {
	if err := acquireDomain(o.DomainID, o.Logf); err != nil {
		return nil, err
	}
	c := &conn{opts: o, done: make(chan struct{}),
		readers: map[C.dds_attach_t]*reader{}, writers: map[*writer]struct{}{}}
	if err := c.start(); err != nil {
		if c.participant > 0 {
			_ = C.dds_delete(c.participant) // the first error is the one to tell
		}
		_ = releaseDomain(o.DomainID)
		return nil, err
	}
	c.unlog = logTo(c, o.Logf)
	go c.run()
	return c, nil
}

func (c *conn) start() error {
	userData := C.CString("enclave=" + c.opts.Enclave + ";")
	defer C.free(unsafe.Pointer(userData))
	c.participant = C.rb_participant(C.dds_domainid_t(c.opts.DomainID), userData)
	if err := check(c.participant, "create the participant"); err != nil {
		return err
	}
	c.waitset = C.dds_create_waitset(c.participant)
	if err := check(c.waitset, "create the waitset"); err != nil {
		return err
	}
	c.stop = C.dds_create_guardcondition(c.participant)
	if err := check(c.stop, "create the guard condition"); err != nil {
		return err
	}
	if err := check(C.dds_waitset_attach(c.waitset, c.stop, stopID), "attach the guard condition"); err != nil {
		return err
	}
	var err error
	c.discovery, err = c.newWriter("ros_discovery_info", msgs.ParticipantEntitiesInfo{}.ROSType(),
		driver.QoS{Reliable: true, TransientLocal: true, Depth: 1})
	return err
}

// run waits for samples and calls the callbacks, until Close.
func (c *conn) run() {
	defer close(c.done)
	ids := make([]C.dds_attach_t, 32)
	for {
		n := C.dds_waitset_wait(c.waitset, &ids[0], C.size_t(len(ids)), C.DDS_INFINITY)
		if n < 0 {
			c.opts.Logf("Cyclone DDS: waiting for messages ended: %v", check(n, "waitset"))
			return
		}
		for _, id := range ids[:min(int(n), len(ids))] {
			if id == stopID {
				return
			}
			c.mu.RLock()
			r := c.readers[id]
			c.mu.RUnlock()
			if r != nil { // else it was closed since
				r.deliver()
			}
		}
	}
}

func (c *conn) NewWriter(topic, typ string, qos driver.QoS) (driver.Writer, error) {
	return inDDS{c}.Writer("rt"+topic, typ, qos)
}

func (c *conn) NewReader(topic, typ string, qos driver.QoS, take driver.Take) (driver.Reader, error) {
	return inDDS{c}.Reader("rt"+topic, typ, qos, take)
}

func (c *conn) NewServer(service, typ string, serve func([]byte, driver.Reply)) (driver.Server, error) {
	return rpc.NewServer(inDDS{c}, service, typ, serve)
}

func (c *conn) NewClient(service, typ string) (driver.Client, error) {
	return rpc.NewClient(inDDS{c}, service, typ)
}

// inDDS makes what the graph shows, by a topic's name in DDS.
type inDDS struct{ *conn }

func (c inDDS) Writer(topic, typ string, qos driver.QoS) (driver.Writer, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, driver.ErrClosed
	}
	w, err := c.newWriter(topic, typ, qos)
	if err != nil {
		return nil, err
	}
	c.writers[w] = struct{}{}
	c.reannounce()
	return w, nil
}

func (c inDDS) Reader(topic, typ string, qos driver.QoS, take driver.Take) (driver.Reader, error) {
	r, err := c.newReader(topic, typ, qos, take)
	if err != nil {
		return nil, err
	}
	return r, nil
}

// newReader takes the topic's name in DDS.
func (c *conn) newReader(topic, typ string, qos driver.QoS, take driver.Take) (*reader, error) {
	ddsType, err := typeName(typ)
	if err != nil {
		return nil, err
	}
	ctopic, ctype := C.CString(topic), C.CString(ddsType)
	defer C.free(unsafe.Pointer(ctopic))
	defer C.free(unsafe.Pointer(ctype))
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, driver.ErrClosed
	}
	r := &reader{conn: c, take: take, burst: qos.Depth}
	var condition C.dds_entity_t
	r.entity = C.rb_reader(c.participant, ctopic, ctype, qosC(qos), &condition)
	if err := check(r.entity, "create the reader"); err != nil {
		return nil, err
	}
	c.lastID++
	r.id = c.lastID
	c.readers[r.id] = r
	if err := check(C.dds_waitset_attach(c.waitset, condition, r.id), "attach the reader"); err != nil {
		delete(c.readers, r.id)
		_ = C.dds_delete(r.entity)
		return nil, err
	}
	c.reannounce()
	return r, nil
}

// newWriter takes the topic's name in DDS. The caller holds c.mu, or is start.
func (c *conn) newWriter(topic, typ string, qos driver.QoS) (*writer, error) {
	ddsType, err := typeName(typ)
	if err != nil {
		return nil, err
	}
	ctopic, ctype := C.CString(topic), C.CString(ddsType)
	defer C.free(unsafe.Pointer(ctopic))
	defer C.free(unsafe.Pointer(ctype))
	w := &writer{conn: c}
	w.entity = C.rb_writer(c.participant, ctopic, ctype, qosC(qos), &w.typ)
	if err := check(w.entity, "create the writer"); err != nil {
		return nil, err
	}
	return w, nil
}

func (c *conn) Announce() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return driver.ErrClosed
	}
	c.announced = true
	return c.announce()
}

// reannounce follows a change, once Announce has been called. What changed works without it, so that a
// failure is only told. The caller holds c.mu.
func (c *conn) reannounce() {
	if !c.announced {
		return
	}
	if err := c.announce(); err != nil {
		c.opts.Logf("%v", err)
	}
}

// announce publishes the node's entities. The caller holds c.mu.
func (c *conn) announce() error {
	node := msgs.NodeEntitiesInfo{NodeNamespace: c.opts.Namespace, NodeName: c.opts.Node}
	for _, r := range c.readers {
		node.ReaderGIDSeq = append(node.ReaderGIDSeq, guidOf(r.entity))
	}
	for w := range c.writers {
		node.WriterGIDSeq = append(node.WriterGIDSeq, guidOf(w.entity))
	}
	byBytes := func(a, b msgs.GID) int { return slices.Compare(a.Data[:], b.Data[:]) }
	slices.SortFunc(node.ReaderGIDSeq, byBytes)
	slices.SortFunc(node.WriterGIDSeq, byBytes)
	data, err := cdr.Append(nil, &msgs.ParticipantEntitiesInfo{
		GID: guidOf(c.participant), NodeEntitiesInfoSeq: []msgs.NodeEntitiesInfo{node},
	})
	if err == nil {
		err = c.discovery.Write(data)
	}
	if err != nil {
		return fmt.Errorf("announce the node: %w", err)
	}
	return nil
}

func (c *conn) Close() error {
	c.closing.Do(func() {
		c.mu.Lock()
		c.closed = true
		writers := append([]*writer{c.discovery}, writersOf(c)...)
		c.mu.Unlock()
		_ = C.dds_set_guardcondition(c.stop, true)
		<-c.done // a running callback has returned
		for _, w := range writers {
			w.shut()
		}
		c.mu.Lock()
		c.closeErr = check(C.dds_delete(c.participant), "delete the participant")
		c.mu.Unlock()
		c.closeErr = cmp.Or(c.closeErr, releaseDomain(c.opts.DomainID))
		c.unlog()
	})
	return c.closeErr
}

func writersOf(c *conn) (list []*writer) {
	for w := range c.writers {
		list = append(list, w)
	}
	return list
}

func guidOf(e C.dds_entity_t) (g msgs.GID) {
	var guid C.dds_guid_t
	if C.dds_get_guid(e, &guid) >= 0 {
		g = rosGUID(guid)
	}
	return g
}

// rosGUID is a DDS GUID as ROS has it.
func rosGUID(guid C.dds_guid_t) (g msgs.GID) {
	for i, b := range guid.v {
		g.Data[i] = uint8(b)
	}
	return g
}

func qosC(q driver.QoS) C.rb_qos_t {
	return C.rb_qos_t{
		reliable: C.bool(q.Reliable), transient_local: C.bool(q.TransientLocal),
		depth: C.int32_t(min(q.Depth, 1<<31-1)), max_blocking_ns: maxBlockingNs,
	}
}

// rosType turns typeName's result back; a type that is not ROS's stays as it is.
func rosType(dds string) string {
	parts := strings.Split(dds, "::")
	if len(parts) != 4 || parts[2] != "dds_" || !strings.HasSuffix(parts[3], "_") {
		return dds
	}
	return parts[0] + "/" + parts[1] + "/" + strings.TrimSuffix(parts[3], "_")
}

// typeName turns "nav_msgs/msg/Odometry" into "nav_msgs::msg::dds_::Odometry_".
func typeName(ros string) (string, error) {
	parts := strings.Split(ros, "/")
	if len(parts) != 3 || slices.Contains(parts, "") {
		return "", fmt.Errorf("invalid message type %q: expected package/msg/Name", ros)
	}
	return parts[0] + "::" + parts[1] + "::dds_::" + parts[2] + "_", nil
}
