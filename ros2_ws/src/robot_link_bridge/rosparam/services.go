package rosparam

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"robot_link/ros2_ws/src/robot_link_bridge/rosbus"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/msgs"
)

// events is rclcpp's QoS of /parameter_events.
var events = rosbus.QoS{Reliable: true, Depth: 1000}

// server answers for a node's parameters. The bus calls one callback at a time, so it needs no lock.
type server struct {
	params *Params
	node   string
	events *rosbus.Publisher[msgs.ParameterEvent]
	now    func() msgs.Time
	apply  func(next *Params) error
}

// Serve offers the node's parameters as rclcpp does, to `ros2 param` among others: the six services, and
// /parameter_events, stamped with now. From then on the parameters belong to the bus's callbacks, one of which calls
// apply at each change, with the parameters as they would be; an error from it refuses the change.
func (n *Node) Serve(bus rosbus.Bus, now func() msgs.Time, apply func(next *Params) error) error {
	s := &server{params: n.Params, node: n.fullName(), now: now, apply: apply}
	var err error
	if s.events, err = rosbus.Advertise[msgs.ParameterEvent](bus, "/parameter_events", events); err != nil {
		return err
	}
	all := make([]msgs.Parameter, len(s.params.declared))
	for i, d := range s.params.declared {
		all[i] = msgs.Parameter{Name: d.Name, Value: message(d.Value)}
	}
	if err := s.events.Publish(&msgs.ParameterEvent{Stamp: now(), Node: s.node, NewParameters: all}); err != nil {
		return err
	}
	for _, serve := range []func() error{
		func() error { return answer(bus, "describe_parameters", s.describe) },
		func() error { return answer(bus, "get_parameter_types", s.types) },
		func() error { return answer(bus, "get_parameters", s.get) },
		func() error { return answer(bus, "list_parameters", s.list) },
		func() error { return answer(bus, "set_parameters", s.set) },
		func() error { return answer(bus, "set_parameters_atomically", s.setAtomically) },
	} {
		if err := serve(); err != nil {
			return err
		}
	}
	return nil
}

func answer[Req rosbus.Request, Res any](bus rosbus.Bus, service string, fn func(*Req) *Res) error {
	_, err := rosbus.Serve(bus, "~/"+service, func(req *Req, reply func(*Res) error) {
		_ = reply(fn(req)) // a caller that is gone gets nothing
	})
	return err
}

func (s *server) describe(req *msgs.DescribeParametersRequest) *msgs.DescribeParametersResponse {
	return &msgs.DescribeParametersResponse{Descriptors: each(s.params, req.Names, descriptor)}
}

func (s *server) types(req *msgs.GetParameterTypesRequest) *msgs.GetParameterTypesResponse {
	return &msgs.GetParameterTypesResponse{Types: each(s.params, req.Names, func(d *Declaration) uint8 { return kindOf(d.Default).code })}
}

func (s *server) get(req *msgs.GetParametersRequest) *msgs.GetParametersResponse {
	return &msgs.GetParametersResponse{Values: each(s.params, req.Names, func(d *Declaration) msgs.ParameterValue { return message(d.Value) })}
}

// each asks for parameters by name. As rclcpp has it, one that is not declared leaves no answer at all.
func each[T any](p *Params, names []string, ask func(*Declaration) T) []T {
	list := make([]T, len(names))
	for i, name := range names {
		at := p.index(name)
		if at < 0 {
			return nil
		}
		list[i] = ask(&p.declared[at])
	}
	return list
}

func (s *server) list(req *msgs.ListParametersRequest) *msgs.ListParametersResponse {
	var res msgs.ListParametersResponse
	for _, d := range s.params.declared {
		if selects(d.Name, req.Prefixes, req.Depth) {
			res.Result.Names = append(res.Result.Names, d.Name)
		}
	}
	slices.Sort(res.Result.Names)
	for _, name := range res.Result.Names {
		if dot := strings.LastIndexByte(name, '.'); dot >= 0 && !slices.Contains(res.Result.Prefixes, name[:dot]) {
			res.Result.Prefixes = append(res.Result.Prefixes, name[:dot])
		}
	}
	return &res
}

// set takes each change by itself.
func (s *server) set(req *msgs.SetParametersRequest) *msgs.SetParametersResponse {
	res := &msgs.SetParametersResponse{Results: make([]msgs.SetParametersResult, len(req.Parameters))}
	for i := range req.Parameters {
		res.Results[i] = s.change(req.Parameters[i : i+1])
	}
	return res
}

