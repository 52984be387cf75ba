package msgs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/msgs"
)

const (
	ownMsgs = "../../../robot_link_msgs/msg"
	idlDir  = "../cyclone/testdata/idl"
	header  = "../../../../../common/robot_link.h"
)

// field is one field of a definition: its name in lower case without underscores, and its type, with
// nested messages as "package/Name".
type field struct{ name, typ string }

func (f field) String() string { return f.typ + " " + f.name }

// goFields walks a message's struct, and the structs in it, and calls visit once for each.
func goFields(t *testing.T, typ reflect.Type, ros string, seen map[string]bool, nested map[string]string, visit func(ros string, fields []field)) {
	if seen[ros] {
		return
	}
	seen[ros] = true
	var fields []field
	for i := range typ.NumField() {
		f := typ.Field(i)
		fields = append(fields, field{strings.ToLower(f.Name), goType(t, f.Type, nested)})
		inner := f.Type
		if inner.Kind() == reflect.Slice || inner.Kind() == reflect.Array {
			inner = inner.Elem()
		}
		if inner.Kind() == reflect.Struct {
			goFields(t, inner, nested[inner.Name()], seen, nested, visit)
		}
	}
	visit(ros, fields)
}

func goType(t *testing.T, typ reflect.Type, nested map[string]string) string {
	switch typ.Kind() {
	case reflect.Slice:
		return goType(t, typ.Elem(), nested) + "[]"
	case reflect.Array:
		return fmt.Sprintf("%s[%d]", goType(t, typ.Elem(), nested), typ.Len())
	case reflect.Struct:
		ros := nested[typ.Name()]
		if ros == "" {
			t.Fatalf("to which package does msgs.%s belong?", typ.Name())
		}
		return ros
	default:
		return typ.Kind().String()
	}
}

// packageOf says where the nested messages come from.
var packageOf = map[string]string{
	"Time": "builtin_interfaces/Time", "Header": "std_msgs/Header",
	"Vector3": "geometry_msgs/Vector3", "Point": "geometry_msgs/Point", "Quaternion": "geometry_msgs/Quaternion",
	"Pose": "geometry_msgs/Pose", "PoseWithCovariance": "geometry_msgs/PoseWithCovariance", "Twist": "geometry_msgs/Twist",
	"TwistWithCovariance": "geometry_msgs/TwistWithCovariance", "Transform": "geometry_msgs/Transform",
	"TransformStamped": "geometry_msgs/TransformStamped", "KeyValue": "diagnostic_msgs/KeyValue",
	"DiagnosticStatus": "diagnostic_msgs/DiagnosticStatus", "GID": "rmw_dds_common/Gid",
	"NodeEntitiesInfo": "rmw_dds_common/NodeEntitiesInfo", "Parameter": "rcl_interfaces/Parameter",
	"ParameterValue": "rcl_interfaces/ParameterValue", "ParameterDescriptor": "rcl_interfaces/ParameterDescriptor",
	"FloatingPointRange": "rcl_interfaces/FloatingPointRange", "IntegerRange": "rcl_interfaces/IntegerRange",
	"SetParametersResult": "rcl_interfaces/SetParametersResult", "ListParametersResult": "rcl_interfaces/ListParametersResult",
}

func eachGoMessage(t *testing.T, visit func(ros string, fields []field)) {
	seen := map[string]bool{}
	for _, m := range msgs.All() {
		ros := strings.Replace(m.ROSType(), "/msg/", "/", 1)
		goFields(t, reflect.TypeOf(m), ros, seen, packageOf, visit)
	}
}

func compare(t *testing.T, what string, got, want []field) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		var g, w string
		if i < len(got) {
			g = got[i].String()
		}
		if i < len(want) {
			w = want[i].String()
		}
		if g != w {
			t.Errorf("%s, field %d: it has %q, the Go struct %q", what, i, g, w)
			return
		}
	}
}

func TestGoStructsAreTheIDL(t *testing.T) {
	idl := readIDL(t)
	eachGoMessage(t, func(ros string, fields []field) {
		def, ok := idl[ros]
		if !ok {
			t.Errorf("%s is not in %s", ros, idlDir)
			return
		}
		compare(t, "the IDL of "+ros, def, fields)
	})
}

