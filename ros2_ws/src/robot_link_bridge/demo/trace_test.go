package demo

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"robot_link/ros2_ws/src/robot_link_bridge/wire"
)

// ramp makes a trace that runs at v0 and then falls to zero at a m/s^2 in steps of a millisecond.
func ramp(v0, a float64) (rows []traceRow) {
	t := uint64(0)
	add := func(v float64) {
		rows = append(rows, traceRow{tUs: t, vx: v, status: wire.StatusEnabled})
		t += 1000
	}
	for range 50 {
		add(v0)
	}
	for v := v0; v > 0; v -= a / 1000 {
		add(v)
	}
	for range 500 {
		add(0)
	}
	return rows
}

func TestRampedSeesAStepAboveTheLimits(t *testing.T) {
	if !ramped(ramp(0.5, 5)) {
		t.Error("a ramp at the limit is fine")
	}
	if ramped(ramp(0.5, 5.1)) {
		t.Error("5.1 m/s^2 passed")
	}
	if ramped(nil) {
		t.Error("no trace passed")
	}
}

func TestRestIsMeasuredFromTheEnd(t *testing.T) {
	rows := ramp(0.5, 5)
	if d := restFor(rows); d < 498*time.Millisecond || d > 500*time.Millisecond {
		t.Errorf("at rest for %v", d)
	}
	if d := restFor(rows[:60]); d != 0 {
		t.Errorf("moving, yet at rest for %v", d)
	}
	s := lastStop(rows)
	if !s.ok || s.from.vx != 0.5 || s.ramp < 99*time.Millisecond || s.ramp > 102*time.Millisecond {
		t.Errorf("%+v", s)
	}
	if lastStop(rows[:60]).ok {
		t.Error("a stop in the middle of motion")
	}
}

func TestRestUntilEnabled(t *testing.T) {
	if !restUntilEnabled([]traceRow{{}, {status: wire.StatusEnabled}, {vx: 1}}) {
		t.Error("moved after it was enabled: fine")
	}
	if restUntilEnabled([]traceRow{{}, {vx: 1}, {status: wire.StatusEnabled}}) {
		t.Error("moved before it was enabled")
	}
	if restUntilEnabled([]traceRow{{}}) {
		t.Error("never enabled is no proof")
	}
}

func TestATraceIsReadAsFarAsItIsWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trace.csv")
	if rows := readTrace(path); rows != nil {
		t.Error("rows without a file")
	}
	text := "t_us,vx,vy,wz,status\n10,0,0,0,1\n1010,0.005,0,-0.01,4112\n2010,0.0"
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	rows := readTrace(path)
	if len(rows) != 2 || rows[1].wz != -0.01 || !rows[1].status.Has(wire.StatusMoving|wire.StatusEnabled) {
		t.Errorf("%+v", rows)
	}
}

func TestSequenceGapsAreCountedByTheirRise(t *testing.T) {
	gap := traceRow{status: wire.StatusSeqGap}
	if n := seqGaps([]traceRow{{}, gap, gap, {}, gap, {}}); n != 2 {
		t.Errorf("%d gaps", n)
	}
}
