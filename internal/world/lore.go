package world

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/markup"
	"loregate/internal/op"
)

// LoreConfig configures the card types that count as lore, and the lore search. The zero value
// means the contract's rules.
type LoreConfig struct {
	// Types adds types of cards whose cards are facts if they have a codename. It maps the
	// type of the card to the type of the fact.
	Types map[string]string
	// Embedder embeds texts for semantic-search-lore. nil means search by words only. It is
	// given texts of every level.
	Embedder Embedder
	// Logger logs failures of the Embedder; slog's default when nil.
	Logger *slog.Logger
}

// lore reads and searches facts. It is safe for concurrent use.
type lore struct {
	w         *World
	types     map[markup.Key]string // fact types by type of card
	typeNames []string
	maxFacts  int // most facts that an index holds
	shelf     loreShelf
	vectors   *vectors // nil without an Embedder
}

func newLore(w *World, c LoreConfig) *lore {
	all := maps.Clone(factTypes)
	maps.Copy(all, c.Types)
	l := &lore{w: w, types: map[markup.Key]string{}, typeNames: slices.Sorted(maps.Keys(all)), maxFacts: maxIndexed}
	for name, kind := range all {
		l.types[markup.KeyOf(name)] = kind
	}
	if c.Embedder != nil {
		l.vectors = &vectors{embedder: c.Embedder, logger: cmp.Or(c.Logger, slog.Default())}
	}
	return l
}

// onLore are the surfaces of the lore tools.
var onLore = []string{LoreSurface, Surface}

// lorePart declares the lore tools.
func (l *lore) lorePart() part {
	return part{
		operations: []*op.Operation{
			contextTool(l.w, op.Spec{
				Name: "get-canonical-fact", Title: "One canonical fact",
				Doc: "Read a fact of the world by its id, before you state anything about it. null where there is no such fact. " +
					"Find ids with search-lore; read a longer text whole with get_card of the archive.",
				Surfaces: onLore, Unwrap: "item", Target: "factId", Route: "GET /api/lore/facts/{factId}",
				Meta:     toolID("Lore-getCanonicalFact"),
				Examples: []op.Example{{Title: "A faction", Input: `{"factId": "faction_shadow_council"}`}},
			}, l.getFact),
			op.Define(op.Spec{
				Name: "search-lore", Title: "Search the lore",
				Doc: "Find facts of the world by words, by another name of theirs, or by a misspelt one, best first. " +
					"Answers hold a snippet: read the fact with get-canonical-fact before you rest on it.",
				Surfaces: onLore, Unwrap: "items", Effect: access.Read, MinRole: access.RoleUser, Route: "GET /api/lore/search",
				Meta: toolID("Lore-searchLore"),
				Examples: []op.Example{{Title: "By words", Input: `{"query": "who keeps the lamps on the marsh"}`},
					{Title: "The best one alone", Input: `{"query": "tallow gul", "k": "1"}`}},
			}, l.searchLore),
			op.Define(op.Spec{
				Name: "semantic-search-lore", Title: "Search the lore by meaning",
				Doc: "Find facts of the world by words, names and likeness, and by meaning where the server has an embedding model, best first. " +
					"Without such a model it finds what search-lore does.",
				Surfaces: onLore, Unwrap: "items", Effect: access.Read, MinRole: access.RoleUser,
				Route: "GET /api/lore/semantic-search", Meta: toolID("Lore-semanticSearchLore"),
				Examples: []op.Example{{Title: "As one would ask", Input: `{"query": "what is owed to the sea", "k": 3}`}},
			}, l.semanticSearch),
		},
		resources: []*op.Resource{l.factResource()},
	}
}

type factIn struct {
	FactID string `json:"factId" maxlen:"100" jsonschema:"Id of the fact, such as faction_shadow_council."`
}

type factOut struct {
	Item *fact `json:"item"`
}

func (o *factOut) citeAs(ref string) {
	if o.Item != nil {
		o.Item.citeAs(ref)
	}
}

func (l *lore) getFact(ctx context.Context, m *asOf, in factIn) (factOut, error) {
	f, err := l.loadFact(ctx, m, in.FactID)
	return factOut{f}, err
}

type loreQuery struct {
	Query string `json:"query" maxlen:"500" jsonschema:"What is looked for, in words."`
	K     int    `json:"k,omitzero" default:"5" min:"1" max:"20" numeric:"string" jsonschema:"Most facts to give."`
}

// loreHit is a fact that was found.
type loreHit struct {
	FactID  string  `json:"factId"`
	Type    string  `json:"type"`
	Score   float64 `json:"score" min:"0" max:"1" jsonschema:"How well it answers, against others of this answer."`
	Snippet string  `json:"snippet" jsonschema:"The piece of its text that says most of it, up to 200 characters."`
	Version uint32  `json:"version"`
}

type loreHits struct {
	Items []loreHit `json:"items"`
}

func (l *lore) searchLore(ctx context.Context, c *op.Call, in loreQuery) (out loreHits, err error) {
	out.Items = []loreHit{}
	err = l.searchFacts(ctx, c, in, nil, func(snap *canon.Snapshot, f loreFound) {
		out.Items = append(out.Items, loreHit{f.card.Codename, f.kind, f.score, f.snippetFor(in.Query),
			f.card.Version(snap.View())})
	})
	return out, err
}

// nearHit is a fact that was found by meaning.
type nearHit struct {
	ID      string  `json:"id" jsonschema:"The fact's id."`
	Score   float64 `json:"score" min:"0" max:"1" jsonschema:"How well it answers, against others of this answer."`
	Snippet string  `json:"snippet" jsonschema:"The piece of its text that says most of it, up to 200 characters."`
}

type nearHits struct {
	Items []nearHit `json:"items"`
}

