package conformance

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
)

// Usage is what this process holds.
type Usage struct{ RSSKiB, Threads, Files, Goroutines int }

// Measure counts it, after a collection.
func Measure(t *testing.T) Usage {
	t.Helper()
	runtime.GC()
	runtime.GC()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	u := Usage{Goroutines: runtime.NumGoroutine()}
	for line := range strings.Lines(string(status)) {
		// Lines of other forms do not scan, and are not wanted.
		_, _ = fmt.Sscanf(line, "VmRSS: %d kB", &u.RSSKiB)
		_, _ = fmt.Sscanf(line, "Threads: %d", &u.Threads)
	}
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	u.Files = len(files)
	return u
}
