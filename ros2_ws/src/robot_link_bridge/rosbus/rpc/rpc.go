// Package rpc makes a service of two topics, as ROS 2 does over Cyclone DDS: requests on
// "rq/<service>Request", responses on "rr/<service>Reply", each with 16 bytes in front that say whose it is.
// A client is its own number, so that any number of them share the topics.
package rpc

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/driver"
)

// Topics makes the ends of topics by their names in DDS ("rq/resetRequest").
type Topics interface {
	Writer(topic, typ string, qos driver.QoS) (driver.Writer, error)
	Reader(topic, typ string, qos driver.QoS, take driver.Take) (driver.Reader, error)
}

// qos is rmw's for parameter services: deeper than its 10 for others, since every client gets the responses to all.
var qos = driver.QoS{Reliable: true, Depth: 1000}

// Bytes of CDR's encapsulation header, and of whose it is.
const (
	encapsulation = 4
	identity      = 16
)

// id says which call of which client a sample belongs to.
type id struct{ client, call uint64 }

// join puts an id into a serialized message.
func join(of id, cdr []byte) ([]byte, error) {
	if len(cdr) < encapsulation {
		return nil, fmt.Errorf("%d bytes are no serialized message", len(cdr))
	}
	order := orderOf(cdr)
	sample := make([]byte, 0, len(cdr)+identity)
	sample = append(sample, cdr[:encapsulation]...)
	sample = order.AppendUint64(sample, of.client)
	sample = order.AppendUint64(sample, of.call)
	return append(sample, cdr[encapsulation:]...), nil // 16 bytes keep every alignment
}

// split takes a sample apart; ok is false if it is too short. The sample is left as it is: other readers share it.
func split(sample []byte) (of id, cdr []byte, ok bool) {
	if len(sample) < encapsulation+identity {
		return id{}, nil, false
	}
	order := orderOf(sample)
	of.client = order.Uint64(sample[encapsulation:])
	of.call = order.Uint64(sample[encapsulation+8:])
	return of, slices.Concat(sample[:encapsulation], sample[encapsulation+identity:]), true
}

type byteOrder interface {
	binary.ByteOrder
	binary.AppendByteOrder
}

// orderOf reads CDR's representation: odd is little-endian.
func orderOf(cdr []byte) byteOrder {
	if cdr[1]&1 != 0 {
		return binary.LittleEndian
	}
	return binary.BigEndian
}

func requestTopic(service string) string { return "rq" + service + "Request" }
func replyTopic(service string) string   { return "rr" + service + "Reply" }

// requestType turns "std_srvs/srv/Trigger" into "std_srvs/srv/Trigger_Request".
func requestType(typ string) (string, error) { return part(typ, "_Request") }
func replyType(typ string) (string, error)   { return part(typ, "_Response") }

func part(typ, suffix string) (string, error) {
	if pieces := strings.Split(typ, "/"); len(pieces) != 3 || pieces[1] != "srv" {
		return "", fmt.Errorf("invalid service type %q: expected package/srv/Name", typ)
	}
	return typ + suffix, nil
}
