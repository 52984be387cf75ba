package conformance

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// Isolate keeps a test's ROS traffic on this host and in a domain that no other test process of this
// machine uses, and returns the domain's id. It sets ROS_LOCALHOST_ONLY and ROS_DOMAIN_ID for the
// test and its children, so the test can't be parallel.
func Isolate(t *testing.T) int {
	t.Helper()
	id := Domain(t)
	t.Setenv("ROS_LOCALHOST_ONLY", "1")
	t.Setenv("ROS_DOMAIN_ID", fmt.Sprint(id))
	t.Setenv("CYCLONEDDS_URI", "")
	return id
}

// Domain reserves a domain id for this process until the test ends. Below 102 the ports of a domain
// are clear of the kernel's ephemeral ones.
func Domain(t *testing.T) int {
	t.Helper()
	for id := 40; id < 102; id++ {
		path := filepath.Join(os.TempDir(), fmt.Sprintf("robot_link-domain-%d.lock", id))
		f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o666)
		if err != nil {
			continue // another user's
		}
		// An flock belongs to the open file: it also excludes this process's own other tests, and goes
		// away with the process.
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
			_ = f.Close() // taken: nothing is lost with it
			continue
		}
		t.Cleanup(func() { _ = f.Close() })
		return id
	}
	t.Fatal("no free ROS domain id: more than 60 tests at a time?")
	return 0
}
