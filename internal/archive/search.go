package archive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/markup"
	"loregate/internal/op"
	"loregate/internal/surface"
)

func searchReads(d *deps) []*op.Operation {
	return []*op.Operation{surface.DefineRead(d.Kit, op.Spec{
		Name: "search_cards",
		Asked: []string{
			"list pages of one kind", "articles edited or made since a date",
			"look up entries by label or title start", "which pages mention these exact words",
			"filter the wiki", "how many pages of a kind", "pages whose text has a phrase",
			"everything by topic", "newly made pages", "which entries bear a label",
			"people, places or things with a certain mark", "all characters, all places, all rules",
			"who is marked as something", "count the entries of a sort", "longest, newest or oldest pages",
			"pages that mention a word", "filter articles by kind, label or date",
			"everything written about a thing", "look through the wiki",
		},
		Cacheable: true,
		Title:     "Search cards",
		Doc: "Find cards when you do not know the exact name, or list them by filters. q is any words, a question, or a name, also " +
			"misspelt: cards that have some of the words in name, text or fields come best first, with a snippet. " +
			"fuzzy false, search_in or match_mode find the words exactly as typed instead: all of them, in names (fast) or in content. " +
			"Without q it lists the cards that pass the filters. Answers have no content: read a card with get_card.",
		Route: "GET /api/mcp/cards",
		Examples: []op.Example{
			{Title: "By any words", Input: `{"q": "who owns the quay"}`},
			{Title: "By a part of the name", Input: `{"q": "quay", "fuzzy": false}`},
			{Title: "By words in the text, hits marked",
				Input: `{"q": "the rent", "search_in": "content", "match_mode": "phrase", "highlight": true}`},
			{Title: "Below a card, without GM pages", Input: `{"prefix": "The Kept Light+", "not_name": "*+GM*", "limit": 20}`},
			{Title: "What changed lately", Input: `{"updated_since": "2026-01-01", "sort": "updated_at"}`},
		},
	}, searchCards)}
}

// filters are the filters that search_cards and run_query share.
type filters struct {
	Prefix        string    `json:"prefix,omitzero" maxlen:"1020" jsonschema:"Only names that begin with this: Rent finds Rent Quay, and Rent Quay+ finds the cards below it."`
	NotName       string    `json:"not_name,omitzero" maxlen:"1020" jsonschema:"Leave out names that match this pattern, such as *+GM*."`
	Type          string    `json:"type,omitzero" maxlen:"255" jsonschema:"Only cards of this type, such as Character."`
	Tag           string    `json:"tag,omitzero" maxlen:"255" jsonschema:"Only cards with this tag."`
	UpdatedSince  time.Time `json:"updated_since,omitzero" jsonschema:"Only cards changed at or after this time: RFC 3339, or a date."`
	UpdatedBefore time.Time `json:"updated_before,omitzero" jsonschema:"Only cards changed before this time: RFC 3339, or a date."`
	CreatedSince  time.Time `json:"created_since,omitzero" jsonschema:"Only cards created at or after this time: RFC 3339, or a date."`
	CreatedBefore time.Time `json:"created_before,omitzero" jsonschema:"Only cards created before this time: RFC 3339, or a date."`
}

// toCanonFilter returns the filter for the canon; sort is a key of sortWords.
func (f filters) toCanonFilter(sort string) canon.Filter {
	starts, below := prefixOf(f.Prefix)
	return canon.Filter{NameStarts: starts, Prefix: below, NotName: f.NotName, Type: f.Type, Tag: f.Tag,
		UpdatedSince:  f.UpdatedSince,
		UpdatedBefore: f.UpdatedBefore, CreatedSince: f.CreatedSince, CreatedBefore: f.CreatedBefore, Sort: sortWords[sort]}
}

