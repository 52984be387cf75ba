package cdr

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/msgs"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/msgs/msgstest"
)

// The golden files are Cyclone DDS's own serialization, by the IDL, of the same messages; package
// cyclone's tests write them (-args -update).
func TestBytesAreCyclones(t *testing.T) {
	for _, m := range msgs.All() {
		path := filepath.Join("testdata/golden", strings.ReplaceAll(m.ROSType(), "/", "."))
		file, err := os.ReadFile(path)
		if err != nil {
			t.Error(err)
			continue
		}
		lines := 0
		for line := range strings.Lines(string(file)) {
			var seed uint64
			var digits string
			if _, err := fmt.Sscan(line, &seed, &digits); err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			want, err := hex.DecodeString(digits)
			if err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			in := msgstest.Filled(m, seed)
			got, err := Append(nil, in)
			if err != nil {
				t.Fatal(err)
			}
			copy(want[2:4], []byte{0, 0}) // options: Cyclone counts its padding there
			if !bytes.Equal(got, want) {
				t.Errorf("%s, seed %d:\ngot  %x\nwant %x", m.ROSType(), seed, got, want)
			}
			out := reflect.New(reflect.TypeOf(m)).Interface()
			if err := Decode(want, out); err != nil || !reflect.DeepEqual(in, out) {
				t.Errorf("%s, seed %d: got %+v, %v, want %+v", m.ROSType(), seed, out, err, in)
			}
			lines++
		}
		if lines != 3 {
			t.Errorf("%s has %d messages", path, lines)
		}
	}
}
