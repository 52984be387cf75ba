package rosparam

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"go.uber.org/multierr"
)

// Params are a node's parameters. Each is declared by asking for it, once, with its default: what the
// command line gave is checked and returned, or the default is. Faults are kept for Err, so that all
// are told at once.
type Params struct {
	*values
	live bool // what is declared here may change while the node runs
}

type values struct {
	set      map[string]given
	declared []Declaration
	errs     []error
}

type given struct {
	value  any
	source string
}

// Declaration describes a parameter that was asked for.
type Declaration struct {
	Name        string
	Description string
	Default     any // bool, int64, float64, string, []float64 or []string
	Value       any // what is in force, of the same type
	Min, Max    any // for numbers; nil is no limit
	Choices     []string
	Live        bool // it may change while the node runs; else a change needs a restart

	check func(any) (any, error) // of a value given: as it comes into force, or why it can't
}

func newParams() *Params { return &Params{values: &values{set: map[string]given{}}} }

// Live declares what may change while the node runs: Node.Serve hands the change to the node. All else is read-only
// then.
func (p *Params) Live() *Params { return &Params{p.values, true} }

// Override gives a parameter a value that wins over the command line's --ros-args and files, as a flag of the
// program's own does. It comes before the parameter is declared.
func (p *Params) Override(name string, value any) { p.set[name] = given{value: value} }

// Err is everything that is wrong with the values given, joined; nil if nothing is.
func (p *Params) Err() error { return multierr.Combine(p.errs...) }

// Declared lists what was asked for, in order.
func (p *Params) Declared() []Declaration { return slices.Clone(p.declared) }

// Unknown says, one line each, which parameters were given but not asked for. It is for warnings: files
// with "/**" in them often hold what only other nodes know.
func (p *Params) Unknown() []string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(p.set)) {
		if p.isDeclared(name) {
			continue
		}
		line := fmt.Sprintf("parameter %s: unknown", name)
		if near := p.nearest(name); near != "" {
			line += fmt.Sprintf(" (did you mean %s?)", near)
		}
		list = append(list, line+p.set[name].source)
	}
	return list
}

func (p *Params) isDeclared(name string) bool {
	return slices.ContainsFunc(p.declared, func(d Declaration) bool { return d.Name == name })
}

// Bool declares a switch.
func (p *Params) Bool(name string, def bool, description string) bool {
	return declare(p, Declaration{Name: name, Description: description}, def, "true or false", func(v any) (bool, error) {
		b, ok := v.(bool)
		return b, typeError(ok)
	})
}

// String declares a text.
func (p *Params) String(name, def, description string) string {
	return declare(p, Declaration{Name: name, Description: description}, def, "a string", toString)
}

// Choice declares a text that is one of some.
func (p *Params) Choice(name, def string, choices []string, description string) string {
	d := Declaration{Name: name, Description: description, Choices: choices}
	return declare(p, d, def, "a string", func(v any) (string, error) {
		s, err := toString(v)
		if err == nil && !slices.Contains(choices, s) {
			err = fmt.Errorf("expected one of %s, got %q", strings.Join(choices, ", "), s)
		}
		return s, err
	})
}

// Int declares an integer within [lo, hi].
func (p *Params) Int(name string, def, lo, hi int64, description string) int64 {
	d := Declaration{Name: name, Description: description, Min: lo, Max: hi}
	return declare(p, d, def, "an integer", func(v any) (int64, error) {
		i, ok := v.(int64)
		if ok && (i < lo || i > hi) {
			return 0, fmt.Errorf("%d is not within %d and %d", i, lo, hi)
		}
		return i, typeError(ok)
	})
}

// Float declares a finite number within [lo, hi]; an infinity is no limit.
func (p *Params) Float(name string, def, lo, hi float64, description string) float64 {
	d := Declaration{Name: name, Description: description, Min: limit(lo), Max: limit(hi)}
	return declare(p, d, def, "a number", func(v any) (float64, error) { return toFloat(v, lo, hi) })
}

// Seconds declares a time in seconds within [lo, hi].
func (p *Params) Seconds(name string, def, lo, hi time.Duration, description string) time.Duration {
	s := p.Float(name, def.Seconds(), lo.Seconds(), hi.Seconds(), description)
	return time.Duration(math.Round(s * float64(time.Second)))
}

