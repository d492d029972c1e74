package lore

import (
	"cmp"
	"errors"
	"log/slog"
	"maps"
	"slices"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/markup"
	"loregate/internal/op"
	"loregate/internal/world"
)

// Surface is the name of the surface that this package declares. The surface world has its
// operations too.
const Surface = "lore"

// Config configures the card types that count as lore, and the lore search. World and Canon are
// required; the zero value of the other fields means the contract's rules.
type Config struct {
	World *world.World
	Canon *canon.Canon // that of World
	// Types adds types of cards whose cards are facts if they have a codename. It maps the
	// type of the card to the type of the fact.
	Types map[string]string
	// Embedder embeds texts for semantic-search-lore. nil means search by words only. It is
	// given texts of every level.
	Embedder Embedder
	// Logger logs failures of the Embedder; slog's default when nil.
	Logger *slog.Logger
}

// Lore reads and searches facts. It is safe for concurrent use.
type Lore struct {
	world     *world.World
	canon     *canon.Canon
	types     map[markup.Key]string // fact types by type of card
	typeNames []string
	maxFacts  int // most facts that an index holds
	cache     cache
	vectors   *vectors // nil without an Embedder
}

// New returns a Lore with the given configuration.
func New(c Config) (*Lore, error) {
	if c.World == nil || c.Canon == nil {
		return nil, errors.New("lore: a World and its Canon are needed")
	}
	all := maps.Clone(factTypes)
	maps.Copy(all, c.Types)
	l := &Lore{world: c.World, canon: c.Canon, types: map[markup.Key]string{}, typeNames: slices.Sorted(maps.Keys(all)), maxFacts: maxIndexed}
	for name, kind := range all {
		l.types[markup.KeyOf(name)] = kind
	}
	if c.Embedder != nil {
		l.vectors = &vectors{embedder: c.Embedder, logger: cmp.Or(c.Logger, slog.Default())}
	}
	return l, nil
}

// onLore are the surfaces of the lore tools.
var onLore = []string{Surface, world.Surface}

// Surface returns the surface lore.
func (l *Lore) Surface() op.Surface {
	return op.Surface{Name: Surface, Title: "Lore",
		Doc: "What is true: facts of the world by id and by search.",
		Operations: []*op.Operation{
			world.ContextTool(l.world, op.Spec{
				Name: "get-canonical-fact", Title: "One canonical fact",
				Doc: "Read a fact of the world by its id, before you state anything about it. null where there is no such fact. " +
					"Find ids with search-lore; read a longer text whole with get_card of the archive.",
				Surfaces: onLore, Unwrap: "item", Target: "factId", Route: "GET /api/lore/facts/{factId}",
				Meta:     world.ToolID("Lore-getCanonicalFact"),
				Examples: []op.Example{{Title: "A faction", Input: `{"factId": "faction_shadow_council"}`}},
			}, l.getFact),
			op.Define(op.Spec{
				Name: "search-lore", Title: "Search the lore",
				Doc: "Find facts of the world by words, by another name of theirs, or by a misspelt one, best first. " +
					"Answers hold a snippet: read the fact with get-canonical-fact before you rest on it.",
				Surfaces: onLore, Unwrap: "items", Effect: access.Read, MinRole: access.RoleUser, Route: "GET /api/lore/search",
				Meta: world.ToolID("Lore-searchLore"),
				Examples: []op.Example{{Title: "By words", Input: `{"query": "who keeps the lamps on the marsh"}`},
					{Title: "The best one alone", Input: `{"query": "tallow gul", "k": "1"}`}},
			}, l.searchLore),
			op.Define(op.Spec{
				Name: "semantic-search-lore", Title: "Search the lore by meaning",
				Doc: "Find facts of the world by words, names and likeness, and by meaning where the server has an embedding model, best first. " +
					"Without such a model it finds what search-lore does.",
				Surfaces: onLore, Unwrap: "items", Effect: access.Read, MinRole: access.RoleUser,
				Route: "GET /api/lore/semantic-search", Meta: world.ToolID("Lore-semanticSearchLore"),
				Examples: []op.Example{{Title: "As one would ask", Input: `{"query": "what is owed to the sea", "k": 3}`}},
			}, l.semanticSearch),
		},
		Resources: []*op.Resource{l.factResource()},
	}
}
