package mcpd

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"loregate/internal/body"
	"loregate/internal/fault"
)

// modernVersion is the first revision without sessions.
const modernVersion = "2026-07-28"

// maxDepth bounds the nesting of JSON: mcp-and-rest, Limits.
const maxDepth = 64

// bodyWait bounds the time in which a message arrives.
const bodyWait = 30 * time.Second

// bodyWeight is the number of bytes of memory that each byte of a message takes while it is handled: the message, its
// values, and the canonical input.
const bodyWeight = 3

// readBody reads a request's message.
func (s *Server) readBody(w http.ResponseWriter, r *http.Request, h *body.Hold) ([]byte, error) {
	limit := s.cfg.MaxBody
	b, err := h.ReadAll(r.Context(), body.Source{Reader: s.cfg.Bodies.ReadRequest(w, r, bodyWait), Size: r.ContentLength,
		Limit: limit, Weight: bodyWeight})
	if errors.Is(err, body.ErrTooLarge) {
		return nil, tooLarge(limit)
	}
	if _, known := errors.AsType[*fault.Error](err); err != nil && !known {
		err = fault.New(fault.Invalid, "the body ended too early; send it again").Because(err)
	}
	return b, err
}

func tooLarge(limit int64) error {
	return fault.New(fault.TooLarge, "a message can have at most %d bytes; send less, or upload files over REST",
		limit).With("limit", limit)
}

// checkJSON returns an error if a message is not acceptable JSON: malformed, not UTF-8, with a name
// twice in one object, or nested too deep.
func checkJSON(message []byte) error {
	deepest, values := measureJSON(message)
	if deepest > maxDepth {
		return fmt.Errorf("JSON is nested more than %d deep", maxDepth)
	}
	if values > maxValues {
		return fmt.Errorf("JSON has more than %d values; send it in parts", maxValues)
	}
	if !jsontext.Value(message).IsValid() {
		return errNotJSON
	}
	return nil
}

var errNotJSON = fmt.Errorf("not JSON, not UTF-8, or a name is twice in one object")

// maxValues bounds the memory that the decoded values of a message take, as package op does for an input.
const maxValues = 200_000

// measureJSON returns the nesting depth of the brackets in a JSON text, and about the number of its values and names. It
// skips only strings.
func measureJSON(b []byte) (deepest, values int) {
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
			values++
			deepest = max(deepest, level)
		case c == '}' || c == ']':
			level--
		case c == ',':
			values++
		}
	}
	return deepest, values
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
