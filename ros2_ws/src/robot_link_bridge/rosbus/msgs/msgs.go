// Package msgs holds the ROS 2 messages that the bridge speaks, as plain Go structs with the fields in
// ROS's order, which is the order on the wire. Pure data: no ROS, no middleware.
//
// A struct here, an IDL struct in ../cyclone/idl and the .msg file must agree; tests compare them.
package msgs

import "time"

// Message is a type that can travel on a topic of its own.
type Message interface {
	ROSType() string // "nav_msgs/msg/Odometry"
}

// All lists a zero value of each message that can travel on a topic.
func All() []Message {
	return []Message{
		Twist{}, TwistStamped{}, Odometry{}, TFMessage{}, JointState{}, BatteryState{},
		DiagnosticArray{}, LinkStatus{}, LatencyStats{}, ParameterEvent{}, Clock{}, ParticipantEntitiesInfo{},
	}
}

// Time is builtin_interfaces/msg/Time.
type Time struct {
	Sec     int32
	Nanosec uint32
}

// TimeOf converts a wall-clock time. What ROS's 32-bit seconds can't hold saturates.
func TimeOf(t time.Time) Time {
	const maxSec, minSec = 1<<31 - 1, -1 << 31
	sec := t.Unix()
	if sec > maxSec {
		return Time{Sec: maxSec, Nanosec: 999_999_999}
	}
	if sec < minSec {
		return Time{Sec: minSec}
	}
	return Time{Sec: int32(sec), Nanosec: uint32(t.Nanosecond())}
}

// Go converts to a wall-clock time.
func (t Time) Go() time.Time { return time.Unix(int64(t.Sec), int64(t.Nanosec)) }

// Header is std_msgs/msg/Header.
type Header struct {
	Stamp   Time
	FrameID string
}

// Vector3 is geometry_msgs/msg/Vector3.
type Vector3 struct{ X, Y, Z float64 }

// Point is geometry_msgs/msg/Point.
type Point struct{ X, Y, Z float64 }

// Quaternion is geometry_msgs/msg/Quaternion.
type Quaternion struct{ X, Y, Z, W float64 }

// Pose is geometry_msgs/msg/Pose.
type Pose struct {
	Position    Point
	Orientation Quaternion
}

// PoseWithCovariance is geometry_msgs/msg/PoseWithCovariance.
type PoseWithCovariance struct {
	Pose       Pose
	Covariance [36]float64 // row-major: x, y, z, rotation about x, y, z
}

// Twist is geometry_msgs/msg/Twist.
type Twist struct {
	Linear  Vector3 // m/s
	Angular Vector3 // rad/s
}

// ROSType implements Message.
func (Twist) ROSType() string { return "geometry_msgs/msg/Twist" }

// TwistStamped is geometry_msgs/msg/TwistStamped.
type TwistStamped struct {
	Header Header
	Twist  Twist
}

// ROSType implements Message.
func (TwistStamped) ROSType() string { return "geometry_msgs/msg/TwistStamped" }

// TwistWithCovariance is geometry_msgs/msg/TwistWithCovariance.
type TwistWithCovariance struct {
	Twist      Twist
	Covariance [36]float64 // row-major: x, y, z, rotation about x, y, z
}

// Odometry is nav_msgs/msg/Odometry.
type Odometry struct {
	Header       Header // frame of the pose
	ChildFrameID string // frame of the twist
	Pose         PoseWithCovariance
	Twist        TwistWithCovariance
}

// ROSType implements Message.
func (Odometry) ROSType() string { return "nav_msgs/msg/Odometry" }

// Transform is geometry_msgs/msg/Transform.
type Transform struct {
	Translation Vector3
	Rotation    Quaternion
}

// TransformStamped is geometry_msgs/msg/TransformStamped.
type TransformStamped struct {
	Header       Header
	ChildFrameID string
	Transform    Transform
}

