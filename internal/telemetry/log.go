package telemetry

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"

	"loregate/internal/lazyregexp"
)

// LogConfig configures the logs of the process.
type LogConfig struct {
	Level  string // debug, info, warn or error; "" is info
	Format string // text or json; "" is text
	// Content logs attributes that may hold content or query text. Tokens and keys are
	// removed even then.
	Content bool
	Out     io.Writer // os.Stderr when nil; standard output is reserved for the protocol
}

// NewLogger returns a logger. Its error lists the allowed values.
func NewLogger(c LogConfig) (*slog.Logger, error) {
	if c.Out == nil {
		c.Out = os.Stderr
	}
	var level slog.Level
	if c.Level != "" {
		if err := level.UnmarshalText([]byte(c.Level)); err != nil {
			return nil, fmt.Errorf("telemetry: %q is not a log level; set debug, info, warn or error", c.Level)
		}
	}
	o := &slog.HandlerOptions{Level: level, ReplaceAttr: cleaner{content: c.Content}.replaceAttr}
	switch c.Format {
	case "", "text":
		return slog.New(slog.NewTextHandler(c.Out, o)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(c.Out, o)), nil
	}
	return nil, fmt.Errorf("telemetry: %q is not a log format; set text or json", c.Format)
}

// Attributes in secretNames are never logged. Those in contentNames are logged only if content
// may be logged.
var (
	secretNames  = []string{"token", "key", "api_key", "authorization", "secret", "password", "cookie", "code", "pem"}
	contentNames = []string{"content", "body", "text", "query", "q", "input", "output", "arguments", "prompt", "snippet"}
)

// secretText matches keys, invitation codes, tokens and private keys.
var secretText = lazyregexp.New(`lgi?_[A-Za-z2-7]{16,}|eyJ[\w-]+\.[\w-]+\.[\w-]*|(?s)-----BEGIN [A-Z ]*PRIVATE KEY-----.*`)

const removed = "[removed]"

type cleaner struct{ content bool }

func (c cleaner) replaceAttr(_ []string, a slog.Attr) slog.Attr {
	name := strings.ToLower(a.Key)
	if slices.Contains(secretNames, name) || !c.content && slices.Contains(contentNames, name) {
		return slog.String(a.Key, removed)
	}
	switch a.Value.Kind() {
	case slog.KindString:
		a.Value = slog.StringValue(cleanText(a.Value.String()))
	case slog.KindDuration: // JSON would have nanoseconds
		a.Value = slog.StringValue(a.Value.Duration().String())
	case slog.KindAny:
		a.Value = cleanAny(a.Value)
	}
	return a
}

// cleanAny cleans a value that is logged as text. Any other value, such as a struct, is replaced as
// a whole if its printed form holds a secret.
func cleanAny(v slog.Value) slog.Value {
	printed := fmt.Sprintf("%+v", v.Any())
	switch v.Any().(type) {
	case error, fmt.Stringer, []byte:
		return slog.StringValue(cleanText(printed))
	}
	if secretText.MatchString(printed) {
		return slog.StringValue(removed)
	}
	return v
}

func cleanText(s string) string { return secretText.ReplaceAllString(s, removed) }
