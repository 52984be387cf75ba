//go:build ros

package rclgo

import (
	"context"
	"errors"

	rcl "github.com/tiiuae/rclgo/pkg/rclgo"
)

// waiting is a goroutine that waits for one endpoint and calls back.
type waiting struct {
	stop  context.CancelFunc
	ended chan struct{}
}

// wait begins to wait for what add puts into a wait set.
func (c *conn) wait(name string, add func(*rcl.WaitSet)) (*waiting, error) {
	set, err := c.context.NewWaitSet()
	if err != nil {
		return nil, oneLine("make the wait set", err)
	}
	add(set)
	ctx, stop := context.WithCancel(context.Background())
	w := &waiting{stop: stop, ended: make(chan struct{})}
	go func() {
		defer close(w.ended)
		if err := set.Run(ctx); err != nil && !errors.Is(err, context.Canceled) {
			c.opts.Logf("waiting for %s ended: %v", name, oneLine("rcl", err))
		}
		_ = set.Close() // nothing hangs on it any more
	}()
	return w, nil
}

// end lets the callback that is running return, and no other begin.
func (w *waiting) end() {
	w.stop()
	<-w.ended
}