// prefixOf parses a prefix of names. For "X+" it also returns the key of X, because the cards below
// X are found faster by key.
func prefixOf(prefix string) (starts string, below markup.Key) {
	starts = strings.TrimLeft(prefix, " ")
	if parts := markup.Parts(starts); len(parts) > 1 {
		starts = strings.Join(parts, "+")
	}
	if above, ok := strings.CutSuffix(starts, "+"); ok {
		below = markup.KeyOf(above)
	}
	return starts, below
}

// checkFilters refuses filters that can match nothing.
func (f filters) checkFilters() error {
	switch {
	case f.Prefix != "" && strings.Trim(f.Prefix, "+ ") == "":
		return fault.BadField("prefix", "must contain a letter or digit")
	case !f.UpdatedSince.IsZero() && !f.UpdatedBefore.IsZero() && !f.UpdatedSince.Before(f.UpdatedBefore):
		return fault.BadField("updated_before", "must be later than updated_since")
	case !f.CreatedSince.IsZero() && !f.CreatedBefore.IsZero() && !f.CreatedSince.Before(f.CreatedBefore):
		return fault.BadField("created_before", "must be later than created_since")
	}
	return nil
}

// sortWords maps the sort orders that callers write to those of the canon.
var sortWords = map[string]canon.Sort{
	"": "", "name": canon.SortName, "updated": canon.SortUpdated, "created": canon.SortCreated,
	"updated_at": canon.SortUpdated, "created_at": canon.SortCreated, "relevance": canon.SortRank,
}

type searchIn struct {
	Q             string `json:"q,omitzero" maxlen:"500" jsonschema:"Words to search for; leave it out to list by filters alone."`
	Fuzzy         *bool  `json:"fuzzy,omitzero" jsonschema:"true: any of the words, in any form, also misspelt, by relevance. false: exactly the words, as search_in and match_mode say. Default: true unless one of search_in, match_mode, case_sensitive or a sort other than relevance is given."`
	SearchIn      string `json:"search_in,omitzero" enum:"name,content,both" jsonschema:"Where to look for exact words; default name. With fuzzy true, all places are searched."`
	MatchMode     string `json:"match_mode,omitzero" enum:"substring,whole_word,phrase" jsonschema:"How exact words match; default substring."`
	CaseSensitive bool   `json:"case_sensitive,omitzero" jsonschema:"Match case and accents exactly."`
	Highlight     bool   `json:"highlight,omitzero" jsonschema:"Mark the hits in snippets with <mark>; the snippet is then HTML."`
	Snippets      bool   `json:"snippets,omitzero" default:"true" jsonschema:"false leaves out the snippets, which halves the time of a search in content."`
	filters
	Level          string `json:"level,omitzero" enum:"user,gm,admin" jsonschema:"Only cards whose lowest role is this. For gm and up, who are shown levels."`
	IncludeVirtual bool   `json:"include_virtual,omitzero" default:"true" jsonschema:"false leaves out cards that have neither content nor fields."`
	Sort           string `json:"sort,omitzero" enum:"relevance,name,updated_at,created_at" jsonschema:"Order; default relevance for content, else name. Times sort latest first."`
	widePage
}

// widePage is a page whose limit may be above the maximum of 100, as older clients send it.
type widePage struct {
	Limit  int `json:"limit,omitzero" default:"50" min:"1" max:"1000" jsonschema:"Maximum number of entries to return; values above 100 count as 100."`
	Offset int `json:"offset,omitzero" default:"0" min:"0" jsonschema:"Entries to skip: next_offset of the page before."`
}

func (p widePage) toPage() page { return page{min(p.Limit, 100), p.Offset} }

// searchFilter returns all filters of the search.
func (in searchIn) searchFilter() canon.Filter {
	f := in.filters.toCanonFilter(in.Sort)
	f.Filled = !in.IncludeVirtual
	f.Level, _ = access.ParseLevel(in.Level)
	return f
}

// foundCard is a card in the result of a search.
type foundCard struct {
	summary
	Snippet string `json:"snippet,omitzero" jsonschema:"The part of the content around the hits."`
}

