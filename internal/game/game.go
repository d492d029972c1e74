package game

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"iter"
	"log/slog"
	"sync"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/game/player"
	"loregate/internal/game/rule"
	"loregate/internal/op"
)

// Surface and PlaySurface are the names of the surfaces: one reads the table, the other also acts in
// a seat. Ledger is the kind of their ledgers.
const (
	Surface     = "alignment"
	PlaySurface = "alignment-play"
	Ledger      = "game"
)

// Ledgers stores games. [canon.Canon] implements it.
type Ledgers interface {
	Append(ctx context.Context, g access.Grant, s canon.StreamID, after canon.Seq,
		events []canon.Event) (canon.Receipt, error)
	Records(ctx context.Context, g access.Grant, s canon.StreamID, from canon.Seq) iter.Seq2[canon.Record, error]
	Changed() <-chan struct{}
}

// Seats issues the credentials of seats.
type Seats interface {
	// Token issues a play token for a seat ("game/player") of the grant's world. The id revokes it.
	// The token ends with the key of the grant's caller.
	Token(ctx context.Context, by access.Grant, seat string) (token, id string, err error)
	// Invitation issues a play token that joins a game and does nothing else, as Token does.
	Invitation(ctx context.Context, by access.Grant, seat string) (token string, err error)
	// Key creates an API key for a seat that opens the surfaces and nothing else.
	Key(ctx context.Context, by access.Grant, seat string, surfaces []string) (secret, id string, err error)
	// Recovery issues a play token that opens the seat anew by one operation and does nothing else, as Token does.
	Recovery(ctx context.Context, by access.Grant, seat, operation string) (code, id string, err error)
	// Revoke ends a token or key; an unknown id is no error.
	Revoke(ctx context.Context, id string) error
}

// Link is a connection to the MCP endpoint as one seat.
type Link interface {
	player.Reader
	Close()
}

// Config configures a Service. Ledgers, Guard and Seats must be set.
type Config struct {
	Ledgers Ledgers
	Guard   *access.Guard // admits the actions of the clock and the AI players
	Seats   Seats
	// Model returns the model of a world's AI players; nil: they use phrases.
	Model func(access.WorldID) player.Model
	// Moderate reports whether an AI player may say a text; nil allows all texts.
	Moderate player.Moderator
	Now      func() time.Time // nil is time.Now
	Random   func([]byte)     // nil is crypto/rand
	Logger   *slog.Logger     // nil is slog.Default
}

// Service is the surface. Close it.
type Service struct {
	cfg   Config
	news  *bell        // rings when any game has changed
	polls pollRecorder // reads for changes by other processes
	waits *access.Slots

	mu     sync.Mutex
	tables map[string]*table // games in memory. Guarded by mu
	list   directory         // guarded by mu

	life   context.Context
	stop   context.CancelFunc
	work   sync.WaitGroup
	closed sync.Once
}

// New returns a Service, and starts the goroutine that follows other processes' changes to its
// games.
func New(ctx context.Context, c Config) (*Service, error) {
	if c.Ledgers == nil || c.Guard == nil || c.Seats == nil {
		return nil, errors.New("game: Ledgers, Guard and Seats are needed")
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Random == nil {
		c.Random = func(b []byte) { _, _ = rand.Read(b) } // it never fails
	}
	c.Logger = cmp.Or(c.Logger, slog.Default())
	s := &Service{cfg: c, news: newBell(), tables: map[string]*table{}, waits: access.NewSlots(maxWaits)}
	s.life, s.stop = context.WithCancel(context.WithoutCancel(ctx))
	s.polls.guard, s.polls.now = c.Guard, c.Now
	s.work.Go(s.followLedgers)
	return s, nil
}

// Close stops the Service and waits for it. It may be called more than once.
func (s *Service) Close() {
	s.closed.Do(func() {
		s.stop()
		s.work.Wait()
		s.polls.close()
	})
}

// Surfaces returns the service's operations, resources and feeds.
func (s *Service) Surfaces() []op.Surface {
	return []op.Surface{{
		Name:       Surface,
		Title:      "Alignment",
		Doc:        "The social game Alignment, read from one seat; this surface only reads.",
		Operations: s.listOperations(),
		Resources:  []*op.Resource{s.gameResource()},
		Feeds:      []*op.Feed{s.gameFeed()},
	}, {
		Name:  PlaySurface,
		Title: "Play Alignment",
		Doc:   "Play the social game Alignment alone in one seat: see, choose among the legal moves, act, and wait for the others.",
		Operations: []*op.Operation{s.readTableOp(), s.listMovesOp(), s.makeMoveOp(), s.waitOp(),
			s.readRulesOp()},
	}}
}

func (s *Service) nowMillis() rule.Millis { return rule.Millis(s.cfg.Now().UnixMilli()) }

// bell notifies any number of waiters of a change.
type bell struct {
	mu sync.Mutex
	ch chan struct{} // closed at the next ring. Guarded by mu
}

func newBell() *bell { return &bell{ch: make(chan struct{})} }

// waitChan returns a channel that closes at the next ring. Get it before reading the state, and
// wait on it afterwards.
func (b *bell) waitChan() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.ch
}

func (b *bell) ring() {
	b.mu.Lock()
	defer b.mu.Unlock()
	close(b.ch)
	b.ch = make(chan struct{})
}
