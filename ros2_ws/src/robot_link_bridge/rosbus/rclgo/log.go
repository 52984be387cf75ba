//go:build ros

package rclgo

import (
	"context"
	"log/slog"
	"strings"

	rcl "github.com/tiiuae/rclgo/pkg/rclgo"
)

// LogHandler logs as ROS nodes do: to the console in rcutils's format, to the log file, and to /rosout. Its
// level is that of the node's logger (--log-level).
func (c *conn) LogHandler() slog.Handler { return &logHandler{conn: c} }

type logHandler struct {
	conn   *conn
	prefix string // of the groups that are open, "" or "a.b."
	attrs  string // " key=value" each
}

func (h *logHandler) Enabled(_ context.Context, level slog.Level) bool {
	return h.conn.node.Logger().IsEnabledFor(severity(level))
}

func (h *logHandler) Handle(_ context.Context, r slog.Record) error {
	var b strings.Builder
	b.WriteString(r.Message)
	b.WriteString(h.attrs)
	r.Attrs(func(a slog.Attr) bool { appendAttr(&b, h.prefix, a); return true })
	lifecycle.RLock()
	defer lifecycle.RUnlock()
	return h.conn.node.Logger().Log(severity(r.Level), b.String())
}

func (h *logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	var b strings.Builder
	b.WriteString(h.attrs)
	for _, a := range attrs {
		appendAttr(&b, h.prefix, a)
	}
	return &logHandler{h.conn, h.prefix, b.String()}
}

func (h *logHandler) WithGroup(name string) slog.Handler {
	return &logHandler{h.conn, h.prefix + name + ".", h.attrs}
}

func appendAttr(b *strings.Builder, prefix string, a slog.Attr) {
	value := a.Value.Resolve()
	if value.Kind() == slog.KindGroup {
		for _, inner := range value.Group() {
			appendAttr(b, prefix+a.Key+".", inner)
		}
		return
	}
	b.WriteString(" " + prefix + a.Key + "=" + value.String())
}

func severity(level slog.Level) rcl.LogSeverity {
	switch {
	case level < slog.LevelInfo:
		return rcl.LogSeverityDebug
	case level < slog.LevelWarn:
		return rcl.LogSeverityInfo
	case level < slog.LevelError:
		return rcl.LogSeverityWarn
	case level == slog.LevelError:
		return rcl.LogSeverityError
	default:
		return rcl.LogSeverityFatal
	}
}
