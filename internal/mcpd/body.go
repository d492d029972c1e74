package mcpd

import (
	"bytes"
	"fmt"
	"net/http"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"loregate/internal/fault"
)

// modernVersion is the first revision without sessions.
const modernVersion = "2026-07-28"

// maxDepth bounds the nesting of JSON: mcp-and-rest, Limits.
const maxDepth = 64

// readBody reads a whole request body, up to a limit.
func readBody(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, error) {
	if r.ContentLength > limit {
		return nil, tooLarge(limit)
	}
	var in bytes.Buffer
	// no more memory is reserved for bytes that are only announced
	in.Grow(int(min(max(r.ContentLength, 0), maxReserved)) + bytes.MinRead)
	_, err := in.ReadFrom(http.MaxBytesReader(w, r.Body, limit))
	if _, over := err.(*http.MaxBytesError); over {
		return nil, tooLarge(limit)
	}
	if err != nil {
		return nil, fault.New(fault.Invalid, "the body ended too early; send it again").Because(err)
	}
	return in.Bytes(), nil
}

// maxReserved bounds the memory reserved for a body's announced length before the body arrives.
const maxReserved = 64 << 10

func tooLarge(limit int64) error {
	return fault.New(fault.TooLarge, "a message can have at most %d bytes; send less, or upload files over REST",
		limit).With("limit", limit)
}

// checkJSON returns an error if a message is not acceptable JSON: malformed, not UTF-8, with a name
// twice in one object, or nested too deep.
func checkJSON(message []byte) error {
	if jsonDepth(message) > maxDepth {
		return fmt.Errorf("JSON is nested more than %d deep", maxDepth)
	}
	if !jsontext.Value(message).IsValid() {
		return errNotJSON
	}
	return nil
}

var errNotJSON = fmt.Errorf("not JSON, not UTF-8, or a name is twice in one object")

// jsonDepth returns the nesting depth of the brackets in a JSON text. It skips only strings.
func jsonDepth(b []byte) (deepest int) {
	level, inString := 0, false
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			level++
			deepest = max(deepest, level)
		case c == '}' || c == ']':
			level--
		}
	}
	return deepest
}

// isModern reports whether a request without a session belongs to the modern era: by its header,
// else by the version in the body's _meta.
func isModern(h http.Header, body []byte) bool {
	if v := h.Get("Mcp-Protocol-Version"); v != "" {
		return v >= modernVersion
	}
	var m struct {
		Params struct {
			Meta map[string]jsontext.Value `json:"_meta"`
		} `json:"params"`
	}
	if json.Unmarshal(body, &m) != nil {
		return false
	}
	var v string
	return json.Unmarshal(m.Params.Meta[mcp.MetaKeyProtocolVersion], &v) == nil && v >= modernVersion
}

// isBatch reports whether a message is a JSON-RPC batch.
func isBatch(body []byte) bool {
	for _, c := range body {
		switch c {
		case ' ', '\t', '\r', '\n':
		default:
			return c == '['
		}
	}
	return false
}
