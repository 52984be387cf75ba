package rosparam

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"robot_link/ros2_ws/src/robot_link_bridge/rosbus"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/memory"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/msgs"
)

const patience = 10 * time.Second

// served is a node that serves its parameters, and a peer that asks for them.
type served struct {
	t      *testing.T
	peer   rosbus.Bus
	events chan *msgs.ParameterEvent
	took   chan settings // what apply was given, when it was content
}

type settings struct {
	Speed  float64
	Count  int64
	Label  string
	Mode   string
	Scales []float64
	Names  []string
}

func declareAll(p *Params) settings {
	return settings{
		Speed:  p.Live().Float("speed", 1, 0.5, 2, "how fast, m/s"),
		Count:  p.Live().Int("wheels.count", 4, 3, 4, "how many"),
		Label:  p.Live().String("wheels.front.label", "w", "what they are called"),
		Mode:   p.Live().Choice("mode", "a", []string{"a", "b"}, "which one"),
		Scales: p.Live().Floats("scales", []float64{1, 2}, 0, 9, "of each"),
		Names:  p.Live().Strings("names", []string{"x"}, "of all"),
	}
}

func serveParams(t *testing.T) *served {
	t.Helper()
	net := memory.New()
	open := func(name, namespace string) rosbus.Bus {
		bus, err := rosbus.OpenWith(rosbus.Options{Node: name, Namespace: namespace}, net.Open)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { bus.Close() })
		return bus
	}
	s := &served{t: t, peer: open("peer", "/"), events: make(chan *msgs.ParameterEvent, 100), took: make(chan settings, 100)}
	if _, err := rosbus.Subscribe(s.peer, "/parameter_events", events, func(m *msgs.ParameterEvent) { s.events <- m }); err != nil {
		t.Fatal(err)
	}
	args, err := Parse(strings.Fields("--ros-args -r __ns:=/robot -p speed:=2"))
	if err != nil {
		t.Fatal(err)
	}
	n, err := args.Node("node", "/")
	if err != nil {
		t.Fatal(err)
	}
	declareAll(n.Params)
	n.Params.Bool("fixed", true, "what can't change")
	now := func() msgs.Time { return msgs.Time{Sec: 7} }
	if err := n.Serve(open("node", "/robot"), now, func(next *Params) error {
		got := declareAll(next)
		if next.Err() != nil || got.Label == got.Mode {
			return errors.Join(next.Err(), errors.New("label and mode are the same"))
		}
		s.took <- got
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if e := s.event(); len(e.NewParameters) != 7 || e.ChangedParameters != nil || e.Node != "/robot/node" || e.Stamp.Sec != 7 {
		t.Errorf("at the start: %+v", e)
	}
	return s
}

func (s *served) event() *msgs.ParameterEvent {
	s.t.Helper()
	select {
	case e := <-s.events:
		return e
	case <-time.After(patience):
		s.t.Fatal("no event")
		return nil
	}
}

func ask[Req rosbus.Request, Res any](s *served, service string, req Req) *Res {
	s.t.Helper()
	c, err := rosbus.NewClient[Req, Res](s.peer, "/robot/node/"+service)
	if err != nil {
		s.t.Fatal(err)
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	res, err := c.Call(ctx, &req)
	if err != nil {
		s.t.Fatal(err)
	}
	return res
}

func (s *served) get(names ...string) (values []any) {
	s.t.Helper()
	for _, v := range ask[msgs.GetParametersRequest, msgs.GetParametersResponse](s, "get_parameters", msgs.GetParametersRequest{Names: names}).Values {
		values = append(values, valueOf(&v))
	}
	return values
}

// setTo makes the messages of "name", value, "name", value ...
func setTo(pairs ...any) (list []msgs.Parameter) {
	for pair := range slices.Chunk(pairs, 2) {
		m := msgs.Parameter{Name: pair[0].(string), Value: message(pair[1])}
		switch v := pair[1].(type) {
		case []bool:
			m.Value.BoolArrayValue = v
		case []int64:
			m.Value.IntegerArrayValue = v
		case []byte:
			m.Value.ByteArrayValue = v
		}
		list = append(list, m)
	}
	return list
}

func (s *served) set(pairs ...any) []msgs.SetParametersResult {
	s.t.Helper()
	return ask[msgs.SetParametersRequest, msgs.SetParametersResponse](s, "set_parameters", msgs.SetParametersRequest{Parameters: setTo(pairs...)}).Results
}

func (s *served) setAtomically(pairs ...any) msgs.SetParametersResult {
	s.t.Helper()
	return ask[msgs.SetParametersAtomicallyRequest, msgs.SetParametersAtomicallyResponse](s, "set_parameters_atomically",
		msgs.SetParametersAtomicallyRequest{Parameters: setTo(pairs...)}).Result
}

func TestValuesInForceAreGot(t *testing.T) {
	s := serveParams(t)
	for _, c := range []struct {
		names []string
		want  []any
	}{
		{[]string{"speed"}, []any{2.0}},
		{[]string{"names", "wheels.count", "fixed", "mode", "scales"}, []any{[]string{"x"}, int64(4), true, "a", []float64{1, 2}}},
		{nil, nil},
		{[]string{"nobody"}, nil},
		{[]string{"speed", "nobody"}, nil}, // rclcpp answers nothing at all then
	} {
		if got := s.get(c.names...); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%v: %v, want %v", c.names, got, c.want)
		}
	}
	types := ask[msgs.GetParameterTypesRequest, msgs.GetParameterTypesResponse](s, "get_parameter_types",
		msgs.GetParameterTypesRequest{Names: []string{"fixed", "wheels.count", "speed", "mode", "scales", "names"}}).Types
	if want := []uint8{1, 2, 3, 4, 8, 9}; !slices.Equal(types, want) {
		t.Errorf("types %v, want %v", types, want)
	}
}

func TestNamesAreListedAsByRclcpp(t *testing.T) {
	s := serveParams(t)
	for _, c := range []struct {
		prefixes        []string
		depth           uint64
		names, branches string
	}{
		{nil, 0, "fixed mode names scales speed wheels.count wheels.front.label", "wheels wheels.front"},
		{nil, 1, "fixed mode names scales speed", ""},
		{nil, 2, "fixed mode names scales speed wheels.count", "wheels"},
		{[]string{"wheels"}, 0, "wheels.count wheels.front.label", "wheels wheels.front"},
		{[]string{"wheels"}, 1, "", ""},
		{[]string{"wheels"}, 2, "wheels.count", "wheels"},
		{[]string{"wheels", "speed"}, 2, "speed wheels.count", "wheels"},
		{[]string{"wheel"}, 0, "", ""},
		{[]string{"wheels.count"}, 1, "wheels.count", "wheels"},
		{[]string{""}, 0, "", ""},
	} {
		got := ask[msgs.ListParametersRequest, msgs.ListParametersResponse](s, "list_parameters",
			msgs.ListParametersRequest{Prefixes: c.prefixes, Depth: c.depth}).Result
		if strings.Join(got.Names, " ") != c.names || strings.Join(got.Prefixes, " ") != c.branches {
			t.Errorf("%q, depth %d: %q, %q", c.prefixes, c.depth, got.Names, got.Prefixes)
		}
	}
}

func TestParametersAreDescribed(t *testing.T) {
	s := serveParams(t)
	describe := func(names ...string) []msgs.ParameterDescriptor {
		return ask[msgs.DescribeParametersRequest, msgs.DescribeParametersResponse](s, "describe_parameters", msgs.DescribeParametersRequest{Names: names}).Descriptors
	}
	want := []msgs.ParameterDescriptor{
		{Name: "speed", Type: 3, Description: "how fast, m/s", FloatingPointRange: []msgs.FloatingPointRange{{FromValue: 0.5, ToValue: 2}}},
		{Name: "wheels.count", Type: 2, Description: "how many", IntegerRange: []msgs.IntegerRange{{FromValue: 3, ToValue: 4}}},
		{Name: "mode", Type: 4, Description: "which one", AdditionalConstraints: "one of a, b"},
		{Name: "scales", Type: 8, Description: "of each", AdditionalConstraints: "2 numbers, each from 0 to 9"},
		{Name: "fixed", Type: 1, Description: "what can't change", ReadOnly: true, AdditionalConstraints: "a change needs a restart of the node"},
	}
	if got := describe("speed", "wheels.count", "mode", "scales", "fixed"); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if got := describe("speed", "nobody"); got != nil {
		t.Errorf("%+v", got)
	}
}

func TestChangesThatAreRefusedSayWhyAndChangeNothing(t *testing.T) {
	s := serveParams(t)
	names := []string{"speed", "wheels.count", "wheels.front.label", "mode", "scales", "names", "fixed"}
	before := s.get(names...)
	for _, c := range []struct {
		name  string
		value any
		want  string
	}{
		{"nobody", 1.0, "parameter 'nobody' cannot be set because it was not declared"},
		{"", 1.0, "parameter '' cannot be set because it was not declared"},
		{"fixed", false, "parameter 'fixed' cannot be set because it is read-only: a change needs a restart of the node"},
		{"speed", int64(1), "Wrong parameter type, parameter {speed} is of type {double}, setting it to {integer} is not allowed."},
		{"speed", "1", "Wrong parameter type, parameter {speed} is of type {double}, setting it to {string} is not allowed."},
		{"speed", true, "Wrong parameter type, parameter {speed} is of type {double}, setting it to {bool} is not allowed."},
		{"scales", []int64{1, 2}, "Wrong parameter type, parameter {scales} is of type {double_array}, setting it to {integer_array} is not allowed."},
		{"names", []bool{true}, "Wrong parameter type, parameter {names} is of type {string_array}, setting it to {bool_array} is not allowed."},
		{"names", []byte{1}, "Wrong parameter type, parameter {names} is of type {string_array}, setting it to {byte_array} is not allowed."},
		{"speed", nil, "cannot undeclare a statically typed parameter"},
		{"speed", 2.5, "parameter 'speed' cannot be set: 2.5 is not within 0.5 and 2"},
		{"speed", nan(), "parameter 'speed' cannot be set: NaN is not a finite number"},
		{"wheels.count", int64(5), "parameter 'wheels.count' cannot be set: 5 is not within 3 and 4"},
		{"mode", "c", `parameter 'mode' cannot be set: expected one of a, b, got "c"`},
		{"scales", []float64{1}, "parameter 'scales' cannot be set: expected a list of 2 numbers, got [1]"},
		{"scales", []float64{1, 10}, "parameter 'scales' cannot be set: element 1: 10 is not within 0 and 9"},
		{"wheels.front.label", "a", "label and mode are the same"},
	} {
		for how, got := range map[string]msgs.SetParametersResult{
			"set": s.set(c.name, c.value)[0], "atomically": s.setAtomically(c.name, c.value),
			"with a good one": s.setAtomically("wheels.count", int64(3), c.name, c.value, "scales", []float64{3, 3}),
		} {
			if got.Successful || got.Reason != c.want {
				t.Errorf("%s of %v, %s: %+v, want %q", c.name, c.value, how, got, c.want)
			}
		}
	}
	if after := s.get(names...); !reflect.DeepEqual(after, before) {
		t.Errorf("%v, before %v", after, before)
	}
	if len(s.took) != 0 || len(s.events) != 0 {
		t.Errorf("%d taken, %d events", len(s.took), len(s.events))
	}
}

func nan() float64 { return inf - inf }

func TestChangesTakeEffectAndAreTold(t *testing.T) {
	s := serveParams(t)
	for _, c := range []struct {
		set  []any
		want settings
	}{
		{[]any{"speed", 0.5}, settings{0.5, 4, "w", "a", []float64{1, 2}, []string{"x"}}},
		{[]any{"names", []string{}, "scales", []float64{9, 0}}, settings{0.5, 4, "w", "a", []float64{9, 0}, nil}},
		// Only both together are right.
		{[]any{"wheels.front.label", "a", "mode", "b"}, settings{0.5, 4, "a", "b", []float64{9, 0}, nil}},
		{[]any{"wheels.count", int64(4), "wheels.count", int64(3)}, settings{0.5, 3, "a", "b", []float64{9, 0}, nil}},
	} {
		if res := s.setAtomically(c.set...); !res.Successful || res.Reason != "" {
			t.Fatalf("%v: %+v", c.set, res)
		}
		got := <-s.took
		if fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%v: %+v, want %+v", c.set, got, c.want)
		}
		if e := s.event(); fmt.Sprint(e.ChangedParameters) != fmt.Sprint(setTo(c.set...)) || e.NewParameters != nil || e.Node != "/robot/node" || e.Stamp.Sec != 7 {
			t.Errorf("%v: %+v", c.set, e)
		}
	}
	if got := s.get("speed", "wheels.count", "scales"); !reflect.DeepEqual(got, []any{0.5, int64(3), []float64{9, 0}}) {
		t.Errorf("%v", got)
	}
}

