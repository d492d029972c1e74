package mcpd

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"loregate/internal/fault"
	"loregate/internal/op"
)

func hasVariables(uri string) bool { return strings.Contains(uri, "{") }

// listResources lists the engine's starting URIs. The engine counts the call.
func (s *Server) listResources(ctx context.Context, p *mcp.ListResourcesParams, c *call) (mcp.Result, error) {
	const method = "resources/list"
	var cursor string
	if p != nil {
		cursor = p.Cursor
	}
	surface := ""
	if len(c.scope.names) > 0 {
		surface = c.scope.names[0]
	}
	listed, err := s.cfg.Engine.ListResources(ctx, c.caller,
		op.ListRequest{Ask: c.newAsk(surface), Surfaces: c.scope.names, Continues: cursor != ""})
	if err != nil {
		return nil, s.toProtocolError(c, err)
	}
	var all [][]byte
	for _, r := range listed {
		m := &mcp.Resource{URI: r.URI, Name: r.Name, Title: r.Title, MIMEType: r.MIME, Size: r.Size}
		if !r.Modified.IsZero() {
			m.Annotations = &mcp.Annotations{LastModified: r.Modified.UTC().Format(time.RFC3339)}
		}
		all = append(all, mustJSON(m))
	}
	if s.cfg.Fixtures != nil {
		all = appendJSON(all, s.cfg.Fixtures.Resources)
	}
	items, next, err := s.slicePage(c, method, cursor, all)
	if err != nil {
		return nil, err
	}
	return s.newResult(listJSON("resources", items, next), c.modern, stale), nil
}

// readResource returns the content of a URI.
func (s *Server) readResource(ctx context.Context, req mcp.Request, c *call,
	next mcp.MethodHandler) (mcp.Result, error) {
	uri := req.GetParams().(*mcp.ReadResourceParams).URI
	if s.cfg.Fixtures.hasResource(uri) {
		return next(ctx, "resources/read", req)
	}
	return s.contentOf(ctx, uri, c)
}

// contentOf returns the result of reading one of our resources.
func (s *Server) contentOf(ctx context.Context, uri string, c *call) (mcp.Result, error) {
	base, from := splitURI(uri)
	content, err := s.readContent(ctx, c, base)
	var cut map[string]any
	if err == nil {
		content, cut, err = s.cutContent(base, content, from)
	}
	if err != nil {
		surface := ""
		if r := s.cfg.Engine.MatchResource(c.caller, "", uri); r != nil && len(r.Surfaces) > 0 {
			surface = r.Surfaces[0]
		}
		return nil, rpcErrorAs(err, s.showError("", surface, err, c.correlation))
	}
	return s.newResult(appendContents(nil, uri, content, cut), c.modern, stale), nil
}

// appendContents writes the contents member of a result, without the result's closing brace. A long
// text is quoted only once, by the fastest means.
func appendContents(b []byte, uri string, c op.Content, meta map[string]any) []byte {
	if c.Blob != nil {
		b = append(append(b, `{"contents":[`...), mustJSON(newContents(uri, c))...)
		return append(b, ']')
	}
	b = slices.Grow(b, len(c.Text)+len(c.Text)/3+256)
	b = appendQuoted(append(b, `{"contents":[{"uri":`...), uri)
	if c.MIME != "" {
		b = appendQuoted(append(b, `,"mimeType":`...), c.MIME)
	}
	b = appendQuoted(append(b, `,"text":`...), c.Text)
	if !c.Modified.IsZero() {
		if meta == nil {
			meta = map[string]any{}
		}
		meta["lastModified"] = c.Modified.UTC().Format(time.RFC3339)
	}
	if len(meta) > 0 {
		b = append(append(b, `,"_meta":`...), mustJSON(meta)...)
	}
	return append(b, "}]"...)
}

func (s *Server) readContent(ctx context.Context, c *call, uri string) (op.Content, error) {
	return s.cfg.Engine.ReadResource(ctx, c.caller, s.newResourceRequest(c, uri))
}

func (s *Server) newResourceRequest(c *call, uri string) op.ResourceRequest {
	surfaces := c.scope.engineSurfaces()
	at := max(0, slices.IndexFunc(surfaces,
		func(name string) bool { return s.cfg.Engine.MatchResource(c.caller, name, uri) != nil }))
	return op.ResourceRequest{Ask: c.newAsk(surfaces[at]), URI: uri}
}

