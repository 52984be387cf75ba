package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"robot_link/ros2_ws/src/robot_link_bridge/cli"
	"robot_link/ros2_ws/src/robot_link_bridge/recordings"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/msgs"
)

const playText = `Publishes a recording of Nav2's cmd_vel with its own timing, one publisher for each that was recorded.`

func runPlay(ctx context.Context, name string, args []string) error {
	var recording, topic, namespace string
	var from, length time.Duration
	f := cli.Flags(name)
	f.StringVar(&recording, "recording", "rpp", "`name` of the recording: "+strings.Join(recordings.Names(), " or "))
	f.StringVar(&topic, "topic", "cmd_vel", "`topic` to publish on")
	f.StringVar(&namespace, "namespace", "", "`namespace` of the node")
	f.DurationVar(&from, "from", 0, "`time` within the recording to start at, such as 106s")
	f.DurationVar(&length, "for", 0, "`time` to play, 0 = to the end")
	if err := cli.Parse(f, playText, args); err != nil {
		return err
	}
	stream, err := recordings.Load(recording)
	if err != nil {
		return err
	}
	if end := stream[len(stream)-1].At; from < 0 || from > end || length < 0 {
		return fmt.Errorf("%w: --from goes from 0s to %.0fs in this recording, and --for is not negative", cli.ErrUsage, end.Seconds())
	}
	bus, err := rosbus.Open(rosbus.Options{Node: "robot_link_play", Namespace: namespace})
	if err != nil {
		return err
	}
	defer bus.Close()
	publishers := map[string]*rosbus.Publisher[msgs.Twist]{}
	for _, m := range stream {
		if publishers[m.Publisher] == nil {
			if publishers[m.Publisher], err = rosbus.Advertise[msgs.Twist](bus, topic, rosbus.Reliable1); err != nil {
				return err
			}
		}
	}
	if err := bus.Ready(); err != nil {
		return err
	}
	full, err := bus.Resolve(topic)
	if err != nil {
		return err
	}
	log := cli.Log("")
	log.Info("playing", "recording", recording, "from", from, "topic", full)
	sent := 0
	defer func() { log.Info("play ends", "messages", sent) }()
	start := time.Now()
	for _, m := range stream {
		if m.At < from {
			continue
		}
		if length > 0 && m.At > from+length {
			break
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(time.Until(start.Add(m.At - from))):
		}
		t := msgs.Twist{Linear: msgs.Vector3{X: m.Vx, Y: m.Vy}, Angular: msgs.Vector3{Z: m.Wz}}
		if err := publishers[m.Publisher].Publish(&t); err != nil {
			return fmt.Errorf("play: %w", err)
		}
		sent++
	}
	return nil
}
