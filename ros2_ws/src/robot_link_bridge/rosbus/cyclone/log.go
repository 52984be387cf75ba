//go:build cyclonedds

package cyclone

// #include "shim.h"
import "C"

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"unsafe"
)

// Cyclone has one log for the whole process. Its lines come from its own threads, which must not wait:
// they are handed to the nodes' Logf by a goroutine, and dropped when that can't keep up.
var logs = struct {
	sync.Mutex
	capturing bool
	captured  []logLine
	nodes     map[*conn]func(string, ...any)
	lines     chan string

	deliver sync.Mutex // held while a Logf runs, so that a closed node's is not called; taken first
}{nodes: map[*conn]func(string, ...any){}}

type logLine struct {
	text    string
	warning bool // else an error
}

//export rbLog
func rbLog(priority C.uint32_t, message *C.char, size C.size_t) {
	line := strings.TrimSpace(string(unsafe.Slice((*byte)(unsafe.Pointer(message)), int(size))))
	logs.Lock()
	defer logs.Unlock()
	if logs.capturing {
		if len(logs.captured) < 10 {
			logs.captured = append(logs.captured, logLine{line, priority == C.DDS_LC_WARNING})
		}
		return
	}
	select {
	case logs.lines <- line: // nil, and so skipped, when no node is open
	default:
	}
}

// captureLog keeps what is logged until the function that it returns is called.
func captureLog() func() []logLine {
	logs.Lock()
	logs.capturing, logs.captured = true, nil
	logs.Unlock()
	return func() []logLine {
		logs.Lock()
		defer logs.Unlock()
		logs.capturing = false
		return logs.captured
	}
}

// logTo sends later lines to the node's logf as well, until the function that it returns is called.
func logTo(c *conn, logf func(string, ...any)) func() {
	logs.Lock()
	defer logs.Unlock()
	logs.nodes[c] = logf
	if logs.lines == nil {
		logs.lines = make(chan string, 64)
		go passLines(logs.lines)
	}
	return func() {
		logs.deliver.Lock()
		defer logs.deliver.Unlock()
		logs.Lock()
		defer logs.Unlock()
		delete(logs.nodes, c)
		if len(logs.nodes) == 0 {
			close(logs.lines)
			logs.lines = nil
		}
	}
}

func passLines(lines <-chan string) {
	for line := range lines {
		logs.deliver.Lock()
		logs.Lock()
		to := slices.Collect(maps.Values(logs.nodes))
		logs.Unlock()
		for _, logf := range to {
			logf("Cyclone DDS: %s", line)
		}
		logs.deliver.Unlock()
	}
}
