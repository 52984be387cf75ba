package node

import (
	"flag"
	"os"
	"reflect"
	"strings"
	"testing"

	"robot_link/ros2_ws/src/robot_link_bridge/bridge"
	"robot_link/ros2_ws/src/robot_link_bridge/latency/latencynode"
)

// The parameter files of robot_link_bringup are the list of parameters that users edit.
func TestTheFilesOfBringupHoldEachParameterWithItsDefault(t *testing.T) {
	for file, declare := range map[string]func(*node){
		"bridge.yaml":  func(n *node) { bridge.Declare(n.Params); _, _ = n.bindAddress("") },
		"latency.yaml": func(n *node) { latencynode.Declare(n.Params) },
	} {
		path := "../../robot_link_bringup/config/" + file
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		n, err := parse("n", "n", "", []string{"--ros-args", "--params-file", path}, func(*flag.FlagSet) {})
		if err != nil {
			t.Fatal(err)
		}
		declare(n)
		_, _ = n.mcuAddress("") // faults are in Err as well
		if err := n.Params.Err(); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		if unknown := n.Params.Unknown(); unknown != nil {
			t.Errorf("%s: %v", file, unknown)
		}
		for _, p := range n.Params.Declared() {
			if p.Name == "use_sim_time" {
				continue // ROS's own, of every node
			}
			if !strings.Contains(string(text), "\n    "+p.Name+":") {
				t.Errorf("%s lacks %s", file, p.Name)
			}
			// An address has no default that could be right: the file has an example.
			if p.Name != "mcu_host" && !reflect.DeepEqual(p.Value, p.Default) {
				t.Errorf("%s: %s is %v, by default %v", file, p.Name, p.Value, p.Default)
			}
		}
	}
}
