package rosparam

import (
	"fmt"
	"slices"
	"strings"
)

// Change is a new value for a parameter of a running node.
type Change struct {
	Name  string
	Value any // as in values.go; nil takes it away, which is refused
}

// Change brings all changes into force, or none and says why, in rclcpp's words where it has some. apply gets the
// parameters as they would be, to ask for them as at the start; its error refuses them, and without one they are in
// force.
func (p *Params) Change(changes []Change, apply func(next *Params) error) error {
	next := make([]any, len(p.declared))
	for i, d := range p.declared {
		next[i] = d.Value
	}
	for _, c := range changes {
		i := p.index(c.Name)
		if i < 0 {
			return fmt.Errorf("parameter '%s' cannot be set because it was not declared", c.Name)
		}
		var err error
		if next[i], err = p.declared[i].accept(c.Value); err != nil {
			return err
		}
	}
	view := newParams()
	for i, d := range p.declared {
		view.set[d.Name] = given{value: next[i]}
	}
	if err := apply(view); err != nil {
		return err
	}
	for i := range p.declared {
		p.declared[i].Value = next[i]
	}
	return nil
}

// accept is how rclcpp checks a change: read-only, then the type, which is kept, then the value.
func (d *Declaration) accept(value any) (any, error) {
	is, want := kindOf(value), kindOf(d.Default)
	switch {
	case !d.Live:
		return nil, fmt.Errorf("parameter '%s' cannot be set because it is read-only: %s", d.Name, needsRestart)
	case value == nil:
		return nil, fmt.Errorf("cannot undeclare a statically typed parameter")
	case is != want:
		return nil, fmt.Errorf("Wrong parameter type, parameter {%s} is of type {%s}, setting it to {%s} is not allowed.", d.Name, want.name, is.name)
	}
	v, err := d.check(value)
	if err != nil {
		return nil, fmt.Errorf("parameter '%s' cannot be set: %w", d.Name, err)
	}
	return v, nil
}

// needsRestart is why a parameter is read-only.
const needsRestart = "a change needs a restart of the node"

func (p *Params) index(name string) int {
	return slices.IndexFunc(p.declared, func(d Declaration) bool { return d.Name == name })
}

// selects says which names list_parameters shows, as in rclcpp: without prefixes all names of less than depth
// dots, else the prefixes themselves and what is below them; depth 0 is any.
func selects(name string, prefixes []string, depth uint64) bool {
	shallow := func(s string) bool { return depth == 0 || uint64(strings.Count(s, ".")) < depth }
	if len(prefixes) == 0 {
		return shallow(name)
	}
	return slices.ContainsFunc(prefixes, func(prefix string) bool {
		below, ok := strings.CutPrefix(name, prefix)
		return ok && (below == "" || below[0] == '.' && shallow(below))
	})
}
