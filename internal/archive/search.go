package archive

import (
	"context"
	"strings"
	"time"

	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/markup"
	"loregate/internal/op"
)

func searchReads(d *deps) []*op.Operation {
	return []*op.Operation{read(d, op.Spec{
		Name:  "search_cards",
		Title: "Search cards",
		Doc: "Find cards when you do not know the exact name, by words in names (the default, fast) or in content, or list them by filters. " +
			"search_in content or both ranks by relevance and gives a snippet of each card; it finds more and takes longer than names. " +
			"Without q it lists what the filters leave. Answers hold no content: read a card with get_card.",
		Route: "GET /api/mcp/cards",
		Examples: []op.Example{
			{Title: "By a part of the name", Input: `{"q": "quay"}`},
			{Title: "By words in the text, hits marked", Input: `{"q": "the rent", "search_in": "content", "match_mode": "phrase", "highlight": true}`},
			{Title: "Below a card, without GM pages", Input: `{"prefix": "The Kept Light", "not_name": "*+GM*", "limit": 20}`},
			{Title: "What changed lately", Input: `{"updated_since": "2026-01-01", "sort": "updated_at"}`},
		},
	}, searchCards)}
}

// filters are the narrowings that search_cards and run_query share.
type filters struct {
	Prefix        string    `json:"prefix,omitzero" maxlen:"1020" jsonschema:"Only the card of this name and those below it."`
	NotName       string    `json:"not_name,omitzero" maxlen:"1020" jsonschema:"Leave out names that fit this pattern, such as *+GM*."`
	Type          string    `json:"type,omitzero" maxlen:"255" jsonschema:"Only cards of this type, such as Character."`
	Tag           string    `json:"tag,omitzero" maxlen:"255" jsonschema:"Only cards that bear this tag."`
	UpdatedSince  time.Time `json:"updated_since,omitzero" jsonschema:"Only cards changed at or after this time: RFC 3339, or a date."`
	UpdatedBefore time.Time `json:"updated_before,omitzero" jsonschema:"Only cards changed before this time: RFC 3339, or a date."`
}

// canon gives the filter; sort is a word of sortWords.
func (f filters) canon(sort string) canon.Filter {
	return canon.Filter{Prefix: prefixKey(f.Prefix), NotName: f.NotName, Type: f.Type, Tag: f.Tag,
		UpdatedSince: f.UpdatedSince, UpdatedBefore: f.UpdatedBefore, Sort: sortWords[sort]}
}

// prefixKey reads a prefix; "X+" is X.
func prefixKey(prefix string) markup.Key {
	return markup.KeyOf(strings.TrimRight(prefix, "+ "))
}

// check refuses filters that cannot mean anything.
func (f filters) check() error {
	switch {
	case f.Prefix != "" && prefixKey(f.Prefix) == "":
		return fault.BadField("prefix", "must hold a letter or digit")
	case !f.UpdatedSince.IsZero() && !f.UpdatedBefore.IsZero() && !f.UpdatedSince.Before(f.UpdatedBefore):
		return fault.BadField("updated_before", "must lie after updated_since")
	}
	return nil
}

// sortWords are the orders as callers write them.
var sortWords = map[string]canon.Sort{
	"": "", "name": canon.SortName, "updated_at": canon.SortUpdated, "created_at": canon.SortCreated, "relevance": canon.SortRank,
}

type searchIn struct {
	Q             string `json:"q,omitzero" maxlen:"500" jsonschema:"What to look for; leave out to list by filters alone."`
	SearchIn      string `json:"search_in,omitzero" enum:"name,content,both" default:"name" jsonschema:"Where to look."`
	MatchMode     string `json:"match_mode,omitzero" enum:"substring,whole_word,phrase" default:"substring" jsonschema:"How words match."`
	CaseSensitive bool   `json:"case_sensitive,omitzero" jsonschema:"Capitals and accents must be the same."`
	Highlight     bool   `json:"highlight,omitzero" jsonschema:"Mark the hits in snippets with <mark>; the snippet is then HTML."`
	filters
	Sort string `json:"sort,omitzero" enum:"relevance,name,updated_at,created_at" jsonschema:"Order; default relevance for content, else name. Times sort latest first."`
	page
}

