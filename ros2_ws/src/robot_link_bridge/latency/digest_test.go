package latency

import "testing"

func TestReportsThatNobodyReadsAreDroppedAndToldAndTheTotalHasThem(t *testing.T) {
	r, err := Open(Config{MCU: "127.0.0.1:5000", Bind: "127.0.0.1:0", Rate: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	ended := make(chan struct{})
	go func() { r.digest(); close(ended) }()
	feed := func() {
		w := <-r.spares
		w.Sent++
		r.windows <- w
	}
	const dropped = 3
	for range reportQueue + dropped + 2 { // the fate of the last two may be open yet
		feed()
	}
	for range reportQueue {
		<-r.Reports()
	}
	feed()
	close(r.windows)
	<-ended
	var last Report
	for last = range r.Reports() {
	}
	if last.Dropped < dropped || last.Total.Sent != reportQueue+dropped+3 {
		t.Errorf("%d dropped, total %+v", last.Dropped, last.Total.Counts)
	}
}
