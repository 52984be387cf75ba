package simulation

// event is something that happens at a true time. What to and packet mean depends on kind.
type event struct {
	at   int64
	seq  uint32 // events of one instant happen in the order in which they were made
	kind eventKind
	to   int32 // host, MCU, or line of the script
	arg  int32 // packet, planner, or incarnation
}

type eventKind uint8

const (
	evPacketToMCU eventKind = iota
	evPacketToHost
	evHostTick
	evPlanner
	evMCUState
	evScript
	evHostWakes
	evMCUWakes
	evMCUBoots
	evHostStarts
	evOperator
	evEnd
)

// queue is a binary heap of events.
type queue struct {
	heap []event
	seq  uint32
}

func before(a, b *event) bool {
	if a.at != b.at {
		return a.at < b.at
	}
	return int32(a.seq-b.seq) < 0
}

func (q *queue) push(e event) {
	q.seq++
	e.seq = q.seq
	q.heap = append(q.heap, e)
	i := len(q.heap) - 1
	for i > 0 {
		parent := (i - 1) / 2
		if !before(&e, &q.heap[parent]) {
			break
		}
		q.heap[i] = q.heap[parent]
		i = parent
	}
	q.heap[i] = e
}

func (q *queue) pop() event {
	top := q.heap[0]
	last := len(q.heap) - 1
	e := q.heap[last]
	q.heap = q.heap[:last]
	if last == 0 {
		return top
	}
	i := 0
	for {
		child := 2*i + 1
		if child >= last {
			break
		}
		if child+1 < last && before(&q.heap[child+1], &q.heap[child]) {
			child++
		}
		if !before(&q.heap[child], &e) {
			break
		}
		q.heap[i] = q.heap[child]
		i = child
	}
	q.heap[i] = e
	return top
}
