package identity

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"loregate/internal/fault"
)

// Reasons to refuse a credential. Every such error is a fault.Unauthorized too.
var (
	ErrMissing = errors.New("no credentials")
	ErrInvalid = errors.New("invalid credentials") // unknown, revoked, malformed, expired API key: one answer for all
	ErrExpired = errors.New("the token has expired")
)

var refusals = map[error]string{
	ErrMissing: "credentials are missing; send Authorization: Bearer with a token from POST /api/mcp/auth",
	ErrInvalid: "these credentials are not valid; get a token from POST /api/mcp/auth with a current API key",
	ErrExpired: "the token has expired; get a new one from POST /api/mcp/auth",
}

// newRefusal returns the error for a reason. detail goes to the log and contains nothing that the
// client sent.
func newRefusal(reason error, detail string) error {
	return fault.New(fault.Unauthorized, "%s", refusals[reason]).Because(fmt.Errorf("identity: %w: %s", reason, detail))
}

// newUnavailable returns the error for a store or world that did not answer.
func newUnavailable(err error) error {
	e := fault.New(fault.Unavailable, "keys and tokens cannot be checked now; try again shortly")
	e.RetryAfter = time.Second
	return e.Because(err)
}

// Style selects the form of the challenge that a transport sends.
type Style struct {
	// Metadata is the URL of the protected-resource metadata (RFC 9728). If it is set, the
	// challenge follows RFC 6750 and 9728, as /mcp requires; otherwise it has the REST API's form.
	Metadata string
}

// scope returns the scope that a client should ask for, if it can ask for any.
func (s Style) scope() string {
	if s.Metadata == "" {
		return ""
	}
	return LeastScope
}

// Challenge returns the value of the WWW-Authenticate header for an error, or "" if the error has
// no challenge. A 401 has one, and so has the 403 of a role that is too low.
func Challenge(err error, style Style) string {
	switch {
	case errors.Is(err, ErrExpired) && style.Metadata == "":
		return formatChallenge("error", "expired")
	case errors.Is(err, ErrExpired):
		return formatChallenge("error", "invalid_token", "error_description", "expired", "resource_metadata",
			style.Metadata, "scope", style.scope())
	case errors.Is(err, ErrMissing):
		return formatChallenge("resource_metadata", style.Metadata, "scope", style.scope())
	case errors.Is(err, fault.Unauthorized):
		return formatChallenge("error", "invalid_token", "resource_metadata", style.Metadata, "scope", style.scope())
	case errors.Is(err, fault.Denied):
		return formatChallenge("error", "insufficient_scope", "scope", neededScope(err), "resource_metadata", style.Metadata)
	}
	return ""
}

// neededScope returns the role that would suffice, if the refusal names one.
func neededScope(err error) string {
	if e, ok := errors.AsType[*fault.Error](err); ok {
		role, _ := e.Details["required_role"].(string)
		return role
	}
	return ""
}

// formatChallenge formats a challenge from pairs of name and value; it leaves out empty values.
func formatChallenge(pairs ...string) string {
	var parts []string
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			parts = append(parts, pairs[i]+`="`+dropUnquotable(pairs[i+1])+`"`)
		}
	}
	return strings.TrimSpace("Bearer " + strings.Join(parts, ", "))
}

// dropUnquotable removes the characters that would end a quoted string or a header line.
func dropUnquotable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f || r == '"' || r == '\\' {
			return -1
		}
		return r
	}, s)
}
