package names

import (
	"strings"
	"testing"
)

func TestExpandFollowsROS(t *testing.T) {
	for _, c := range []struct{ in, node, ns, want string }{
		{"/odom", "n", "/", "/odom"},
		{"/odom", "n", "/robot", "/odom"},
		{"odom", "n", "/", "/odom"},
		{"odom", "n", "/robot", "/robot/odom"},
		{"link/status", "n", "/a/b", "/a/b/link/status"},
		{"~", "n", "/", "/n"},
		{"~", "n", "/robot", "/robot/n"},
		{"~/status", "n", "/", "/n/status"},
		{"~/status", "n", "/robot", "/robot/n/status"},
		{"{node}/x", "n", "/robot", "/robot/n/x"},
		{"/{node}/x", "n", "/robot", "/n/x"},
		{"{ns}/x", "n", "/robot", "/robot/x"},
		{"{namespace}/x", "n", "/robot", "/robot/x"},
		{"~/{node}", "n", "/", "/n/n"},
		{"_x/y_2", "n", "/", "/_x/y_2"},
		{"a__b", "n", "/", "/a__b"},
		{strings.Repeat("x", 246), "n", "/", "/" + strings.Repeat("x", 246)},
	} {
		got, err := Expand(c.in, c.node, c.ns)
		if err != nil || got != c.want {
			t.Errorf("Expand(%q, %q, %q) = %q, %v, want %q", c.in, c.node, c.ns, got, err, c.want)
		}
	}
}

func TestExpandRefusesWhatROSRefuses(t *testing.T) {
	for in, reason := range map[string]string{
		"":                       "empty",
		"/":                      "ends with",
		"odom/":                  "ends with",
		"~/":                     "ends with",
		"7odom":                  "starts with a digit",
		"a/7odom":                "starts with a digit",
		"/7odom":                 "starts with a digit",
		"a//b":                   "//",
		"//b":                    "//",
		"cmd-vel":                "are allowed",
		"cmd vel":                "are allowed",
		"cmd.vel":                "are allowed",
		"vé":                     "are allowed",
		"a\x00b":                 "are allowed",
		"a~":                     "'~'",
		"~a":                     "'~'",
		"/~":                     "'~'",
		"~~":                     "'~'",
		"{node":                  "balanced",
		"node}":                  "balanced",
		"{}":                     "balanced",
		"{{node}}":               "balanced",
		"{7}":                    "digit",
		"{a/b}":                  "substitution contains",
		"{unknown}":              "unknown substitution",
		"a{ns}":                  "ends with",
		strings.Repeat("x", 247): "247 bytes",
	} {
		got, err := Expand(in, "n", "/")
		if err == nil || !strings.Contains(err.Error(), reason) || !strings.Contains(err.Error(), "invalid topic name") {
			t.Errorf("Expand(%q) = %q, %v, want an error with %q", in, got, err, reason)
		}
	}
}

func TestNamespaces(t *testing.T) {
	for in, want := range map[string]string{
		"": "/", "/": "/", "robot": "/robot", "/robot": "/robot", "a/b": "/a/b",
		"robot/": "", "//": "", "/7": "", "a-b": "", "a//b": "", "~": "", strings.Repeat("x", 246): "",
	} {
		got, err := Namespace(in)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("Namespace(%q) = %q, %v, want %q", in, got, err, want)
		}
	}
}

func TestNodeNames(t *testing.T) {
	for in, ok := range map[string]bool{
		"robot_link_bridge": true, "_a": true, "A9": true, strings.Repeat("x", 255): true,
		"": false, "9a": false, "a/b": false, "a-b": false, "é": false, strings.Repeat("x", 256): false,
	} {
		if err := ValidateNode(in); (err == nil) != ok {
			t.Errorf("ValidateNode(%q) = %v", in, err)
		}
	}
}

func TestFullTopics(t *testing.T) {
	for in, ok := range map[string]bool{
		"/a": true, "/a/b": true, "": false, "a": false, "/": false, "/a/": false, "/a//b": false, "/~": false, "/{node}": false,
	} {
		if err := ValidateTopic(in); (err == nil) != ok {
			t.Errorf("ValidateTopic(%q) = %v", in, err)
		}
	}
}

// Whatever Expand lets through is valid on the wire.
func FuzzExpand(f *testing.F) {
	for _, s := range []string{"odom", "~/x", "/{node}", "{ns}/a", "a//b", "~", "{", "}{", "\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if full, err := Expand(s, "node", "/ns"); err == nil {
			if err := ValidateTopic(full); err != nil {
				t.Fatalf("Expand(%q) = %q: %v", s, full, err)
			}
		}
	})
}
