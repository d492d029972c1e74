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

// Config configures a World. Canon is required. Key should be set: it seals the context references.
type Config struct {
	Canon *canon.Canon
	// Key seals context references. All processes on one store must use the same key.
	Key [32]byte
	// Tokens issues the tokens that players play with. If it is nil, no player can be created.
	Tokens Tokens
	// Handled reports the progress of event handlers. nil means that no event has handlers.
	Handled Handled
	// Pace limits how often a player may act; zero fields mean the contract's numbers.
	Pace Pace
	// Lore configures the card types that count as lore, and the lore search.
	Lore LoreConfig

	Now    func() time.Time // time.Now when nil
	Random io.Reader        // crypto/rand when nil; used only for nonces
}

// Tokens issues the tokens that players play with.
type Tokens interface {
	IssuePlayer(ctx context.Context, by access.Grant, player canon.CardID) (token string, err error)
}

// Handled reports the progress of the handlers of events.
type Handled interface {
	// Handles reports whether any handler accepts events of a type.
	Handles(EventType) bool
	// Statuses returns the status of each event by id, as of a time. An event that is not
	// in the answer has not been queued for its handlers yet.
	Statuses(ctx context.Context, world access.WorldID, events []uuid.UUID, at time.Time) (map[uuid.UUID]Status, error)
}

// World implements the operations of this package's surfaces. It is safe for concurrent use.
type World struct {
	cfg   Config
	canon *canon.Canon
	refs  *refSealer
	pace  *access.Limits
	lore  *lore
	tools map[string]rereadFunc // context tools by name; complete after Surfaces has returned

	clocks clockCache
}

// New returns a World with the given configuration.
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

// part is the set of declarations of one area of the package.
type part struct {
	operations []*op.Operation
	resources  []*op.Resource
	prompts    []*op.Prompt
	feeds      []*op.Feed
}

// listParts returns the areas in the order of the reference pages.
func (w *World) listParts() []part {
	return []part{w.contextPart(), w.parserPart(), w.playPart(), w.clockPart(), w.lore.lorePart()}
}

// Surfaces returns the surfaces world and lore, each with the parts that name it.
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

// addTo adds the declarations of p that name a surface to that surface.
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
