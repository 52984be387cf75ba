//go:build cyclonedds

package cyclone

import (
	"os"
	"strconv"
	"testing"

	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/cdr"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/driver"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/msgs"
)

// WatchGraph gives the tests outside the package what comes on ros_discovery_info, whose name is not
// that of a ROS topic.
func WatchGraph(t *testing.T) <-chan msgs.ParticipantEntitiesInfo {
	t.Helper()
	id, err := strconv.Atoi(os.Getenv("ROS_DOMAIN_ID"))
	if err != nil {
		t.Fatal(err)
	}
	c, err := open(driver.Options{Node: "observer", Namespace: "/", Enclave: "/", DomainID: id, Logf: t.Logf})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	ch := make(chan msgs.ParticipantEntitiesInfo, 100)
	_, err = c.newReader("ros_discovery_info", msgs.ParticipantEntitiesInfo{}.ROSType(),
		driver.QoS{Reliable: true, TransientLocal: true, Depth: 10}, func(b []byte, _ driver.GID) {
			var m msgs.ParticipantEntitiesInfo
			if err := cdr.Decode(b, &m); err != nil {
				t.Error(err)
				return
			}
			ch <- m
		})
	if err != nil {
		t.Fatal(err)
	}
	return ch
}

func TestTypeNames(t *testing.T) {
	if got, err := typeName("nav_msgs/msg/Odometry"); err != nil || got != "nav_msgs::msg::dds_::Odometry_" {
		t.Errorf("%q, %v", got, err)
	}
	for _, bad := range []string{"", "Odometry", "nav_msgs/Odometry", "nav_msgs/msg/", "/msg/Odometry", "a/b/c/d"} {
		if got, err := typeName(bad); err == nil {
			t.Errorf("typeName(%q) = %q", bad, got)
		}
	}
}

func TestTypeNamesComeBack(t *testing.T) {
	for dds, want := range map[string]string{
		"nav_msgs::msg::dds_::Odometry_":        "nav_msgs/msg/Odometry",
		"std_srvs::srv::dds_::Trigger_Request_": "std_srvs/srv/Trigger_Request",
		"nav_msgs::msg::Odometry":               "nav_msgs::msg::Odometry", "a::b::dds_::C": "a::b::dds_::C", "": "",
	} {
		if got := rosType(dds); got != want {
			t.Errorf("rosType(%q) = %q, want %q", dds, got, want)
		}
	}
}

func TestConfigIsComposedAsRMWDoes(t *testing.T) {
	const uri = "file:///etc/cyclone.xml"
	if got, want := config(false, uri), uri+noSharedMemory; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	// The loopback interface first, then the user's, which wins where both say something.
	if got, want := config(true, uri), localhostOnly+manyLocal+uri+noSharedMemory; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
