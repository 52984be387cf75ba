// Package bringup_test holds the files of robot_link_bringup to each other and to firmware/app/robot_config.h, without
// ROS: Nav2 can't see what the microcontroller cuts, and believes a robot that is not the one it drives.
package bringup_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"image/png"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"robot_link/firmware/app"
)

// tree is a parameter file. Its getters end the test where something is not there.
type tree struct {
	t    testing.TB
	root map[string]any
}

func load(t testing.TB, path string) tree {
	t.Helper()
	root := map[string]any{}
	if err := yaml.Unmarshal(read(t, path), &root); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return tree{t, root}
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// at is the value of a node's parameter, such as "controller_server:FollowPath.lookahead_dist".
func (f tree) at(path string) any {
	f.t.Helper()
	var v any = f.root
	for _, key := range strings.Split(strings.Replace(path, ":", ".ros__parameters.", 1), ".") {
		m, ok := v.(map[string]any)
		if v, ok = m[key]; !ok {
			f.t.Fatalf("there is no %s: %s is missing", path, key)
		}
	}
	return v
}

func (f tree) number(path string) float64 {
	f.t.Helper()
	return number(f.t, path, f.at(path))
}

func (f tree) numbers(path string) (list []float64) {
	f.t.Helper()
	for _, v := range f.at(path).([]any) {
		list = append(list, number(f.t, path, v))
	}
	return list
}

func (f tree) text(path string) string { f.t.Helper(); return f.at(path).(string) }

func number(t testing.TB, path string, v any) float64 {
	t.Helper()
	switch v := v.(type) {
	case float64:
		return v
	case int:
		return float64(v)
	}
	t.Fatalf("%s is %v, not a number", path, v)
	return 0
}

// robot is what the microcontroller can do, and where its wheels are.
type robot struct {
	app.Robot
	wheelWidth float64
}

// disagreements says each value of Nav2's that does not fit the robot or the bridge.
func disagreements(nav2, bridge tree, r robot) (list []string) {
	wrong := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	within := func(path string, v, limit float64, unit string) {
		if v = math.Abs(v); !(v > 0 && v <= limit) {
			wrong("%s is %v %s, which is not within 0 and %.4g", path, v, unit, limit)
		}
	}
	vMax, wMax, aLin, aAng := float64(r.VMax), float64(r.WMax), float64(r.ALin), float64(r.AAng)

	// The smoother's limits are within the microcontroller's, and all else is within the smoother's.
	const smoother = "velocity_smoother:"
	for _, name := range []string{"max_velocity", "min_velocity"} {
		v := nav2.numbers(smoother + name)
		within(smoother+name+"[0]", v[0], vMax, "m/s")
		within(smoother+name+"[2]", v[2], wMax, "rad/s")
		if r.Drive == app.DriveDifferential && v[1] != 0 {
			wrong("%s[1] is %v m/s, but the drive can't move sideways", smoother+name, v[1])
		}
		rim := math.Hypot(v[0], v[1]) + math.Abs(v[2])*turnOf(r)
		within(smoother+name+" at a wheel", rim, float64(r.WheelSpeedMax*r.WheelRadius), "m/s")
	}
	for _, name := range []string{"max_accel", "max_decel"} {
		a := nav2.numbers(smoother + name)
		within(smoother+name+"[0]", a[0], aLin, "m/s^2")
		within(smoother+name+"[2]", a[2], aAng, "rad/s^2")
	}
	v, w := nav2.numbers(smoother + "max_velocity")[0], nav2.numbers(smoother + "max_velocity")[2]
	a := nav2.numbers(smoother + "max_accel")[2]
	for path, limit := range map[string]float64{
		"controller_server:FollowPath.desired_linear_vel":            v,
		"controller_server:FollowPath.rotate_to_heading_angular_vel": w,
		"controller_server:FollowPath.max_angular_accel":             a,
		"behavior_server:max_rotational_vel":                         w,
		"behavior_server:rotational_acc_lim":                         a,
	} {
		within(path, nav2.number(path), limit, "as the smoother has it")
	}

	// How old a command may be, against how often there is one.
	timeout := bridge.number("/**:cmd_vel_timeout")
	within(smoother+"velocity_timeout", nav2.number(smoother+"velocity_timeout"), timeout, "s, as the bridge's cmd_vel_timeout")
	for path, patience := range map[string]float64{
		smoother + "smoothing_frequency":         timeout,
		"controller_server:controller_frequency": nav2.number(smoother + "velocity_timeout"),
		"behavior_server:cycle_frequency":        nav2.number(smoother + "velocity_timeout"),
	} {
		if hz := nav2.number(path); hz*patience < 3 {
			wrong("%s is %v Hz: two late messages stop the robot", path, hz)
		}
	}

	// Frames, topics and the footprint.
	odom, base := bridge.text("/**:odom_frame_id"), bridge.text("/**:base_frame_id")
	for path, want := range map[string]string{
		"local_costmap.local_costmap:global_frame":        odom,
		"behavior_server:global_frame":                    odom,
		"local_costmap.local_costmap:robot_base_frame":    base,
		"global_costmap.global_costmap:robot_base_frame":  base,
		"behavior_server:robot_base_frame":                base,
		"bt_navigator:robot_base_frame":                   base,
		"velocity_smoother:odom_topic":                    "odom",
		"controller_server:odom_topic":                    "odom",
		"bt_navigator:odom_topic":                         "odom",
		"local_costmap.local_costmap:static_layer.plugin": "nav2_costmap_2d::StaticLayer",
	} {
		if got := nav2.text(path); got != want {
			wrong("%s is %q, want %q", path, got, want)
		}
	}
	for _, costmap := range []string{"local_costmap.local_costmap:", "global_costmap.global_costmap:"} {
		var corners [][2]float64
		if err := json.Unmarshal([]byte(nav2.text(costmap+"footprint")), &corners); err != nil {
			wrong("%sfootprint: %v", costmap, err)
			continue
		}
		around := 0.0
		for _, c := range corners {
			around = max(around, math.Hypot(c[0], c[1]))
		}
		for _, c := range wheelCorners(r) {
			if !holds(corners, c) {
				wrong("%sfootprint does not hold the wheels: (%.3g, %.3g) is outside", costmap, c[0], c[1])
				break
			}
		}
		if got := nav2.number(costmap + "inflation_layer.inflation_radius"); got < around {
			wrong("%sinflation_layer.inflation_radius is %v m, but the footprint reaches %.3g m far: it cuts corners", costmap, got, around)
		}
	}
	slices.Sort(list)
	return list
}

// turnOf is the rim speed of a wheel for one rad/s, m.
func turnOf(r robot) float64 {
	track, base := float64(r.Track), float64(r.Base)
	switch r.Drive {
	case app.DriveMecanum:
		return (track + base) / 2
	case app.DriveOmni3:
		return base
	}
	return track / 2
}

// wheelCorners are the outermost points of the wheels on the floor.
func wheelCorners(r robot) (list [][2]float64) {
	x, y := float64(r.Base)/2, float64(r.Track)/2+r.wheelWidth/2
	switch {
	case r.Drive == app.DriveOmni3:
		x = float64(r.Base) + r.wheelWidth/2
		for angle := range 12 {
			sin, cos := math.Sincos(float64(angle) * math.Pi / 6)
			list = append(list, [2]float64{x * cos, x * sin})
		}
		return list
	case r.WheelCount == 2:
		x = 0
	}
	x += float64(r.WheelRadius)
	return [][2]float64{{x, y}, {x, -y}, {-x, -y}, {-x, y}}
}

// holds is whether a convex polygon holds a point.
func holds(corners [][2]float64, p [2]float64) bool {
	left, right := false, false
	for i, a := range corners {
		b := corners[(i+1)%len(corners)]
		side := (b[0]-a[0])*(p[1]-a[1]) - (b[1]-a[1])*(p[0]-a[0])
		left, right = left || side > 0, right || side < 0
	}
	return left != right
}

// described is what robot.urdf.xacro says by default.
func described(t testing.TB) (args map[string]string, wheels []string) {
	t.Helper()
	args = map[string]string{}
	decoder := xml.NewDecoder(bytes.NewReader(read(t, "../urdf/robot.urdf.xacro")))
	for {
		token, err := decoder.Token()
		if token == nil {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		element, _ := token.(xml.StartElement)
		attr := map[string]string{}
		for _, a := range element.Attr {
			attr[a.Name.Local] = a.Value
		}
		switch element.Name.Local {
		case "arg":
			args[attr["name"]] = attr["default"]
		case "wheel":
			if !slices.Contains(wheels, attr["name"]) {
				wheels = append(wheels, attr["name"])
			}
		}
	}
	return args, wheels
}

func defaultRobot(t testing.TB) robot {
	args, _ := described(t)
	width, err := strconv.ParseFloat(args["wheel_width"], 64)
	if err != nil {
		t.Fatal(err)
	}
	return robot{app.DefaultRobot(), width}
}

func TestNav2FitsTheMicrocontrollerAndTheBridge(t *testing.T) {
	for _, text := range disagreements(load(t, "../config/nav2.yaml"), load(t, "../config/bridge.yaml"), defaultRobot(t)) {
		t.Error(text)
	}
}

func TestARobotThatIsAnotherIsNoticed(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*robot)
		want   string
	}{
		{"slower", func(r *robot) { r.VMax = 0.4 }, "max_velocity[0]"},
		{"turns slower", func(r *robot) { r.WMax = 0.9 }, "max_velocity[2]"},
		{"heavier", func(r *robot) { r.ALin = 0.8 }, "max_accel[0]"},
		{"taller", func(r *robot) { r.AAng = 2.5 }, "max_decel[2]"},
		{"weaker motors", func(r *robot) { r.WheelSpeedMax = 10 }, "at a wheel"},
		{"wider", func(r *robot) { r.Track = 0.5 }, "does not hold the wheels"},
		{"longer", func(r *robot) { r.Base = 0.5 }, "does not hold the wheels"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := defaultRobot(t)
			c.change(&r)
			got := strings.Join(disagreements(load(t, "../config/nav2.yaml"), load(t, "../config/bridge.yaml"), r), "\n")
			if !strings.Contains(got, c.want) {
				t.Errorf("said:\n%s\nwant %q", got, c.want)
			}
		})
	}
}

