//go:build cyclonedds

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// latency runs the command to its end.
func latency(t *testing.T, args ...string) (code int, out string) {
	t.Helper()
	cmd := exec.Command(program, append([]string{"latency"}, args...)...)
	b, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(b)
}

// mustReport checks that all three documents are there.
func mustReport(t *testing.T, page string) {
	t.Helper()
	for _, ext := range []string{".html", ".json", ".csv"} {
		if b, err := os.ReadFile(strings.TrimSuffix(page, ".html") + ext); err != nil || len(b) < 100 {
			t.Errorf("%s: %d bytes, %v", ext, len(b), err)
		}
	}
}

func TestTheLinkIsMeasuredAndReported(t *testing.T) {
	mcu, page := freePort(t), filepath.Join(t.TempDir(), "link.html")
	sim := start(t, "sim", "--listen", local(mcu))
	await(t, "the virtual MCU", func() bool { return strings.Contains(sim.out.String(), "listens") })
	code, out := latency(t, "--mcu", local(mcu), "--rate", "1000", "--duration", "1s", "--report", page, "--max-p99", "10s")
	if code != 0 || !strings.Contains(out, "0 lost") {
		t.Errorf("%d, %s", code, out)
	}
	mustReport(t, page)
	if code, out := latency(t, "--mcu", local(mcu), "--rate", "100", "--duration", "200ms", "--max-p50", "1ns"); code != 1 || !strings.Contains(out, "limit exceeded: p50") {
		t.Errorf("above the limit: %d, %s", code, out)
	}
}

func TestAnInterruptedMeasurementIsReported(t *testing.T) {
	mcu, page := freePort(t), filepath.Join(t.TempDir(), "link.html")
	start(t, "sim", "--listen", local(mcu))
	p := start(t, "latency", "--mcu", local(mcu), "--rate", "100", "--duration", "0", "--report", page)
	await(t, "progress", func() bool {
		return strings.Contains(p.out.String(), "received") || strings.Contains(p.out.String(), "p50")
	})
	p.signal(syscall.SIGINT)
	<-p.done
	if code := p.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("%d, %s", code, p.out.String())
	}
	mustReport(t, page)
}

func TestNoAnswerIsAReportTooAndFails(t *testing.T) {
	page := filepath.Join(t.TempDir(), "link.html")
	code, out := latency(t, "--mcu", local(freePort(t)), "--rate", "100", "--duration", "200ms", "--report", page)
	if code != 1 || !strings.Contains(out, "no answer from the MCU") {
		t.Errorf("%d, %s", code, out)
	}
	mustReport(t, page)
}

func TestAMeasurementThatMakesNoSenseIsRefused(t *testing.T) {
	for _, args := range [][]string{
		{},
		{"--mcu", "127.0.0.1:1", "--rate", "0"},
		{"--mcu", "127.0.0.1:1", "--rate", "5001"},
		{"--mcu", "127.0.0.1:1", "--duration", "-1s"},
		{"--mcu", "127.0.0.1:1", "--duration", "soon"},
		{"--mcu", "127.0.0.1:1", "--max-p99", "0.5"},
		{"--mcu", "127.0.0.1:1", "--max-loss", "lots"},
	} {
		if code, out := latency(t, args...); code != 2 || strings.Count(out, "\n") != 1 {
			t.Errorf("%v: %d, %s", args, code, out)
		}
	}
}