var (
	idlModule = regexp.MustCompile(`module (\w+) \{ module msg`)
	idlStruct = regexp.MustCompile(`(?s)struct (\w+)_ \{(.*?)\n  \};`)
	idlField  = regexp.MustCompile(`^\s*(.+?) (\w+)(?:\[(\d+)\])?;$`)
	idlNested = regexp.MustCompile(`^(?:(\w+)::msg::dds_::)?(\w+)_$`)
)

func readIDL(t *testing.T) map[string][]field {
	files, err := filepath.Glob(idlDir + "/*.idl")
	if err != nil || len(files) == 0 {
		t.Fatalf("no IDL: %v", err)
	}
	all := map[string][]field{}
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		pkg := idlModule.FindStringSubmatch(string(src))[1]
		for _, s := range idlStruct.FindAllStringSubmatch(string(src), -1) {
			var fields []field
			for line := range strings.Lines(strings.TrimSpace(s[2])) {
				m := idlField.FindStringSubmatch(strings.TrimSpace(line))
				if m == nil {
					t.Fatalf("%s: %q is not understood", file, line)
				}
				typ := idlType(m[1], pkg)
				if m[3] != "" {
					typ += "[" + m[3] + "]"
				}
				fields = append(fields, field{strings.ReplaceAll(m[2], "_", ""), typ})
			}
			all[pkg+"/"+s[1]] = fields
		}
	}
	return all
}

func idlType(s, pkg string) string {
	if inner, ok := strings.CutPrefix(s, "sequence<"); ok {
		return idlType(strings.TrimSuffix(inner, ">"), pkg) + "[]"
	}
	basic := map[string]string{
		"boolean": "bool", "octet": "uint8", "char": "uint8", "short": "int16", "unsigned short": "uint16", "long": "int32",
		"unsigned long": "uint32", "long long": "int64", "unsigned long long": "uint64", "float": "float32",
		"double": "float64", "string": "string", "string<256>": "string",
	}
	if b := basic[s]; b != "" {
		return b
	}
	if m := idlNested.FindStringSubmatch(s); m != nil {
		if m[1] != "" {
			pkg = m[1]
		}
		return pkg + "/" + m[2]
	}
	return "?" + s
}

var (
	msgField = regexp.MustCompile(`^(\S+)\s+(\w+)(?:\s+[^=\s].*)?$`) // a default value may follow
	msgConst = regexp.MustCompile(`^(\S+)\s+(\w+)\s*=\s*(\S+)$`)
	msgArray = regexp.MustCompile(`^(.*?)(\[(?:<=)?\d*\])?$`)
)

// readMsg reads a .msg file of a package.
func readMsg(t *testing.T, path, pkg string) (fields []field, constants map[string]string) {
	src, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return parseMsg(t, string(src), path, pkg)
}

func parseMsg(t *testing.T, src, path, pkg string) (fields []field, constants map[string]string) {
	constants = map[string]string{}
	for line := range strings.Lines(src) {
		line, _, _ = strings.Cut(line, "#")
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		if c := msgConst.FindStringSubmatch(line); c != nil {
			constants[c[2]] = c[3]
			continue
		}
		m := msgField.FindStringSubmatch(line)
		if m == nil {
			t.Fatalf("%s: %q is not understood", path, line)
		}
		parts := msgArray.FindStringSubmatch(m[1])
		typ := parts[1]
		switch typ {
		case "bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32", "float64", "string":
		case "byte", "char":
			typ = "uint8"
		case "string<=256":
			typ = "string"
		default:
			if !strings.Contains(typ, "/") {
				typ = pkg + "/" + typ
			}
		}
		array := parts[2]
		if strings.HasPrefix(array, "[<=") { // a bound does not show on the wire
			array = "[]"
		}
		fields = append(fields, field{strings.ReplaceAll(m[2], "_", ""), typ + array})
	}
	return fields, constants
}

