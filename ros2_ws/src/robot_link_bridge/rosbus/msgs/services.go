package msgs

// Request is the request of a service.
type Request interface {
	ROSService() string // "std_srvs/srv/Trigger"
}

// TriggerRequest is std_srvs/srv/Trigger's. It has no fields; ROS puts one in, since DDS has no empty messages.
type TriggerRequest struct{ StructureNeedsAtLeastOneMember uint8 }

// ROSService names the service.
func (TriggerRequest) ROSService() string { return "std_srvs/srv/Trigger" }

// TriggerResponse is std_srvs/srv/Trigger's.
type TriggerResponse struct {
	Success bool
	Message string
}

// SetBoolRequest is std_srvs/srv/SetBool's.
type SetBoolRequest struct{ Data bool }

// ROSService names the service.
func (SetBoolRequest) ROSService() string { return "std_srvs/srv/SetBool" }

// SetBoolResponse is std_srvs/srv/SetBool's.
type SetBoolResponse struct {
	Success bool
	Message string
}
