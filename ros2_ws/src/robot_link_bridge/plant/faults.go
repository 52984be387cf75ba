package plant

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// FaultKind is what breaks.
type FaultKind uint8

const (
	Stall           FaultKind = iota + 1 // something blocks the wheel
	DeadEncoder                          // its count stands still
	SwappedEncoders                      // it and its partner on the other side have each other's encoder
	BrokenMotor                          // its motor's circuit is open
	BrownOut                             // the MCU is off: the caller reboots it, the wheels coast
	EstopButton                          // the button is pressed: Sensors.Estop, and the motors have no power
	Hang                                 // the MCU's control loop stands: the caller lets the watchdog reset it
	Halt                                 // a debugger halts the MCU: the caller sees to it
)

var (
	kindNames  = []string{"", "stall", "dead_encoder", "swapped_encoders", "broken_motor", "brown_out", "estop", "hang", "halt"}
	wheelNames = []string{"front_left", "front_right", "rear_left", "rear_right"}
)

func (k FaultKind) String() string {
	if k == 0 || int(k) >= len(kindNames) {
		return fmt.Sprintf("FaultKind(%d)", uint8(k))
	}
	return kindNames[k]
}

// Fault is what breaks when.
type Fault struct {
	Kind  FaultKind
	Wheel int     // of the kinds that are a wheel's
	At    float64 // s, by the plant's own time
	For   float64 // s; 0 = for ever
}

const faultForm = "KIND[:WHEEL]@SECONDS[+DURATION], as in stall:front_left@5, dead_encoder:rear_right@3.5+2, " +
	"swapped_encoders:front@4, broken_motor:front_right@1, brown_out@6+0.2, estop@2+1, hang@5+1, halt@5+1"

// ParseFault reads a fault as a user writes it. The rear wheel of an omni is rear_left, its third.
func ParseFault(s string) (Fault, error) {
	f, err := parseFault(s)
	if err != nil {
		return Fault{}, fmt.Errorf("fault %q: %w; it is %s", s, err, faultForm)
	}
	return f, nil
}

func parseFault(s string) (f Fault, err error) {
	what, when, ok := strings.Cut(s, "@")
	if !ok {
		return f, errors.New("no @ and time")
	}
	kind, wheel, hasWheel := strings.Cut(what, ":")
	f.Kind = FaultKind(max(0, slices.Index(kindNames, kind)))
	switch f.Kind {
	case 0:
		return f, fmt.Errorf("no such kind %q, there is %s", kind, strings.Join(kindNames[1:], ", "))
	case BrownOut, EstopButton, Hang, Halt:
		if hasWheel {
			return f, fmt.Errorf("%s is not of a wheel", f.Kind)
		}
	case SwappedEncoders:
		f.Wheel = 2 * slices.Index([]string{"front", "rear"}, wheel)
		if f.Wheel < 0 {
			return f, fmt.Errorf("%s is of front or rear, not %q", f.Kind, wheel)
		}
	default:
		f.Wheel = slices.Index(wheelNames, wheel)
		if f.Wheel < 0 {
			return f, fmt.Errorf("%s is of a wheel (%s), not %q", f.Kind, strings.Join(wheelNames, ", "), wheel)
		}
	}
	at, duration, hasDuration := strings.Cut(when, "+")
	if f.At, ok = seconds(at); !ok {
		return f, fmt.Errorf("the time is seconds, at least 0, not %q", at)
	}
	if f.For, ok = seconds(duration); hasDuration && (!ok || f.For == 0) {
		return f, fmt.Errorf("the duration is seconds, more than 0, not %q", duration)
	}
	return f, nil
}

func seconds(s string) (float64, bool) {
	v, err := strconv.ParseFloat(s, 64)
	return v, err == nil && v >= 0 && !math.IsInf(v, 1)
}

// faults are those to come, those there are, and those that are over.
type faults struct {
	all    []Fault
	next   float64 // s: when the next one begins or ends
	active active
}

// active is what all faults of a moment come to.
type active struct {
	cut, estop             bool // cut: no motor has power
	brownOut, hung, halted bool // the MCU
	stalled, broken, dead  [maxWheels]bool
	source                 [maxWheels]int // the encoder that each counter counts
}

func nothing(wheels int) (a active) {
	for i := range wheels {
		a.source[i] = i
	}
	return a
}

// Inject schedules a fault. One of a wheel that this robot has not is ignored.
func (p *Plant) Inject(f Fault) {
	p.faults.all = append(p.faults.all, f)
	p.updateFaults()
}

// BrownedOut says whether the MCU has no power.
func (p *Plant) BrownedOut() bool { return p.faults.active.brownOut }

// Hung says whether the MCU's control loop stands.
func (p *Plant) Hung() bool { return p.faults.active.hung }

// Halted says whether a debugger halts the MCU.
func (p *Plant) Halted() bool { return p.faults.active.halted }

func (p *Plant) updateFaults() {
	now := p.now + 1e-9 // Sums of steps are not exact.
	if p.n != 0 {
		p.readEncoders() // what the counters missed, or got, until now
	}
	a := nothing(p.n)
	next := math.Inf(1)
	for _, f := range p.faults.all {
		end := f.At + f.For
		if f.For <= 0 {
			end = math.Inf(1)
		}
		if now < f.At {
			next = min(next, f.At)
		} else if now < end {
			next = min(next, end)
			a.add(f, p.n)
		}
	}
	p.faults.active, p.faults.next = a, next
}

func (a *active) add(f Fault, wheels int) {
	i := f.Wheel
	switch f.Kind {
	case BrownOut:
		a.brownOut, a.cut = true, true
		return
	case EstopButton:
		a.estop, a.cut = true, true
		return
	case Hang:
		a.hung = true
		return
	case Halt:
		a.halted = true
		return
	}
	if i < 0 || i >= wheels {
		return
	}
	switch f.Kind {
	case Stall:
		a.stalled[i] = true
	case DeadEncoder:
		a.dead[i] = true
	case BrokenMotor:
		a.broken[i] = true
	case SwappedEncoders:
		if j := i ^ 1; j < wheels {
			a.source[i], a.source[j] = a.source[j], a.source[i]
		}
	}
}
