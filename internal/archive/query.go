package archive

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"

	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/markup"
	"loregate/internal/op"
	"loregate/internal/slicesx"
	"loregate/internal/surface"
)

func queryReads(d *deps) []*op.Operation {
	return []*op.Operation{
		surface.DefineRead(d.Kit, op.Spec{
			Name: "run_query",
			Asked: []string{
				"stored lookups of the wiki", "run a saved list", "pages by exact filters", "a prepared report",
				"use the saved search", "show the report named so", "ready-made list of the wiki",
				"pages of a kind changed since a day", "run the lookup with a value", "use a prepared question",
			},
			Title: "Run a query",
			Doc: "List cards by exact filters, or run a named query of this wiki. " +
				"Filters: name (contains), content (words), prefix, not_name, type, tag, updated_since, updated_before, created_since, created_before; at least one. " +
				"For a named query give query_name and args, one for each of its placeholders; list_queries shows them.",
			Route: "POST /api/mcp/run_query",
			Examples: []op.Example{
				{Title: "By filters", Input: `{"type": "Character", "tag": "founder", "limit": 20}`},
				{Title: "A named query", Input: `{"query_name": "people_of", "args": {"faction_tag": "registry"}}`},
			},
		}, runQuery),
		surface.DefineRead(d.Kit, op.Spec{
			Name:     "run_named_query",
			Title:    "Run a named query",
			Doc:      "Run a named query over REST, with its placeholders as query parameters.",
			Route:    "GET /api/mcp/queries/{q}",
			NoTool:   true,
			Examples: []op.Example{{Title: "The factions", Input: `{"q": "faction_cards"}`}},
		}, runNamedQuery),
		surface.DefineRead(d.Kit, op.Spec{
			Name: "list_queries",
			Asked: []string{
				"which saved lookups exist", "prepared lists and reports", "stored searches",
				"ready-made questions of the wiki", "canned lookups", "saved reports to choose from",
			},
			Title:    "List named queries",
			Doc:      "List the named queries of this wiki and their placeholders, before you run one with run_query.",
			Route:    "GET /api/mcp/queries",
			Examples: []op.Example{{Title: "All named queries", Input: `{}`}},
		}, listQueries),
	}
}

// freePage is a page without a default limit, so that a named query can set the limit.
type freePage struct {
	Limit  int `json:"limit,omitzero" min:"1" max:"100" jsonschema:"Maximum number of entries to return; default 50, or the named query's own limit."`
	Offset int `json:"offset,omitzero" min:"0" jsonschema:"Entries to skip: next_offset of the page before."`
}

// selection holds the filters, order and page of a query.
type selection struct {
	Name    string `json:"name,omitzero" maxlen:"255" jsonschema:"Only cards whose name contains this."`
	Content string `json:"content,omitzero" maxlen:"500" jsonschema:"Only cards whose text contains these words."`
	filters
	Sort string `json:"sort,omitzero" enum:"name,updated_at,created_at" jsonschema:"Order; default name. Times sort latest first."`
	freePage
}

// isEmpty reports whether the selection has no filter.
func (s selection) isEmpty() bool {
	return strings.TrimSpace(s.Name) == "" && strings.TrimSpace(s.Content) == "" && s.filters == filters{}
}

type runQueryIn struct {
	selection
	QueryName string         `json:"query_name,omitzero" maxlen:"1020" jsonschema:"Name of a named query, in place of filters."`
	Args      map[string]any `json:"args,omitzero" jsonschema:"Values for the placeholders of the named query: strings or numbers."`
	Query     *olderQuery    `json:"query,omitzero" jsonschema:"The filters as an object, as older clients send them."`
}

type namedQueryIn struct {
	Q    string            `json:"q" minlen:"1" maxlen:"1020" jsonschema:"Name of the query."`
	Args map[string]string `json:"args,omitzero" query:"rest" jsonschema:"Values for its placeholders."`
	freePage
}

// queryItem is a card in the result of a query.
type queryItem struct {
	Name      string        `json:"name"`
	Type      string        `json:"type"`
	ID        canon.CardID  `json:"id"`
	UpdatedAt surface.Stamp `json:"updated_at"`
	Summary   string        `json:"summary,omitzero" jsonschema:"Beginning of the content."`
}

type queryOut struct {
	Items []queryItem `json:"items"`
	paged
}

func runQuery(ctx context.Context, l *canon.Snapshot, _ *op.Call, in runQueryIn) (queryOut, error) {
	if in.Query != nil {
		if in.QueryName != "" || !in.isEmpty() {
			return queryOut{}, fault.BadField("query",
				"give the filters either here or as separate fields, not both")
		}
		if err := in.Query.fillSelection(&in.selection); err != nil {
			return queryOut{}, err
		}
	}
	if in.QueryName == "" {
		if len(in.Args) > 0 {
			return queryOut{}, fault.BadField("args", "are for a named query; give query_name too")
		}
		return in.run(ctx, l)
	}
	if !in.isEmpty() || in.Sort != "" {
		return queryOut{},
			fault.BadField("query_name", "a named query takes only args, limit and offset, and no filters")
	}
	return runNamed(ctx, l, in.QueryName, in.Args, in.freePage)
}

