package world

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/event"
	"loregate/internal/op"
)

// Surface is the name of the surface that this package declares.
const Surface = "world"

// Config configures a World. Canon is required. Key should be set: it seals the context references.
type Config struct {
	Canon *canon.Canon
	// Key seals context references. All processes on one store must use the same key.
	Key [32]byte
	// Handled reports the progress of event handlers. nil means that no event has handlers.
	Handled Handled

	Now    func() time.Time // time.Now when nil
	Random io.Reader        // crypto/rand when nil; used only for nonces
}

// Handled reports the progress of the handlers of events.
type Handled interface {
	// Handles reports whether any handler accepts events of a type.
	Handles(event.Type) bool
	// Statuses returns the status of each event by id, as of a time. An event that is not
	// in the answer has not been queued for its handlers yet.
	Statuses(ctx context.Context, world access.WorldID, events []uuid.UUID,
		at time.Time) (map[uuid.UUID]event.Status, error)
}

// World reads the model of a world: places, players, clocks and contexts. It is safe for concurrent use.
type World struct {
	cfg   Config
	canon *canon.Canon
	refs  *refSealer
	tools map[string]rereadFunc // context tools by name; complete when all operations are declared

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
	w := &World{cfg: c, canon: c.Canon, tools: map[string]rereadFunc{}}
	var err error
	w.refs, err = newRefSealer(c.Key, c.Random)
	return w, err
}

// Surface returns the surface world: the declarations of this package, then those of others that
// belong to it.
func (w *World) Surface(others ...op.Surface) op.Surface {
	s := op.Surface{Name: Surface, Title: "World",
		Doc:        "Places, exits, realms, atmosphere, players and recent events, for narrators.",
		Operations: append(w.contextOperations(), w.mapOperation()), Resources: []*op.Resource{w.locationResource(),
			w.feedResource()},
		Prompts: []*op.Prompt{w.narratePrompt()}}
	for _, o := range others {
		s.Operations = append(s.Operations, o.Operations...)
		s.Resources = append(s.Resources, o.Resources...)
		s.Feeds = append(s.Feeds, o.Feeds...)
	}
	s.Feeds = append(s.Feeds, w.mapFeed(), w.worldFeed())
	return s
}
