//go:build cyclonedds

package cyclone_test

import (
	"bytes"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"robot_link/ros2_ws/src/robot_link_bridge/rosbus"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/cdr"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/conformance"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/msgs"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/msgs/msgstest"
)

var update = flag.Bool("update", false, "write the golden files of package cdr anew, with Cyclone's bytes")

const goldenDir = "../cdr/testdata/golden"

// buildPeer compiles testdata/peer.c with the types of testdata/idl.
func buildPeer(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	idls, err := filepath.Glob("testdata/idl/*.idl")
	if err != nil || len(idls) == 0 {
		t.Fatalf("no IDL: %v", err)
	}
	var types strings.Builder
	var sources []string
	for _, idl := range idls {
		run(t, "idlc (package cyclonedds-tools)", "idlc", "-t", "-x", "final", "-l", "c", "-o", dir, idl)
		base := strings.TrimSuffix(filepath.Base(idl), ".idl")
		fmt.Fprintf(&types, "#include \"%s.h\"\n", base)
		sources = append(sources, filepath.Join(dir, base+".c"))
	}
	types.WriteString("#define TYPES")
	for _, m := range msgs.All() {
		pkg, name, _ := strings.Cut(strings.Replace(m.ROSType(), "/msg/", "/", 1), "/")
		fmt.Fprintf(&types, " TYPE(%s, %s_msg_dds__%s__desc)", name, pkg, name)
	}
	types.WriteString("\n")
	if err := os.WriteFile(filepath.Join(dir, "types.h"), []byte(types.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	peer := filepath.Join(dir, "peer")
	args := append([]string{"-O1", "-Wall", "-I", dir, "-o", peer, "testdata/peer.c"}, sources...)
	run(t, "the C compiler", "cc", append(args, "-lddsc")...)
	return peer
}

func run(t *testing.T, what, name string, args ...string) {
	t.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", what, err, out)
	}
}

// start runs a program until the test ends.
func start(t *testing.T, cmd *exec.Cmd) *exec.Cmd {
	t.Helper()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended already
		_ = cmd.Wait()
		if t.Failed() && stderr.Len() > 0 {
			t.Logf("%s: %s", filepath.Base(cmd.Path), &stderr)
		}
	})
	return cmd
}

// What Cyclone's own serializer makes of what it has read from us is what we have sent, byte for byte:
// encoding, IDL and type names agree, over a real socket.
func TestCycloneWritesTheSameBytes(t *testing.T) {
	domain := conformance.Isolate(t)
	peer := buildPeer(t)
	// The peer knows nothing of ROS_LOCALHOST_ONLY: the adapter's own settings, as a URI.
	cmd := exec.Command(peer, fmt.Sprint(domain))
	cmd.Env = append(os.Environ(), "CYCLONEDDS_URI="+loopbackURI)
	start(t, cmd)

	bus, err := rosbus.Open(rosbus.Options{Node: "tester", DomainID: domain, Logf: t.Logf})
	if err != nil {
		t.Fatal(err)
	}
	defer bus.Close()
	for _, m := range msgs.All() {
		name := m.ROSType()[strings.LastIndexByte(m.ROSType(), '/')+1:]
		got := make(chan []byte, 2000)
		r, err := bus.SubscribeCDR("/from_peer/"+name, m.ROSType(), rosbus.Reliable10,
			func(b []byte, _ rosbus.GID) { got <- bytes.Clone(b) })
		if err != nil {
			t.Fatal(err)
		}
		w, err := bus.AdvertiseCDR("/to_peer/"+name, m.ROSType(), rosbus.Reliable10)
		if err != nil {
			t.Fatal(err)
		}
		conformance.Eventually(t, "the peer matches "+name, func() bool { return r.Matched() == 1 && w.Matched() == 1 })
		// Matched says that this end knows the other, not yet that the other knows this one: what is sent
		// before that is lost. So the first message is repeated until it comes back.
		hello, err := cdr.Append(nil, msgstest.Filled(m, 1000))
		if err != nil {
			t.Fatal(err)
		}
		isHello := func(b []byte) bool { return len(b) >= len(hello) && bytes.Equal(b[4:len(hello)], hello[4:]) }
		conformance.Eventually(t, "the peer answers for "+name, func() bool {
			if err := w.Write(hello); err != nil {
				t.Fatal(err)
			}
			select {
			case b := <-got:
				return isHello(b)
			case <-time.After(20 * time.Millisecond):
				return false
			}
		})
		var golden strings.Builder
		for seed := range uint64(20) {
			sent, err := cdr.Append(nil, msgstest.Filled(m, seed))
			if err != nil {
				t.Fatal(err)
			}
			if err := w.Write(sent); err != nil {
				t.Fatal(err)
			}
			back := hello
			for isHello(back) {
				select {
				case back = <-got:
				case <-time.After(conformance.Deadline):
					t.Fatalf("%s, seed %d: the peer did not understand %x", name, seed, sent)
				}
			}
			if len(back) < len(sent) || len(back) >= len(sent)+4 || !bytes.Equal(back[4:len(sent)], sent[4:]) ||
				!bytes.Equal(back[:2], sent[:2]) {
				t.Fatalf("%s, seed %d:\nsent %x\nback %x", name, seed, sent, back)
			}
			if seed < 3 {
				fmt.Fprintf(&golden, "%d %s\n", seed, hex.EncodeToString(back[:len(sent)]))
			}
		}
		if *update {
			if err := os.MkdirAll(goldenDir, 0o755); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(goldenDir, strings.ReplaceAll(m.ROSType(), "/", "."))
			if err := os.WriteFile(path, []byte(golden.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// loopbackURI is for peers that do not go through the adapter.
const loopbackURI = `<CycloneDDS><Domain><General><Interfaces><NetworkInterface address="127.0.0.1"/></Interfaces></General>` +
	`<Discovery><ParticipantIndex>auto</ParticipantIndex><MaxAutoParticipantIndex>60</MaxAutoParticipantIndex>` +
	`<Peers><Peer address="127.0.0.1"/></Peers></Discovery></Domain></CycloneDDS>`
