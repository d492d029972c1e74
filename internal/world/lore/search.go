package lore

import (
	"context"
	"slices"
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
	err = l.searchFacts(ctx, c, in, nil, func(snap *canon.Snapshot, f match) {
		out.Items = append(out.Items, hit{f.card.Codename, f.kind, f.score, f.snippetFor(in.Query),
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
	err = l.searchFacts(ctx, c, in, l.vectors, func(_ *canon.Snapshot, f match) {
		out.Items = append(out.Items, nearHit{f.card.Codename, f.score, f.snippetFor(in.Query)})
	})
	return out, err
}

// searchFacts passes the best facts for a query to give, best first. If v is not nil, it also ranks
// by vectors.
func (l *Lore) searchFacts(ctx context.Context, c *op.Call, in searchIn, v *vectors,
	give func(*canon.Snapshot, match)) error {
	if strings.TrimSpace(in.Query) == "" {
		return nil
	}
	return l.canon.Read(ctx, c.Grant, func(snap *canon.Snapshot) error {
		found, err := l.rankFacts(ctx, snap, in, v)
		for _, f := range found {
			give(snap, f)
		}
		return err
	})
}

// rankFacts returns the best facts for a query that are visible to the caller, best first.
func (l *Lore) rankFacts(ctx context.Context, snap *canon.Snapshot, in searchIn, v *vectors) ([]match, error) {
	s, err := l.cache.get(ctx, l, snap)
	if err != nil {
		return nil, err
	}
	if s.crowded {
		found, err := l.searchStore(ctx, snap, in.Query, in.K)
		for i := range found {
			if err == nil {
				found[i].text, err = snap.Content(ctx, found[i].card)
				found[i].text = world.PlainText(ctx, found[i].card.TextKind(), found[i].text)
			}
		}
		return found, err
	}
	var more [][]ranked
	if v != nil {
		more = append(more, v.rankByVector(ctx, s.index, in.Query))
	}
	var found []match
	for _, r := range s.index.rankQuery(in.Query, more...) {
		if d := s.index.docs[r.doc]; len(found) < in.K {
			found = append(found, match{d.card, d.kind, r.score, d.text})
		}
	}
	return append(found, s.findOwn(in.Query, in.K-len(found))...), nil
}

// findOwn returns up to most facts outside the index that contain a word of the query, in the order
// of their names. Only this reader sees them, so they have no score and no statistics.
func (s readerFacts) findOwn(query string, most int) (found []match) {
	terms := queryTerms(s.language, query)
	for _, d := range s.own {
		if len(found) < most && slices.ContainsFunc(terms, func(t string) bool { return d.inName[t]+d.inBody[t] > 0 }) {
			found = append(found, match{d.card, d.kind, 0, d.text})
		}
	}
	return found
}

// maxSnippet bounds the length of a snippet, in characters.
const maxSnippet = 200

// snippetFor returns the piece of the fact's text with the most words of the query.
func (f match) snippetFor(query string) string {
	var words []string
	for _, w := range foldedWords(query) {
		if !stopWords[w] {
			words = append(words, w)
		}
	}
	text := markup.Snippet(markup.Clean(f.text), words,
		markup.SnippetOptions{Max: maxSnippet - 2, Find: markup.FindOptions{FoldAccents: true}})
	return markup.Clip(text, maxSnippet)
}

// match is a fact that a search has found.
type match struct {
	card  canon.Card
	kind  string
	score float64
	text  string // "" if it has not been read
}
