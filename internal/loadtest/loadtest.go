package loadtest

import (
	"context"
	"fmt"
	"maps"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Kind is the kind of a call.
type Kind string

// The kinds of calls. Notice is the time from an acknowledged write to the subscriber's
// notification.
const (
	Read    Kind = "read"
	Search  Kind = "search"
	Write   Kind = "write"
	Propose Kind = "propose"
	Notice  Kind = "notice"
)

// DefaultMix gives the number of calls of each kind out of a hundred.
var DefaultMix = map[Kind]int{Read: 62, Search: 20, Write: 16, Propose: 2}

// Config configures a run. URLs, Key and World must be set; other zero fields take their defaults.
type Config struct {
	URLs     []string      // of servers on one store, such as http://127.0.0.1:8420
	Key      string        // API key
	Role     string        // of the token; default gm, or admin if the cards are to be cleaned up
	World    string        // slug of the world to write to
	Seed     uint64        // of all calls; default 1
	Cards    int           // written before the load begins; default 200
	Clients  int           // most concurrent calls; default 8
	Rate     float64       // calls a second, all clients together; 0: as fast as answers come
	Duration time.Duration // default 30 s
	Calls    int           // most calls; the run ends once they are made; 0: no limit
	Mix      map[Kind]int  // weights; nil is DefaultMix
	Watchers int           // subscribers; default 0
	Keep     bool          // leave the cards in the world
	Strange  bool          // allow servers on other machines

	Say func(format string, args ...any) // tells a person about the next step; nil: no output
}

// The bounds of a run.
const (
	MaxClients  = 1024
	MaxDuration = time.Hour
	MaxCards    = 1_000_000
)

func (c Config) withDefaults() (Config, error) {
	c.Seed, c.Cards, c.Clients = orDefault(c.Seed, 1), orDefault(c.Cards, 200), orDefault(c.Clients, 8)
	c.Duration = orDefault(c.Duration, 30*time.Second)
	if c.Mix == nil {
		c.Mix = DefaultMix
	}
	if c.Role == "" {
		if c.Role = "gm"; !c.Keep {
			c.Role = "admin"
		}
	}
	if c.Say == nil {
		c.Say = func(string, ...any) {}
	}
	return c, c.checkConfig()
}

func orDefault[T comparable](v, fallback T) T {
	var zero T
	if v == zero {
		return fallback
	}
	return v
}

func (c Config) checkConfig() error {
	switch {
	case len(c.URLs) == 0:
		return fmt.Errorf("url: say which server; http://127.0.0.1:8420 is the usual one")
	case c.Key == "":
		return fmt.Errorf("key: an API key is needed; make one with loregate key create")
	case c.World == "":
		return fmt.Errorf("world: say which world may be written to, by its slug; one of its own is best: loregate world create bench")
	case c.Clients < 1 || c.Clients > MaxClients:
		return fmt.Errorf("clients: %d is not between 1 and %d", c.Clients, MaxClients)
	case c.Duration < time.Second || c.Duration > MaxDuration:
		return fmt.Errorf("duration: %s is not between 1s and %s", c.Duration, MaxDuration)
	case c.Cards < 10 || c.Cards > MaxCards:
		return fmt.Errorf("cards: %d is not between 10 and %d", c.Cards, MaxCards)
	case c.Rate < 0 || c.Rate > 1e6:
		return fmt.Errorf("rate: %v is not a number of calls a second", c.Rate)
	case c.Calls < 0:
		return fmt.Errorf("calls: %d is not a number of calls", c.Calls)
	case c.Watchers < 0 || c.Watchers > MaxClients:
		return fmt.Errorf("watchers: %d is not between 0 and %d", c.Watchers, MaxClients)
	}
	for _, u := range c.URLs {
		if err := c.checkURL(u); err != nil {
			return err
		}
	}
	return checkMix(c.Mix)
}

func (c Config) checkURL(address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || strings.Trim(u.Path, "/") != "" ||
		u.User != nil || u.RawQuery != "" {
		return fmt.Errorf("url: %q is not the address of a server; write http://host:port", address)
	}
	ip := net.ParseIP(u.Hostname())
	if u.Hostname() == "localhost" || ip != nil && ip.IsLoopback() {
		return nil
	}
	if !c.Strange {
		return fmt.Errorf("url: %s is another machine; say --other-machine where it is yours to put under load", u.Host)
	}
	if u.Scheme == "http" {
		return fmt.Errorf("url: the key would travel in the clear to %s; use https", u.Host)
	}
	return nil
}

func checkMix(mix map[Kind]int) error {
	sum := 0
	for _, k := range slices.Sorted(maps.Keys(mix)) {
		if _, known := DefaultMix[k]; !known {
			return fmt.Errorf("mix: %q is none of read, search, write, propose", k)
		}
		if mix[k] < 0 || mix[k] > 1_000_000 {
			return fmt.Errorf("mix: %s has the weight %d; use 0 to 1000000", k, mix[k])
		}
		sum += mix[k]
	}
	if sum == 0 {
		return fmt.Errorf("mix: nothing has a weight")
	}
	return nil
}

// Run prepares the world, drives the servers, and cleans up. The error means that the run could not
// begin or not clean up; failed calls are in the report.
func Run(ctx context.Context, c Config) (*Report, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	p, err := newPlan(c.Seed, c.Cards, c.Mix)
	if err != nil {
		return nil, err
	}
	d := newDriver(c, p)
	defer d.close()
	if err := d.logIn(ctx); err != nil {
		return nil, err
	}
	if err := d.writeCards(ctx); err != nil {
		return nil, fmt.Errorf("write the cards that the load is about: %w", err)
	}
	report, err := d.runLoad(ctx)
	if err != nil || c.Keep {
		return report, err
	}
	// Cleaning up continues after the run is cancelled.
	clean, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Minute)
	defer cancel()
	if err := d.trashCards(clean); err != nil {
		return report, fmt.Errorf("put the cards into the trash: %w; they are below %s", err, p.root)
	}
	return report, nil
}
