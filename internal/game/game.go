// Package game hosts Alignment: the surface "alignment". A game is a ledger of events
// ("game:<id>"), each decided by package rule; what is kept in memory is the fold of it.
//
// Its invariant: nothing changes a game but an event that is durable before anybody sees
// it, and nobody sees more of a game than package view shows a seat. Any number of
// processes may host the same games: a command is decided on the ledger's end, and is
// decided again where another process was first.
//
// The rules are package rule's, views are view's, programs that play are player's, the
// page in the browser is page's.
package game

import (
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

// Surface is the surface's name, Ledger the kind of its ledgers.
const (
	Surface = "alignment"
	Ledger  = "game"
)

// Ledgers keep games. [canon.Canon] does.
type Ledgers interface {
	Append(ctx context.Context, g access.Grant, s canon.StreamID, after canon.Seq, events []canon.Event) (canon.Receipt, error)
	Records(ctx context.Context, g access.Grant, s canon.StreamID, from canon.Seq) iter.Seq2[canon.Record, error]
	Changed() <-chan struct{}
}

// Seats gives out what opens a seat.
type Seats interface {
	// Token makes a play token for a seat ("game/player") of the grant's world. The id
	// revokes it. What is made ends with the key of the grant's caller.
	Token(ctx context.Context, by access.Grant, seat string) (token, id string, err error)
	// Key makes an API key for a seat, for the MCP endpoint alone.
	Key(ctx context.Context, by access.Grant, seat string) (secret, id string, err error)
	// Revoke ends a token or key; one that is unknown is no error.
	Revoke(ctx context.Context, id string) error
}

// Link is a connection to the MCP endpoint as one seat.
type Link interface {
	player.Reader
	Close()
}

// Config is what a Service is made of. Ledgers, Guard and Seats are needed.
type Config struct {
	Ledgers Ledgers
	Guard   *access.Guard // admits what the clock and the AI players do
	Seats   Seats
	// Model is what AI players of a world speak by; nil: phrases.
	Model func(access.WorldID) player.Model
	// Moderate says whether an AI player may say a text; nil lets all through.
	Moderate player.Moderator
	Now      func() time.Time // nil is time.Now
	Random   func([]byte)     // nil is crypto/rand
	Logger   *slog.Logger     // nil is slog.Default
}

// Service is the surface. Close it.
type Service struct {
	cfg     Config
	news    *bell   // rings when any game has changed
	looking lookout // for what other processes do

	mu     sync.Mutex
	tables map[string]*table // games in memory. Guarded by mu
	list   directory         // guarded by mu

	life   context.Context
	stop   context.CancelFunc
	work   sync.WaitGroup
	closed sync.Once
}

// New makes a Service, and starts what keeps its games level with other processes.
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
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	s := &Service{cfg: c, news: newBell(), tables: map[string]*table{}}
	s.life, s.stop = context.WithCancel(context.WithoutCancel(ctx))
	s.looking.guard, s.looking.now = c.Guard, c.Now
	s.work.Go(s.follow)
	return s, nil
}

// Close stops the Service and waits for it. Closing twice does no harm.
func (s *Service) Close() {
	s.closed.Do(func() {
		s.stop()
		s.work.Wait()
		s.looking.close()
	})
}

// Surface is what the service offers.
func (s *Service) Surface() op.Surface {
	return op.Surface{
		Name:       Surface,
		Title:      "Alignment",
		Doc:        "The social game Alignment as one seat reads it; there is nothing to do here but read.",
		Operations: s.operations(),
		Resources:  []*op.Resource{s.resource()},
		Feeds:      []*op.Feed{s.feed()},
	}
}

func (s *Service) now() rule.Millis { return rule.Millis(s.cfg.Now().UnixMilli()) }

// bell tells any number of waiters that something has changed.
type bell struct {
	mu sync.Mutex
	ch chan struct{} // closed at the next ring. Guarded by mu
}

func newBell() *bell { return &bell{ch: make(chan struct{})} }

// wait gives a channel that closes at the next ring. Ask before looking, wait after.
func (b *bell) wait() <-chan struct{} {
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
