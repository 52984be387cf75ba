//go:build cyclonedds

package cyclone

// #include "shim.h"
import "C"

import (
	"errors"
	"fmt"
	"sync"
	"unsafe"

	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/driver"
)

type writer struct {
	conn   *conn
	entity C.dds_entity_t
	typ    *C.struct_ddsi_sertype // Cyclone's; lives as long as the entity

	mu     sync.RWMutex // held for reading while the entity is written to
	closed bool
}

// errSlowReader is Cyclone's timeout, in the caller's terms.
var errSlowReader = errors.New("a reliable subscriber does not keep up")

func (w *writer) Write(cdr []byte) error {
	if len(cdr) < 4 || len(cdr) > 1<<31-1 {
		return fmt.Errorf("%d bytes are no serialized message", len(cdr))
	}
	w.mu.RLock()
	defer w.mu.RUnlock()
	if w.closed {
		return driver.ErrClosed
	}
	switch code := C.rb_write(w.entity, w.typ, unsafe.Pointer(&cdr[0]), C.uint32_t(len(cdr))); code {
	case C.DDS_RETCODE_OK:
		return nil
	case C.DDS_RETCODE_TIMEOUT:
		return errSlowReader
	default:
		return check(code, "write")
	}
}

// shut waits for writes under way, and lets no other begin.
func (w *writer) shut() {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
}

func (w *writer) isClosed() bool {
	w.mu.RLock()
	defer w.mu.RUnlock()
	return w.closed
}

func (w *writer) Matched() int      { return w.conn.count(w.entity, true, w.isClosed, matched) }
func (w *writer) Incompatible() int { return w.conn.count(w.entity, true, w.isClosed, incompatible) }

func (w *writer) Close() error {
	w.shut()
	c := w.conn
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, here := c.writers[w]; c.closed || !here {
		return nil
	}
	delete(c.writers, w)
	c.reannounce()
	return check(C.dds_delete(w.entity), "delete the writer")
}

type reader struct {
	conn   *conn
	entity C.dds_entity_t
	id     C.dds_attach_t
	take   driver.Take
	burst  int // messages before the other readers get their turn

	calling sync.Mutex    // held around take, so that Close can wait for it; taken before conn.mu
	gone    bool          // guarded by calling
	sample  C.rb_sample_t // the one in hand; guarded by calling

	closedMu sync.RWMutex
	closed   bool
}

// deliver calls back with what is there. It takes one sample at a time: a sample that waits in Cyclone is
// replaced when a newer one comes, one that waits here would not be.
func (r *reader) deliver() {
	r.calling.Lock()
	defer r.calling.Unlock()
	for range r.burst {
		if r.gone {
			return
		}
		if C.rb_take(r.entity, &r.sample) <= 0 {
			return
		}
		if r.sample.size >= 4 {
			r.take(unsafe.Slice((*byte)(r.sample.data), int(r.sample.size)), gidOf(r.sample.writer))
		}
		C.rb_release(&r.sample)
	}
}

func (r *reader) isClosed() bool {
	r.closedMu.RLock()
	defer r.closedMu.RUnlock()
	return r.closed
}

func (r *reader) Matched() int      { return r.conn.count(r.entity, false, r.isClosed, matched) }
func (r *reader) Incompatible() int { return r.conn.count(r.entity, false, r.isClosed, incompatible) }

func (r *reader) Close() error {
	r.calling.Lock() // waits for a running callback
	r.gone = true
	r.calling.Unlock()
	r.closedMu.Lock()
	r.closed = true
	r.closedMu.Unlock()
	c := r.conn
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || c.readers[r.id] != r {
		return nil
	}
	delete(c.readers, r.id)
	c.reannounce()
	return check(C.dds_delete(r.entity), "delete the reader")
}

func matched(e C.dds_entity_t, writer C.bool) C.int      { return C.rb_matched(e, writer) }
func incompatible(e C.dds_entity_t, writer C.bool) C.int { return C.rb_incompatible(e, writer) }

// count asks Cyclone about an entity that is not deleted meanwhile; a closed one counts nothing.
func (c *conn) count(e C.dds_entity_t, writer bool, closed func() bool, ask func(C.dds_entity_t, C.bool) C.int) int {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if c.closed || closed() {
		return 0
	}
	return int(ask(e, C.bool(writer)))
}