type searchOut struct {
	Cards []foundCard `json:"cards"`
	paged
	Ranked bool   `json:"ranked" jsonschema:"The order is by relevance."`
	Note   string `json:"note,omitzero" jsonschema:"Words that no card has, and those searched instead; the nearest names if nothing was found."`
}

func searchCards(ctx context.Context, l *canon.Snapshot, _ *op.Call, in searchIn) (searchOut, error) {
	if err := errors.Join(in.checkFilters(), in.checkFuzzy(), in.checkLevel(l.View().Level)); err != nil {
		return searchOut{}, err
	}
	if tags, any, ok := tagQuery(in.Q); ok {
		return searchTagged(ctx, l, in, tags, any)
	}
	if in.isListing() {
		return listByFilter(ctx, l, in)
	}
	result, err := l.Search(ctx, in.toQuery(), in.toPage().toCanonPage())
	if err != nil {
		return searchOut{}, err
	}
	out := searchOut{Cards: make([]foundCard, len(result.Hits)),
		paged: pagedAt(in.toPage(), result.Total, len(result.Hits)), Ranked: result.Ranked}
	if in.isFuzzy() {
		if out.Note, err = noteOf(ctx, l, in.Q, result); err != nil {
			return searchOut{}, err
		}
	}
	if in.hasSnippets() {
		if err := l.PrefetchContents(ctx, result.Hits); err != nil {
			return searchOut{}, err
		}
	}
	for i, h := range result.Hits {
		out.Cards[i].summary = summaryFromCard(l, h.Card)
		if !in.hasSnippets() {
			continue
		}
		if out.Cards[i].Snippet, err = in.snippetOf(ctx, l, h.Card, result.Terms); err != nil {
			return searchOut{}, err
		}
	}
	return out, nil
}

// searchTagged answers a query for tags alone.
func searchTagged(ctx context.Context, l *canon.Snapshot, in searchIn, tags []string, any bool) (searchOut, error) {
	match := "all"
	if any {
		match = "any"
	}
	list, err := searchByTags(ctx, l, nil, byTagsIn{Tags: tags[:min(len(tags), 10)], Match: match, page: in.toPage()})
	out := searchOut{Cards: make([]foundCard, len(list.Cards)), paged: list.paged}
	for i, c := range list.Cards {
		out.Cards[i].summary = c
	}
	return out, err
}

// isListing reports whether a listing can answer the query without the search index: the query has
// no words, or is an exact part of a name.
func (in searchIn) isListing() bool {
	if strings.TrimSpace(in.Q) == "" {
		return true
	}
	return !in.isFuzzy() && in.where() == "name" && cmp.Or(in.MatchMode, "substring") == "substring" &&
		!in.CaseSensitive &&
		in.Sort != "relevance"
}

// isFuzzy reports whether the search is by relevance.
func (in searchIn) isFuzzy() bool {
	if in.Fuzzy != nil {
		return *in.Fuzzy
	}
	return in.SearchIn == "" && in.MatchMode == "" && !in.CaseSensitive && (in.Sort == "" || in.Sort == "relevance")
}

// where returns where exact words are searched.
func (in searchIn) where() string { return cmp.Or(in.SearchIn, "name") }

// checkFuzzy refuses a search by relevance with an option of an exact one.
func (in searchIn) checkFuzzy() error {
	switch {
	case !in.isFuzzy() || strings.TrimSpace(in.Q) == "":
	case in.CaseSensitive:
		return fault.BadField("case_sensitive", "goes with exact words only: leave out fuzzy, or give false")
	case in.MatchMode != "":
		return fault.BadField("match_mode",
			"goes with exact words only: leave out fuzzy, or give false; quote a phrase in q")
	case in.Sort != "" && in.Sort != "relevance":
		return fault.BadField("sort", "must be relevance if fuzzy is true")
	}
	return nil
}

// checkLevel refuses a search by level to those who are shown no levels: it would show them.
func (in searchIn) checkLevel(viewer access.Level) error {
	if in.Level != "" && viewer < access.LevelGM {
		return fault.BadField("level", "is for game masters and admins; leave it out")
	}
	return nil
}

