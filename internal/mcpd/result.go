package mcpd

import (
	"bytes"
	"encoding/base64"
	stdjson "encoding/json"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"loregate/internal/fault"
	"loregate/internal/op"
)

// result is a result that is already encoded as JSON.
type result struct {
	mcp.ResultBase
	raw []byte
}

// MarshalJSON returns the encoded JSON.
func (r *result) MarshalJSON() ([]byte, error) { return r.raw, nil }

// GetMeta tells the SDK that the server's name is in the result's _meta already.
func (r *result) GetMeta() map[string]any { return annotated }

var annotated = map[string]any{mcp.MetaKeyServerInfo: true}

// emptyResult is the result of methods without a result.
var emptyResult = &result{raw: []byte("{}")}

// cache is the time for which a client may cache a result, in milliseconds. Results are always
// specific to the caller: the scope is private.
type cache int

const (
	uncached  cache = -1     // the result has no cache fields
	stale     cache = 0      // read again each time
	aMinute   cache = 60_000 // lists that change only with the caller's rights
	errorCode       = -32000 // refused for a reason other than the parameters
)

// newResult completes a result; raw is its object without the closing brace.
func (s *Server) newResult(raw []byte, modern bool, c cache) *result {
	if modern {
		if c != uncached {
			raw = append(raw, `,"ttlMs":`...)
			if c == aMinute {
				raw = append(raw, "60000"...)
			} else {
				raw = append(raw, '0')
			}
			raw = append(raw, `,"cacheScope":"private"`...)
		}
		raw = append(raw, s.modernTail...)
	}
	return &result{raw: append(raw, '}')}
}

// toolResult returns an operation's output: as structured content, and as text for clients that
// accept only text.
func (s *Server) toolResult(tool string, a *op.Answer, c *call) *result {
	shown, structured := a.Output, true
	if o, ok := s.cfg.Engine.Find(tool); ok {
		shown = o.Shown(a)
		structured = !o.TextOnly && !(slices.Contains(o.Surfaces, s.cfg.DefaultSet) && s.showsDefault(c))
		if o.TextOnly {
			shown = compactText(shown)
		}
	}
	b := s.toolContent(shown, a)
	if structured {
		b = append(append(b, `,"structuredContent":`...), a.Output...)
	}
	return s.withMeta(s.newResult(b, c.modern, uncached), a.Reply.Meta)
}

// toolContent returns the content of a tool result without the result's closing brace: the shown text
// and images.
func (s *Server) toolContent(shown []byte, a *op.Answer) []byte {
	b := make([]byte, 0, 2*len(a.Output)+len(a.Output)/4+len(s.modernTail)+96)
	b = append(b, `{"content":[`...)
	if notice := cutNotice(a.Output); notice != "" {
		b = append(appendQuoted(append(b, `{"type":"text","text":`...), notice), `},`...)
	}
	b = append(b, `{"type":"text","text":`...)
	if a.Reply.Note != "" {
		shown = []byte(a.Reply.Note)
	}
	b = append(appendQuoted(b, shown), '}')
	if ref, ok := a.Reply.Meta["contextRef"].(string); ok && string(shown) != "null" &&
		!bytes.Contains(shown, []byte(ref)) {
		// A list that is shown alone has no place for contextRef, and no client shows _meta to its
		// model.
		b = appendQuoted(append(b, `,{"type":"text","text":`...), `{"contextRef":"`+ref+`"}`)
		b = append(b, '}')
	}
	for _, f := range a.Reply.Images {
		b = appendQuoted(append(b, `,{"type":"image","mimeType":`...), f.Type)
		b = append(b, `,"data":"`...)
		b = append(base64.StdEncoding.AppendEncode(b, f.Data), `"}`...)
	}
	return append(b, ']')
}

