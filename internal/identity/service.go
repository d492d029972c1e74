package identity

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/outbound"
)

// Config configures a Service. Store and Worlds must be set.
type Config struct {
	Store  Store
	Worlds Worlds
	Joiner Joiner // nil: invitations cannot be accepted

	Issuer    string        // "" is "loregate"
	Audiences []string      // written into tokens; the first is the default to expect. Empty is "loregate"
	Life      time.Duration // of tokens, 15 to 60 minutes; 0 is 30
	// AllowKeyAsBearer lets Authenticate accept an API key in place of a token.
	AllowKeyAsBearer bool

	// Outside are the outside issuers whose tokens are accepted too.
	Outside []Issuer
	Fetch   http.RoundTripper // fetches their keys; http.DefaultTransport when nil

	// ClientSecret authenticates the ids of clients that register; all processes on a store have the same.
	// Without it no client can sign in.
	ClientSecret []byte

	// Documents fetches the documents of clients; nil for no such clients.
	Documents *outbound.Client
	// Limiter counts these fetches by person, and exchanges of codes and refresh tokens by grant; nil counts
	// nothing.
	Limiter access.Limiter

	// Poll is the interval for noticing other processes' changes, and the longest time that a
	// cached caller goes unchecked. 0 is 400 ms, which even with a slow store stays within the
	// promised second.
	Poll  time.Duration
	Cache int // callers cached; 0 is 4,096

	Now         func() time.Time                // time.Now when nil
	Random      io.Reader                       // crypto/rand when nil
	NewID       func() string                   // UUIDv7 when nil
	GenerateRSA func() (*rsa.PrivateKey, error) // 2,048 bits when nil
	Logger      *slog.Logger                    // slog.Default when nil
}

// Bounds of a token's life, and the clock difference that is tolerated.
const (
	MinLife     = 15 * time.Minute
	DefaultLife = 30 * time.Minute
	MaxLife     = 60 * time.Minute
	Leeway      = 30 * time.Second
)

// Service authenticates credentials and keeps keys and invitations. It is safe for concurrent use.
type Service struct {
	cfg     Config
	cache   *callerCache
	ring    *keyring
	outside outsiders
	watch   *watchers

	documents *documents
	// epoch is incremented whenever cached credentials may be out of date.
	epoch atomic.Uint64

	quit chan struct{}
	done chan struct{}
	stop context.CancelFunc
}

// New returns a Service and starts the goroutine that polls for changes by other processes. Close
// it.
func New(c Config) (*Service, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	outside, err := newOutsiders(c)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	s := &Service{
		cfg: c, cache: newCallerCache(c.Cache), ring: newKeyring(c), outside: outside, watch: newWatchers(),
		documents: newDocuments(c),
		quit:      make(chan struct{}), done: make(chan struct{}), stop: stop,
	}
	go s.poll(ctx)
	return s, nil
}

func (c Config) withDefaults() (Config, error) {
	if c.Store == nil || c.Worlds == nil {
		return c, errors.New("identity: Store and Worlds must be set")
	}
	c.Life = cmp.Or(c.Life, DefaultLife)
	if c.Life < MinLife || c.Life > MaxLife {
		return c, fmt.Errorf("identity: the lifetime of tokens must be %s to %s, not %s", MinLife, MaxLife, c.Life)
	}
	c.Issuer = cmp.Or(c.Issuer, "loregate")
	if len(c.Audiences) == 0 {
		c.Audiences = []string{"loregate"}
	}
	if c.Poll <= 0 {
		c.Poll = 400 * time.Millisecond
	}
	if c.Cache <= 0 {
		c.Cache = 4096
	}
	return c.withSources(), nil
}

func (c Config) withSources() Config {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Random == nil {
		c.Random = rand.Reader
	}
	if c.NewID == nil {
		c.NewID = func() string { return uuid.Must(uuid.NewV7()).String() }
	}
	if c.GenerateRSA == nil {
		c.GenerateRSA = func() (*rsa.PrivateKey, error) { return rsa.GenerateKey(rand.Reader, 2048) }
	}
	c.Logger = cmp.Or(c.Logger, slog.Default())
	return c
}

// Close stops the polling and ends all watches.
func (s *Service) Close() {
	s.stop()
	<-s.done
	s.watch.endAll()
}

// Invalidate makes the next use of every credential read the store and the worlds again. Call it
// when memberships have changed in this process; changes by other processes show within a second
// without it.
func (s *Service) Invalidate() { s.epoch.Add(1) }
