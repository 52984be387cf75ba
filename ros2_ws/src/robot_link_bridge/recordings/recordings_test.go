package recordings

import "testing"

func TestRecordingsAreWhatTheySayTheyAre(t *testing.T) {
	want := map[string]struct {
		messages   int
		publishers int
	}{"rpp": {2169, 3}, "dwb": {2573, 3}}
	for _, name := range Names() {
		msgs, err := Load(name)
		if err != nil {
			t.Fatal(err)
		}
		publishers := map[string]int{}
		for i, m := range msgs {
			publishers[m.Publisher]++
			if i > 0 && m.At < msgs[i-1].At {
				t.Fatalf("%s: message %d is out of order", name, i)
			}
		}
		if w := want[name]; len(msgs) != w.messages || len(publishers) != w.publishers {
			t.Errorf("%s: %d messages of %v, want %+v", name, len(msgs), publishers, w)
		}
	}
	if _, err := Load("none"); err == nil {
		t.Error("a recording that is not there was loaded")
	}
}