// cutNotice returns the first line of an answer that was cut, for a reader of text; "" for a
// complete one.
func cutNotice(output []byte) string {
	if !bytes.Contains(output, []byte(`"truncated":true`)) {
		return ""
	}
	var cut struct {
		Truncated bool           `json:"truncated"`
		Next      jsontext.Value `json:"next"`
	}
	if json.Unmarshal(output, &cut) != nil || !cut.Truncated {
		return ""
	}
	notice := "This answer is shortened. Never write it back as if it were complete."
	if len(cut.Next) > 0 {
		notice += " The call that continues it: " + string(cut.Next)
	}
	return notice
}

// withMeta adds to the _meta of a result, which is its last member in the modern era and absent in
// the older one.
func (s *Server) withMeta(r *result, meta map[string]any) *result {
	if len(meta) == 0 {
		return r
	}
	m, err := json.Marshal(meta, json.Deterministic(true))
	if err != nil {
		s.log.Error("a result's _meta cannot be encoded", "error", err)
		return r
	}
	if b, ok := bytes.CutSuffix(r.raw, []byte("}}")); ok && bytes.HasSuffix(r.raw, append(s.modernTail, '}')) {
		r.raw = append(append(append(b, ','), m[1:]...), '}')
		return r
	}
	r.raw = append(append(append(r.raw[:len(r.raw)-1], `,"_meta":`...), m...), '}')
	return r
}

// toolError returns a refused or failed operation: only the error object as text, because some
// clients check structured content against the output schema even for errors.
func (s *Server) toolError(shown fault.Envelope, modern bool) *result {
	b := []byte(`{"content":[{"type":"text","text":`)
	b = appendQuoted(b, encodeError(shown))
	b = append(b, `}],"isError":true`...)
	return s.newResult(b, modern, uncached)
}

// appendQuoted appends text as a JSON string. Bytes that are not UTF-8 are replaced.
func appendQuoted[T ~[]byte | ~string](b []byte, text T) []byte {
	b, _ = jsontext.AppendQuote(b, text)
	return b
}

// errorShower translates errors to the codes of the surface they come from ("" is the operation's
// home). With an engine that does not implement it, the codes stay as they are.
type errorShower interface {
	Show(operation, surface string, err error, correlation string) fault.Envelope
}

// showError returns the error envelope shown to a client for an error of an operation or of a
// surface.
func (s *Server) showError(operation, surface string, err error, correlation string) fault.Envelope {
	if e, ok := s.cfg.Engine.(errorShower); ok {
		return e.Show(operation, surface, err, correlation)
	}
	return fault.Show(err, correlation)
}

// encodeError encodes the error object as JSON.
func encodeError(shown fault.Envelope) []byte {
	b, err := json.Marshal(shown, json.Deterministic(true))
	if err != nil { // details that are not JSON
		shown.Error.Details = nil
		b, _ = json.Marshal(shown, json.Deterministic(true))
	}
	return b
}

// rpcError is the error used where a tool result is impossible: the error object is its data.
func rpcError(err error, correlation string) *jsonrpc.Error {
	return rpcErrorAs(err, fault.Show(err, correlation))
}

// rpcErrorAs is rpcError with the envelope of a surface.
func rpcErrorAs(err error, shown fault.Envelope) *jsonrpc.Error {
	code := int64(errorCode)
	switch fault.KindOf(err) {
	case fault.Invalid, fault.Rule, fault.NotFound, fault.TooLarge, fault.Conflict, fault.Stale:
		code = jsonrpc.CodeInvalidParams
	case fault.Internal:
		code = jsonrpc.CodeInternalError
	}
	return &jsonrpc.Error{
		Code: code, Message: shown.Error.Message,
		Data: stdjson.RawMessage(encodeError(shown)),
	}
}

// unknownTool is the answer for tools that do not exist or that the caller may not use.
func unknownTool(name, correlation string) error {
	return rpcError(fault.New(fault.NotFound, "unknown tool %q; tools/list shows the tools of this address, and /mcp/all lists every tool", name), correlation)
}

// noMethod is the answer for methods that are not served.
func noMethod(method string) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "method not found: " + method}
}