// TFMessage is tf2_msgs/msg/TFMessage.
type TFMessage struct {
	Transforms []TransformStamped
}

// ROSType implements Message.
func (TFMessage) ROSType() string { return "tf2_msgs/msg/TFMessage" }

// JointState is sensor_msgs/msg/JointState.
type JointState struct {
	Header   Header
	Name     []string
	Position []float64 // rad or m
	Velocity []float64 // rad/s or m/s
	Effort   []float64 // N m or N
}

// ROSType implements Message.
func (JointState) ROSType() string { return "sensor_msgs/msg/JointState" }

// Levels of a DiagnosticStatus.
const (
	DiagnosticOK uint8 = iota
	DiagnosticWarn
	DiagnosticError
	DiagnosticStale
)

// KeyValue is diagnostic_msgs/msg/KeyValue.
type KeyValue struct{ Key, Value string }

// DiagnosticStatus is diagnostic_msgs/msg/DiagnosticStatus.
type DiagnosticStatus struct {
	Level      uint8
	Name       string
	Message    string
	HardwareID string
	Values     []KeyValue
}

// DiagnosticArray is diagnostic_msgs/msg/DiagnosticArray.
type DiagnosticArray struct {
	Header Header
	Status []DiagnosticStatus
}

// ROSType implements Message.
func (DiagnosticArray) ROSType() string { return "diagnostic_msgs/msg/DiagnosticArray" }

// Values of BatteryState's PowerSupplyStatus, PowerSupplyHealth and PowerSupplyTechnology.
const (
	PowerSupplyStatusUnknown uint8 = iota
	PowerSupplyStatusCharging
	PowerSupplyStatusDischarging
	PowerSupplyStatusNotCharging
	PowerSupplyStatusFull

	PowerSupplyHealthUnknown     uint8 = 0
	PowerSupplyHealthGood        uint8 = 1
	PowerSupplyHealthDead        uint8 = 3
	PowerSupplyTechnologyUnknown uint8 = 0
	PowerSupplyTechnologyNiMH    uint8 = 1
	PowerSupplyTechnologyLiIon   uint8 = 2
	PowerSupplyTechnologyLiPo    uint8 = 3
	PowerSupplyTechnologyLiFe    uint8 = 4
)

// BatteryState is sensor_msgs/msg/BatteryState. What is not measured is NaN.
type BatteryState struct {
	Header                Header
	Voltage               float32 // V
	Temperature           float32 // degrees Celsius
	Current               float32 // A, negative when discharging
	Charge                float32 // Ah
	Capacity              float32 // Ah, when last full
	DesignCapacity        float32 // Ah
	Percentage            float32 // 0 to 1
	PowerSupplyStatus     uint8
	PowerSupplyHealth     uint8
	PowerSupplyTechnology uint8
	Present               bool
	CellVoltage           []float32 // V
	CellTemperature       []float32 // degrees Celsius
	Location              string
	SerialNumber          string
}

// ROSType implements Message.
func (BatteryState) ROSType() string { return "sensor_msgs/msg/BatteryState" }

// GID is rmw_dds_common/msg/Gid as Humble has it: 24 bytes, of which DDS fills 16.
type GID struct{ Data [24]uint8 }

// NodeEntitiesInfo is rmw_dds_common/msg/NodeEntitiesInfo.
type NodeEntitiesInfo struct {
	NodeNamespace string
	NodeName      string
	ReaderGIDSeq  []GID
	WriterGIDSeq  []GID
}

// ParticipantEntitiesInfo is rmw_dds_common/msg/ParticipantEntitiesInfo: how nodes show up in the ROS
// graph. Adapters use it, nodes do not.
type ParticipantEntitiesInfo struct {
	GID                 GID
	NodeEntitiesInfoSeq []NodeEntitiesInfo
}

// ROSType implements Message.
func (ParticipantEntitiesInfo) ROSType() string { return "rmw_dds_common/msg/ParticipantEntitiesInfo" }
