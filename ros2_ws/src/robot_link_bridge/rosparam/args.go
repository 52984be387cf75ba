// Package rosparam reads what ROS 2 says to a node on its command line ("--ros-args ...") and in
// parameter files: its name and namespace, remaps, log levels and parameters, by the rules of rcl. While
// the node runs it serves the parameters, by the rules of rclcpp.
//
//	args, err := rosparam.Parse(os.Args[1:])
//	node, err := args.Node("robot_link_bridge", "/")
//	timeout := node.Params.Live().Seconds("cmd_vel_timeout", 500*time.Millisecond, lo, hi, "how old ...")
//	err = node.Params.Err()
//	err = node.Serve(bus, now, func(next *rosparam.Params) error { ... })
//
// Errors are one line each and name the argument or parameter.
package rosparam

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/names"
)

// Args is a command line, taken apart.
type Args struct {
	Rest    []string // what is not for ROS, in order
	Enclave string   // --enclave, "" if not given
	LogArgs []string // what is about logging, as given, for rcl where that does the logging

	rules     []rule
	overrides []override
	levels    map[string]string // logger to level; "" is the default
}

// rule is one remap.
type rule struct {
	text     string // as written
	node     string // only for this node, if not empty
	kind     string // "__node", "__ns", "topic", "service" or "both"
	from, to string
}

// override is one parameter's value for the nodes that a pattern names.
type override struct {
	pattern string // "/**", "/robot/bridge"
	name    string
	value   any    // see Value in values.go
	source  string // " (in file, line n)", empty for -p
}

// levelNames are rcutils's severities.
var levelNames = []string{"unset", "debug", "info", "warn", "error", "fatal"}

// Parse takes a command line apart, without the program's name, and reads the parameter files that it
// names.
func Parse(argv []string) (*Args, error) {
	a := &Args{levels: map[string]string{}}
	inROS := false
	for i := 0; i < len(argv); i++ {
		arg := argv[i]
		switch {
		case arg == "--ros-args":
			inROS = true
		case !inROS:
			a.Rest = append(a.Rest, arg)
		case arg == "--":
			inROS = false
		case isLogSwitch(arg):
			a.LogArgs = append(a.LogArgs, arg)
		default:
			read, ok := map[string]func(string) error{
				"-r": a.remap, "--remap": a.remap, "-p": a.param, "--param": a.param, "--params-file": a.paramsFile,
				"--log-level": a.logLevel, "-e": a.enclave, "--enclave": a.enclave, "--log-config-file": ignore,
			}[arg]
			if !ok {
				return nil, fmt.Errorf("unknown ROS argument %q after --ros-args (a \"--\" ends the ROS arguments)", arg)
			}
			if i++; i == len(argv) {
				return nil, fmt.Errorf("ROS argument %s: its value is missing", arg)
			}
			if err := read(argv[i]); err != nil {
				return nil, fmt.Errorf("ROS argument %s %s: %w", arg, argv[i], err)
			}
			if strings.HasPrefix(arg, "--log-") {
				a.LogArgs = append(a.LogArgs, arg, argv[i])
			}
		}
	}
	return a, nil
}

// isLogSwitch knows the switches that rcl takes. They mean something only where rcl does the logging.
func isLogSwitch(arg string) bool {
	for _, log := range []string{"stdout-logs", "rosout-logs", "external-lib-logs"} {
		if arg == "--enable-"+log || arg == "--disable-"+log {
			return true
		}
	}
	return false
}

func ignore(string) error { return nil }

func (a *Args) enclave(s string) error {
	if !strings.HasPrefix(s, "/") {
		return fmt.Errorf("an enclave starts with '/'")
	}
	a.Enclave = s
	return nil
}

func (a *Args) logLevel(s string) error {
	logger, level, found := strings.Cut(s, ":=")
	if !found {
		logger, level = "", s
	}
	if found && logger == "" {
		return fmt.Errorf("expected a level or logger:=level")
	}
	level = strings.ToLower(level)
	if !slices.Contains(levelNames, level) {
		return fmt.Errorf("%q is no log level: expected one of %s", level, strings.Join(levelNames[1:], ", "))
	}
	a.levels[logger] = level
	return nil
}

// prefixed splits "node:rest" from "rest"; the colon of a URL ("rostopic://") is none of a node's.
var prefixed = regexp.MustCompile(`^([A-Za-z_][A-Za-z0-9_]*):([^/=].*|/[^/].*)$`)

