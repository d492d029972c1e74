package identity

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"loregate/internal/fault"
)

// Why a credential is refused. Every such error is a fault.Unauthorized too.
var (
	ErrMissing = errors.New("no credentials")
	ErrInvalid = errors.New("invalid credentials") // unknown, revoked, malformed, expired API key: one answer for all
	ErrExpired = errors.New("the token has expired")
)

var refusals = map[error]string{
	ErrMissing: "credentials are needed; send Authorization: Bearer with a token from POST /api/mcp/auth",
	ErrInvalid: "these credentials are not valid; get a token from POST /api/mcp/auth with a current API key",
	ErrExpired: "the token has expired; get a new one from POST /api/mcp/auth",
}

// refused makes the error for a reason. detail is for the log and holds nothing that
// the client sent.
func refused(reason error, detail string) error {
	return fault.New(fault.Unauthorized, "%s", refusals[reason]).Because(fmt.Errorf("identity: %w: %s", reason, detail))
}

// unavailable is for a store or world that did not answer.
func unavailable(err error) error {
	e := fault.New(fault.Unavailable, "identities cannot be read just now; try again shortly")
	e.RetryAfter = time.Second
	return e.Because(err)
}

// Style says which challenge a transport sends.
type Style struct {
	// Metadata is the address of the protected-resource metadata (RFC 9728). With it the
	// challenge follows RFC 6750 and 9728, as /mcp wants; without it the REST API's form.
	Metadata string
}

// Challenge is the value of WWW-Authenticate that goes with an error, or "" where none
// does: it is for 401, and for the 403 of a role that is too low.
func Challenge(err error, style Style) string {
	switch {
	case errors.Is(err, ErrExpired) && style.Metadata == "":
		return bearer("error", "expired")
	case errors.Is(err, ErrExpired):
		return bearer("error", "invalid_token", "error_description", "expired", "resource_metadata", style.Metadata)
	case errors.Is(err, ErrMissing):
		return bearer("resource_metadata", style.Metadata)
	case errors.Is(err, fault.Unauthorized):
		return bearer("error", "invalid_token", "resource_metadata", style.Metadata)
	case errors.Is(err, fault.Denied):
		return bearer("error", "insufficient_scope", "scope", neededScope(err), "resource_metadata", style.Metadata)
	}
	return ""
}

// neededScope is the role that would do, where the refusal names one.
func neededScope(err error) string {
	var e *fault.Error
	if errors.As(err, &e) {
		role, _ := e.Details["required_role"].(string)
		return role
	}
	return ""
}

// bearer writes a challenge of names and values; empty values are left out.
func bearer(pairs ...string) string {
	var parts []string
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			parts = append(parts, pairs[i]+`="`+quotable(pairs[i+1])+`"`)
		}
	}
	return strings.TrimSpace("Bearer " + strings.Join(parts, ", "))
}

// quotable leaves out what would end a quoted string or a header line.
func quotable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f || r == '"' || r == '\\' {
			return -1
		}
		return r
	}, s)
}
