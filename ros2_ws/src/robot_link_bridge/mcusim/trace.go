package mcusim

import (
	"bufio"
	"fmt"
	"os"
	"strconv"

	"go.uber.org/multierr"

	"robot_link/firmware/app"
)

// TraceHeader is the first line of a trace: MCU time since boot, the ramped setpoint (m/s, m/s, rad/s), and
// the status word in decimal; then comes one line per control step.
const TraceHeader = "t_us,vx,vy,wz,status"

// traceFlushUs is how often the file is brought up to date for those who read along.
const traceFlushUs = 100_000

// trace writes a trace. A nil one does nothing.
type trace struct {
	file    *os.File
	w       *bufio.Writer
	line    []byte
	flushed uint64
}

func openTrace(path string) (*trace, error) {
	if path == "" {
		return nil, nil
	}
	f, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("open the trace: %w", err)
	}
	t := &trace{file: f, w: bufio.NewWriterSize(f, 64<<10)}
	fmt.Fprintln(t.w, TraceHeader)
	if err := t.w.Flush(); err != nil {
		return nil, multierr.Append(fmt.Errorf("write the trace: %w", err), f.Close())
	}
	return t, nil
}

// add writes one step. After an error, which is returned once, the trace is closed and the robot goes on.
func (t *trace) add(nowUs uint64, s app.Stepped) error {
	if t == nil || t.file == nil {
		return nil
	}
	b := strconv.AppendUint(t.line[:0], nowUs, 10)
	for _, v := range [...]float32{s.Setpoint.Vx, s.Setpoint.Vy, s.Setpoint.Wz} {
		b = append(b, ',')
		b = strconv.AppendFloat(b, float64(v), 'g', -1, 32)
	}
	b = append(b, ',')
	b = strconv.AppendUint(b, uint64(s.Status), 10)
	t.line = append(b, '\n')
	_, err := t.w.Write(t.line)
	if err == nil && nowUs-t.flushed >= traceFlushUs {
		t.flushed = nowUs
		err = t.w.Flush()
	}
	if err != nil {
		t.file.Close()
		t.file = nil
	}
	return err
}

func (t *trace) close() error {
	if t == nil || t.file == nil {
		return nil
	}
	return multierr.Append(t.w.Flush(), t.file.Close())
}