// remap reads from:=to, node:from:=to, and the special names.
func (a *Args) remap(s string) error {
	left, to, ok := strings.Cut(s, ":=")
	if !ok || left == "" || to == "" {
		return fmt.Errorf("expected from:=to")
	}
	r := rule{text: s, kind: "both", from: left, to: to}
	if m := prefixed.FindStringSubmatch(left); m != nil {
		r.node, r.from = m[1], m[2]
	}
	switch {
	case r.from == "__node", r.from == "__name":
		r.kind = "__node"
		if err := names.ValidateNode(to); err != nil {
			return err
		}
	case r.from == "__ns":
		r.kind = "__ns"
		if !strings.HasPrefix(to, "/") {
			return fmt.Errorf("a namespace starts with '/'")
		}
		if _, err := names.Namespace(to); err != nil {
			return err
		}
	default:
		for prefix, kind := range map[string]string{"rostopic://": "topic", "rosservice://": "service"} {
			if rest, found := strings.CutPrefix(r.from, prefix); found {
				r.kind, r.from = kind, rest
			}
		}
		if strings.ContainsAny(r.from, `*\`) || strings.ContainsAny(to, `*\`) {
			return fmt.Errorf("wildcards are not supported")
		}
		for _, name := range []string{r.from, to} {
			if _, err := names.Expand(name, "node", "/"); err != nil {
				return err
			}
		}
	}
	a.rules = append(a.rules, r)
	return nil
}

// paramName is a parameter's name: parts with dots or slashes between them.
var paramName = regexp.MustCompile(`^[A-Za-z0-9_~-]+([./][A-Za-z0-9_~-]+)*$`)

// param reads name:=value or node:name:=value; the value is YAML.
func (a *Args) param(s string) error {
	left, text, ok := strings.Cut(s, ":=")
	if !ok || left == "" {
		return fmt.Errorf("expected name:=value")
	}
	o := override{pattern: "/**", name: left}
	if m := prefixed.FindStringSubmatch(left); m != nil {
		o.pattern, o.name = "/"+m[1], m[2] // as in rcl, a node without a namespace
	}
	if !paramName.MatchString(o.name) {
		return fmt.Errorf("%q is no parameter name", o.name)
	}
	var err error
	if o.value, err = parseValue(text); err != nil {
		return err
	}
	a.overrides = append(a.overrides, o)
	return nil
}

// Node is what the command line says to one node.
type Node struct {
	Name      string
	Namespace string
	Enclave   string // "/" if not given
	LogLevel  string // "debug", "info", "warn", "error" or "fatal"; "" if not given
	Params    *Params

	rules []rule
}

// fullName is "/namespace/name".
func (n *Node) fullName() string { return strings.TrimSuffix(n.Namespace, "/") + "/" + n.Name }

// Node applies the command line to a node that calls itself name in a namespace.
func (a *Args) Node(name, namespace string) (*Node, error) {
	n := &Node{Name: name, Enclave: a.Enclave}
	if n.Enclave == "" {
		n.Enclave = "/"
	}
	// As in rcl, the prefix of a __node rule is the old name, of all other rules the new one.
	if r := a.first("__node", name); r != nil {
		n.Name = r.to
	}
	if err := names.ValidateNode(n.Name); err != nil {
		return nil, err
	}
	if r := a.first("__ns", n.Name); r != nil {
		namespace = r.to
	}
	var err error
	if n.Namespace, err = names.Namespace(namespace); err != nil {
		return nil, err
	}
	for _, r := range a.rules {
		if r.kind == "__node" || r.kind == "__ns" || (r.node != "" && r.node != n.Name) {
			continue
		}
		// The names were checked as written; with this node's own in them they may have become too long.
		if r.from, err = names.Expand(r.from, n.Name, n.Namespace); err == nil {
			r.to, err = names.Expand(r.to, n.Name, n.Namespace)
		}
		if err != nil {
			return nil, fmt.Errorf("remap %s: %w", r.text, err)
		}
		n.rules = append(n.rules, r)
	}
	full := n.fullName()
	n.LogLevel = a.levels[""]
	if level, ok := a.levels[strings.ReplaceAll(full[1:], "/", ".")]; ok {
		n.LogLevel = level
	}
	if n.LogLevel == "unset" {
		n.LogLevel = ""
	}
	n.Params = newParams()
	for _, o := range a.byPattern() {
		if matches(o.pattern, full) {
			n.Params.set[o.name] = given{o.value, o.source}
		}
	}
	return n, nil
}

// byPattern orders the overrides as rcl does, where the last one wins: patterns as they were first seen, and what is
// for the same pattern as it was given. So -p loses to a file's own entry for the node if "/**" was seen before that.
func (a *Args) byPattern() []override {
	seen := map[string]int{}
	for _, o := range a.overrides {
		if _, ok := seen[o.pattern]; !ok {
			seen[o.pattern] = len(seen)
		}
	}
	return slices.SortedStableFunc(slices.Values(a.overrides), func(x, y override) int { return seen[x.pattern] - seen[y.pattern] })
}

func (a *Args) first(kind, node string) *rule {
	for i := range a.rules {
		if r := &a.rules[i]; r.kind == kind && (r.node == "" || r.node == node) {
			return r
		}
	}
	return nil
}

// RemapTopic maps a fully-qualified topic name: the first rule that names it applies, and only that.
func (n *Node) RemapTopic(topic string) string { return n.apply(topic, "topic") }

// RemapService does the same for a service.
func (n *Node) RemapService(service string) string { return n.apply(service, "service") }

func (n *Node) apply(name, kind string) string {
	for _, r := range n.rules {
		if (r.kind == kind || r.kind == "both") && r.from == name {
			return r.to
		}
	}
	return name
}

// matches compares a node's full name with a pattern: "*" is one part of it, "**" any number.
func matches(pattern, full string) bool {
	return matchParts(strings.Split(strings.Trim(pattern, "/"), "/"), strings.Split(full[1:], "/"))
}

func matchParts(pattern, parts []string) bool {
	if len(pattern) == 0 {
		return len(parts) == 0
	}
	if pattern[0] == "**" {
		for skip := 0; skip <= len(parts); skip++ {
			if matchParts(pattern[1:], parts[skip:]) {
				return true
			}
		}
		return false
	}
	return len(parts) > 0 && (pattern[0] == "*" || pattern[0] == parts[0]) && matchParts(pattern[1:], parts[1:])
}
