package msgs

// LatencyStats is robot_link_msgs/msg/LatencyStats. LatencyStats.msg says what each field means. Times are in s,
// NaN = no sample.
type LatencyStats struct {
	Header Header

	Rate   float64 // Hz
	Window float64

	Sent           uint64
	Unsent         uint64
	Skipped        uint64
	Received       uint64
	Lost           uint64
	Late           uint64
	OutOfOrder     uint64
	Duplicates     uint64
	Invalid        uint64
	BadTurnarounds uint64
	InFlight       uint64

	RoundTripMin        float64
	RoundTripMean       float64
	RoundTripP50        float64
	RoundTripP99        float64
	RoundTripP999       float64
	RoundTripMax        float64
	TurnaroundP50       float64
	TurnaroundP99       float64
	TurnaroundMax       float64
	TurnaroundCyclesP50 uint64
	TurnaroundCyclesMax uint64
	NetworkP50          float64
	NetworkP99          float64
	NetworkP999         float64
	NetworkMax          float64
	SendLateP50         float64
	SendLateP99         float64
	SendLateMax         float64

	TotalTime           float64
	TotalSent           uint64
	TotalUnsent         uint64
	TotalSkipped        uint64
	TotalReceived       uint64
	TotalLost           uint64
	TotalLate           uint64
	TotalOutOfOrder     uint64
	TotalDuplicates     uint64
	TotalInvalid        uint64
	TotalBadTurnarounds uint64
	TotalRoundTripMin   float64
	TotalRoundTripMean  float64
	TotalRoundTripP50   float64
	TotalRoundTripP99   float64
	TotalRoundTripP999  float64
	TotalRoundTripMax   float64

	MCU            string
	TxErrors       uint64
	RxErrors       uint64
	ReportsDropped uint64
	Trouble        string
}

// ROSType implements Message.
func (LatencyStats) ROSType() string { return "robot_link_msgs/msg/LatencyStats" }
