package node

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"log/slog"
	"strings"
	"testing"
	"time"

	"robot_link/ros2_ws/src/robot_link_bridge/rosbus"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/memory"
	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/msgs"
	"robot_link/ros2_ws/src/robot_link_bridge/rosparam"
)

func TestChangesOfParametersReachTheNodeItsClockAndTheLog(t *testing.T) {
	net := memory.New()
	open := func(name string) rosbus.Bus {
		bus, err := rosbus.OpenWith(rosbus.Options{Node: name}, net.Open)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { bus.Close() })
		return bus
	}
	n, err := parse("n", "n", "", nil, func(*flag.FlagSet) {})
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer // written by the calls below only, each of which ends before it is read
	n.log = slog.New(slog.NewTextHandler(&log, nil))
	gain := func(p *rosparam.Params) float64 { return p.Live().Float("gain", 1, 0, 9, "") }
	inForce := gain(n.Params)
	if err := n.serveParams(open("n"), func(next *rosparam.Params) error {
		g := gain(next)
		if g == 5 {
			return errors.New("five is no gain")
		}
		inForce = g
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	client, err := rosbus.NewClient[msgs.SetParametersRequest, msgs.SetParametersResponse](open("peer"), "/n/set_parameters")
	if err != nil {
		t.Fatal(err)
	}
	set := func(name string, value msgs.ParameterValue) (reason, logged string) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		log.Reset()
		res, err := client.Call(ctx, &msgs.SetParametersRequest{Parameters: []msgs.Parameter{{Name: name, Value: value}}})
		if err != nil {
			t.Fatal(err)
		}
		return res.Results[0].Reason, log.String()
	}
	number := func(f float64) msgs.ParameterValue {
		return msgs.ParameterValue{Type: msgs.ParameterDouble, DoubleValue: f}
	}
	for _, c := range []struct {
		value          float64
		reason, logged string
		want           float64
	}{
		{2, "", "name=gain value=2 was=1\n", 2},
		{2, "", "", 2}, // no change
		{5, "five is no gain", "", 2},
		{10, "parameter 'gain' cannot be set: 10 is not within 0 and 9", "", 2},
		{3.5, "", "name=gain value=3.5 was=2\n", 3.5},
	} {
		reason, logged := set("gain", number(c.value))
		if reason != c.reason || !strings.HasSuffix(logged, c.logged) || (logged == "") != (c.logged == "") || inForce != c.want {
			t.Errorf("%v: %q, logged %q, %v is in force", c.value, reason, logged, inForce)
		}
	}
	for _, on := range []bool{true, false} {
		if reason, _ := set("use_sim_time", msgs.ParameterValue{Type: msgs.ParameterBool, BoolValue: on}); reason != "" {
			t.Error(reason)
		}
		if zero := n.clock.Now() == (msgs.Time{}); zero != on {
			t.Errorf("use_sim_time %v: it is %+v", on, n.clock.Now())
		}
	}
}
