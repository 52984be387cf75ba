package demo

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"robot_link/ros2_ws/src/robot_link_bridge/wire"
)

// traceRow is a line of the virtual MCU's trace.
type traceRow struct {
	tUs        uint64
	vx, vy, wz float64
	status     wire.Status
}

func (r *traceRow) atRest() bool { return r.vx == 0 && r.vy == 0 && r.wz == 0 }

// readTrace reads what there is of a trace. A last line that is still being written is left out; a file that
// is not there yet has no rows.
func readTrace(path string) (rows []traceRow) {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.ReuseRecord = true
	for {
		record, err := r.Read()
		if err != nil { // the end, or a cut line
			return rows
		}
		if row, ok := parseRow(record); ok { // the header is none
			rows = append(rows, row)
		}
	}
}

func parseRow(record []string) (row traceRow, ok bool) {
	if len(record) != 5 {
		return row, false
	}
	t, err1 := strconv.ParseUint(record[0], 10, 64)
	vx, err2 := strconv.ParseFloat(record[1], 64)
	vy, err3 := strconv.ParseFloat(record[2], 64)
	wz, err4 := strconv.ParseFloat(record[3], 64)
	status, err5 := strconv.ParseUint(record[4], 10, 32)
	for _, err := range [...]error{err1, err2, err3, err4, err5} {
		if err != nil {
			return row, false
		}
	}
	return traceRow{t, vx, vy, wz, wire.Status(status)}, true
}

// restHeld is how long the setpoint must have been zero to be called rest.
const restHeld = 300 * time.Millisecond

// restFor is how long the setpoint has been zero at the end of the trace.
func restFor(rows []traceRow) time.Duration {
	i := len(rows)
	for i > 0 && rows[i-1].atRest() {
		i--
	}
	if i == len(rows) {
		return 0
	}
	return between(rows[i], rows[len(rows)-1])
}

func between(a, b traceRow) time.Duration { return time.Duration(b.tUs-a.tUs) * time.Microsecond }

// The failsafe's ramps (docs/protocol.md), with a little room for float32.
const (
	aLin = 5.0
	aAng = 10.0
	room = 1e-3
)

// ramped reports whether no control step changed the setpoint by more than the ramps allow for the time
// that passed.
func ramped(rows []traceRow) bool {
	for i := 1; i < len(rows); i++ {
		a, b := rows[i-1], rows[i]
		dt := between(a, b).Seconds()
		if math.Hypot(b.vx-a.vx, b.vy-a.vy) > aLin*dt*(1+room)+1e-6 || math.Abs(b.wz-a.wz) > aAng*dt*(1+room)+1e-6 {
			return false
		}
	}
	return len(rows) > 1
}

// stop is how the robot last came to rest.
type stop struct {
	from traceRow      // the last setpoint before the ramp down
	ramp time.Duration // from there to zero
	ok   bool
}

// lastStop finds the last ramp down to zero.
func lastStop(rows []traceRow) (s stop) {
	i := len(rows) - 1
	for i > 0 && rows[i].atRest() {
		i--
	}
	if i <= 0 || i == len(rows)-1 {
		return s
	}
	end := i + 1
	for i > 0 && speed(rows[i-1]) > speed(rows[i]) {
		i--
	}
	return stop{from: rows[i], ramp: between(rows[i], rows[end]), ok: true}
}

func speed(r traceRow) float64 { return max(math.Hypot(r.vx, r.vy)/aLin, math.Abs(r.wz)/aAng) }

func (s stop) text() string {
	if !s.ok {
		return "no ramp seen"
	}
	return fmt.Sprintf("%+.2f m/s %+.2f rad/s to 0 in %d ms", s.from.vx, s.from.wz, s.ramp.Milliseconds())
}

// everEnabled reports whether the trace shows the robot enabled.
func everEnabled(rows []traceRow) bool {
	return slices.ContainsFunc(rows, func(r traceRow) bool { return r.status.Has(wire.StatusEnabled) })
}

// lastRow is the newest whole line of a trace.
func lastRow(path string) (row traceRow, ok bool) {
	f, err := os.Open(path)
	if err != nil {
		return row, false
	}
	defer f.Close()
	const tail = 512 // some lines
	if _, err := f.Seek(-tail, io.SeekEnd); err != nil {
		return row, false // a trace that has just begun
	}
	text, err := io.ReadAll(f)
	if err != nil {
		return row, false
	}
	lines := strings.Split(string(text), "\n")
	return parseRow(strings.Split(lines[len(lines)-2], ","))
}

// restUntilEnabled reports whether the setpoint stayed at zero from boot until the robot was enabled.
func restUntilEnabled(rows []traceRow) bool {
	for _, r := range rows {
		if r.status.Has(wire.StatusEnabled) {
			return true
		}
		if !r.atRest() {
			return false
		}
	}
	return false // never enabled
}

// seqGaps counts the times that SEQ_GAP came up: CMDs that went missing.
func seqGaps(rows []traceRow) (n int) {
	for i := 1; i < len(rows); i++ {
		if rows[i].status.Has(wire.StatusSeqGap) && !rows[i-1].status.Has(wire.StatusSeqGap) {
			n++
		}
	}
	return n
}