func TestParametersThatDoNotFitAreNoticed(t *testing.T) {
	for _, c := range []struct{ from, to, want string }{
		{"desired_linear_vel: 0.5", "desired_linear_vel: 0.6", "desired_linear_vel"},
		{"max_velocity: [0.5, 0.0, 1.0]", "max_velocity: [0.5, 0.2, 1.0]", "sideways"},
		{"velocity_timeout: 0.3", "velocity_timeout: 1.0", "velocity_timeout"},
		{"smoothing_frequency: 20.0", "smoothing_frequency: 4.0", "smoothing_frequency"},
		{"global_frame: odom", "global_frame: odometry", "global_frame"},
		{"inflation_radius: 0.5", "inflation_radius: 0.2", "cuts corners"},
	} {
		text := read(t, "../config/nav2.yaml")
		changed := tree{t, map[string]any{}}
		if err := yaml.Unmarshal(bytes.Replace(text, []byte(c.from), []byte(c.to), 1), &changed.root); err != nil {
			t.Fatal(err)
		}
		r := defaultRobot(t)
		r.Drive = app.DriveDifferential
		got := strings.Join(disagreements(changed, load(t, "../config/bridge.yaml"), r), "\n")
		if !strings.Contains(got, c.want) {
			t.Errorf("%s: said:\n%s\nwant %q", c.to, got, c.want)
		}
	}
}

