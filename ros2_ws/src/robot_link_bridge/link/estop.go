package link

import "robot_link/ros2_ws/src/robot_link_bridge/wire"

// EncodeEstop writes a CMD that does nothing but stop, into buf (at least wire.CmdSize bytes), and returns its length.
// It belongs to no session: an emergency stop needs none, and latches whoever sends it.
func EncodeEstop(now Time, seq uint32, buf []byte) int {
	p := wire.Cmd{Header: wire.Header{Seq: seq, TimeUs: uint64(now.Microseconds())}, Flags: wire.FlagEstop}
	return p.Encode(buf)
}
