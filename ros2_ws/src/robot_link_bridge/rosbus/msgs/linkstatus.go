package msgs

// Values of LinkStatus.State.
const (
	StateDown uint8 = iota
	StateConnecting
	StateUp
	StateDegraded
)

// Values of LinkStatus.CommandState.
const (
	CommandNone uint8 = iota
	CommandFresh
	CommandTimedOut
	CommandNoPublisher
	CommandNotPermitted
	CommandStopping
)

// Values of LinkStatus.Fault.
const (
	FaultNone uint8 = iota
	FaultEncoderLost
	FaultStall
	FaultRunaway
	FaultOvercurrent
	FaultBatteryCritical
	FaultControlOverrun
	FaultWatchdogReset
	FaultHardwareEstop
)

// LinkStatus is robot_link_msgs/msg/LinkStatus. LinkStatus.msg says what each field means.
type LinkStatus struct {
	Header Header

	State           uint8
	StateName       string
	Reason          string
	MotionPermitted bool
	CmdRate         float32 // Hz
	StateRate       float32 // Hz
	RTTMinUs        uint32
	RTTP50Us        uint32
	RTTP99Us        uint32
	RTTMaxUs        uint32
	RTTSamples      uint32
	WindowS         float32 // s

	ClockSynced      bool
	ClockErrorBound  float32 // s, -1 = not synced
	ClockDriftPpm    float32
	ClockRoundTripUs uint32
	ClockSteps       uint64

	CmdSent         uint64
	HelloSent       uint64
	EchoSent        uint64
	EchoReceived    uint64
	StateReceived   uint64
	StateLost       uint64
	StateReordered  uint64
	StateDuplicated uint64
	StateLoss       float32 // 0 to 1
	RxTotal         uint64
	RxShort         uint64
	RxCRC           uint64
	RxVersion       uint64
	RxType          uint64
	RxLength        uint64
	RxSession       uint64
	RxForeign       uint64
	RxOldInfo       uint64
	RxOldEcho       uint64
	RxUnused        uint64
	TxErrors        uint64
	RxErrors        uint64
	ROSDropped      uint64
	PacingGaps      uint64
	PacingLateMaxUs uint64
	BadInput        uint64
	SendRefused     uint64
	StaleRestarts   uint64
	Sessions        uint64
	Refusals        uint64

	SourceAge        float32 // s, -1 = none yet
	HoldAge          float32 // s, -1 = none held
	CmdAgeUs         uint32
	CmdDelayUs       uint32
	Publishers       uint32
	CommandState     uint8
	CommandStateName string

	Status      uint32
	CmdTimeout  bool
	CmdIdle     bool
	SeqGap      bool
	CRCError    bool
	Enabled     bool
	Estop       bool
	OdomValid   bool
	Limited     bool
	FaultActive bool
	Contention  bool
	Overrun     bool
	LowBattery  bool
	Moving      bool
	BadCommand  bool
	Stale       bool
	Fault       uint8
	FaultName   string

	Session         uint16
	BootID          uint32
	MCUBoots        uint32
	RobotName       string
	FirmwareVersion string
	FirmwareBuild   string
	ProtocolVersion uint8
	Drive           string
	OdomEpoch       uint8
	OdomResets      uint32
	BatteryVoltage  float32 // V, 0 = not measured
	MCUUptime       float64 // s

	CmdVelPublishers []string
	CmdVelRates      []float32 // Hz, of each of them
	GraphWarnings    []string
}

// ROSType implements Message.
func (LinkStatus) ROSType() string { return "robot_link_msgs/msg/LinkStatus" }