func TestOneRefusalDoesNotHoldUpTheOthersUnlessAtomically(t *testing.T) {
	s := serveParams(t)
	res := s.set("speed", 9.0, "wheels.count", int64(3), "nobody", 1.0, "mode", "b")
	for i, want := range []bool{false, true, false, true} {
		if res[i].Successful != want {
			t.Errorf("%d: %+v", i, res[i])
		}
	}
	if got := s.get("speed", "wheels.count", "mode"); !reflect.DeepEqual(got, []any{2.0, int64(3), "b"}) {
		t.Errorf("%v", got)
	}
	for _, want := range []string{"wheels.count", "mode"} { // an event for each
		if e := s.event(); len(e.ChangedParameters) != 1 || e.ChangedParameters[0].Name != want {
			t.Errorf("%+v", e)
		}
	}
	if res := s.setAtomically(); !res.Successful || len(s.events) != 0 {
		t.Errorf("nothing to set: %+v, %d events", res, len(s.events))
	}
}

func TestAnOverrideWinsOverTheCommandLine(t *testing.T) {
	p := node(t, strings.Fields("--ros-args -p x:=1 -p y:=1")...).Params
	p.Override("x", int64(2))
	if x, y := p.Int("x", 0, 0, 9, ""), p.Int("y", 0, 0, 9, ""); x != 2 || y != 1 {
		t.Errorf("%d, %d", x, y)
	}
}
