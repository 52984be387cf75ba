package msgs

// Types of a ParameterValue (rcl_interfaces/msg/ParameterType).
const (
	ParameterNotSet uint8 = iota
	ParameterBool
	ParameterInteger
	ParameterDouble
	ParameterString
	ParameterByteArray
	ParameterBoolArray
	ParameterIntegerArray
	ParameterDoubleArray
	ParameterStringArray
)

// ParameterValue is rcl_interfaces/msg/ParameterValue: Type says which of the others counts.
type ParameterValue struct {
	Type              uint8
	BoolValue         bool
	IntegerValue      int64
	DoubleValue       float64
	StringValue       string
	ByteArrayValue    []uint8
	BoolArrayValue    []bool
	IntegerArrayValue []int64
	DoubleArrayValue  []float64
	StringArrayValue  []string
}

// Parameter is rcl_interfaces/msg/Parameter.
type Parameter struct {
	Name  string
	Value ParameterValue
}

// ParameterEvent is rcl_interfaces/msg/ParameterEvent.
type ParameterEvent struct {
	Stamp             Time
	Node              string // fully-qualified
	NewParameters     []Parameter
	ChangedParameters []Parameter
	DeletedParameters []Parameter
}

// ROSType implements Message.
func (ParameterEvent) ROSType() string { return "rcl_interfaces/msg/ParameterEvent" }

// FloatingPointRange is rcl_interfaces/msg/FloatingPointRange.
type FloatingPointRange struct {
	FromValue, ToValue float64
	Step               float64 // 0: any value between them
}

// IntegerRange is rcl_interfaces/msg/IntegerRange.
type IntegerRange struct {
	FromValue, ToValue int64
	Step               uint64 // 0: any value between them
}

// ParameterDescriptor is rcl_interfaces/msg/ParameterDescriptor.
type ParameterDescriptor struct {
	Name                  string
	Type                  uint8
	Description           string
	AdditionalConstraints string
	ReadOnly              bool
	DynamicTyping         bool
	FloatingPointRange    []FloatingPointRange // one at most
	IntegerRange          []IntegerRange       // one at most
}

// SetParametersResult is rcl_interfaces/msg/SetParametersResult.
type SetParametersResult struct {
	Successful bool
	Reason     string
}

// ListParametersResult is rcl_interfaces/msg/ListParametersResult.
type ListParametersResult struct{ Names, Prefixes []string }

// DescribeParametersRequest is rcl_interfaces/srv/DescribeParameters's.
type DescribeParametersRequest struct{ Names []string }

// ROSService names the service.
func (DescribeParametersRequest) ROSService() string { return "rcl_interfaces/srv/DescribeParameters" }

// DescribeParametersResponse is rcl_interfaces/srv/DescribeParameters's.
type DescribeParametersResponse struct{ Descriptors []ParameterDescriptor }

// GetParameterTypesRequest is rcl_interfaces/srv/GetParameterTypes's.
type GetParameterTypesRequest struct{ Names []string }

// ROSService names the service.
func (GetParameterTypesRequest) ROSService() string { return "rcl_interfaces/srv/GetParameterTypes" }

// GetParameterTypesResponse is rcl_interfaces/srv/GetParameterTypes's.
type GetParameterTypesResponse struct{ Types []uint8 }

// GetParametersRequest is rcl_interfaces/srv/GetParameters's.
type GetParametersRequest struct{ Names []string }

// ROSService names the service.
func (GetParametersRequest) ROSService() string { return "rcl_interfaces/srv/GetParameters" }

// GetParametersResponse is rcl_interfaces/srv/GetParameters's.
type GetParametersResponse struct{ Values []ParameterValue }

// ListParametersRequest is rcl_interfaces/srv/ListParameters's.
type ListParametersRequest struct {
	Prefixes []string
	Depth    uint64 // 0: any
}

// ROSService names the service.
func (ListParametersRequest) ROSService() string { return "rcl_interfaces/srv/ListParameters" }

// ListParametersResponse is rcl_interfaces/srv/ListParameters's.
type ListParametersResponse struct{ Result ListParametersResult }

// SetParametersRequest is rcl_interfaces/srv/SetParameters's.
type SetParametersRequest struct{ Parameters []Parameter }

// ROSService names the service.
func (SetParametersRequest) ROSService() string { return "rcl_interfaces/srv/SetParameters" }

// SetParametersResponse is rcl_interfaces/srv/SetParameters's.
type SetParametersResponse struct{ Results []SetParametersResult }

// SetParametersAtomicallyRequest is rcl_interfaces/srv/SetParametersAtomically's.
type SetParametersAtomicallyRequest struct{ Parameters []Parameter }

// ROSService names the service.
func (SetParametersAtomicallyRequest) ROSService() string {
	return "rcl_interfaces/srv/SetParametersAtomically"
}

// SetParametersAtomicallyResponse is rcl_interfaces/srv/SetParametersAtomically's.
type SetParametersAtomicallyResponse struct{ Result SetParametersResult }

// Clock is rosgraph_msgs/msg/Clock: a simulator's time.
type Clock struct{ Clock Time }

// ROSType implements Message.
func (Clock) ROSType() string { return "rosgraph_msgs/msg/Clock" }