func TestOwnMessagesAreTheirMsgFiles(t *testing.T) {
	files, err := filepath.Glob(ownMsgs + "/*.msg")
	if err != nil || len(files) == 0 {
		t.Fatalf("no .msg file: %v", err)
	}
	defs := map[string][]field{}
	for _, path := range files {
		fields, _ := readMsg(t, path, "robot_link_msgs")
		defs["robot_link_msgs/"+strings.TrimSuffix(filepath.Base(path), ".msg")] = fields
	}
	eachGoMessage(t, func(ros string, fields []field) {
		if def, ok := defs[ros]; ok {
			compare(t, ros+".msg", def, fields)
			delete(defs, ros)
		}
	})
	for ros := range defs {
		t.Errorf("%s has no Go struct", ros)
	}
}

func TestConstantsOfLinkStatusAreThoseOfItsMsgFile(t *testing.T) {
	_, constants := readMsg(t, ownMsgs+"/LinkStatus.msg", "robot_link_msgs")
	for name, value := range map[string]uint8{
		"STATE_DOWN": msgs.StateDown, "STATE_CONNECTING": msgs.StateConnecting, "STATE_UP": msgs.StateUp,
		"STATE_DEGRADED": msgs.StateDegraded,
		"COMMAND_NONE":   msgs.CommandNone, "COMMAND_FRESH": msgs.CommandFresh, "COMMAND_TIMED_OUT": msgs.CommandTimedOut,
		"COMMAND_NO_PUBLISHER": msgs.CommandNoPublisher, "COMMAND_NOT_PERMITTED": msgs.CommandNotPermitted,
		"COMMAND_STOPPING": msgs.CommandStopping,
		"FAULT_NONE":       msgs.FaultNone, "FAULT_ENCODER_LOST": msgs.FaultEncoderLost, "FAULT_STALL": msgs.FaultStall,
		"FAULT_RUNAWAY": msgs.FaultRunaway, "FAULT_OVERCURRENT": msgs.FaultOvercurrent,
		"FAULT_BATTERY_CRITICAL": msgs.FaultBatteryCritical, "FAULT_CONTROL_OVERRUN": msgs.FaultControlOverrun,
		"FAULT_WATCHDOG_RESET": msgs.FaultWatchdogReset, "FAULT_HARDWARE_ESTOP": msgs.FaultHardwareEstop,
	} {
		if constants[name] != fmt.Sprint(value) {
			t.Errorf("LinkStatus.msg has %s=%q, the Go constant is %d", name, constants[name], value)
		}
		delete(constants, name)
	}
	if len(constants) != 0 {
		t.Errorf("constants without a Go counterpart: %v", constants)
	}
}

// The wire's header is the definition; a fault or status bit that is added there must reach the operator.
func TestLinkStatusKnowsTheWire(t *testing.T) {
	src, err := os.ReadFile(header)
	if err != nil {
		t.Fatal(err)
	}
	fields, constants := readMsg(t, ownMsgs+"/LinkStatus.msg", "robot_link_msgs")
	faults := regexp.MustCompile(`RL_(FAULT_\w+) = (\d+)`).FindAllStringSubmatch(string(src), -1)
	if len(faults) < 9 {
		t.Fatalf("only %d faults found in %s", len(faults), header)
	}
	for _, f := range faults {
		if constants[f[1]] != f[2] {
			t.Errorf("the wire has %s = %s, LinkStatus.msg %q", f[1], f[2], constants[f[1]])
		}
	}
	has := map[string]bool{}
	for _, f := range fields {
		has[f.String()] = true
	}
	bits := regexp.MustCompile(`RL_STATUS_(\w+) = 1 << \d+`).FindAllStringSubmatch(string(src), -1)
	if len(bits) < 15 {
		t.Fatalf("only %d status bits found in %s", len(bits), header)
	}
	for _, b := range bits {
		name := strings.ToLower(strings.ReplaceAll(b[1], "_", ""))
		if name == "fault" {
			name = "faultactive"
		}
		if !has["bool "+name] {
			t.Errorf("the wire has the status bit %s, LinkStatus.msg has no bool for it", b[1])
		}
	}
}