func (s *server) setAtomically(req *msgs.SetParametersAtomicallyRequest) *msgs.SetParametersAtomicallyResponse {
	return &msgs.SetParametersAtomicallyResponse{Result: s.change(req.Parameters)}
}

func (s *server) change(parameters []msgs.Parameter) msgs.SetParametersResult {
	changes := make([]Change, len(parameters))
	for i, p := range parameters {
		changes[i] = Change{p.Name, valueOf(&p.Value)}
	}
	if err := s.params.Change(changes, s.apply); err != nil {
		return msgs.SetParametersResult{Reason: err.Error()}
	}
	if len(parameters) == 0 {
		return msgs.SetParametersResult{Successful: true}
	}
	event := msgs.ParameterEvent{Stamp: s.now(), Node: s.node, ChangedParameters: parameters}
	if err := s.events.Publish(&event); err != nil {
		return msgs.SetParametersResult{Successful: true, Reason: err.Error()}
	}
	return msgs.SetParametersResult{Successful: true}
}

func descriptor(d *Declaration) msgs.ParameterDescriptor {
	m := msgs.ParameterDescriptor{Name: d.Name, Type: kindOf(d.Default).code, Description: d.Description, ReadOnly: !d.Live}
	var constraints []string
	lo, hi := -math.MaxFloat64, math.MaxFloat64 // stand for no limit
	if f, ok := d.Min.(float64); ok {
		lo = f
	}
	if f, ok := d.Max.(float64); ok {
		hi = f
	}
	switch def := d.Default.(type) {
	case int64:
		m.IntegerRange = []msgs.IntegerRange{{FromValue: d.Min.(int64), ToValue: d.Max.(int64)}}
	case float64:
		m.FloatingPointRange = []msgs.FloatingPointRange{{FromValue: lo, ToValue: hi}}
	case []float64:
		constraints = append(constraints, fmt.Sprintf("%d numbers, each from %v to %v", len(def), lo, hi))
	}
	if d.Choices != nil {
		constraints = append(constraints, "one of "+strings.Join(d.Choices, ", "))
	}
	if !d.Live {
		constraints = append(constraints, needsRestart)
	}
	m.AdditionalConstraints = strings.Join(constraints, "; ")
	return m
}

// kind is a parameter's type: its number in ROS, and the name that rclcpp calls it by.
type kind struct {
	code uint8
	name string
}

func kindOf(value any) kind {
	switch value.(type) {
	case bool:
		return kind{msgs.ParameterBool, "bool"}
	case int64:
		return kind{msgs.ParameterInteger, "integer"}
	case float64:
		return kind{msgs.ParameterDouble, "double"}
	case string:
		return kind{msgs.ParameterString, "string"}
	case []byte:
		return kind{msgs.ParameterByteArray, "byte_array"}
	case []bool:
		return kind{msgs.ParameterBoolArray, "bool_array"}
	case []int64:
		return kind{msgs.ParameterIntegerArray, "integer_array"}
	case []float64:
		return kind{msgs.ParameterDoubleArray, "double_array"}
	case []string:
		return kind{msgs.ParameterStringArray, "string_array"}
	}
	return kind{msgs.ParameterNotSet, "not set"}
}

// message is a value as ROS sends it.
func message(value any) msgs.ParameterValue {
	m := msgs.ParameterValue{Type: kindOf(value).code}
	switch v := value.(type) {
	case bool:
		m.BoolValue = v
	case int64:
		m.IntegerValue = v
	case float64:
		m.DoubleValue = v
	case string:
		m.StringValue = v
	case []float64:
		m.DoubleArrayValue = v
	case []string:
		m.StringArrayValue = v
	}
	return m
}

// valueOf is the value in a message; nil if none is set.
func valueOf(m *msgs.ParameterValue) any {
	switch m.Type {
	case msgs.ParameterBool:
		return m.BoolValue
	case msgs.ParameterInteger:
		return m.IntegerValue
	case msgs.ParameterDouble:
		return m.DoubleValue
	case msgs.ParameterString:
		return m.StringValue
	case msgs.ParameterByteArray:
		return m.ByteArrayValue
	case msgs.ParameterBoolArray:
		return m.BoolArrayValue
	case msgs.ParameterIntegerArray:
		return m.IntegerArrayValue
	case msgs.ParameterDoubleArray:
		return m.DoubleArrayValue
	case msgs.ParameterStringArray:
		return m.StringArrayValue
	}
	return nil
}
