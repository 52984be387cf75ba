package simulation

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"robot_link/firmware/app"
)

// A run has trouble until calmTime, and then time to recover until endTime. Whoever is to be in control must
// be within recoveryMax of the calm: the longest chain is a session whose every CMD is stale (STALE is shown
// for 500 ms before the host gives it up) behind one whose round trip was too long.
const (
	calmTime    = 12 * second
	endTime     = 16 * second
	recoveryMax = 3 * second
)

// Script is all that a run depends on.
type Script struct {
	Seed       uint64
	MCUs       int
	Hosts      int
	OneAddress bool      // two hosts of the first MCU share an address and a port
	NearWrap   bool      // the MCUs' clocks are about to wrap
	Drive      app.Drive // what the MCUs drive; none: setpoints only
	Lines      []Line
}

// Line is one thing that happens.
type Line struct {
	At      int64 // us of true time
	What    string
	Who     int   // host or MCU, as What has it
	A, B, C int64 // what What needs; times are us, chances of a million
}

func (l Line) String() string {
	return fmt.Sprintf("%d %s %d %d %d %d", l.At, l.What, l.Who, l.A, l.B, l.C)
}

// String is the form that Parse reads.
func (s Script) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d mcus %d hosts %d one_address %t near_wrap %t drive %d\n", s.Seed, s.MCUs, s.Hosts, s.OneAddress, s.NearWrap, s.Drive)
	for _, l := range s.Lines {
		fmt.Fprintln(&b, l)
	}
	return b.String()
}

// Parse reads a script that a failure has printed.
func Parse(text string) (s Script, err error) {
	for i, row := range strings.Split(strings.TrimSpace(text), "\n") {
		if i == 0 {
			if _, err := fmt.Sscanf(row, "seed %d mcus %d hosts %d one_address %t near_wrap %t drive %d", &s.Seed, &s.MCUs, &s.Hosts, &s.OneAddress, &s.NearWrap, &s.Drive); err != nil {
				return s, fmt.Errorf("first line %q: %w", row, err)
			}
			continue
		}
		if strings.HasPrefix(row, "#") {
			continue
		}
		f := strings.Fields(row)
		if len(f) != 6 || actions[f[1]].do == nil {
			return s, fmt.Errorf("line %d %q: want TIME WHAT WHO A B C", i+1, row)
		}
		var n [5]int64
		for j, k := range [...]int{0, 2, 3, 4, 5} {
			if n[j], err = strconv.ParseInt(f[k], 10, 64); err != nil {
				return s, fmt.Errorf("line %d %q: %w", i+1, row, err)
			}
		}
		s.Lines = append(s.Lines, Line{At: n[0], What: f[1], Who: int(n[1]), A: n[2], B: n[3], C: n[4]})
	}
	return s, nil
}

// Generate makes the script of a seed.
func Generate(seed uint64) Script {
	r := rand.New(rand.NewPCG(seed, 0))
	s := Script{Seed: seed, MCUs: 1 + r.IntN(2), Hosts: 1 + r.IntN(3), OneAddress: r.IntN(8) == 0, NearWrap: r.IntN(8) == 0}
	s.Hosts = max(s.Hosts, s.MCUs)
	if r.IntN(4) == 0 { // the rest is three times as fast without
		s.Drive = app.Drive(1 + r.IntN(3))
	}
	names := actionNames()
	for range 3 + r.IntN(25) {
		name := names[r.IntN(len(names))]
		a := actions[name]
		l := Line{At: r.Int64N(calmTime), What: name}
		l.Who = r.IntN(s.Hosts)
		if a.ofMCU {
			l.Who = r.IntN(s.MCUs)
		}
		if a.draw != nil {
			a.draw(r, &l)
		}
		s.Lines = append(s.Lines, l)
	}
	return s
}

// calmLine stands for the end of all trouble, where an event names a line.
const calmLine = -1

func (w *world) perform(line int32) {
	if line == calmLine {
		w.calm()
		return
	}
	l := &w.script.Lines[line]
	a := actions[l.What]
	if a.ofMCU && l.Who < len(w.mcus) || !a.ofMCU && l.Who < len(w.hosts) {
		a.do(w, l)
	}
}

// calm ends all trouble: networks work, everybody runs, an operator clears what has latched.
func (w *world) calm() {
	w.calmAt = w.now
	for _, m := range w.mcus {
		m.moveAt = -1
		m.wake()
		if !m.on {
			m.boot()
		}
	}
	for _, h := range w.hosts {
		h.wake()
		if !h.alive {
			h.start()
		}
		h.up.conditions, h.down.conditions = clean(), clean()
		h.up.inBurst, h.down.inBurst = 0, 0
		h.planners[1].alive, h.planners[1].present = false, false
		p := &h.planners[0]
		p.bad, p.present = false, true
		if !p.alive {
			p.alive = true
			w.events.push(event{at: w.now, kind: evPlanner, to: h.index, arg: 0})
		}
		h.operate()
	}
	// Two machines at one address go on for ever: each takes the other for its own past. One has to go.
	if w.script.OneAddress && w.script.MCUs < len(w.hosts) {
		h := w.hosts[w.script.MCUs]
		h.kill()
		h.retired = true
	}
}
