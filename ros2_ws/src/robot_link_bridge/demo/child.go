package demo

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// stopTime is how long a child may take to end when told to.
const stopTime = 3 * time.Second

// child is one of the demo's processes, with its output in a log file.
type child struct {
	name string
	log  string
	cmd  *exec.Cmd
	done chan struct{}
	err  error // of Wait, once done is closed
	gone bool
}

func start(dir, program, name string, args ...string) (*child, error) {
	c := &child{name: name, log: filepath.Join(dir, name+".log"), done: make(chan struct{})}
	log, err := os.OpenFile(c.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	defer log.Close()
	c.cmd = exec.Command(program, args...)
	c.cmd.Stdout, c.cmd.Stderr = log, log
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: unix.SIGKILL, Setpgid: true} // Ctrl-C is the demo's own
	if err := c.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	go func() {
		c.err = c.cmd.Wait()
		close(c.done)
	}()
	return c, nil
}

// kill is what a crash looks like.
func (c *child) kill() {
	c.gone = true
	_ = c.cmd.Process.Kill() // already dead is just as well
	<-c.done
}

// stop asks the child to end, and reports if it did not end well.
func (c *child) stop() error {
	if c == nil || c.gone {
		return nil
	}
	c.gone = true
	_ = c.cmd.Process.Signal(unix.SIGTERM) // already dead shows below
	select {
	case <-c.done:
	case <-time.After(stopTime):
		_ = c.cmd.Process.Kill()
		<-c.done
		return fmt.Errorf("%s did not end within %v of SIGTERM", c.name, stopTime)
	}
	if c.err != nil {
		return errors.New(c.lastWords())
	}
	return nil
}

// failure is an error if the child has ended by itself.
func (c *child) failure() error {
	if c == nil {
		return nil
	}
	select {
	case <-c.done:
		c.gone = true
		return errors.New(c.lastWords())
	default:
		return nil
	}
}

func (c *child) lastWords() string {
	text, _ := os.ReadFile(c.log) // without it, the status has to do
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return fmt.Sprintf("%s ended: %v: %s", c.name, c.cmd.ProcessState, lines[len(lines)-1])
}
