package world

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"slices"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/op"
)

// The surfaces of this package.
const (
	Surface     = "world"
	LoreSurface = "lore"
)

// Config is what a World is made of. Canon is needed, and Key for context references
// that outlive the process.
type Config struct {
	Canon *canon.Canon
	// Key seals context references. Every process on a store must have the same.
	Key [32]byte
	// Tokens makes the tokens that players play with; nil: players get none.
	Tokens Tokens
	// Handled tells how far the handlers of an event are; nil: no event has handlers.
	Handled Handled
	// Pace is how often a player may act; zero fields are the contract's numbers.
	Pace Pace
	// Lore says what counts as lore and how it is searched.
	Lore LoreConfig

	Now    func() time.Time // time.Now when nil
	Random io.Reader        // crypto/rand when nil; for nonces alone
}

// Tokens makes and ends the tokens that players play with.
type Tokens interface {
	IssuePlayer(ctx context.Context, by access.Grant, player canon.CardID) (token string, err error)
}

// Handled tells how far the handlers of events are.
type Handled interface {
	// Handles reports whether any handler waits for events of a type.
	Handles(EventType) bool
	// Statuses gives what is known of events by id, as of a time. An event that is not
	// in the answer has not been taken up yet.
	Statuses(ctx context.Context, world access.WorldID, events []uuid.UUID, at time.Time) (map[uuid.UUID]Status, error)
}

// World is the surface's one object. It is safe for concurrent use.
type World struct {
	cfg   Config
	canon *canon.Canon
	refs  *refSealer
	pace  *access.Limits
	lore  *lore
	tools map[string]rereadFunc // context tools by name; complete once the surfaces are made

	clocks clockCache
}

// New makes a World.
func New(c Config) (*World, error) {
	if c.Canon == nil {
		return nil, errors.New("world: a Canon is needed")
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Random == nil {
		c.Random = rand.Reader
	}
	w := &World{cfg: c, canon: c.Canon, pace: c.Pace.newLimits(c.Now), tools: map[string]rereadFunc{}}
	w.lore = newLore(w, c.Lore)
	var err error
	w.refs, err = newRefSealer(c.Key, c.Random)
	return w, err
}

// part is what one area of the package declares.
type part struct {
	operations []*op.Operation
	resources  []*op.Resource
	prompts    []*op.Prompt
	feeds      []*op.Feed
}

// listParts are the areas, in the order of the reference pages.
func (w *World) listParts() []part {
	return []part{w.contextPart(), w.parserPart(), w.playPart(), w.clockPart(), w.lore.lorePart()}
}

// Surfaces gives the surfaces world and lore: each part on those that it names.
func (w *World) Surfaces() []op.Surface {
	all := []op.Surface{
		{Name: Surface, Title: "World",
			Doc: "What is where: places, exits, realms, atmosphere, players and what happened, for whoever narrates."},
		{Name: LoreSurface, Title: "Lore",
			Doc: "What is true: facts of the world by id and by search."},
	}
	for _, p := range w.listParts() {
		for i := range all {
			p.addTo(&all[i])
		}
	}
	return slices.DeleteFunc(all, func(s op.Surface) bool { return len(s.Operations) == 0 })
}

// addTo adds what a part declares for a surface.
func (p part) addTo(s *op.Surface) {
	for _, o := range p.operations {
		if slices.Contains(o.Surfaces, s.Name) {
			s.Operations = append(s.Operations, o)
		}
	}
	for _, r := range p.resources {
		if slices.Contains(r.Surfaces, s.Name) {
			s.Resources = append(s.Resources, r)
		}
	}
	for _, r := range p.prompts {
		if slices.Contains(r.Surfaces, s.Name) {
			s.Prompts = append(s.Prompts, r)
		}
	}
	for _, f := range p.feeds {
		if slices.Contains(f.Surfaces, s.Name) {
			s.Feeds = append(s.Feeds, f)
		}
	}
}
