// SPDX-License-Identifier: Apache-2.0

package wire

import "encoding/binary"

// State is what the robot does, 100 times a second. Arrays of wheels hold front left, front right, rear left,
// rear right; unused ones are 0. The codec carries any value, so what is received may be not finite.
type State struct {
	Header
	WheelVel [Wheels]float32 // rad/s
	WheelPos [Wheels]float32 // rad, wrapped to [-pi, pi)
	OdomX    float32         // m
	OdomY    float32         // m
	OdomYaw  float32         // rad, [-pi, pi)
	TwistVx  float32         // m/s, measured, base frame
	TwistVy  float32         // m/s
	TwistWz  float32         // rad/s
	Status   Status
	// CmdSeq is that of the last CMD applied in this session, and means nothing while CmdAgeUs is AgeNone.
	CmdSeq uint32
	// CmdAgeUs is the time from that CMD's arrival until this STATE was made, in us, saturating at AgeNone.
	CmdAgeUs uint32
	// CmdDelay is that CMD's one-way delay above the session's smallest, in units of 10 us, saturating.
	CmdDelay  uint16
	BatteryMv uint16 // mV, 0 = not measured
	OdomEpoch uint8  // + 1 at every odometry reset; random start at boot
	Fault     Fault
}

// Offsets within STATE.
const (
	stateWheelVel  = 16
	stateWheelPos  = 32
	stateOdomX     = 48
	stateOdomY     = 52
	stateOdomYaw   = 56
	stateTwistVx   = 60
	stateTwistVy   = 64
	stateTwistWz   = 68
	stateStatus    = 72
	stateCmdSeq    = 76
	stateCmdAgeUs  = 80
	stateCmdDelay  = 84
	stateBatteryMv = 86
	stateOdomEpoch = 88
	stateFault     = 89
)

// Encode writes the packet into buf, header and CRC included, and returns its size, StateSize. It panics if
// buf is shorter, as an index out of range would.
func (p *State) Encode(buf []byte) int {
	b := (*[StateSize]byte)(buf)
	p.Header.put((*[headerSize]byte)(b[:]), TypeState)
	for i := range Wheels {
		putFloat(b[stateWheelVel+4*i:], p.WheelVel[i])
		putFloat(b[stateWheelPos+4*i:], p.WheelPos[i])
	}
	putFloat(b[stateOdomX:], p.OdomX)
	putFloat(b[stateOdomY:], p.OdomY)
	putFloat(b[stateOdomYaw:], p.OdomYaw)
	putFloat(b[stateTwistVx:], p.TwistVx)
	putFloat(b[stateTwistVy:], p.TwistVy)
	putFloat(b[stateTwistWz:], p.TwistWz)
	binary.LittleEndian.PutUint32(b[stateStatus:], uint32(p.Status))
	binary.LittleEndian.PutUint32(b[stateCmdSeq:], p.CmdSeq)
	binary.LittleEndian.PutUint32(b[stateCmdAgeUs:], p.CmdAgeUs)
	binary.LittleEndian.PutUint16(b[stateCmdDelay:], p.CmdDelay)
	binary.LittleEndian.PutUint16(b[stateBatteryMv:], p.BatteryMv)
	b[stateOdomEpoch] = p.OdomEpoch
	b[stateFault] = uint8(p.Fault)
	seal(b[:])
	return StateSize
}

// Decode reads a datagram that passed [Check]. It sets every field, or none and returns ErrLength if b is not
// StateSize bytes long, ErrType if it is no STATE.
func (p *State) Decode(b []byte) error {
	if len(b) != StateSize {
		return ErrLength
	}
	if Type(b[offType]) != TypeState {
		return ErrType
	}
	d := (*[StateSize]byte)(b)
	p.Header.get((*[headerSize]byte)(d[:]))
	for i := range Wheels {
		p.WheelVel[i] = getFloat(d[stateWheelVel+4*i:])
		p.WheelPos[i] = getFloat(d[stateWheelPos+4*i:])
	}
	p.OdomX = getFloat(d[stateOdomX:])
	p.OdomY = getFloat(d[stateOdomY:])
	p.OdomYaw = getFloat(d[stateOdomYaw:])
	p.TwistVx = getFloat(d[stateTwistVx:])
	p.TwistVy = getFloat(d[stateTwistVy:])
	p.TwistWz = getFloat(d[stateTwistWz:])
	p.Status = Status(binary.LittleEndian.Uint32(d[stateStatus:]))
	p.CmdSeq = binary.LittleEndian.Uint32(d[stateCmdSeq:])
	p.CmdAgeUs = binary.LittleEndian.Uint32(d[stateCmdAgeUs:])
	p.CmdDelay = binary.LittleEndian.Uint16(d[stateCmdDelay:])
	p.BatteryMv = binary.LittleEndian.Uint16(d[stateBatteryMv:])
	p.OdomEpoch = d[stateOdomEpoch]
	p.Fault = Fault(d[stateFault])
	return nil
}
