package plant

import (
	"math"
	"strings"
	"testing"
)

func TestParseFault(t *testing.T) {
	for s, want := range map[string]Fault{
		"stall:front_left@5":            {Stall, 0, 5, 0},
		"dead_encoder:rear_right@3.5+2": {DeadEncoder, 3, 3.5, 2},
		"swapped_encoders:front@4":      {SwappedEncoders, 0, 4, 0},
		"swapped_encoders:rear@0+1":     {SwappedEncoders, 2, 0, 1},
		"broken_motor:front_right@1":    {BrokenMotor, 1, 1, 0},
		"stall:rear_left@0.25":          {Stall, 2, 0.25, 0},
		"brown_out@6+0.2":               {BrownOut, 0, 6, 0.2},
		"estop@2+1":                     {EstopButton, 0, 2, 1},
		"hang@5+1":                      {Hang, 0, 5, 1},
		"halt@5+0.5":                    {Halt, 0, 5, 0.5},
	} {
		if got, err := ParseFault(s); err != nil || got != want {
			t.Errorf("%s: %+v, %v", s, got, err)
		}
	}
	for s, says := range map[string]string{
		"":                        "@",
		"stall:front_left":        "@",
		"explode@1":               "broken_motor",
		"@1":                      "broken_motor",
		"stall@1":                 "rear_left",
		"stall:front@1":           "rear_left",
		"stall:Front_left@1":      "rear_left",
		"swapped_encoders@1":      "front or rear",
		"swapped_encoders:left@1": "front or rear",
		"estop:front_left@1":      "not of a wheel",
		"brown_out:@1":            "not of a wheel",
		"hang:front_left@1":       "not of a wheel",
		"halt:front_left@1":       "not of a wheel",
		"estop@":                  "seconds",
		"estop@-1":                "seconds",
		"estop@soon":              "seconds",
		"estop@inf":               "seconds",
		"estop@NaN":               "seconds",
		"estop@1+":                "more than 0",
		"estop@1+0":               "more than 0",
		"estop@1+-1":              "more than 0",
		"estop@1+2+3":             "more than 0",
		"estop@1@2":               "seconds",
	} {
		got, err := ParseFault(s)
		if err == nil || got != (Fault{}) || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), "KIND[:WHEEL]@") {
			t.Errorf("%s: %+v, %v", s, got, err)
		}
	}
}

// broken drives forward and to the left for a second, then a second with the fault, then one more.
func broken(t *testing.T, fault string, q Params) (at [4]Sensors, truth [4]Truth, p *Plant) {
	t.Helper()
	f, err := ParseFault(fault)
	if err != nil {
		t.Fatal(err)
	}
	p = New(q, 1)
	p.Inject(f)
	for k := range 3 {
		run(p, [4]float32{0.2, 0.3, 0.3, 0.2}, true, 1)
		at[k+1], truth[k+1] = p.Sensors(), p.Truth()
	}
	return at, truth, p
}

func TestStall(t *testing.T) {
	at, truth, _ := broken(t, "stall:rear_left@1+1", ideal(DefaultParams(Mecanum, 4)))
	near(t, "the wheel's speed", truth[2].WheelVel[2], 0, 1e-9)
	if truth[1].WheelVel[2] < 5 || truth[2].WheelVel[1] < 5 || truth[3].WheelVel[2] < 5 {
		t.Errorf("wheels %v, %v, %v", truth[1].WheelVel, truth[2].WheelVel, truth[3].WheelVel)
	}
	if c := at[2].Current[2]; c < 3.5 || c > 4 { // 0.3 x 25 V / 1.92 ohm
		t.Errorf("%g A", c)
	}
}

func TestDeadEncoder(t *testing.T) {
	at, truth, _ := broken(t, "dead_encoder:front_right@1+1", ideal(DefaultParams(Mecanum, 4)))
	if at[1].Count[1] < 1000 || at[2].Count[1] != at[1].Count[1] || at[2].Count[0] == at[1].Count[0] {
		t.Errorf("counts %v, %v", at[1].Count, at[2].Count)
	}
	turned := (truth[3].Wheel[1] - truth[2].Wheel[1]) * 4096 / (2 * math.Pi)
	near(t, "counts again", float64(at[3].Count[1]-at[2].Count[1]), turned, 20)
}

