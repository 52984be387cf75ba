package driver

import (
	"testing"
	"time"
)

func TestASubscriptionMatchesWhatOffersAsMuchAsItAsksFor(t *testing.T) {
	reliable, latched := QoS{Reliable: true}, QoS{Reliable: true, TransientLocal: true}
	for _, c := range []struct {
		name     string
		pub, sub Endpoint
		want     string
	}{
		{"least from least", Endpoint{}, Endpoint{}, ""},
		{"least from most", Endpoint{QoS: latched, Deadline: 1, Liveliness: ManualByTopic, Lease: 1}, Endpoint{}, ""},
		{"most from most", Endpoint{QoS: latched, Deadline: 1, Liveliness: ManualByTopic, Lease: 1},
			Endpoint{QoS: latched, Deadline: 1, Liveliness: ManualByTopic, Lease: 1}, ""},
		{"reliable from best effort", Endpoint{}, Endpoint{QoS: reliable}, "reliable"},
		{"latched from volatile", Endpoint{QoS: reliable}, Endpoint{QoS: latched}, "transient local"},
		{"both lack: the first is told", Endpoint{}, Endpoint{QoS: latched}, "reliable"},
		{"a deadline from none", Endpoint{}, Endpoint{Deadline: time.Second}, "a deadline of 1s"},
		{"a deadline from a longer one", Endpoint{Deadline: 2 * time.Second}, Endpoint{Deadline: time.Second}, "a deadline of 1s"},
		{"a deadline from a shorter one", Endpoint{Deadline: time.Second}, Endpoint{Deadline: 2 * time.Second}, ""},
		{"manual liveliness from automatic", Endpoint{}, Endpoint{Liveliness: ManualByParticipant}, "manual liveliness"},
		{"automatic liveliness from manual", Endpoint{Liveliness: ManualByTopic}, Endpoint{}, ""},
		{"a lease from one for ever", Endpoint{}, Endpoint{Lease: time.Second}, "a liveliness lease of 1s"},
		{"a lease from a shorter one", Endpoint{Lease: time.Second}, Endpoint{Lease: 2 * time.Second}, ""},
	} {
		if got := Mismatch(&c.pub, &c.sub); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
