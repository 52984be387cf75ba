//go:build cyclonedds

package cyclone

// #include <stdlib.h>
// #include "shim.h"
import "C"

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"unsafe"
)

// A domain's settings hold for the whole process, from its first node to its last.
type domain struct {
	handle C.dds_entity_t
	config string
	users  int
}

var domains = struct {
	sync.Mutex
	byID map[int]*domain
}{byID: map[int]*domain{}}

// localhostOnly is what rmw_cyclonedds puts in front of CYCLONEDDS_URI for ROS_LOCALHOST_ONLY=1.
const localhostOnly = `<CycloneDDS><Domain><General><Interfaces><NetworkInterface address="127.0.0.1"/></Interfaces>` +
	`</General></Domain></CycloneDDS>,`

// manyLocal lets processes of one host find each other when the loopback interface has no multicast, as
// usual: each takes a port that the others can guess, and asks all of them. Cyclone by itself stops at 10.
const manyLocal = `<CycloneDDS><Domain><Discovery><ParticipantIndex>auto</ParticipantIndex>` +
	`<MaxAutoParticipantIndex>60</MaxAutoParticipantIndex><Peers><Peer address="127.0.0.1"/></Peers>` +
	`</Discovery></Domain></CycloneDDS>,`

// noSharedMemory comes last: the samples of this adapter can't go through iceoryx, and a URI that turns
// it on for other programs must not stop this one.
const noSharedMemory = `,<CycloneDDS><Domain><SharedMemory><Enable>false</Enable></SharedMemory></Domain></CycloneDDS>`

// config composes Cyclone's configuration as rmw_cyclonedds does; what comes later wins.
func config(localhost bool, uri string) string {
	s := uri + noSharedMemory
	if localhost {
		s = localhostOnly + manyLocal + s
	}
	return s
}

// isLocalhostOnly reads the variable as rcl does: only "1" counts.
func isLocalhostOnly() bool { return os.Getenv("ROS_LOCALHOST_ONLY") == "1" }

// acquireDomain starts the domain if this process is not in it yet.
func acquireDomain(id int, logf func(string, ...any)) error {
	uri := os.Getenv("CYCLONEDDS_URI")
	conf := config(isLocalhostOnly(), uri)
	domains.Lock()
	defer domains.Unlock()
	if d := domains.byID[id]; d != nil {
		if d.config != conf {
			return fmt.Errorf("domain %d is in use by this process with another ROS_LOCALHOST_ONLY or CYCLONEDDS_URI: "+
				"set them before the first node is opened", id)
		}
		d.users++
		return nil
	}
	C.rb_log_to_go()
	xml := C.CString(conf)
	defer C.free(unsafe.Pointer(xml))
	logged := captureLog()
	handle := C.dds_create_domain(C.dds_domainid_t(id), xml)
	lines := logged()
	if handle < 0 {
		return startError(id, uri, C.GoString(C.dds_strretcode(handle)), lines)
	}
	for _, line := range lines {
		if !isLocalhostOnly() || !strings.Contains(line.text, "is not multicast-capable") {
			logf("Cyclone DDS: %s", line.text)
		}
	}
	domains.byID[id] = &domain{handle: handle, config: conf, users: 1}
	return nil
}

// releaseDomain leaves the domain when its last node has gone.
func releaseDomain(id int) error {
	domains.Lock()
	defer domains.Unlock()
	d := domains.byID[id]
	if d.users--; d.users > 0 {
		return nil
	}
	delete(domains.byID, id)
	return check(C.dds_delete(d.handle), "leave the domain")
}

// startError says in one line why the domain did not start, and what to do. lines are Cyclone's own words.
func startError(id int, uri, code string, lines []logLine) error {
	var errs []string
	for _, line := range lines {
		if !line.warning {
			errs = append(errs, line.text)
		}
	}
	said := strings.Join(errs, "; ")
	if said == "" {
		said = code
	}
	has := func(parts ...string) bool {
		for _, p := range parts {
			if strings.Contains(said, p) {
				return true
			}
		}
		return false
	}
	var do string
	switch {
	case has("free participant index"):
		do = fmt.Sprintf("all DDS ports of domain %d on this host are taken: stop some ROS programs, choose another "+
			"ROS_DOMAIN_ID, or raise Discovery/MaxAutoParticipantIndex in CYCLONEDDS_URI", id)
	case has("may not be selected twice"):
		do = "ROS_LOCALHOST_ONLY=1 and CYCLONEDDS_URI both select the loopback interface: unset one of them"
	case has("does not match an available interface", "do not match the same interface"):
		do = "CYCLONEDDS_URI names a network interface that is not there, or not up: correct it or unset it"
	case has("failed to find interfaces", "no network interface", "No network interface"):
		do = "no network interface is up: bring one up, or set ROS_LOCALHOST_ONLY=1"
	case has("unicast sockets", "multicast socket", "multicast groups"):
		do = fmt.Sprintf("the DDS ports of domain %d can't be opened: choose another ROS_DOMAIN_ID", id)
	case uri != "":
		do = "CYCLONEDDS_URI is not usable: correct it or unset it"
	default:
		do = "check the network interfaces, ROS_LOCALHOST_ONLY and ROS_DOMAIN_ID"
	}
	return fmt.Errorf("DDS did not start: %s (Cyclone DDS: %s)", do, said)
}

// check turns a Cyclone return code into an error.
func check(code C.dds_return_t, action string) error {
	if code >= 0 {
		return nil
	}
	return fmt.Errorf("%s: %s", action, C.GoString(C.dds_strretcode(code)))
}