func TestSwappedEncoders(t *testing.T) {
	at, truth, _ := broken(t, "swapped_encoders:front@1+1", ideal(DefaultParams(Mecanum, 4)))
	for k := 1; k <= 3; k++ {
		for i := range 4 {
			of := i
			if k == 2 && i < 2 {
				of = 1 - i
			}
			turned := (truth[k].Wheel[of] - truth[k-1].Wheel[of]) * 4096 / (2 * math.Pi)
			near(t, "counts", float64(at[k].Count[i]-at[k-1].Count[i]), turned, 20)
		}
	}
	if truth[2].Wheel[1]-truth[1].Wheel[1] < 1.1*(truth[2].Wheel[0]-truth[1].Wheel[0]) {
		t.Error("both wheels go alike: this shows nothing")
	}
	// The rear wheel of an omni has no partner.
	p := New(ideal(DefaultParams(Omni3, 3)), 1)
	p.Inject(Fault{Kind: SwappedEncoders, Wheel: 2})
	run(p, all(0.3), true, 1)
	if p.Sensors().Count[2] < 1000 {
		t.Error("the omni's rear wheel does not count")
	}
}

func TestBrokenMotor(t *testing.T) {
	at, truth, _ := broken(t, "broken_motor:front_left@1+1", ideal(DefaultParams(Mecanum, 4)))
	if at[1].Current[0] == 0 || at[2].Current[0] != 0 || at[3].Current[0] == 0 {
		t.Errorf("currents %v, %v, %v", at[1].Current, at[2].Current, at[3].Current)
	}
	if truth[2].WheelVel[0] < 1 {
		t.Error("the others do not drag the wheel along")
	}
}

func TestPowerCuts(t *testing.T) {
	for fault, estop := range map[string]bool{"brown_out@1+1": false, "estop@1+1": true} {
		f, err := ParseFault(fault)
		if err != nil {
			t.Fatal(err)
		}
		p, coasting := New(DefaultParams(Mecanum, 4), 1), New(DefaultParams(Mecanum, 4), 1)
		p.Inject(f)
		for k := range 3000 {
			during := k >= 1000 && k < 2000
			p.Step(all(0.3), true, 0.001)
			coasting.Step(all(0.3), !during, 0.001)
			if p.BrownedOut() != (during && !estop) || p.Sensors().Estop != (during && estop) {
				t.Fatalf("%s: at %d ms browned out %v, emergency stop %v", fault, k, p.BrownedOut(), p.Sensors().Estop)
			}
		}
		if a, b := p.Truth(), coasting.Truth(); math.Abs(a.X-b.X) > 1e-9 || a.X < 1 {
			t.Errorf("%s: %+v, not as when coasting: %+v", fault, a, b)
		}
	}
}

// A fault begins and ends on time within a long step, and when the robot stands.
func TestFaultTimes(t *testing.T) {
	f := Fault{Kind: EstopButton, At: 1, For: 1}
	long, short := New(ideal(DefaultParams(Mecanum, 4)), 1), New(ideal(DefaultParams(Mecanum, 4)), 1)
	long.Inject(f)
	short.Inject(f)
	long.Step(all(0.5), true, 5)
	run(short, all(0.5), true, 5)
	near(t, "way", long.Truth().X, short.Truth().X, 1e-6)

	long, short = New(ideal(DefaultParams(Mecanum, 4)), 1), New(ideal(DefaultParams(Mecanum, 4)), 1)
	long.Inject(Fault{Kind: DeadEncoder, At: 1})
	long.Step(all(0.5), true, 5)
	run(short, all(0.5), true, 1)
	near(t, "counts until the encoder died", float64(long.Sensors().Count[0]), float64(short.Sensors().Count[0]), 20)

	p := New(DefaultParams(Mecanum, 4), 1)
	p.Inject(f)
	p.Step(all(0), true, 1.5)
	if !p.Sensors().Estop {
		t.Error("standing: not pressed at 1.5 s")
	}
	p.Step(all(0), true, 1)
	if p.Sensors().Estop {
		t.Error("standing: still pressed at 2.5 s")
	}
	p.Inject(Fault{Kind: BrownOut, At: 2}) // in the past, for ever
	if !p.BrownedOut() {
		t.Error("a fault in the past is not there")
	}
	p.Inject(Fault{Kind: Stall, Wheel: 4})
	p.Inject(Fault{Kind: DeadEncoder, Wheel: -1})
}