// maxMendedNotes is the number of words without a card that a note names.
const maxMendedNotes = 5

// noteOf tells which words of a query were searched as other words, and the nearest names if
// nothing was found.
func noteOf(ctx context.Context, l *canon.Snapshot, q string, r canon.SearchResult) (string, error) {
	var notes []string
	if r.Cut {
		notes = append(notes, "The query has more words than are searched; only the first ones count.")
	}
	for _, m := range r.Mended[:min(len(r.Mended), maxMendedNotes)] {
		if len(m.By) == 0 {
			notes = append(notes, fmt.Sprintf("No card has the word %q.", m.Word))
		} else {
			notes = append(notes, fmt.Sprintf("No card has the word %q; searched instead: %s.", m.Word,
				strings.Join(m.By, ", ")))
		}
	}
	if r.Unready {
		notes = append(notes, "Not every card could be found by its meaning: the embedding model "+
			"does not answer, or has not read all cards yet.")
	}
	if r.Total.Count == 0 {
		near, err := l.Near(ctx, markup.Clip(q, 255), 3)
		if err != nil {
			return "", err
		}
		if len(near) > 0 {
			notes = append(notes, "The nearest names are "+strings.Join(near, ", ")+".")
		}
	}
	return strings.Join(notes, " "), nil
}

func listByFilter(ctx context.Context, l *canon.Snapshot, in searchIn) (searchOut, error) {
	f := in.searchFilter()
	f.NameContains = strings.TrimSpace(in.Q)
	cards, total, err := l.Cards(ctx, f, in.toPage().toCanonPage())
	if err != nil {
		return searchOut{}, err
	}
	out := searchOut{Cards: make([]foundCard, len(cards)), paged: pagedAt(in.toPage(), total, len(cards))}
	for i, c := range cards {
		out.Cards[i].summary = summaryFromCard(l, c)
	}
	return out, nil
}

func (in searchIn) toQuery() canon.SearchQuery {
	mode := cmp.Or(canon.MatchMode(in.MatchMode), canon.MatchSubstring)
	if in.isFuzzy() {
		mode = canon.MatchRelevance
	}
	return canon.SearchQuery{
		Q: in.Q, InName: in.where() != "content", InContent: in.where() != "name",
		Mode: mode, CaseSensitive: in.CaseSensitive, Filter: in.searchFilter(), Listed: true,
	}
}

func (in searchIn) hasSnippets() bool { return (in.isFuzzy() || in.where() != "name") && in.Snippets }

// snippetOf returns the part of a card's plain text with the most hits. found are the texts that a search
// by relevance looked for.
func (in searchIn) snippetOf(ctx context.Context, l *canon.Snapshot, c canon.Card, found []string) (string, error) {
	terms := []string{in.Q}
	switch {
	case in.isFuzzy():
		terms = found
	case in.MatchMode != "phrase":
		terms = strings.Fields(in.Q)
		for i, t := range terms {
			terms[i] = strings.TrimRight(t, "*")
		}
	}
	mode := cmp.Or(markup.FindMode(in.MatchMode), markup.Substring)
	if strings.Contains(in.Q, "*") {
		mode = markup.Substring
	}
	return excerptOf(ctx, l, c, terms, markup.SnippetOptions{Mark: in.Highlight,
		Find: markup.FindOptions{Mode: mode, CaseSensitive: in.CaseSensitive, FoldAccents: !in.CaseSensitive}})
}

// excerptOf returns the part of a card's plain text with the most hits of terms. In plain text markup
// never matches and is never cut in half.
func excerptOf(ctx context.Context, l *canon.Snapshot, c canon.Card, terms []string,
	o markup.SnippetOptions) (string, error) {
	content, err := contentOf(ctx, l, c)
	if err != nil {
		return "", err
	}
	return markup.Snippet(canon.PlainText(c.TextKind(), content), terms, o), nil
}
