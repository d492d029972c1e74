package lore

import (
	"context"
	"math"
	"strings"

	"loregate/internal/canon"
	"loregate/internal/markup"
	"loregate/internal/op"
	"loregate/internal/world"
)

type searchIn struct {
	Query string `json:"query" maxlen:"500" jsonschema:"Words to search for."`
	K     int    `json:"k,omitzero" default:"5" min:"1" max:"20" numeric:"string" jsonschema:"Most facts in the answer."`
}

// hit is a fact that was found.
type hit struct {
	FactID  string  `json:"factId"`
	Type    string  `json:"type"`
	Score   float64 `json:"score" min:"0" max:"1" jsonschema:"Relevance, relative to the other facts of this answer."`
	Snippet string  `json:"snippet" jsonschema:"The part of its text with the most words of the query, up to 200 characters."`
	Version uint32  `json:"version"`
}

type hitsOut struct {
	Items []hit `json:"items"`
}

func (l *Lore) searchLore(ctx context.Context, c *op.Call, in searchIn) (out hitsOut, err error) {
	out.Items = []hit{}
	err = l.searchFacts(ctx, c, in, func(snap *canon.Snapshot, f match) {
		out.Items = append(out.Items, hit{f.card.Codename, f.kind, f.score, f.snippet(),
			f.card.Version(snap.View())})
	})
	return out, err
}

// nearHit is a fact that was found by meaning.
type nearHit struct {
	ID      string  `json:"id" jsonschema:"The fact's id."`
	Score   float64 `json:"score" min:"0" max:"1" jsonschema:"Relevance, relative to the other facts of this answer."`
	Snippet string  `json:"snippet" jsonschema:"The part of its text with the most words of the query, up to 200 characters."`
}

type nearHitsOut struct {
	Items []nearHit `json:"items"`
}

func (l *Lore) semanticSearch(ctx context.Context, c *op.Call, in searchIn) (out nearHitsOut, err error) {
	out.Items = []nearHit{}
	err = l.searchFacts(ctx, c, in, func(_ *canon.Snapshot, f match) {
		out.Items = append(out.Items, nearHit{f.card.Codename, f.score, f.snippet()})
	})
	return out, err
}

// searchFacts passes the best facts for a query to give, best first.
func (l *Lore) searchFacts(ctx context.Context, c *op.Call, in searchIn,
	give func(*canon.Snapshot, match)) error {
	if strings.TrimSpace(in.Query) == "" {
		return nil
	}
	return l.canon.Read(ctx, c.Grant, func(snap *canon.Snapshot) error {
		found, err := l.rankFacts(ctx, snap, in)
		for _, f := range found {
			give(snap, f)
		}
		return err
	})
}

// rankFacts returns the best facts for a query that are visible to the caller, best first. Facts
// that are shared with the caller by name come last, without a score.
func (l *Lore) rankFacts(ctx context.Context, snap *canon.Snapshot, in searchIn) ([]match, error) {
	q := canon.SearchQuery{Q: in.Query, Mode: canon.MatchRelevance, Filter: l.factsFilter()}
	result, err := snap.Search(ctx, q, canon.Page{Limit: in.K})
	if err != nil {
		return nil, err
	}
	hits := result.Hits
	if err := snap.PrefetchContents(ctx, hits); err != nil {
		return nil, err
	}
	found := make([]match, len(hits))
	for i, h := range hits {
		kind, _ := l.factType(world.CardOf(h.Card))
		found[i] = match{card: h.Card, kind: kind, score: math.Round(h.Score/max(hits[0].Score, 1e-9)*1e4) / 1e4, terms: result.Terms}
		if found[i].text, err = textOf(ctx, snap, h.Card); err != nil {
			return nil, err
		}
	}
	return found, nil
}

func textOf(ctx context.Context, snap *canon.Snapshot, c canon.Card) (string, error) {
	content, err := snap.Content(ctx, c)
	return world.PlainText(ctx, c.TextKind(), content), err
}

// maxSnippet bounds the length of a snippet, in characters.
const maxSnippet = 200

// snippet returns the piece of the fact's text with the most words of the query.
func (f match) snippet() string {
	text := markup.Snippet(markup.Clean(f.text), f.terms,
		markup.SnippetOptions{Max: maxSnippet - 2, Find: markup.FindOptions{FoldAccents: true}})
	return markup.Clip(text, maxSnippet)
}

// match is a fact that a search has found.
type match struct {
	card  canon.Card
	kind  string
	score float64
	text  string
	terms []string // of the query, for the snippet
}