func runNamedQuery(ctx context.Context, l *canon.Snapshot, _ *op.Call, in namedQueryIn) (queryOut, error) {
	args := make(map[string]any, len(in.Args))
	for k, v := range in.Args {
		args[k] = v
	}
	return runNamed(ctx, l, in.Q, args, in.freePage)
}

func runNamed(ctx context.Context, l *canon.Snapshot, name string, args map[string]any, p freePage) (queryOut, error) {
	c, err := findCard(ctx, l, name)
	if err != nil {
		return queryOut{}, err
	}
	if markup.KeyOf(c.Type) != markup.KeyOf(canon.TypeQuery) {
		return queryOut{},
			fault.BadField("query_name",
				"%q is not a query but a card of type %s; list the queries with list_queries",
				c.Name, c.Type)
	}
	content, err := l.Content(ctx, c)
	if err != nil {
		return queryOut{}, err
	}
	s, err := fillQuery(content, args)
	if err != nil {
		return queryOut{}, err
	}
	if p.Limit > 0 {
		s.Limit = p.Limit
	}
	if p.Offset > 0 {
		s.Offset = p.Offset
	}
	return s.run(ctx, l)
}

// summaryLength is the number of characters of content that a query's item shows.
const summaryLength = 160

func (s selection) run(ctx context.Context, l *canon.Snapshot) (queryOut, error) {
	if s.isEmpty() {
		return queryOut{},
			fault.New(fault.Invalid,
				"a query needs at least one filter: name, content, prefix, not_name, type, tag, updated_since, updated_before, created_since or created_before; to list everything use search_cards")
	}
	if err := s.checkFilters(); err != nil {
		return queryOut{}, err
	}
	p := page{cmp.Or(s.Limit, 50), s.Offset}
	cards, total, err := s.listMatching(ctx, l, p)
	if err != nil {
		return queryOut{}, err
	}
	out := queryOut{Items: make([]queryItem, len(cards)), paged: pagedAt(p, total, len(cards))}
	for i, c := range cards {
		content, err := contentOf(ctx, l, c)
		if err != nil {
			return queryOut{}, err
		}
		out.Items[i] = queryItem{c.Name, c.Type, c.ID, surface.Stamp(c.UpdatedAt),
			openingText(c.TextKind(), content, summaryLength)}
	}
	return out, nil
}

// listMatching lists the cards that match the selection. It uses the search index if the selection
// has words to find in the content.
func (s selection) listMatching(ctx context.Context, l *canon.Snapshot, p page) ([]canon.Card, canon.Total, error) {
	f := s.toCanonFilter(s.Sort)
	f.NameContains = strings.TrimSpace(s.Name)
	if strings.TrimSpace(s.Content) == "" {
		return l.Cards(ctx, f, p.toCanonPage())
	}
	found, err := l.Search(ctx, canon.SearchQuery{Q: s.Content, InContent: true, Mode: canon.MatchSubstring, Filter: f},
		p.toCanonPage())
	return slicesx.Map(found.Hits, func(h canon.Hit) canon.Card { return h.Card }), found.Total, err
}

// openingText returns the beginning of a card's plain text on one line.
func openingText(kind canon.TextKind, content string, n int) string {
	head, _ := markup.Truncate(content, 8*n) // tags and links take more space in the source than in the plain text
	return markup.Snippet(canon.PlainText(kind, head), nil, markup.SnippetOptions{Max: n})
}

type queriesIn struct{ page }

// namedQuery is a query of this wiki.
type namedQuery struct {
	Name         string       `json:"name"`
	ID           canon.CardID `json:"id"`
	Description  string       `json:"description,omitzero"`
	Placeholders []string     `json:"placeholders" jsonschema:"Names of the args it takes."`
	Level        string       `json:"level,omitzero"`
}

type queriesOut struct {
	Queries []namedQuery `json:"queries"`
	paged
}

func listQueries(ctx context.Context, l *canon.Snapshot, _ *op.Call, in queriesIn) (queriesOut, error) {
	cards, total, err := l.Cards(ctx, canon.Filter{Type: canon.TypeQuery}, in.page.toCanonPage())
	if err != nil {
		return queriesOut{}, err
	}
	out := queriesOut{Queries: make([]namedQuery, len(cards)), paged: pagedAt(in.page, total, len(cards))}
	for i, c := range cards {
		content, err := l.Content(ctx, c)
		if err != nil {
			return queriesOut{}, err
		}
		var about struct {
			Description string `json:"description"`
		}
		_ = json.Unmarshal(fieldsOf(c.Fields), &about) // a description that is no string is ignored
		out.Queries[i] = namedQuery{c.Name, c.ID, about.Description, placeholderNames(content), shownLevel(l, c.Label)}
	}
	return out, nil
}