func newContents(uri string, c op.Content) *mcp.ResourceContents {
	r := &mcp.ResourceContents{URI: uri, MIMEType: c.MIME, Text: c.Text, Blob: c.Blob}
	if !c.Modified.IsZero() {
		r.Meta = mcp.Meta{"lastModified": c.Modified.UTC().Format(time.RFC3339)}
	}
	return r
}

// getPrompt renders a prompt: one message of the user.
func (s *Server) getPrompt(ctx context.Context, req mcp.Request, c *call, next mcp.MethodHandler) (mcp.Result, error) {
	p := req.GetParams().(*mcp.GetPromptParams)
	if s.cfg.Fixtures.hasPrompt(p.Name) {
		return next(ctx, "prompts/get", req)
	}
	surface := s.promptSurface(c, p.Name)
	args := maps.Clone(p.Arguments)
	from, _ := strconv.Atoi(args[fromArgument])
	delete(args, fromArgument)
	text, err := s.cfg.Engine.GetPrompt(ctx, c.caller, op.PromptRequest{Ask: c.newAsk(surface), Name: p.Name, Args: args})
	if err != nil {
		return nil, rpcErrorAs(err, s.showError("", surface, err, c.correlation))
	}
	meta := s.cutPrompt(&text, p, from)
	b := appendQuoted([]byte(`{"description":`), text.Doc)
	b = append(b, `,"messages":[{"role":"user","content":{"type":"text","text":`...)
	b = append(appendQuoted(b, text.Text), `}}]`...)
	return s.withMeta(s.newResult(b, c.modern, uncached), meta), nil
}

// cutPrompt shortens a prompt's text to the requested part. It returns the _meta with the next
// request; nil for the last part.
func (s *Server) cutPrompt(text *op.PromptText, p *mcp.GetPromptParams, from int) map[string]any {
	if from == 0 && len(text.Text) <= s.cfg.MaxText {
		return nil
	}
	part, next := cutText(text.Text, from, s.cfg.MaxText-maxRepeated)
	if text.Text = part; next == 0 {
		return nil
	}
	args := maps.Clone(p.Arguments)
	if args == nil {
		args = map[string]string{}
	}
	args[fromArgument] = strconv.Itoa(next)
	text.Text += textNote("Get this prompt again with the additional argument " + fromArgument + "=" + args[fromArgument] +
		" for what follows.")
	return map[string]any{"truncated": true, "next": map[string]any{"method": "prompts/get", "name": p.Name,
		"arguments": args}}
}

// promptSurface returns the surface of the scope that offers a prompt.
func (s *Server) promptSurface(c *call, name string) string {
	surfaces := c.scope.engineSurfaces()
	return surfaces[max(0, slices.IndexFunc(surfaces, func(surface string) bool {
		return slices.ContainsFunc(s.cfg.Engine.Prompts(c.caller, surface), func(p *op.Prompt) bool { return p.Name == name })
	}))]
}

// completeArgument returns values that the caller may see.
func (s *Server) completeArgument(ctx context.Context, p *mcp.CompleteParams, c *call) (mcp.Result, error) {
	if p.Ref == nil || p.Argument.Name == "" {
		return nil, s.toProtocolError(c, fault.BadField("ref", "ref and argument.name are missing; send both"))
	}
	r := op.CompleteRequest{Variable: p.Argument.Name, Prefix: p.Argument.Value}
	surfaces, at := c.scope.engineSurfaces(), 0
	switch p.Ref.Type {
	case "ref/prompt":
		r.Prompt, r.Ask = p.Ref.Name, c.newAsk(s.promptSurface(c, p.Ref.Name))
	default:
		at = max(0, slices.IndexFunc(surfaces, func(surface string) bool {
			return slices.ContainsFunc(s.cfg.Engine.Resources(c.caller, surface),
				func(x *op.Resource) bool { return x.Template == p.Ref.URI })
		}))
		r.Template, r.Ask = p.Ref.URI, c.newAsk(surfaces[at])
	}
	values, err := s.cfg.Engine.Complete(ctx, c.caller, r)
	if err != nil && (s.cfg.Fixtures.hasPrompt(r.Prompt) || s.cfg.Fixtures.hasResource(r.Template)) {
		values, err = nil, nil // fixtures have no completion
	}
	if err != nil {
		return nil, s.toProtocolError(c, err)
	}
	b := []byte(`{"completion":{"values":[`)
	for i, v := range values {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendQuoted(b, v)
	}
	return s.newResult(append(b, `],"hasMore":false}`...), c.modern, uncached), nil
}