// findInROS is the path of a definition where ROS is installed, else "".
func findInROS(ros, kind string) string {
	pkg, name, _ := strings.Cut(ros, "/")
	for _, prefix := range append(filepath.SplitList(os.Getenv("AMENT_PREFIX_PATH")), "/opt/ros/humble") {
		path := filepath.Join(prefix, "share", pkg, kind, name+"."+kind)
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	return ""
}

func needROS(t *testing.T) {
	t.Helper()
	if findInROS("std_msgs/Header", "msg") == "" {
		t.Skip("no ROS here: std_msgs is neither in AMENT_PREFIX_PATH nor in /opt/ros/humble")
	}
}

// Where ROS is installed, its own definitions decide.
func TestGoStructsAreThoseOfROS(t *testing.T) {
	needROS(t)
	eachGoMessage(t, func(ros string, fields []field) {
		path := findInROS(ros, "msg")
		if path == "" {
			if pkg, _, _ := strings.Cut(ros, "/"); pkg != "robot_link_msgs" { // not built yet
				t.Errorf("ROS is here, but not %s", ros)
			}
			return
		}
		pkg, _, _ := strings.Cut(ros, "/")
		want, _ := readMsg(t, path, pkg)
		compare(t, path, want, fields)
	})
}

func TestServicesAreThoseOfROS(t *testing.T) {
	needROS(t)
	for _, s := range []struct {
		request  msgs.Request
		response any
	}{
		{msgs.DescribeParametersRequest{}, msgs.DescribeParametersResponse{}},
		{msgs.GetParameterTypesRequest{}, msgs.GetParameterTypesResponse{}},
		{msgs.GetParametersRequest{}, msgs.GetParametersResponse{}},
		{msgs.ListParametersRequest{}, msgs.ListParametersResponse{}},
		{msgs.SetParametersRequest{}, msgs.SetParametersResponse{}},
		{msgs.SetParametersAtomicallyRequest{}, msgs.SetParametersAtomicallyResponse{}},
		{msgs.SetBoolRequest{}, msgs.SetBoolResponse{}},
		{msgs.TriggerRequest{}, msgs.TriggerResponse{}},
	} {
		ros := strings.Replace(s.request.ROSService(), "/srv/", "/", 1)
		path := findInROS(ros, "srv")
		src, err := os.ReadFile(path)
		if err != nil {
			t.Errorf("ROS is here, but not %s: %v", ros, err)
			continue
		}
		pkg, _, _ := strings.Cut(ros, "/")
		seen := map[string]bool{}
		request, response, _ := strings.Cut(string(src), "---")
		for half, of := range map[string]any{request: s.request, response: s.response} {
			goFields(t, reflect.TypeOf(of), path, seen, packageOf, func(name string, fields []field) {
				want, _ := parseMsg(t, half, path, pkg)
				if name != path { // a message in it
					pkg, _, _ := strings.Cut(name, "/")
					want, _ = readMsg(t, findInROS(name, "msg"), pkg)
				} else if len(want) == 0 {
					want = []field{{"structureneedsatleastonemember", "uint8"}}
				}
				compare(t, path, want, fields)
			})
			delete(seen, path)
		}
	}
}

func TestTypesOfParametersAreThoseOfROS(t *testing.T) {
	needROS(t)
	_, constants := readMsg(t, findInROS("rcl_interfaces/ParameterType", "msg"), "rcl_interfaces")
	for name, value := range map[string]uint8{
		"PARAMETER_NOT_SET": msgs.ParameterNotSet, "PARAMETER_BOOL": msgs.ParameterBool, "PARAMETER_INTEGER": msgs.ParameterInteger,
		"PARAMETER_DOUBLE": msgs.ParameterDouble, "PARAMETER_STRING": msgs.ParameterString,
		"PARAMETER_BYTE_ARRAY": msgs.ParameterByteArray, "PARAMETER_BOOL_ARRAY": msgs.ParameterBoolArray,
		"PARAMETER_INTEGER_ARRAY": msgs.ParameterIntegerArray, "PARAMETER_DOUBLE_ARRAY": msgs.ParameterDoubleArray,
		"PARAMETER_STRING_ARRAY": msgs.ParameterStringArray,
	} {
		if constants[name] != fmt.Sprint(value) {
			t.Errorf("ROS has %s=%q, the Go constant is %d", name, constants[name], value)
		}
	}
}
