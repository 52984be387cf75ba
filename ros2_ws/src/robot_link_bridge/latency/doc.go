// Package latency measures the link with ECHO: [Probe] is the arithmetic, without I/O or a clock, and [Runner] is
// a Probe on a UDP socket and a thread. It needs no session and disturbs none.
//
// # Times
//
// t1 is this host's CLOCK_MONOTONIC just before the ECHO is made and given to the kernel, t4 just after the
// kernel gave the ECHO_REPLY to this thread; both in ns. t2 and t3 are the MCU's own clock, in us, when it had the
// ECHO and when the reply left. The two clocks are never compared.
//
//	round trip = t4 - t1        the delay of both kernels, of the wake-up of this thread, and of the MCU included
//	turnaround = t3 - t2        the MCU's own share; to 1 us
//	network    = round trip - turnaround, at least 0; all that is not the MCU
//	cycles     = the MCU's core cycles from receive to transmit, if it counts them
//	send late  = t1 - due       this host's own lateness against its schedule
//
// All but send late are of probes that were received in time. A turnaround that is negative, or more than 1 us
// longer than the round trip, can't be: it counts as a bad turnaround, and gives neither turnaround nor network.
//
// # Schedule
//
// Probes are due at equal distances on an absolute schedule, and none waits for the reply to another: a slow MCU
// is asked as often as a fast one, and its slowness is not hidden (no coordinated omission). The round trip runs from t1,
// not from when the probe was due: it is the link's. What is this host's own fault is told beside it, as send late; and
// when the thread was held up past further due times these are skipped, and counted, since a burst would measure itself.
//
//	due = sent + unsent + skipped
//
// A host that stands still for longer than the timeout loses what was in flight, also what had come meanwhile: it was too
// late for anybody here. Skipped and send late, beside it, show whose fault it was.
//
// # Counts
//
//	sent        the kernel took it. Sequence numbers start at 1, and only what was sent uses one up
//	unsent      it was due, but there was no address yet, or the kernel refused it
//	skipped     it was due, but this thread came too late
//	received    its first reply came less than the timeout after t1
//	lost        no reply until then. It stays lost
//	late        of the lost: its reply came all the same. Its round trip is in no figure, so that no figure
//	            exceeds the timeout: a loss has to be read beside the percentiles
//	out of order  of the received: a probe sent after it had been received before it
//	duplicates  another reply to a probe that has had one
//	invalid     a datagram from somebody else, or that is no ECHO_REPLY, or that answers nothing of the last 16384 probes
//
// Whatever comes, and in whatever order:
//
//	sent = received + lost + in flight
//
// in total. In a window, what was in flight at its start counts as sent: a probe may be sent in one window and be received
// or lost in the next, and belongs, with its times, to the window in which that is known.
//
// # Percentiles
//
// Of the n samples in ascending order, p50, p99 and p99.9 are the one at the rank nearest to p n: with up to 500
// samples p99.9 is the largest. They are within 0.1 %; count, min, mean and max are exact.
package latency
