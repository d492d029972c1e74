package mcpd

import (
	"bytes"
	"iter"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// envelope is a tools/call or resources/read in the usual form. A message with even slight
// differences is not an envelope and is answered by the SDK, so that unusual or broken messages are
// read in one place only.
type envelope struct {
	id      []byte // as the client wrote it; see isPlainID
	method  string // tools/call or resources/read
	target  string // name of the tool, or URI of the resource
	input   []byte // arguments of the tool, any JSON; nil for none
	world   string // named in the _meta
	key     string // idempotency key in the _meta
	source  []byte // provenance in the _meta, a JSON object; nil for none
	version string // protocol version named in the _meta; "" in the older era
	capable bool   // the _meta has the client's capabilities
}

// readEnvelope reads a message that has passed checkJSON; ok is false if it is not an envelope.
func readEnvelope(message []byte) (m envelope, ok bool) {
	var tagged bool
	var uri, name string
	message = bytes.TrimSpace(message)
	if message[0] != '{' {
		return m, false
	}
	for key, value := range eachMember(message) {
		switch string(key) {
		case `"jsonrpc"`:
			tagged = string(value) == `"2.0"`
			ok = tagged
		case `"id"`:
			m.id, ok = value, isPlainID(value)
		case `"method"`:
			m.method, ok = plainText(value)
		case `"params"`:
			uri, name, ok = m.readParams(value)
		default:
			ok = false
		}
		if !ok {
			return m, false
		}
	}
	switch m.method {
	case "tools/call":
		m.target = name
	case "resources/read":
		m.target = uri
	}
	return m, tagged && m.id != nil && m.target != ""
}

func (m *envelope) readParams(params []byte) (uri, name string, ok bool) {
	if params[0] != '{' || !hasPlainNumbers(params) {
		return "", "", false
	}
	for key, value := range eachMember(params) {
		switch string(key) {
		case `"name"`:
			name, ok = plainText(value)
		case `"uri"`:
			uri, ok = plainText(value)
		case `"arguments"`:
			m.input, ok = value, true
		case `"_meta"`:
			ok = m.readMeta(value)
		default: // for example the answer to a question
			ok = false
		}
		if !ok {
			return "", "", false
		}
	}
	return uri, name, true
}

// Members of the _meta that belong to the envelope of a call.
const (
	keyMember        = "idempotency_key"
	provenanceMember = "provenance"
)

func (m *envelope) readMeta(meta []byte) (ok bool) {
	if meta[0] != '{' {
		return false
	}
	for key, value := range eachMember(meta) {
		switch string(key) {
		case `"world"`:
			m.world, ok = plainText(value)
		case `"` + keyMember + `"`:
			m.key, ok = plainText(value)
		case `"` + provenanceMember + `"`:
			m.source, ok = value, value[0] == '{'
		case `"` + mcp.MetaKeyProtocolVersion + `"`:
			m.version, ok = plainText(value)
		case `"` + mcp.MetaKeyClientCapabilities + `"`:
			ok = isObjectOf[mcp.ClientCapabilities](value)
			m.capable = ok
		case `"` + mcp.MetaKeyClientInfo + `"`:
			ok = isObjectOf[mcp.Implementation](value)
		default: // also a progressToken: the SDK answers operations that report progress
			ok = bytes.IndexByte(key, '\\') < 0
		}
		if !ok {
			return false
		}
	}
	return true
}

// isObjectOf reports whether a value is an object that decodes into a T.
func isObjectOf[T any](value []byte) bool {
	return string(value) == "{}" || value[0] == '{' && json.Unmarshal(value, new(T)) == nil
}

// hasHeadersOfEra reports whether the request's headers are the usual ones of the envelope's era; n
// is the session that the request belongs to, nil for none.
func (m *envelope) hasHeadersOfEra(h http.Header, n *session) bool {
	if !m.isOfOneEra() || len(h.Values("Last-Event-ID")) > 0 || !takesBoth(h.Values("Accept")) ||
		!isJSON(h.Get("Content-Type")) {
		return false
	}
	version := h.Get("Mcp-Protocol-Version")
	if n != nil {
		return m.version == "" && (version == "" || version < modernVersion &&
			slices.Contains(mcp.SupportedProtocolVersions(), version))
	}
	return h.Get("Mcp-Session-Id") == "" && version == modernVersion && m.version == modernVersion &&
		h.Get("Mcp-Method") == m.method && h.Get("Mcp-Name") == m.target
}

// isOfOneEra reports whether the _meta is that of the older era, or a complete one of the modern
// era.
func (m *envelope) isOfOneEra() bool {
	return m.version == "" || m.version == modernVersion && m.capable
}

// takesBoth reports whether a client accepts both JSON and streams, as the protocol demands.
func takesBoth(accept []string) bool {
	var both [2]bool
	for _, value := range accept {
		for kind := range strings.SplitSeq(value, ",") {
			switch strings.TrimSpace(kind) {
			case "application/json":
				both[0] = true
			case "text/event-stream":
				both[1] = true
			}
		}
	}
	return both[0] && both[1]
}

func isJSON(contentType string) bool {
	if contentType == "application/json" {
		return true
	}
	kind, _, err := mime.ParseMediaType(contentType)
	return err == nil && kind == "application/json"
}

// rpcID returns the id in the SDK's type.
func (m *envelope) rpcID() jsonrpc.ID {
	var value any
	if text, ok := plainText(m.id); ok {
		value = text
	} else {
		n, _ := strconv.ParseInt(string(m.id), 10, 64) // isPlainID has checked the digits
		value = float64(n)
	}
	id, _ := jsonrpc.MakeID(value)
	return id
}

// isPlainID reports whether the SDK would return an id byte for byte: text of printable ASCII
// without escapes, or an integer that a float64 holds.
func isPlainID(value []byte) bool {
	if text, ok := plainText(value); ok {
		return strings.IndexFunc(text, func(r rune) bool { return r < ' ' || r > '~' }) < 0
	}
	digits := bytes.TrimPrefix(value, []byte("-"))
	return string(value) != "-0" && len(digits) <= 15 && len(bytes.Trim(digits, "0123456789")) == 0
}

// plainText decodes a JSON string without escapes; ok is false for any other value.
func plainText(value []byte) (text string, ok bool) {
	if value[0] != '"' || bytes.IndexByte(value, '\\') >= 0 {
		return "", false
	}
	return string(value[1 : len(value)-1]), true
}

// hasPlainNumbers reports whether every decoder accepts all numbers in a JSON value: the SDK
// refuses numbers that a float64 cannot hold.
func hasPlainNumbers(value []byte) bool {
	for i := 0; i < len(value); {
		switch c := value[i]; {
		case c == '"':
			i = afterText(value, i)
		case c == '-' || c >= '0' && c <= '9':
			end := afterWord(value, i)
			if end-i > 32 || bytes.ContainsAny(value[i:end], "eE") {
				return false
			}
			i = end
		default:
			i++
		}
	}
	return true
}

// eachMember yields the names, in their quotes, and the values of a valid JSON object.
func eachMember(object []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(name, value []byte) bool) {
		for i := afterSpace(object, 1); object[i] != '}'; i = afterSpace(object, i) {
			if object[i] == ',' {
				i = afterSpace(object, i+1)
			}
			end := afterText(object, i)
			from := afterSpace(object, afterSpace(object, end)+1) // past the colon
			to := afterValue(object, from)
			if !yield(object[i:end], object[from:to]) {
				return
			}
			i = to
		}
	}
}

// The functions below return the end of the token that begins at i in a valid JSON text.

func afterValue(b []byte, i int) int {
	switch b[i] {
	case '"':
		return afterText(b, i)
	case '{', '[':
		return afterBrackets(b, i)
	}
	return afterWord(b, i)
}

func afterText(b []byte, i int) int {
	for i++; b[i] != '"'; i++ {
		if b[i] == '\\' {
			i++
		}
	}
	return i + 1
}

func afterBrackets(b []byte, i int) int {
	for open := 0; ; {
		switch b[i] {
		case '"':
			i = afterText(b, i)
			continue
		case '{', '[':
			open++
		case '}', ']':
			open--
		}
		if i++; open == 0 {
			return i
		}
	}
}

// afterWord skips a number, true, false or null.
func afterWord(b []byte, i int) int {
	for i < len(b) && strings.IndexByte(",]} \t\r\n", b[i]) < 0 {
		i++
	}
	return i
}

func afterSpace(b []byte, i int) int {
	for strings.IndexByte(" \t\r\n", b[i]) >= 0 {
		i++
	}
	return i
}
