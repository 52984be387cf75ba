package rosparam

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func node(t *testing.T, argv ...string) *Node {
	t.Helper()
	a, err := Parse(argv)
	if err != nil {
		t.Fatal(err)
	}
	n, err := a.Node("bridge", "/")
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestWhatIsNotForROSIsLeft(t *testing.T) {
	for _, c := range []struct{ argv, rest string }{
		{"", ""},
		{"--mcu 1.2.3.4 x:=y", "--mcu 1.2.3.4 x:=y"},
		{"a --ros-args -r x:=y", "a"},
		{"a --ros-args -r x:=y -- b -- c", "a b -- c"},
		{"--ros-args -- b --ros-args -p n:=1 -- c", "b c"},
		{"--ros-args --ros-args -r x:=y", ""},
		{"--ros-args", ""},
		{"-- --ros-args", "--"},
	} {
		a, err := Parse(strings.Fields(c.argv))
		if err != nil || strings.Join(a.Rest, " ") != c.rest {
			t.Errorf("%q: %q, %v, want %q", c.argv, a.Rest, err, c.rest)
		}
	}
}

func TestWhatIsAboutLoggingIsKeptForRCL(t *testing.T) {
	const logging = "--log-level debug --disable-stdout-logs --log-level bridge:=warn --log-config-file x --enable-rosout-logs"
	a, err := Parse(strings.Fields("--log-level mine --ros-args -r a:=b " + logging + " -p n:=1 -- --log-level mine"))
	if err != nil || strings.Join(a.LogArgs, " ") != logging {
		t.Errorf("%q, %v", a.LogArgs, err)
	}
}

func TestNodeNameNamespaceAndEnclave(t *testing.T) {
	for _, c := range []struct{ argv, name, namespace, enclave string }{
		{"", "bridge", "/", "/"},
		{"-r __node:=other", "other", "/", "/"},
		{"-r __name:=other", "other", "/", "/"},
		{"--remap __ns:=/robot", "bridge", "/robot", "/"},
		{"-r __ns:=/a/b -r __node:=n", "n", "/a/b", "/"},
		{"-r bridge:__node:=n", "n", "/", "/"},
		{"-r stranger:__node:=n", "bridge", "/", "/"},
		{"-r __node:=first -r __node:=second", "first", "/", "/"},
		{"-r __node:=n -r n:__ns:=/x", "n", "/x", "/"},
		{"-r __node:=n -r bridge:__ns:=/x", "n", "/", "/"},
		{"-e /secure", "bridge", "/", "/secure"},
		{"--enclave /a/b", "bridge", "/", "/a/b"},
	} {
		n := node(t, append([]string{"--ros-args"}, strings.Fields(c.argv)...)...)
		if n.Name != c.name || n.Namespace != c.namespace || n.Enclave != c.enclave {
			t.Errorf("%q: %q in %q, enclave %q, want %+v", c.argv, n.Name, n.Namespace, n.Enclave, c)
		}
	}
}

func TestRemaps(t *testing.T) {
	for _, c := range []struct{ argv, topic, want string }{
		{"", "/cmd_vel", "/cmd_vel"},
		{"-r cmd_vel:=/nav/cmd_vel", "/cmd_vel", "/nav/cmd_vel"},
		{"-r cmd_vel:=drive", "/cmd_vel", "/drive"},
		{"-r /cmd_vel:=drive", "/cmd_vel", "/drive"},
		{"-r /cmd_vel:=drive", "/other", "/other"},
		{"-r cmd_vel:=drive -r __ns:=/robot", "/robot/cmd_vel", "/robot/drive"},
		{"-r cmd_vel:=drive -r __ns:=/robot", "/cmd_vel", "/cmd_vel"},
		{"-r ~/status:=/status", "/bridge/status", "/status"},
		{"-r status:=~/status -r __ns:=/r", "/r/status", "/r/bridge/status"},
		{"-r a:=b -r b:=c", "/a", "/b"}, // rules do not chain
		{"-r a:=b -r a:=c", "/a", "/b"}, // the first counts
		{"-r bridge:a:=b", "/a", "/b"},
		{"-r stranger:a:=b", "/a", "/a"},
		{"-r bridge:/a:=b", "/a", "/b"},
		{"-r bridge:~/a:=b", "/bridge/a", "/b"},
		{"-r __node:=n -r n:a:=b", "/a", "/b"},
		{"-r rostopic://a:=b", "/a", "/b"},
		{"-r rostopic:///a:=b", "/a", "/b"},
		{"-r bridge:rostopic://a:=b", "/a", "/b"},
		{"-r rosservice://a:=b", "/a", "/a"},
		{"-r /tf:=tf -r __ns:=/r", "/tf", "/r/tf"},
		{"-r {node}/x:=y", "/bridge/x", "/y"},
	} {
		n := node(t, append([]string{"--ros-args"}, strings.Fields(c.argv)...)...)
		if got := n.RemapTopic(c.topic); got != c.want {
			t.Errorf("%q: %s becomes %s, want %s", c.argv, c.topic, got, c.want)
		}
	}
	n := node(t, "--ros-args", "-r", "rosservice://a:=b", "-r", "rostopic://a:=c", "-r", "x:=y")
	if a, x := n.RemapService("/a"), n.RemapService("/x"); a != "/b" || x != "/y" {
		t.Errorf("services become %s and %s", a, x)
	}
}

func TestLogLevels(t *testing.T) {
	for _, c := range []struct{ argv, want string }{
		{"", ""},
		{"--log-level debug", "debug"},
		{"--log-level WARN", "warn"},
		{"--log-level bridge:=error --log-level debug", "error"},
		{"--log-level other:=error --log-level info", "info"},
		{"--log-level r.bridge:=fatal -r __ns:=/r", "fatal"},
		{"--log-level debug --log-level unset", ""},
	} {
		if got := node(t, append([]string{"--ros-args"}, strings.Fields(c.argv)...)...).LogLevel; got != c.want {
			t.Errorf("%q: %q, want %q", c.argv, got, c.want)
		}
	}
	// Accepted, and of no effect.
	node(t, strings.Fields("--ros-args --disable-stdout-logs --enable-stdout-logs --disable-rosout-logs "+
		"--enable-rosout-logs --disable-external-lib-logs --enable-external-lib-logs --log-config-file x.conf")...)
}

func TestFaultsOfTheCommandLineAreOneClearLine(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, c := range []struct {
		argv []string
		want []string
	}{
		{[]string{"--nonsense"}, []string{`unknown ROS argument "--nonsense"`, `"--"`}},
		{[]string{"stray"}, []string{`unknown ROS argument "stray"`}},
		{[]string{"x:=y"}, []string{`unknown ROS argument "x:=y"`}},
		{[]string{"-r"}, []string{"-r: its value is missing"}},
		{[]string{"-r", "cmd_vel"}, []string{"-r cmd_vel", "from:=to"}},
		{[]string{"-r", "cmd_vel:="}, []string{"from:=to"}},
		{[]string{"-r", ":=x"}, []string{"from:=to"}},
		{[]string{"-r", "cmd-vel:=x"}, []string{"invalid topic name", `"cmd-vel"`}},
		{[]string{"-r", "x:=y z"}, []string{"invalid topic name"}},
		{[]string{"-r", "/**/x:=y"}, []string{"wildcards"}},
		{[]string{"-r", "__ns:=robot"}, []string{"starts with '/'"}},
		{[]string{"-r", "__ns:=/7"}, []string{"invalid namespace"}},
		{[]string{"-r", "__node:=a/b"}, []string{"invalid node name"}},
		{[]string{"-p", "x"}, []string{"-p x", "name:=value"}},
		{[]string{"-p", ":=1"}, []string{"name:=value"}},
		{[]string{"-p", "x:="}, []string{"the value is missing"}},
		{[]string{"-p", "x:=~"}, []string{"the value is missing"}},
		{[]string{"-p", "x y:=1"}, []string{"no parameter name"}},
		{[]string{"-p", "x:={a: 1}"}, []string{"a value or a list"}},
		{[]string{"-p", "x:=[1, a]"}, []string{"elements of one type"}},
		{[]string{"-p", "x:=[[1], [2]]"}, []string{"do not nest"}},
		{[]string{"-p", "x:=[1"}, []string{"-p x:=[1"}},
		{[]string{"-p", "x:=18446744073709551615"}, []string{"does not fit"}},
		{[]string{"--log-level", "loud"}, []string{`"loud" is no log level`, "debug"}},
		{[]string{"--log-level", ":=info"}, []string{"logger:=level"}},
		{[]string{"--enclave", "x"}, []string{"starts with '/'"}},
		{[]string{"--params-file", "no/such.yaml"}, []string{"no/such.yaml", "no such file"}},
		{[]string{"--params-file", write("a.yaml", "bridge:\n  ros__parameters:\n    x: [1, a]\n")}, []string{"a.yaml", "line 3", "parameter x"}},
		{[]string{"--params-file", write("b.yaml", "ros__parameters:\n  x: 1\n")}, []string{"line 1", "below a node's name"}},
		{[]string{"--params-file", write("c.yaml", "bridge: 5\n")}, []string{"line 1", "expected names"}},
		{[]string{"--params-file", write("d.yaml", "- a\n")}, []string{"line 1", "expected names"}},
		{[]string{"--params-file", write("e.yaml", "a: b: c\n")}, []string{"e.yaml", "mapping values"}},
		{[]string{"--params-file", write("f.yaml", "a:\n  ros__parameters:\n    x:\n")}, []string{"line 3", "the value is missing"}},
		{[]string{"--params-file", write("g.yaml", "a:\n  ros__parameters: &p\n    b: *p\n")}, []string{"g.yaml"}},
		{[]string{"--params-file", write("h.yaml", "a: &p\n  b: *p\n")}, []string{"h.yaml"}},
		{[]string{"--params-file", write("i.yaml", "a:\n  ros__parameters:\n    x y: 1\n")}, []string{"line 3", "no parameter name"}},
	} {
		_, err := Parse(append([]string{"--ros-args"}, c.argv...))
		if err == nil {
			t.Errorf("%q was accepted", c.argv)
			continue
		}
		for _, want := range append(c.want, "ROS argument") {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%q: %v, want %q", c.argv, err, want)
			}
		}
		if strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: more than one line: %q", c.argv, err)
		}
	}
}