func (l *lore) semanticSearch(ctx context.Context, c *op.Call, in loreQuery) (out nearHits, err error) {
	out.Items = []nearHit{}
	err = l.searchFacts(ctx, c, in, l.vectors, func(_ *canon.Snapshot, f loreFound) {
		out.Items = append(out.Items, nearHit{f.card.Codename, f.score, f.snippetFor(in.Query)})
	})
	return out, err
}

// searchFacts passes the best facts for a query to give, best first. If v is not nil, it also ranks
// by vectors.
func (l *lore) searchFacts(ctx context.Context, c *op.Call, in loreQuery, v *vectors,
	give func(*canon.Snapshot, loreFound)) error {
	if strings.TrimSpace(in.Query) == "" {
		return nil
	}
	return l.w.canon.Read(ctx, c.Grant, func(snap *canon.Snapshot) error {
		found, err := l.rankFacts(ctx, snap, in, v)
		for _, f := range found {
			give(snap, f)
		}
		return err
	})
}

// rankFacts returns the best facts for a query that are visible to the caller, best first.
func (l *lore) rankFacts(ctx context.Context, snap *canon.Snapshot, in loreQuery, v *vectors) ([]loreFound, error) {
	s, err := l.shelf.get(ctx, l, snap)
	if err != nil {
		return nil, err
	}
	if s.crowded {
		found, err := l.searchStore(ctx, snap, in.Query, in.K)
		for i := range found {
			if err == nil {
				found[i].text, err = snap.Content(ctx, found[i].card)
				found[i].text = plainText(ctx, found[i].card.Type, found[i].text)
			}
		}
		return found, err
	}
	var more [][]ranked
	if v != nil {
		more = append(more, v.rankByVector(ctx, s.index, in.Query))
	}
	var found []loreFound
	for _, r := range s.index.rankQuery(in.Query, more...) {
		if d := s.index.docs[r.doc]; len(found) < in.K {
			found = append(found, loreFound{d.card, d.kind, r.score, d.text})
		}
	}
	return append(found, s.findOwn(in.Query, in.K-len(found))...), nil
}

// findOwn returns up to most facts outside the index that contain a word of the query, in the order
// of their names. Only this reader sees them, so they have no score and no statistics.
func (s shelf) findOwn(query string, most int) (found []loreFound) {
	terms := queryTerms(s.language, query)
	for _, d := range s.own {
		if len(found) < most && slices.ContainsFunc(terms, func(t string) bool { return d.inName[t]+d.inBody[t] > 0 }) {
			found = append(found, loreFound{d.card, d.kind, 0, d.text})
		}
	}
	return found
}

// maxSnippet bounds the length of a snippet, in characters.
const maxSnippet = 200

// snippetFor returns the piece of the fact's text with the most words of the query.
func (f loreFound) snippetFor(query string) string {
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

// factResource declares the resource that shows a fact.
func (l *lore) factResource() *op.Resource {
	return &op.Resource{
		Template: "world://fact/{factId}",
		Name:     "fact",
		Title:    "Fact",
		Doc:      "A canonical fact of the world, as get-canonical-fact gives it.",
		MIME:     "application/json",
		Surfaces: onLore,
		MinRole:  access.RoleUser,
		Read:     l.readFact,
		List:     l.listFacts,
		Complete: l.completeFact,
	}
}

func (l *lore) readFact(ctx context.Context, c *op.Call, vars map[string]string) (content op.Content, err error) {
	err = l.w.canon.Read(ctx, c.Grant, func(snap *canon.Snapshot) error {
		f, err := l.loadFact(ctx, &asOf{Snapshot: snap, w: l.w}, vars["factId"])
		if err != nil {
			return err
		}
		if f == nil {
			return fault.New(fault.NotFound, "there is no fact %q; look for it with search-lore",
				markup.Clip(markup.Clean(vars["factId"]), 100))
		}
		text, err := op.Encode(f)
		content = op.Content{Text: string(text), Modified: f.CreatedUTC}
		if f.UpdatedUTC != nil {
			content.Modified = *f.UpdatedUTC
		}
		return err
	})
	return content, err
}

// maxListedFacts bounds the facts in the resource list.
const maxListedFacts = 10

// listFacts lists the facts that changed most recently.
func (l *lore) listFacts(ctx context.Context, c *op.Call) (items []op.Listed, err error) {
	err = l.w.canon.Read(ctx, c.Grant, func(snap *canon.Snapshot) error {
		recent, err := snap.Recent(ctx)
		for _, card := range recent {
			if _, fact := l.types[markup.KeyOf(card.Type)]; fact && card.Codename != "" && len(items) < maxListedFacts {
				items = append(items, op.Listed{URI: "world://fact/" + card.Codename, Name: card.Codename,
					Title:    markup.Clean(card.Name),
					Modified: card.UpdatedAt, Thing: card.ID.String(), Recent: true})
			}
		}
		return err
	})
	return items, err
}

// completeFact returns the ids of facts whose id or name begins with prefix.
func (l *lore) completeFact(ctx context.Context, c *op.Call, _, prefix string) (out []string, err error) {
	err = l.w.canon.Read(ctx, c.Grant, func(snap *canon.Snapshot) error {
		cards, _, err := snap.Cards(ctx, l.factsFilter(), canon.Page{Limit: 1000})
		typed := markup.Fold(prefix)
		slices.SortFunc(cards, func(a, b canon.Card) int { return cmp.Compare(a.Codename, b.Codename) })
		for _, card := range cards {
			if len(out) < maxCompletions && (strings.HasPrefix(card.Codename, typed) ||
				strings.HasPrefix(markup.Fold(card.Name), typed)) {
				out = append(out, card.Codename)
			}
		}
		return err
	})
	return out, err
}
