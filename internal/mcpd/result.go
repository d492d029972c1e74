package mcpd

import (
	"bytes"
	"encoding/base64"
	stdjson "encoding/json"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"loregate/internal/fault"
	"loregate/internal/op"
)

// result is a result whose JSON is already made.
type result struct {
	mcp.ResultBase
	raw []byte
}

// MarshalJSON gives the JSON as it is.
func (r *result) MarshalJSON() ([]byte, error) { return r.raw, nil }

// GetMeta tells the SDK that the server's name is in the result's _meta already.
func (r *result) GetMeta() map[string]any { return annotated }

var annotated = map[string]any{mcp.MetaKeyServerInfo: true}

// empty is the result of methods that have none.
var empty = &result{raw: []byte("{}")}

// cache says for how long a client may keep a result. What a caller is shown is always
// its own: the scope is private.
type cache int

const (
	uncached  cache = -1     // the result has no such fields
	stale     cache = 0      // look again each time
	aMinute   cache = 60_000 // lists that change only with the caller's rights
	errorCode       = -32000 // refused for a reason that is not in the parameters
)

// newResult closes a result of which raw is the object without its last brace.
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

// toolResult is an operation's output: as structured content, and as text for clients
// that take only that.
func (s *Server) toolResult(tool string, a *op.Answer, modern bool) *result {
	shown := a.Output
	if o, ok := s.cfg.Engine.Find(tool); ok {
		shown = o.Shown(a)
	}
	return s.withMeta(s.newResult(s.toolContent(shown, a), modern, uncached), a.Reply.Meta)
}

// toolContent is a tool result without its last brace: what is shown, images, and the
// structured content.
func (s *Server) toolContent(shown []byte, a *op.Answer) []byte {
	b := make([]byte, 0, 2*len(a.Output)+len(a.Output)/4+len(s.modernTail)+96)
	b = append(b, `{"content":[`...)
	if notice := cutNotice(a.Output); notice != "" {
		b = append(quote(append(b, `{"type":"text","text":`...), notice), `},`...)
	}
	b = append(b, `{"type":"text","text":`...)
	if a.Reply.Note != "" {
		shown = []byte(a.Reply.Note)
	}
	b = append(quote(b, shown), '}')
	if ref, ok := a.Reply.Meta["contextRef"].(string); ok && string(shown) != "null" && !bytes.Contains(shown, []byte(ref)) {
		// A list that is shown alone has no place for it, and no client shows its model _meta.
		b = quote(append(b, `,{"type":"text","text":`...), `{"contextRef":"`+ref+`"}`)
		b = append(b, '}')
	}
	for _, f := range a.Reply.Images {
		b = quote(append(b, `,{"type":"image","mimeType":`...), f.Type)
		b = append(b, `,"data":"`...)
		b = append(base64.StdEncoding.AppendEncode(b, f.Data), `"}`...)
	}
	b = append(b, `],"structuredContent":`...)
	return append(b, a.Output...)
}

// cutNotice is the first line of an answer that was cut, for a reader of text; "" for one
// that is whole.
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
	notice := "This answer is cut: it does not hold everything. Never write it back as if it were whole."
	if len(cut.Next) > 0 {
		notice += " The call that goes on: " + string(cut.Next)
	}
	return notice
}

// withMeta adds to the _meta of a result, which is its last member in the modern era and
// absent in the older one.
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

// toolError is a refused or failed operation: the error object as text and nothing
// else, for clients that check structured content against the output schema even then.
func (s *Server) toolError(shown fault.Envelope, modern bool) *result {
	b := []byte(`{"content":[{"type":"text","text":`)
	b = quote(b, encodeError(shown))
	b = append(b, `}],"isError":true`...)
	return s.newResult(b, modern, uncached)
}

// quote appends text as a JSON string. What is not UTF-8 is replaced.
func quote[T ~[]byte | ~string](b []byte, text T) []byte {
	b, _ = jsontext.AppendQuote(b, text)
	return b
}

// shower puts errors in the words of the surface they come from ("" is the operation's
// home). An engine that is none has them from elsewhere, as they are.
type shower interface {
	Show(operation, surface string, err error, correlation string) fault.Envelope
}

// show is what a client sees of an error of an operation, or of anything else of a surface.
func (s *Server) show(operation, surface string, err error, correlation string) fault.Envelope {
	if e, ok := s.cfg.Engine.(shower); ok {
		return e.Show(operation, surface, err, correlation)
	}
	return fault.Show(err, correlation)
}

// encodeError is the error object in JSON.
func encodeError(shown fault.Envelope) []byte {
	b, err := json.Marshal(shown, json.Deterministic(true))
	if err != nil { // details that are not JSON
		shown.Error.Details = nil
		b, _ = json.Marshal(shown, json.Deterministic(true))
	}
	return b
}

// rpcError is a failure where a tool result is impossible: the error object is its data.
func rpcError(err error, correlation string) *jsonrpc.Error {
	return rpcErrorAs(err, fault.Show(err, correlation))
}

// rpcErrorAs is rpcError in the words of a surface.
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

// unknownTool is the answer for tools that do not exist, and for those that the caller
// may not use.
func unknownTool(name, correlation string) error {
	return rpcError(fault.New(fault.NotFound, "unknown tool %q; tools/list shows those there are", name), correlation)
}

// noMethod is the answer for methods that are not served.
func noMethod(method string) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "method not found: " + method}
}