func TestTheDescriptionIsTheMicrocontrollersRobot(t *testing.T) {
	args, wheels := described(t)
	r := app.DefaultRobot()
	drive := map[app.Drive]string{app.DriveMecanum: "mecanum", app.DriveDifferential: "differential", app.DriveOmni3: "omni3"}[r.Drive]
	if args["drive"] != drive {
		t.Errorf("drive is %q, want %q", args["drive"], drive)
	}
	for name, want := range map[string]float32{"wheel_count": float32(r.WheelCount), "wheel_radius": r.WheelRadius, "track": r.Track, "base": r.Base} {
		if got, err := strconv.ParseFloat(args[name], 32); err != nil || float32(got) != want {
			t.Errorf("%s is %s, want %v", name, args[name], want)
		}
	}
	var joints []string
	for _, v := range load(t, "../config/bridge.yaml").at("/**:wheel_joint_names").([]any) {
		joints = append(joints, strings.TrimSuffix(v.(string), "_wheel_joint"))
	}
	if !slices.Equal(wheels, joints) {
		t.Errorf("wheels %v, in the bridge's parameters %v", wheels, joints)
	}
}

func TestTheEKFAndTheMuxSpeakOfTheSameRobot(t *testing.T) {
	bridge, ekf, mux := load(t, "../config/bridge.yaml"), load(t, "../config/ekf.yaml"), load(t, "../config/twist_mux.yaml")
	const filter = "ekf_filter_node:"
	if ekf.text(filter+"odom_frame") != bridge.text("/**:odom_frame_id") || ekf.text(filter+"base_link_frame") != bridge.text("/**:base_frame_id") {
		t.Error("the EKF's frames are not the bridge's")
	}
	// What is fused has a covariance that says that it is measured; what is not measured is not fused.
	covariance := bridge.numbers("/**:twist_covariance_diagonal")
	for i, fused := range ekf.at(filter + "odom0_config").([]any) {
		if measured := i >= 6 && i < 12 && covariance[i-6] < 1; fused.(bool) != measured {
			t.Errorf("odom0_config[%d] is %v, but in odom it is measured: %v", i, fused, measured)
		}
	}
	for _, source := range []string{"navigation", "joystick"} {
		if timeout := mux.number("twist_mux:topics." + source + ".timeout"); timeout > bridge.number("/**:cmd_vel_timeout") {
			t.Errorf("%s: a timeout of %v s lets a dead source block others after the robot has stopped", source, timeout)
		}
	}
	if mux.number("twist_mux:topics.joystick.priority") <= mux.number("twist_mux:locks.pause.priority") ||
		mux.number("twist_mux:topics.navigation.priority") >= mux.number("twist_mux:locks.pause.priority") {
		t.Error("the lock has to hold Nav2 and not the joystick")
	}
}

