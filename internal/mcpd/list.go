package mcpd

import (
	"context"
	stdjson "encoding/json"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"loregate/internal/access"
	"loregate/internal/op"
)

// mustJSON encodes values that are declared in the program.
func mustJSON(v any) []byte {
	b, err := stdjson.Marshal(v)
	if err != nil {
		panic("mcpd: " + err.Error())
	}
	return b
}

// listTools lists the tools that the caller may use, in the order of declaration.
func (s *Server) listTools(ctx context.Context, p *mcp.ListToolsParams, c *call) (mcp.Result, error) {
	var cursor string
	if p != nil {
		cursor = p.Cursor
	}
	var all [][]byte
	f := s.formOf(ctx, c)
	for _, o := range s.toolsOf(c) {
		all = append(all, s.toolJSON(o, f))
	}
	if s.cfg.Fixtures != nil {
		all = appendJSON(all, s.cfg.Fixtures.Tools)
	}
	return s.listPage(ctx, c, "tools", "tools/list", cursor, all)
}

// listTemplates lists the resources whose URI has variables.
func (s *Server) listTemplates(ctx context.Context, p *mcp.ListResourceTemplatesParams, c *call) (mcp.Result, error) {
	var cursor string
	if p != nil {
		cursor = p.Cursor
	}
	var all [][]byte
	for _, r := range unionOf(c.scope, c.caller, s.cfg.Engine.Resources) {
		if hasVariables(r.Template) {
			all = append(all, mustJSON(&mcp.ResourceTemplate{
				URITemplate: r.Template, Name: r.Name, Title: r.Title, Description: r.Doc, MIMEType: r.MIME}))
		}
	}
	if s.cfg.Fixtures != nil {
		all = appendJSON(all, s.cfg.Fixtures.Templates)
	}
	return s.listPage(ctx, c, "resourceTemplates", "resources/templates/list", cursor, all)
}

// listPrompts lists the prompts that the caller may use.
func (s *Server) listPrompts(ctx context.Context, p *mcp.ListPromptsParams, c *call) (mcp.Result, error) {
	var cursor string
	if p != nil {
		cursor = p.Cursor
	}
	var all [][]byte
	for _, r := range unionOf(c.scope, c.caller, s.cfg.Engine.Prompts) {
		m := &mcp.Prompt{Name: r.Name, Title: r.Title, Description: r.Doc}
		for _, a := range r.Args {
			m.Arguments = append(m.Arguments, &mcp.PromptArgument{Name: a.Name, Description: a.Doc, Required: a.Required})
		}
		all = append(all, mustJSON(m))
	}
	if s.cfg.Fixtures != nil {
		all = appendJSON(all, s.cfg.Fixtures.Prompts)
	}
	return s.listPage(ctx, c, "prompts", "prompts/list", cursor, all)
}

func appendJSON[T any](all [][]byte, list []T) [][]byte {
	for _, x := range list {
		all = append(all, mustJSON(x))
	}
	return all
}

// unionOf returns the items that the surfaces of a scope offer, each once.
func unionOf[T comparable](sc scope, c access.Caller, of func(access.Caller, string) []T) []T {
	if len(sc.names) < 2 {
		return of(c, sc.soleSurface())
	}
	var all []T
	for _, name := range sc.names {
		for _, x := range of(c, name) {
			if !slices.Contains(all, x) {
				all = append(all, x)
			}
		}
	}
	return all
}

// listPage counts a listing and answers with one page of it.
func (s *Server) listPage(ctx context.Context, c *call, member, method, cursor string,
	all [][]byte) (mcp.Result, error) {
	if err := s.cfg.Engine.AdmitList(ctx, c.caller, op.ListCall{Method: method, Continues: cursor != "",
		Correlation: c.correlation}); err != nil {
		return nil, s.toProtocolError(c, err)
	}
	items, next, err := s.slicePage(c, method, cursor, all)
	if err != nil {
		return nil, err
	}
	return s.newResult(listJSON(member, items, next), c.modern, aMinute), nil
}

// slicePage returns the page of a list at a cursor, and the cursor of the next page.
func (s *Server) slicePage(c *call, method, cursor string, all [][]byte) (items [][]byte, next string, err error) {
	from, err := s.seal.openCursor(method, c.cursorOwner(), cursor)
	if err != nil {
		return nil, "", s.toProtocolError(c, err)
	}
	from = min(from, len(all))
	to := min(from+s.cfg.PageSize, len(all))
	if to < len(all) {
		next = s.seal.sealCursor(method, c.cursorOwner(), to)
	}
	return all[from:to], next, nil
}

// cursorOwner returns the account and scope that a cursor is bound to.
func (c *call) cursorOwner() string { return c.caller.Account() + "\x00" + c.scope.key }

// listJSON returns a list result without its closing brace.
func listJSON(member string, items [][]byte, next string) []byte {
	size := 64
	for _, b := range items {
		size += len(b) + 1
	}
	b := append(make([]byte, 0, size), `{"`+member+`":[`...)
	for i, item := range items {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, item...)
	}
	b = append(b, ']')
	if next != "" {
		b = appendQuoted(append(b, `,"nextCursor":`...), next)
	}
	return b
}
