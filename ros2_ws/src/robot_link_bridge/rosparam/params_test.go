package rosparam

import (
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"go.uber.org/multierr"
)

var inf = math.Inf(1)

func TestDefaultsHoldWhereNothingIsGiven(t *testing.T) {
	p := node(t).Params
	if p.Bool("b", true, "") != true || p.Int("i", 3, 0, 9, "") != 3 || p.Float("f", 1.5, 0, 2, "") != 1.5 ||
		p.String("s", "x", "") != "x" || p.Choice("c", "a", []string{"a", "b"}, "") != "a" ||
		p.Seconds("t", time.Second/2, 0, time.Minute, "") != time.Second/2 ||
		!reflect.DeepEqual(p.Floats("l", []float64{1, 2}, 0, 9, ""), []float64{1, 2}) ||
		!reflect.DeepEqual(p.Strings("ls", []string{"q"}, ""), []string{"q"}) {
		t.Errorf("%+v", p.Declared())
	}
	if p.Err() != nil || p.Unknown() != nil {
		t.Errorf("%v, %v", p.Err(), p.Unknown())
	}
}

func TestGivenValuesWin(t *testing.T) {
	p := node(t, strings.Fields("--ros-args -p b:=false -p i:=4 -p f:=2 -p s:=yy -p c:=b -p t:=0.25 -p l:=[3,4.5] -p ls:=[] -p a.b:=1")...).Params
	if p.Bool("b", true, "") != false || p.Int("i", 3, 0, 9, "") != 4 || p.Float("f", 1.5, 0, 2, "") != 2 ||
		p.String("s", "x", "") != "yy" || p.Choice("c", "a", []string{"a", "b"}, "") != "b" ||
		p.Seconds("t", time.Second/2, 0, time.Minute, "") != time.Second/4 ||
		!reflect.DeepEqual(p.Floats("l", []float64{1, 2}, 0, 9, ""), []float64{3, 4.5}) ||
		len(p.Strings("ls", []string{"q"}, "")) != 0 || p.Int("a.b", 0, 0, 1, "") != 1 {
		t.Errorf("%+v", p.Declared())
	}
	if p.Err() != nil || p.Unknown() != nil {
		t.Errorf("%v, %v", p.Err(), p.Unknown())
	}
	for _, d := range p.Declared() {
		if d.Name == "f" && (d.Default != 1.5 || d.Value != 2.0 || d.Min != 0.0 || d.Max != 2.0) {
			t.Errorf("%+v", d)
		}
	}
}

func TestBadValuesAreNamed(t *testing.T) {
	ask := map[string]func(p *Params){
		"b": func(p *Params) { p.Bool("x", false, "") },
		"i": func(p *Params) { p.Int("x", 1, 0, 9, "") },
		"f": func(p *Params) { p.Float("x", 1, 0, 9, "") },
		"g": func(p *Params) { p.Float("x", 1, 0.5, inf, "") },
		"h": func(p *Params) { p.Float("x", 1, -inf, 9, "") },
		"s": func(p *Params) { p.String("x", "", "") },
		"c": func(p *Params) { p.Choice("x", "a", []string{"a", "b"}, "") },
		"t": func(p *Params) { p.Seconds("x", time.Second, 0, time.Minute, "") },
		"l": func(p *Params) { p.Floats("x", []float64{1, 2}, 0, 9, "") },
		"m": func(p *Params) { p.Strings("x", nil, "") },
	}
	for _, c := range []struct{ kind, value, want string }{
		{"b", "1", "expected true or false, got 1"},
		{"b", "maybe", `expected true or false, got "maybe"`},
		{"i", "1.0", "expected an integer, got 1"},
		{"i", "10", "10 is not within 0 and 9"},
		{"f", "abc", `expected a number, got "abc"`},
		{"f", "true", "expected a number, got true"},
		{"f", "'1'", `expected a number, got "1"`},
		{"f", "-0.1", "-0.1 is not within 0 and 9"},
		{"f", ".nan", "NaN is not a finite number"},
		{"f", ".inf", "+Inf is not a finite number"},
		{"g", "0.1", "0.1 is below 0.5"},
		{"h", "10", "10 is above 9"},
		{"s", "1", "expected a string, got 1"},
		{"c", "z", `expected one of a, b, got "z"`},
		{"t", "61", "61 is not within 0 and 60"},
		{"l", "1", "expected a list of 2 numbers, got 1"},
		{"l", "[1]", "expected a list of 2 numbers, got [1]"},
		{"l", "[1, 2, 3]", "expected a list of 2 numbers, got [1 2 3]"},
		{"l", "[a, b]", "expected a list of 2 numbers, got [a b]"},
		{"l", "[1, 10]", "element 1: 10 is not within 0 and 9"},
		{"l", "[]", "expected a list of 2 numbers, got []"},
		{"m", "a", `expected a list of strings, got "a"`},
	} {
		p := node(t, "--ros-args", "-p", "x:="+c.value).Params
		ask[c.kind](p)
		if err := p.Err(); err == nil || err.Error() != "parameter x: "+c.want {
			t.Errorf("%s of %s: got %v, want %q", c.kind, c.value, err, c.want)
		}
		if p.Unknown() != nil {
			t.Errorf("%v", p.Unknown())
		}
	}
}

