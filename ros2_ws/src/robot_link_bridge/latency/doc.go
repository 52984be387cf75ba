// Package latency measures the link with ECHO: [Probe] is the arithmetic, without I/O or a clock, and [Runner] is
// a Probe on a UDP socket and a thread. It needs no session and disturbs none.
//
// # Times
//
// t1 is this host's CLOCK_MONOTONIC just before the ECHO is made and given to the kernel, t4 just after the
// kernel gave the ECHO_REPLY to this thread; both in ns. t2 and t3 are the MCU's own clock, in us, when its program had the
// ECHO and when the reply left. arrived is when this host's kernel had the reply, by its own timestamp (SO_TIMESTAMPNS,
// made in software when the driver hands the packet over).
//
//	round trip = t4 - t1        the delay of both kernels, of the wake-up of this thread, and of the MCU included
//	turnaround = t3 - t2        the MCU's own share; to 1 us
//	network    = round trip - turnaround, at least 0; all that is not the MCU
//	wake       = t4 - arrived   this host's share of it: from its kernel to this thread
//	cycles     = the MCU's core cycles from receive to transmit, if it counts them
//	send late  = t1 - due       this host's own lateness against its schedule: the pacing error
//	sending    = how long the kernel took to take the ECHO, from t1 on
//	from due   = t4 - due       what one sees who relies on the schedule
//
// All but send late are of probes that were received in time. A turnaround that is negative, or more than 1 us
// longer than the round trip, can't be: it counts as a bad turnaround, and gives neither turnaround nor network. Wake is
// not known of a reply that the kernel did not stamp, or whose stamp the system's clock, when it was stepped, has made impossible.
//
// # The two ways
//
// The two clocks are not compared but by package clocksync, which knows the offset between them within a bound:
//
//	out   = t2 - t1, and back = arrived - t3, both on this host's clock
//	bound = how far both are from the truth at most, in opposite directions
//
// How a round trip is shared between the ways can't be seen from its ends: the bound gets no better than half of the shortest
// network time, and a typical out that equals a typical back within the bound says nothing. One way that is longer than usual by more
// than the bound is a fact. They are of probes that were received in order, once eight answers have agreed, and so of none at
// rates below 3 Hz: a sync is forgotten after three seconds. Out includes what the ECHO waited in the MCU before its program had it.
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
// From due has both: it counts from when the probe was due, and has each skipped probe as the answer to the one before it would have
// answered it, no sooner than after a round trip (5000 for each time that the thread was held up).
//
// A host that stands still for longer than the timeout loses what was in flight, also what had come meanwhile: it was too
// late for anybody here. Skipped and send late, beside it, show whose fault it was.
//
// # Outliers
//
// The 100 longest round trips are kept with all their times, late ones too. [Sample.Blame] says which part of one exceeds its own median by
// most: this host (sending, waking up), the MCU, or one of the ways. Only a difference beyond the bound tells the ways apart;
// else it says network. The first 100 runs of losses are kept with their times.
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