// Floats declares a list of finite numbers within [lo, hi], as many as the default has.
func (p *Params) Floats(name string, def []float64, lo, hi float64, description string) []float64 {
	d := Declaration{Name: name, Description: description, Min: limit(lo), Max: limit(hi)}
	want := fmt.Sprintf("a list of %d numbers", len(def))
	return declare(p, d, slices.Clone(def), want, func(v any) ([]float64, error) {
		list, ok := toFloats(v)
		if !ok || len(list) != len(def) {
			return nil, errType
		}
		for i, f := range list {
			if _, err := toFloat(f, lo, hi); err != nil {
				return nil, fmt.Errorf("element %d: %w", i, err)
			}
		}
		return list, nil
	})
}

// Strings declares a list of texts, of any length.
func (p *Params) Strings(name string, def []string, description string) []string {
	d := Declaration{Name: name, Description: description}
	return declare(p, d, slices.Clone(def), "a list of strings", func(v any) ([]string, error) {
		list, ok := v.([]string)
		return slices.Clone(list), typeError(ok)
	})
}

// errType stands for "expected ..., got ...", which declare spells out.
var errType = errors.New("wrong type")

func typeError(ok bool) error {
	if ok {
		return nil
	}
	return errType
}

// declare returns the value given, if there is one and convert takes it.
func declare[T any](p *Params, d Declaration, def T, want string, convert func(any) (T, error)) T {
	if p.isDeclared(d.Name) {
		panic("rosparam: parameter " + d.Name + " is declared twice")
	}
	check := func(value any) (T, error) {
		v, err := convert(value)
		if err == errType {
			err = fmt.Errorf("expected %s, got %s", want, show(value))
		}
		return v, err
	}
	result := def
	if g, ok := p.set[d.Name]; ok {
		if v, err := check(g.value); err == nil {
			result = v
		} else {
			p.errs = append(p.errs, fmt.Errorf("parameter %s: %w%s", d.Name, err, g.source))
		}
	}
	d.Default, d.Value, d.Live = def, result, p.live
	d.check = func(value any) (any, error) { return check(value) }
	p.declared = append(p.declared, d)
	return result
}

func toString(v any) (string, error) {
	s, ok := v.(string)
	return s, typeError(ok)
}

func toFloat(v any, lo, hi float64) (float64, error) {
	var f float64
	switch v := v.(type) {
	case float64:
		f = v
	case int64:
		f = float64(v)
	default:
		return 0, errType
	}
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return 0, fmt.Errorf("%v is not a finite number", f)
	}
	if f < lo || f > hi {
		return 0, outside(f, lo, hi)
	}
	return f, nil
}

func outside(f, lo, hi float64) error {
	switch {
	case math.IsInf(hi, 1):
		return fmt.Errorf("%v is below %v", f, lo)
	case math.IsInf(lo, -1):
		return fmt.Errorf("%v is above %v", f, hi)
	}
	return fmt.Errorf("%v is not within %v and %v", f, lo, hi)
}

func toFloats(v any) ([]float64, bool) {
	switch v := v.(type) {
	case []float64:
		return slices.Clone(v), true
	case []int64:
		list := make([]float64, len(v))
		for i, n := range v {
			list[i] = float64(n)
		}
		return list, true
	case []string:
		return nil, len(v) == 0 // an empty list has no type
	}
	return nil, false
}

func limit(f float64) any {
	if math.IsInf(f, 0) {
		return nil
	}
	return f
}

// show is a value as one would write it.
func show(v any) string {
	if s, ok := v.(string); ok {
		return fmt.Sprintf("%q", s)
	}
	return fmt.Sprint(v)
}

// nearest is the declared name that a typing error was probably meant to be.
func (p *Params) nearest(name string) string {
	best, bestDistance := "", min(3, len(name)/3+1)
	for _, d := range p.declared {
		if n := distance(name, d.Name); n < bestDistance {
			best, bestDistance = d.Name, n
		}
	}
	return best
}

// distance is Levenshtein's.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
