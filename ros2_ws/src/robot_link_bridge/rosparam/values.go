package rosparam

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// A parameter's value is a bool, int64, float64 or string, or a slice of one of these.

// parseValue reads the YAML of a -p.
func parseValue(text string) (any, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		return nil, oneLine(err)
	}
	if len(doc.Content) != 1 {
		return nil, errors.New("the value is missing")
	}
	return value(doc.Content[0])
}

// value turns a scalar or a list into a parameter's value.
func value(n *yaml.Node) (any, error) {
	switch n.Kind {
	case yaml.AliasNode:
		return value(n.Alias)
	case yaml.ScalarNode:
		return scalar(n)
	case yaml.SequenceNode:
		return list(n)
	default:
		return nil, errors.New("expected a value or a list of values")
	}
}

// scalar types a scalar as rcl's parser does: yes, no, on and off are booleans, what is quoted is a string.
func scalar(n *yaml.Node) (any, error) {
	if n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		return n.Value, nil
	}
	switch n.ShortTag() {
	case "!!null":
		return nil, errors.New("the value is missing")
	case "!!bool":
		var b bool
		err := n.Decode(&b)
		return b, oneLine(err)
	case "!!int":
		var i int64
		if err := n.Decode(&i); err != nil {
			return nil, fmt.Errorf("%s does not fit 64 bits", n.Value)
		}
		return i, nil
	case "!!float":
		var f float64
		err := n.Decode(&f)
		return f, oneLine(err)
	}
	if n.Style&yaml.TaggedStyle == 0 {
		switch strings.ToLower(n.Value) {
		case "y", "yes", "on":
			return true, nil
		case "n", "no", "off":
			return false, nil
		}
	}
	return n.Value, nil
}

// list makes a slice of one type; integers among floats become floats.
func list(n *yaml.Node) (any, error) {
	var bools []bool
	var ints []int64
	var floats []float64
	var strs []string
	for i, item := range n.Content {
		if item.Kind == yaml.AliasNode {
			item = item.Alias
		}
		if item.Kind != yaml.ScalarNode {
			return nil, fmt.Errorf("element %d: lists do not nest", i)
		}
		v, err := scalar(item)
		if err != nil {
			return nil, fmt.Errorf("element %d: %w", i, err)
		}
		switch v := v.(type) {
		case bool:
			bools = append(bools, v)
		case int64:
			ints, floats = append(ints, v), append(floats, float64(v))
		case float64:
			floats = append(floats, v)
		case string:
			strs = append(strs, v)
		}
	}
	switch count := len(n.Content); {
	case count == 0:
		return []string{}, nil // an empty list fits every list type
	case len(bools) == count:
		return bools, nil
	case len(ints) == count:
		return ints, nil
	case len(floats) == count:
		return floats, nil
	case len(strs) == count:
		return strs, nil
	}
	return nil, errors.New("a list has elements of one type")
}

// paramsFile reads a parameter file.
func (a *Args) paramsFile(path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return oneLine(err)
	}
	if len(doc.Content) == 0 {
		return nil // empty
	}
	f := file{args: a, name: filepath.Base(path)}
	return f.nodes(doc.Content[0], "")
}

type file struct {
	args  *Args
	name  string
	depth int
}

// maxDepth bounds what an alias to its own parent would make endless.
const maxDepth = 30

// fields lists the keys and values of a mapping, merges ("<<") not included.
func (f *file) fields(n *yaml.Node) (func(yield func(key, value *yaml.Node) bool), error) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("line %d: expected names with values below them", n.Line)
	}
	if f.depth > maxDepth {
		return nil, fmt.Errorf("line %d: nested too deeply", n.Line)
	}
	return func(yield func(key, value *yaml.Node) bool) {
		for pair := range slices.Chunk(n.Content, 2) {
			if !yield(pair[0], pair[1]) {
				return
			}
		}
	}, nil
}

// nodes reads node names and namespaces, which may nest, down to ros__parameters.
func (f *file) nodes(n *yaml.Node, prefix string) error {
	f.depth++
	defer func() { f.depth-- }()
	fields, err := f.fields(n)
	if err != nil {
		return err
	}
	for key, val := range fields {
		if key.Value == "ros__parameters" {
			if prefix == "" {
				return fmt.Errorf("line %d: ros__parameters belongs below a node's name, or below \"/**\"", key.Line)
			}
			if val.Kind == yaml.ScalarNode && val.ShortTag() == "!!null" {
				continue // no parameters
			}
			err = f.params(val, prefix, "")
		} else {
			err = f.nodes(val, prefix+"/"+strings.Trim(key.Value, "/"))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// params reads parameters, which may nest: a.b is b below a.
func (f *file) params(n *yaml.Node, pattern, prefix string) error {
	f.depth++
	defer func() { f.depth-- }()
	fields, err := f.fields(n)
	if err != nil {
		return err
	}
	for key, val := range fields {
		name := prefix + key.Value
		if !paramName.MatchString(name) {
			return fmt.Errorf("line %d: %q is no parameter name", key.Line, name)
		}
		if val.Kind == yaml.MappingNode || val.Kind == yaml.AliasNode && val.Alias.Kind == yaml.MappingNode {
			if err := f.params(val, pattern, name+"."); err != nil {
				return err
			}
			continue
		}
		v, err := value(val)
		if err != nil {
			return fmt.Errorf("line %d: parameter %s: %w", key.Line, name, err)
		}
		source := fmt.Sprintf(" (in %s, line %d)", f.name, key.Line)
		f.args.overrides = append(f.args.overrides, override{pattern, name, v, source})
	}
	return nil
}

// oneLine flattens the YAML package's errors.
func oneLine(err error) error {
	if err == nil {
		return nil
	}
	s := strings.Join(strings.Fields(err.Error()), " ")
	return errors.New(strings.TrimPrefix(s, "yaml: "))
}
