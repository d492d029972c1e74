package lore

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
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
}

// Lore reads and searches facts. It is safe for concurrent use.
type Lore struct {
	world     *world.World
	canon     *canon.Canon
	types     map[markup.Key]string // fact types by type of card
	typeNames []string
}

// New returns a Lore with the given configuration.
func New(c Config) (*Lore, error) {
	if c.World == nil || c.Canon == nil {
		return nil, errors.New("lore: a World and its Canon are needed")
	}
	all := maps.Clone(factTypes)
	maps.Copy(all, c.Types)
	l := &Lore{world: c.World, canon: c.Canon, types: map[markup.Key]string{},
		typeNames: slices.Sorted(maps.Keys(all))}
	for name, kind := range all {
		l.types[markup.KeyOf(name)] = kind
	}
	return l, nil
}

// onLore are the surfaces of the lore tools.
var onLore = []string{Surface, world.Surface}

// Surface returns the surface lore.
func (l *Lore) Surface() op.Surface {
	return op.Surface{Name: Surface, Title: "Lore",
		Doc: "Facts of the world, by id and by search.",
		Operations: []*op.Operation{
			world.ContextTool(l.world, op.Spec{
				Name: "get-canonical-fact", Title: "One canonical fact",
				Asked: []string{
					"exact wording of a truth", "one piece of knowledge by its code", "quote the source",
					"tell the fact in full", "read one fact in full", "the precise words of a law or legend",
					"exact text of a truth", "one entry of the canon by its id", "word for word with its source",
				},
				Doc: "Read a fact of the world by its id, before you state anything about it. null if there is no such fact. " +
					"Find ids with search-lore; read a text that was cut with get_card of the archive.",
				Surfaces: onLore, Unwrap: "item", Target: "factId", Route: "GET /api/lore/facts/{factId}",
				Meta:     world.ToolID("Lore-getCanonicalFact"),
				Examples: []op.Example{{Title: "A faction", Input: `{"factId": "faction_shadow_council"}`}},
			}, l.getFact),
			op.Define(op.Spec{
				Name: "search-lore", Title: "Search the lore",
				Asked: []string{
					"is it true that", "known about it", "legends, rules and customs",
					"who owns, owes or founded it", "facts about", "where is it written that", "they say of it",
					"is it so that", "custom or law of the land", "facts and legends about a matter",
					"does the law or custom allow it", "which fact says so", "find the source of a statement",
					"lore about a matter", "legends, laws and customs", "known truths about somebody",
					"background knowledge", "which facts mention it",
				},
				Doc: "Find facts of the world by words, by name or alias, or by a misspelt name, best first. " +
					"Answers contain a snippet: read the fact with get-canonical-fact before you rely on it.",
				Surfaces: onLore, Unwrap: "items", Effect: access.Read, MinRole: access.RoleUser, Route: "GET /api/lore/search",
				Meta: world.ToolID("Lore-searchLore"),
				Examples: []op.Example{{Title: "By words", Input: `{"query": "who keeps the lamps on the marsh"}`},
					{Title: "Only the best fact", Input: `{"query": "tallow gul", "k": "1"}`}},
			}, l.searchLore),
			op.Define(op.Spec{
				Name: "semantic-search-lore", Title: "Search the lore by meaning",
				Asked: []string{
					"knowledge about a theme", "truths about a matter, in other words",
					"facts with a similar sense", "lore said in other words", "ideas near to this",
					"about a theme, not a word",
				},
				Doc: "Find facts of the world by words, names and similar names, and by meaning if the server has an embedding " +
					"model, best first. " +
					"It finds the same facts as search-lore.",
				Surfaces: onLore, Unwrap: "items", Effect: access.Read, MinRole: access.RoleUser,
				Route: "GET /api/lore/semantic-search", Meta: world.ToolID("Lore-semanticSearchLore"),
				Examples: []op.Example{{Title: "A question", Input: `{"query": "what is owed to the sea", "k": 3}`}},
			}, l.semanticSearch),
		},
		Resources: []*op.Resource{l.factResource()},
	}
}

// factResource declares the resource that shows a fact.
func (l *Lore) factResource() *op.Resource {
	return &op.Resource{
		Template: "world://fact/{factId}",
		Name:     "fact",
		Title:    "Fact",
		Doc:      "A canonical fact of the world, as get-canonical-fact returns it.",
		MIME:     "application/json",
		Surfaces: onLore,
		MinRole:  access.RoleUser,
		Read:     l.readFact,
		List:     l.listFacts,
		Complete: l.completeFact,
	}
}

func (l *Lore) readFact(ctx context.Context, c *op.Call, vars map[string]string) (content op.Content, err error) {
	err = l.canon.Read(ctx, c.Grant, func(snap *canon.Snapshot) error {
		f, err := l.loadFact(ctx, l.world.Current(snap), vars["factId"])
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
func (l *Lore) listFacts(ctx context.Context, c *op.Call) (items []op.Listed, err error) {
	err = l.canon.Read(ctx, c.Grant, func(snap *canon.Snapshot) error {
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
func (l *Lore) completeFact(ctx context.Context, c *op.Call, _, prefix string) (out []string, err error) {
	err = l.canon.Read(ctx, c.Grant, func(snap *canon.Snapshot) error {
		cards, _, err := snap.Cards(ctx, l.factsFilter(), canon.Page{Limit: 1000})
		slices.SortFunc(cards, func(a, b canon.Card) int { return cmp.Compare(a.Codename, b.Codename) })
		out = world.CompleteCode(cards, prefix)
		return err
	})
	return out, err
}
