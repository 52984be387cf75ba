// Package names holds ROS 2's rules for node, namespace and topic names: what is valid, and how a name
// that the user writes becomes the fully-qualified one on the wire. Pure functions, the same rules as
// rcl and rmw of Humble.
package names

import (
	"fmt"
	"strings"
)

const (
	maxTopic     = 255 - 8 // bytes: DDS allows 255, ROS keeps 8 for its prefixes
	maxNamespace = maxTopic - 2
	maxNode      = 255
)

// ValidateNode checks a node's base name.
func ValidateNode(name string) error {
	if err := checkNode(name); err != nil {
		return fmt.Errorf("invalid node name %q: %w", name, err)
	}
	return nil
}

func checkNode(name string) error {
	switch {
	case name == "":
		return fmt.Errorf("it is empty")
	case strings.IndexFunc(name, notWord) >= 0:
		return fmt.Errorf("only letters, digits and '_' are allowed")
	case isDigit(name[0]):
		return fmt.Errorf("it starts with a digit")
	case len(name) > maxNode:
		return fmt.Errorf("it is longer than %d bytes", maxNode)
	}
	return nil
}

// Namespace makes a namespace absolute, as rcl does ("" is "/", "robot" is "/robot"), and checks it.
func Namespace(ns string) (string, error) {
	full := ns
	if !strings.HasPrefix(full, "/") {
		full = "/" + full
	}
	if full == "/" {
		return full, nil
	}
	err := checkFull(full)
	if err == nil && len(full) > maxNamespace {
		err = fmt.Errorf("it is longer than %d bytes", maxNamespace)
	}
	if err != nil {
		return "", fmt.Errorf("invalid namespace %q: %w", ns, err)
	}
	return full, nil
}

// ValidateTopic checks a fully-qualified topic name.
func ValidateTopic(topic string) error {
	err := checkFull(topic)
	if err == nil && len(topic) > maxTopic {
		err = fmt.Errorf("it is longer than %d bytes", maxTopic)
	}
	if err != nil {
		return fmt.Errorf("invalid topic name %q: %w", topic, err)
	}
	return nil
}

// Expand turns a topic name as written (absolute "/odom", relative "odom", private "~/status", with
// {node}, {ns} or {namespace}) into the fully-qualified one. Node and namespace must be valid.
func Expand(topic, node, namespace string) (string, error) {
	if err := checkInput(topic); err != nil {
		return "", fmt.Errorf("invalid topic name %q: %w", topic, err)
	}
	full := topic
	if full[0] == '~' {
		full = Join(namespace, node) + full[1:]
	}
	full, err := substitute(full, node, namespace)
	if err != nil {
		return "", fmt.Errorf("invalid topic name %q: %w", topic, err)
	}
	if !strings.HasPrefix(full, "/") {
		full = Join(namespace, full)
	}
	if err := checkFull(full); err != nil {
		return "", fmt.Errorf("invalid topic name %q (expands to %q): %w", topic, full, err)
	}
	if len(full) > maxTopic {
		return "", fmt.Errorf("invalid topic name %q: it expands to more than %d bytes", topic, maxTopic)
	}
	return full, nil
}

// Join is the fully-qualified name of what is called name in a namespace, a node for example.
func Join(namespace, name string) string {
	if namespace == "/" {
		return "/" + name
	}
	return namespace + "/" + name
}

func substitute(s, node, namespace string) (string, error) {
	var out strings.Builder
	for {
		open := strings.IndexByte(s, '{')
		if open < 0 {
			out.WriteString(s)
			return out.String(), nil
		}
		end := open + strings.IndexByte(s[open:], '}') // balanced: checkInput has looked
		out.WriteString(s[:open])
		switch key := s[open+1 : end]; key {
		case "node":
			out.WriteString(node)
		case "ns", "namespace":
			out.WriteString(namespace)
		default:
			return "", fmt.Errorf("unknown substitution {%s}", key)
		}
		s = s[end+1:]
	}
}

// checkInput is rcl_validate_topic_name: what may be written.
func checkInput(s string) error {
	if s == "" {
		return fmt.Errorf("it is empty")
	}
	if isDigit(s[0]) {
		return fmt.Errorf("a part starts with a digit")
	}
	if s[len(s)-1] == '/' {
		return fmt.Errorf("it ends with '/'")
	}
	open := -1
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case isDigit(c) && open >= 0 && i == open+1:
			return fmt.Errorf("a substitution starts with a digit")
		case isWord(c):
		case c == '{' && open < 0:
			open = i
		case c == '}' && open >= 0 && i > open+1:
			open = -1
		case c == '{' || c == '}':
			return fmt.Errorf("'{' and '}' are not balanced, or empty")
		case open >= 0:
			return fmt.Errorf("a substitution contains %q", c)
		case c == '/':
			if i+1 < len(s) && isDigit(s[i+1]) {
				return fmt.Errorf("a part starts with a digit")
			}
		case c == '~':
			if i != 0 || (len(s) > 1 && s[1] != '/') {
				return fmt.Errorf("'~' is only allowed alone or as \"~/\" in front")
			}
		default:
			return fmt.Errorf("only letters, digits, '_', '/', '~' in front and {substitutions} are allowed")
		}
	}
	if open >= 0 {
		return fmt.Errorf("'{' and '}' are not balanced, or empty")
	}
	return nil
}

// checkFull is rmw_validate_full_topic_name without the length: what may be on the wire.
func checkFull(s string) error {
	switch {
	case s == "":
		return fmt.Errorf("it is empty")
	case s[0] != '/':
		return fmt.Errorf("it is not absolute")
	case s[len(s)-1] == '/':
		return fmt.Errorf("it ends with '/'")
	}
	for i := 0; i < len(s); i++ {
		switch {
		case isWord(s[i]):
		case s[i] != '/':
			return fmt.Errorf("only letters, digits, '_' and '/' are allowed")
		case s[i+1] == '/':
			return fmt.Errorf("it contains \"//\"")
		case isDigit(s[i+1]):
			return fmt.Errorf("a part starts with a digit")
		}
	}
	return nil
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isWord(c byte) bool {
	return c == '_' || isDigit(c) || ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z')
}

func notWord(r rune) bool { return r > 127 || !isWord(byte(r)) }
