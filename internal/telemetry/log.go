// Package telemetry sets up what the process says of itself: logs, metrics and traces.
//
// Its invariant: no content, query text, token or key leaves by it. Log attributes are
// cleaned, metric labels come from sets that are fixed at start, and spans carry names
// from the program only. It imports nothing internal; what is measured, and when, is
// up to those who call it.
package telemetry

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"regexp"
	"strings"
)

// LogConfig is how the process logs.
type LogConfig struct {
	Level  string // debug, info, warn or error; "" is info
	Format string // text or json; "" is text
	// Content lets attributes through that may hold content or query text. Tokens and
	// keys are taken out even then.
	Content bool
	Out     io.Writer // os.Stderr when nil: standard output is the protocol's
}

// NewLogger makes a logger. Its error names what may be set.
func NewLogger(c LogConfig) (*slog.Logger, error) {
	if c.Out == nil {
		c.Out = os.Stderr
	}
	var level slog.Level
	if c.Level != "" {
		if err := level.UnmarshalText([]byte(c.Level)); err != nil {
			return nil, fmt.Errorf("telemetry: log level %q; use debug, info, warn or error", c.Level)
		}
	}
	o := &slog.HandlerOptions{Level: level, ReplaceAttr: cleaner{content: c.Content}.replaceAttr}
	switch c.Format {
	case "", "text":
		return slog.New(slog.NewTextHandler(c.Out, o)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(c.Out, o)), nil
	}
	return nil, fmt.Errorf("telemetry: log format %q; use text or json", c.Format)
}

// secretNames are attributes that are never shown, contentNames those that are shown
// only where content may be logged.
var (
	secretNames  = []string{"token", "key", "api_key", "authorization", "secret", "password", "cookie", "code", "pem"}
	contentNames = []string{"content", "body", "text", "query", "q", "input", "output", "arguments", "prompt", "snippet"}
)

// secretText is what keys, invitation codes, tokens and private keys look like.
var secretText = regexp.MustCompile(`lgi?_[A-Za-z2-7]{16,}|eyJ[\w-]+\.[\w-]+\.[\w-]*|(?s)-----BEGIN [A-Z ]*PRIVATE KEY-----.*`)

const removed = "[removed]"

type cleaner struct{ content bool }

func (c cleaner) replaceAttr(_ []string, a slog.Attr) slog.Attr {
	name := strings.ToLower(a.Key)
	if containsName(secretNames, name) || !c.content && containsName(contentNames, name) {
		return slog.String(a.Key, removed)
	}
	switch a.Value.Kind() {
	case slog.KindString:
		a.Value = slog.StringValue(cleanText(a.Value.String()))
	case slog.KindAny:
		a.Value = cleanAny(a.Value)
	}
	return a
}

// cleanAny cleans what would be printed as text. Other values, such as structs, are
// replaced whole where their printed form holds a secret.
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

func containsName(names []string, name string) bool {
	for _, n := range names {
		if n == name {
			return true
		}
	}
	return false
}
