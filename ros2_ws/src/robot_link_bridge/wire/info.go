// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"bytes"
	"encoding/binary"
	"strings"
)

// Reason says why a session was granted or not.
type Reason uint8

// The reasons.
const (
	ReasonGranted  Reason = 0
	ReasonNotAsked Reason = 1
	ReasonVersion  Reason = 2 // no version that both ends speak
	ReasonHeld     Reason = 3 // held by another host that is not silent
)

var reasonNames = [...]string{"GRANTED", "NOT_ASKED", "VERSION", "HELD"}

// String returns the protocol's name of the reason, or its number.
func (r Reason) String() string { return enumName(reasonNames[:], uint8(r)) }

// Drive is the kind of the robot's drive.
type Drive uint8

// The drives.
const (
	DriveNone         Drive = 0
	DriveDifferential Drive = 1
	DriveMecanum      Drive = 2
	DriveOmni3        Drive = 3
)

var driveNames = [...]string{"NONE", "DIFFERENTIAL", "MECANUM", "OMNI3"}

// String returns the protocol's name of the drive, or its number.
func (d Drive) String() string { return enumName(driveNames[:], uint8(d)) }

// Features are the bits of Info.Features.
type Features uint16

// The features.
const (
	FeatureOdometry Features = 1 << 0
	FeatureBattery  Features = 1 << 1
	FeatureAuth     Features = 1 << 2 // reserved
)

var featureNames = [...]string{"ODOMETRY", "BATTERY", "AUTH"}

// Has tells whether all of the given bits are set.
func (f Features) Has(bits Features) bool { return f&bits == bits }

// String joins the names of the set bits with "|", as in "ODOMETRY|BATTERY"; none are "NONE". It allocates.
func (f Features) String() string { return bitString(featureNames[:], uint32(f)) }

// Info is the MCU's answer to HELLO. Its length, header, VersionMin and VersionMax are the same in all
// versions; the rest means something only when the two ends have a version in common. The codec carries any
// value, so what is received may be not finite, zero or negative.
type Info struct {
	Header
	VersionMin    uint8 // lowest protocol version that the MCU speaks
	VersionMax    uint8 // highest
	Features      Features
	FirmwareMajor uint8
	FirmwareMinor uint8
	FirmwarePatch uint8
	Drive         Drive
	Nonce         uint64 // of the HELLO that this answers
	// Session is the granted session, 0 = not granted. It hides Header.Session, which says the same.
	Session      uint16
	Reason       Reason
	WheelCount   uint8
	BuildID      uint32         // first 32 bits of the commit
	BootID       uint32         // random at every boot
	Name         [NameSize]byte // UTF-8, zero padded; see NameString
	WheelRadius  float32        // m
	Track        float32        // m, left to right
	Base         float32        // m, front to rear; omni: centre to wheel
	VMax         float32        // m/s
	WMax         float32        // rad/s
	ALin         float32        // m/s^2
	AAng         float32        // rad/s^2
	CmdTimeoutMs uint16         // ms
	ControlHz    uint16         // Hz
	StateHz      uint16         // Hz
}

// NameString returns the name up to its zero padding, with U+FFFD for what is not UTF-8 (a name of 16 bytes
// may end within a character). What it returns may hold control characters. It allocates.
func (p *Info) NameString() string {
	name, _, _ := bytes.Cut(p.Name[:], []byte{0})
	return strings.ToValidUTF8(string(name), "\uFFFD")
}

// Offsets within INFO.
const (
	infoVersionMin    = 16
	infoVersionMax    = 17
	infoFeatures      = 18
	infoFirmwareMajor = 20
	infoFirmwareMinor = 21
	infoFirmwarePatch = 22
	infoDrive         = 23
	infoNonce         = 24
	infoSession       = 32
	infoReason        = 34
	infoWheelCount    = 35
	infoBuildID       = 36
	infoBootID        = 40
	infoName          = 44
	infoWheelRadius   = 60
	infoTrack         = 64
	infoBase          = 68
	infoVMax          = 72
	infoWMax          = 76
	infoALin          = 80
	infoAAng          = 84
	infoCmdTimeoutMs  = 88
	infoControlHz     = 90
	infoStateHz       = 92
)

