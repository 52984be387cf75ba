package report

// title is how a figure is shown.
type title struct{ key, name, what string }

// titles are the figures in the order in which they are shown. Package latency's comment has the whole of it.
var titles = []title{
	{RoundTrip, "Transport round trip", "from just before the ECHO is given to the kernel until this program has the reply: all that follows is part of it"},
	{Turnaround, "MCU turnaround", "from when the MCU's program had the ECHO until the reply left, by the MCU's clock, to 1 us"},
	{Cycles, "MCU turnaround", "the same in cycles of the MCU's core"},
	{Network, "All but the MCU", "round trip less turnaround"},
	{Out, "Way out, estimated", "until the MCU's program had the ECHO, give or take the bound"},
	{Back, "Way back, estimated", "from when the reply left until this host's kernel had it, give or take the bound in the opposite direction"},
	{Bound, "Bound of both ways", "how far the estimates are from the truth at most; no better than half of the shortest round trip"},
	{Wake, "Host wake-up", "from the kernel's receive timestamp until this program has the reply"},
	{Sending, "Host sending", "how long the kernel took to take the ECHO"},
	{SendLate, "Pacing error", "how late the ECHO left against its absolute schedule; in no round trip"},
	{FromDue, "From due", "from when the ECHO was due until its reply was there, with those that this host skipped: what one sees who relies on the schedule"},
	{CommandToTelemetry, "Command to telemetry", "from just before a CMD is given to the kernel until the first STATE that says it was applied; STATE leaves on the MCU's own timer, whose phase is most of it"},
	{CommandRoundTrip, "Command round trip", "the same less what the CMD waited in the MCU for the timer, which STATE tells"},
}

// published are the figures of the system that this project follows, over the same kind of link.
var published = []struct {
	name     string
	p50, p99 float64 // us, round trip
}{
	{"Published, C++ host", 300, 370},
	{"Published, Python host", 371, 429},
}

const publishedNote = "Published: the figures that the system which this project follows gives for its own board and hosts. Its largest round trip was 1785 us, " +
	"0 of 600 000 were lost at 1 kHz, and its MCU took 28 us, give or take 1, from receive to transmit. It was another host, network and MCU: compare with care."