func TestAllFaultsAreToldAtOnce(t *testing.T) {
	p := node(t, strings.Fields("--ros-args -p a:=x -p b:=x -p cmd_vel_timout:=1 -p zzz:=1")...).Params
	p.Int("a", 0, 0, 1, "")
	p.Float("b", 0, 0, 1, "")
	p.Seconds("cmd_vel_timeout", time.Second, 0, time.Minute, "")
	if err := p.Err(); err == nil || len(multierr.Errors(err)) != 2 {
		t.Errorf("%v", err)
	}
	want := []string{"parameter cmd_vel_timout: unknown (did you mean cmd_vel_timeout?)", "parameter zzz: unknown"}
	if got := p.Unknown(); !reflect.DeepEqual(got, want) {
		t.Errorf("%q", got)
	}
}

const paramFile = `
/**:
  ros__parameters:
    everywhere: 1
    value: all
bridge:
  ros__parameters:
    value: relative
    nested:
      deep: {er: 2.5}
    list: [1.0, 2.0]
/robot/bridge:
  ros__parameters:
    value: absolute
robot:
  inner:
    bridge:
      ros__parameters:
        value: nested
  other:
    ros__parameters:
      value: other
/*/solo:
  ros__parameters:
    value: one level
/deep/**:
  ros__parameters:
    value: below deep
empty:
  ros__parameters:
`

func TestParameterFilesReachTheNodesThatTheyName(t *testing.T) {
	path := filepath.Join(t.TempDir(), "params.yaml")
	if err := os.WriteFile(path, []byte(paramFile), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, namespace, value string }{
		{"bridge", "/", "relative"},
		{"bridge", "/robot", "absolute"},
		{"bridge", "/robot/inner", "nested"},
		{"bridge", "/else", "all"},
		{"other", "/robot", "other"},
		{"other", "/", "all"},
		{"solo", "/x", "one level"},
		{"solo", "/", "all"},
		{"solo", "/x/y", "all"},
		{"a", "/deep", "below deep"},
		{"a", "/deep/deeper", "below deep"},
		{"deep", "/", "below deep"},
		{"empty", "/", "all"},
	} {
		a, err := Parse([]string{"--ros-args", "--params-file", path})
		if err != nil {
			t.Fatal(err)
		}
		n, err := a.Node(c.name, c.namespace)
		if err != nil {
			t.Fatal(err)
		}
		if got := n.Params.String("value", "none", ""); got != c.value {
			t.Errorf("%s in %s: %q, want %q", c.name, c.namespace, got, c.value)
		}
		if n.Params.Int("everywhere", 0, 0, 9, "") != 1 {
			t.Errorf("%s in %s does not get what is for all", c.name, c.namespace)
		}
	}
	n := node(t, "--ros-args", "--params-file", path)
	if got := n.Params.Float("nested.deep.er", 0, 0, 9, ""); got != 2.5 {
		t.Errorf("nested: %v", got)
	}
	n.Params.Bool("value", false, "")
	if err := n.Params.Err(); err == nil || err.Error() != `parameter value: expected true or false, got "relative" (in params.yaml, line 8)` {
		t.Error(err)
	}
	want := []string{"parameter everywhere: unknown (in params.yaml, line 4)", "parameter list: unknown (in params.yaml, line 11)"}
	if got := n.Params.Unknown(); !reflect.DeepEqual(got, want) {
		t.Errorf("%q", got)
	}
}

func TestWhichValueWinsIsAsInRclcpp(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{
		"a.yaml": "bridge:\n  ros__parameters: {x: 1}\n", "b.yaml": "/**:\n  ros__parameters: {x: 2}\n", "empty.yaml": "",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	a, b := "--params-file "+filepath.Join(dir, "a.yaml"), "--params-file "+filepath.Join(dir, "b.yaml")
	for argv, want := range map[string]int64{
		a: 1, b: 2, a + " " + b: 2, b + " " + a: 1, a + " -p x:=3": 3, "-p x:=3 " + a: 1, "-p x:=3 -p x:=4": 4,
		// "/**" was seen before "bridge", so it loses, whatever is said of it later.
		b + " " + a + " " + b: 1, b + " " + a + " -p x:=3": 1, "-p x:=3 " + a + " -p x:=4": 1, "-p x:=6 -p bridge:x:=5 -p x:=7": 5,
		"-p bridge:x:=5 -r __ns:=/robot": 0,
		"-p bridge:x:=5":                 5, "-p stranger:x:=5": 0, "-p bridge:x:=5 -p x:=6": 6,
		"--params-file " + filepath.Join(dir, "empty.yaml"): 0,
	} {
		n := node(t, append([]string{"--ros-args"}, strings.Fields(argv)...)...)
		if got := n.Params.Int("x", 0, 0, 9, ""); got != want {
			t.Errorf("%q: %d, want %d", argv, got, want)
		}
	}
}

func TestDeclaringTwiceIsAProgrammingError(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	p := node(t).Params
	p.Bool("x", true, "")
	p.Bool("x", true, "")
}