func TestNodeRefusesInvalidNames(t *testing.T) {
	a, err := Parse([]string{"--ros-args", "-r", "~/a:=~/b"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range [][2]string{{"a/b", "/"}, {"", "/"}, {"n", "/7"}, {strings.Repeat("n", 250), "/"}} {
		if _, err := a.Node(c[0], c[1]); err == nil {
			t.Errorf("%q in %q was accepted", c[0], c[1])
		}
	}
}

func TestValuesAreTypedAsROSDoes(t *testing.T) {
	for text, want := range map[string]any{
		"true": true, "False": false, "yes": true, "on": true, "Off": false, "n": false, "NO": false,
		"1": int64(1), "-5": int64(-5), "0x10": int64(16),
		"1.0": 1.0, "1e3": 1000.0, "-.5": -0.5,
		"abc": "abc", "'1'": "1", `"true"`: "true", "'yes'": "yes", "!!str 1": "1", "!!str yes": "yes", "''": "", "1.2.3.4": "1.2.3.4",
		"/a/b": "/a/b", "2026-11-30": "2026-11-30", "10.0.0.1:5000": "10.0.0.1:5000", "x: y": nil,
		"[1, 2]": []int64{1, 2}, "[1, 2.5]": []float64{1, 2.5}, "[a, 'b']": []string{"a", "b"}, "[true, no]": []bool{true, false},
		"[]": []string{}, "a:=b": "a:=b",
	} {
		a, err := Parse([]string{"--ros-args", "-p", "x:=" + text})
		if want == nil {
			if err == nil {
				t.Errorf("%q was accepted", text)
			}
			continue
		}
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if got := a.overrides[0].value; !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %#v, want %#v", text, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"-r a:=b", "-p x:=[1, 2]", "-r n:__ns:=/x -p n:a.b:={", "--log-level a:=debug", "-- x --ros-args -e /y", "-r rostopic:///a:=~/b",
		"-p x:=&a [*a]", "-p x:=!!int yes",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		argv := append([]string{"--ros-args"}, strings.Split(s, " ")...)
		for i, arg := range argv {
			if arg == "--params-file" { // no files of the machine
				argv[i] = "-p"
			}
		}
		a, err := Parse(argv)
		if err == nil {
			_, err = a.Node("bridge", "/")
		}
		if err != nil && strings.TrimSpace(err.Error()) == "" {
			t.Error("an error without words")
		}
	})
}