// Encode writes the packet into buf, header and CRC included, and returns its size, InfoSize. It panics if buf
// is shorter, as an index out of range would.
func (p *Info) Encode(buf []byte) int {
	b := (*[InfoSize]byte)(buf)
	p.Header.put((*[headerSize]byte)(b[:]), TypeInfo)
	b[infoVersionMin] = p.VersionMin
	b[infoVersionMax] = p.VersionMax
	binary.LittleEndian.PutUint16(b[infoFeatures:], uint16(p.Features))
	b[infoFirmwareMajor] = p.FirmwareMajor
	b[infoFirmwareMinor] = p.FirmwareMinor
	b[infoFirmwarePatch] = p.FirmwarePatch
	b[infoDrive] = uint8(p.Drive)
	binary.LittleEndian.PutUint64(b[infoNonce:], p.Nonce)
	binary.LittleEndian.PutUint16(b[infoSession:], p.Session)
	b[infoReason] = uint8(p.Reason)
	b[infoWheelCount] = p.WheelCount
	binary.LittleEndian.PutUint32(b[infoBuildID:], p.BuildID)
	binary.LittleEndian.PutUint32(b[infoBootID:], p.BootID)
	copy(b[infoName:infoName+NameSize], p.Name[:])
	putFloat(b[infoWheelRadius:], p.WheelRadius)
	putFloat(b[infoTrack:], p.Track)
	putFloat(b[infoBase:], p.Base)
	putFloat(b[infoVMax:], p.VMax)
	putFloat(b[infoWMax:], p.WMax)
	putFloat(b[infoALin:], p.ALin)
	putFloat(b[infoAAng:], p.AAng)
	binary.LittleEndian.PutUint16(b[infoCmdTimeoutMs:], p.CmdTimeoutMs)
	binary.LittleEndian.PutUint16(b[infoControlHz:], p.ControlHz)
	binary.LittleEndian.PutUint16(b[infoStateHz:], p.StateHz)
	seal(b[:])
	return InfoSize
}

// Decode reads a datagram that passed [Check]. It sets every field, or none and returns ErrLength if b is not
// InfoSize bytes long, ErrType if it is no INFO.
func (p *Info) Decode(b []byte) error {
	if len(b) != InfoSize {
		return ErrLength
	}
	if Type(b[offType]) != TypeInfo {
		return ErrType
	}
	d := (*[InfoSize]byte)(b)
	p.Header.get((*[headerSize]byte)(d[:]))
	p.VersionMin = d[infoVersionMin]
	p.VersionMax = d[infoVersionMax]
	p.Features = Features(binary.LittleEndian.Uint16(d[infoFeatures:]))
	p.FirmwareMajor = d[infoFirmwareMajor]
	p.FirmwareMinor = d[infoFirmwareMinor]
	p.FirmwarePatch = d[infoFirmwarePatch]
	p.Drive = Drive(d[infoDrive])
	p.Nonce = binary.LittleEndian.Uint64(d[infoNonce:])
	p.Session = binary.LittleEndian.Uint16(d[infoSession:])
	p.Reason = Reason(d[infoReason])
	p.WheelCount = d[infoWheelCount]
	p.BuildID = binary.LittleEndian.Uint32(d[infoBuildID:])
	p.BootID = binary.LittleEndian.Uint32(d[infoBootID:])
	copy(p.Name[:], d[infoName:infoName+NameSize])
	p.WheelRadius = getFloat(d[infoWheelRadius:])
	p.Track = getFloat(d[infoTrack:])
	p.Base = getFloat(d[infoBase:])
	p.VMax = getFloat(d[infoVMax:])
	p.WMax = getFloat(d[infoWMax:])
	p.ALin = getFloat(d[infoALin:])
	p.AAng = getFloat(d[infoAAng:])
	p.CmdTimeoutMs = binary.LittleEndian.Uint16(d[infoCmdTimeoutMs:])
	p.ControlHz = binary.LittleEndian.Uint16(d[infoControlHz:])
	p.StateHz = binary.LittleEndian.Uint16(d[infoStateHz:])
	return nil
}