func TestTheMapIsFreeFloorAroundTheOrigin(t *testing.T) {
	var meta struct {
		Image      string
		Resolution float64
		Origin     [3]float64
	}
	if err := yaml.Unmarshal(read(t, "../maps/blank.yaml"), &meta); err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(read(t, "../maps/"+meta.Image)))
	if err != nil {
		t.Fatal(err)
	}
	size := img.Bounds().Size()
	for x := range size.X {
		for y := range size.Y {
			if r, _, _, _ := img.At(x, y).RGBA(); r>>8 != 254 {
				t.Fatalf("(%d, %d) is not free", x, y)
			}
		}
	}
	if w, h := float64(size.X)*meta.Resolution, float64(size.Y)*meta.Resolution; meta.Origin != [3]float64{-w / 2, -h / 2, 0} {
		t.Errorf("%v m x %v m from %v: the origin is not in the middle", w, h, meta.Origin)
	}
}

// What RViz and Foxglove are set to show exists: topics of Nav2's, of robot_state_publisher's and of the bridge's.
func TestTheViewsNameTopicsThatAreThere(t *testing.T) {
	known := strings.Fields(`/map /map_updates /local_costmap/costmap /local_costmap/costmap_updates /global_costmap/costmap
		/global_costmap/costmap_updates /local_costmap/published_footprint /plan /robot_description /goal_pose
		/odom /cmd_vel /link/status /diagnostics /clicked_point /initialpose`)
	if err := json.Unmarshal(read(t, "../foxglove/nav2.json"), &map[string]any{}); err != nil {
		t.Error(err)
	}
	if err := yaml.Unmarshal(read(t, "../rviz/nav2.rviz"), &map[string]any{}); err != nil {
		t.Error(err)
	}
	topic := regexp.MustCompile(`[" ](/[a-z_]+(?:/[a-z_]+)*)`)
	for _, path := range []string{"../foxglove/nav2.json", "../rviz/nav2.rviz"} {
		found := topic.FindAllStringSubmatch(string(read(t, path)), -1)
		if len(found) < 5 {
			t.Errorf("%s: only %d topics found", path, len(found))
		}
		for _, m := range found {
			if !slices.Contains(known, m[1]) {
				t.Errorf("%s: nobody has a topic %s", path, m[1])
			}
		}
	}
}