// found is a card that a search found.
type found struct {
	summary
	Snippet string `json:"snippet,omitzero" jsonschema:"The piece of content around the hits."`
}

type searchOut struct {
	Cards []found `json:"cards"`
	paged
	Ranked bool `json:"ranked" jsonschema:"The order is by relevance."`
}

// Cut shortens the list.
func (o searchOut) Cut(budget int) (any, map[string]any, bool) {
	next, ok := shorten(&o.Cards, &o.paged, budget)
	return o, next, ok
}

func searchCards(ctx context.Context, l *canon.Look, _ *op.Call, in searchIn) (searchOut, error) {
	if err := in.check(); err != nil {
		return searchOut{}, err
	}
	if in.listed() {
		return listCards(ctx, l, in)
	}
	result, err := l.Search(ctx, in.query(), in.page.canon())
	if err != nil {
		return searchOut{}, err
	}
	out := searchOut{Cards: make([]found, len(result.Hits)), paged: pagedAt(in.page, result.Total, len(result.Hits)), Ranked: result.Ranked}
	if in.SearchIn != "name" {
		if err := l.Ahead(ctx, result.Hits); err != nil {
			return searchOut{}, err
		}
	}
	for i, h := range result.Hits {
		out.Cards[i].summary = summarize(l, h.Card)
		if in.SearchIn == "name" {
			continue
		}
		if out.Cards[i].Snippet, err = in.snippet(ctx, l, h.Card); err != nil {
			return searchOut{}, err
		}
	}
	return out, nil
}

// listed reports whether a listing answers the question, without the search index: with
// no words at all, or with a piece of a name as it stands.
func (in searchIn) listed() bool {
	if strings.TrimSpace(in.Q) == "" {
		return true
	}
	return in.SearchIn == "name" && in.MatchMode == "substring" && !in.CaseSensitive && in.Sort != "relevance"
}

func listCards(ctx context.Context, l *canon.Look, in searchIn) (searchOut, error) {
	f := in.filters.canon(in.Sort)
	f.NameContains = strings.TrimSpace(in.Q)
	cards, total, err := l.Cards(ctx, f, in.page.canon())
	if err != nil {
		return searchOut{}, err
	}
	out := searchOut{Cards: make([]found, len(cards)), paged: pagedAt(in.page, total, len(cards))}
	for i, c := range cards {
		out.Cards[i].summary = summarize(l, c)
	}
	return out, nil
}

func (in searchIn) query() canon.SearchQuery {
	return canon.SearchQuery{
		Q: in.Q, InName: in.SearchIn != "content", InContent: in.SearchIn != "name",
		Mode: canon.MatchMode(in.MatchMode), CaseSensitive: in.CaseSensitive, Filter: in.filters.canon(in.Sort),
	}
}

// snippet is the piece of a card's plain text with the most hits, so that markup never
// matches and is never broken.
func (in searchIn) snippet(ctx context.Context, l *canon.Look, c canon.Card) (string, error) {
	content, err := contentOf(ctx, l, c)
	if err != nil {
		return "", err
	}
	terms := []string{in.Q}
	if in.MatchMode != "phrase" {
		terms = strings.Fields(in.Q)
		for i, t := range terms {
			terms[i] = strings.TrimRight(t, "*")
		}
	}
	mode := markup.FindMode(in.MatchMode)
	if strings.Contains(in.Q, "*") {
		mode = markup.Substring
	}
	return markup.Snippet(canon.PlainText(c.Type, content), terms, markup.SnippetOptions{Mark: in.Highlight,
		Find: markup.FindOptions{Mode: mode, CaseSensitive: in.CaseSensitive, FoldAccents: !in.CaseSensitive}}), nil
}
