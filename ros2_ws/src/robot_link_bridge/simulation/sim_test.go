package simulation

import (
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// fixedSeeds are those of every test run: half a minute.
const fixedSeeds = 3000

func TestSeeds(t *testing.T) {
	var total Stats
	began := time.Now()
	for seed := range uint64(fixedSeeds) {
		if f := Run(Generate(seed), &total); f != nil {
			t.Fatalf("%v\nshrunk to:\n%v", f, Shrink(f))
		}
	}
	t.Logf("%d packets, %d control steps, %.0f s simulated in %v", total.Packets, total.Steps, float64(total.SimulatedUs)/1e6, time.Since(began))
	t.Logf("%d of %d stamps held to the truth", total.StampsHeld, total.Stamps)
	if total.StampsHeld < total.Stamps/2 {
		t.Errorf("only %d of %d stamps were held to the truth", total.StampsHeld, total.Stamps)
	}
	for v, n := range total.Verdicts {
		if n == 0 {
			t.Errorf("no datagram was %q: the network is not hostile enough", verdictNames[v])
		}
	}
}

// A script that a failure has printed, in a file: SCRIPT=file go test -run TestScript.
func TestScript(t *testing.T) {
	path := os.Getenv("SCRIPT")
	if path == "" {
		t.Skip("SCRIPT names no file")
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Parse(string(text))
	if err != nil {
		t.Fatal(err)
	}
	if f := Run(s, nil); f != nil {
		t.Fatal(f)
	}
}

func TestTheSameScriptIsTheSameRun(t *testing.T) {
	for seed := range uint64(20) {
		s := Generate(seed)
		read, err := Parse(s.String())
		if err != nil {
			t.Fatal(err)
		}
		if read.String() != s.String() {
			t.Fatalf("%s\nread back as\n%s", s, read)
		}
		var a, b Stats
		Run(s, &a)
		Run(read, &b)
		if a != b {
			t.Fatalf("seed %d: %+v, then %+v", seed, a, b)
		}
	}
}

func TestParseSaysWhatIsWrong(t *testing.T) {
	for _, text := range []string{"", "nonsense", Generate(1).String() + "1 fly 0 0 0 0", Generate(1).String() + "x kill 0 0 0 0", Generate(1).String() + "1 kill 0"} {
		if _, err := Parse(text); err == nil {
			t.Errorf("%q was read", text)
		}
	}
}

// The checks bite: a world in which something is wrong fails, and shrinks to the line that matters.
func TestAFaultIsFoundAndShrunk(t *testing.T) {
	actions["broken"] = action{ofMCU: true, do: func(w *world, l *Line) { w.mcus[l.Who].model.estop = true }} // a stop that the MCU forgot
	defer delete(actions, "broken")
	s := Generate(3)
	s.Lines = slices.Insert(s.Lines, len(s.Lines)/2, Line{At: 6 * second, What: "broken"})
	f := Run(s, nil)
	if f == nil {
		t.Fatal("not found")
	}
	small := Shrink(f)
	if len(small.Script.Lines) != 1 || small.Script.Lines[0].What != "broken" || !strings.Contains(small.What, "estop true") {
		t.Fatalf("shrunk to %v", small)
	}
}

func TestARestartedHostIsInControlWithin500ms(t *testing.T) {
	const n = 20_000
	for _, c := range []struct {
		loss    uint32
		allowed int // restarts that may take longer
	}{{0, 0}, {300_000, n / 1000}} {
		slow, worst := 0, int64(0)
		for seed := range uint64(n) {
			took := Restart(seed, c.loss, 10*second)
			if took < 0 {
				t.Fatalf("loss %d %%, seed %d: locked out for 10 s", c.loss/10_000, seed)
			}
			worst = max(worst, took)
			if took > 500*ms {
				slow++
			}
		}
		t.Logf("loss %d %%: %d of %d took more than 500 ms, the slowest %d ms", c.loss/10_000, slow, n, worst/ms)
		if slow > c.allowed {
			t.Errorf("loss %d %%: %d of %d took more than 500 ms", c.loss/10_000, slow, n)
		}
	}
}

func TestMemoryDoesNotGrow(t *testing.T) {
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	for seed := range uint64(50) {
		Run(Generate(seed), nil)
	}
	before := heap()
	for seed := range uint64(500) {
		Run(Generate(seed), nil)
	}
	if after := heap(); after > before+1<<20 {
		t.Errorf("%d bytes before, %d after 500 runs", before, after)
	}
}

func BenchmarkSeeds(b *testing.B) {
	var total Stats
	for seed := uint64(0); b.Loop(); seed++ {
		Run(Generate(seed), &total)
	}
	cpu := b.Elapsed().Seconds()
	b.ReportMetric(float64(total.Packets)/cpu*60, "packets/min")
	b.ReportMetric(float64(total.SimulatedUs)/1e6/cpu, "x_real_time")
}
