package mcpd_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"loregate/internal/access"
	"loregate/internal/mcpd"
)

// listener is a client that receives notices of changes.
type listener struct {
	*mcp.ClientSession
	t     *testing.T
	era   string
	heard chan string
	acked chan struct{}
}

// client makes the client of a listener, not yet connected.
func (l *listener) client() *mcp.Client {
	c := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
		ResourceUpdatedHandler: func(_ context.Context, r *mcp.ResourceUpdatedNotificationRequest) {
			l.heard <- r.Params.URI
		}})
	c.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			if method == "notifications/subscriptions/acknowledged" {
				l.acked <- struct{}{}
			}
			return next(ctx, method, req)
		}
	})
	return c
}

func newListener(t *testing.T, era string) *listener {
	return &listener{t: t, era: era, heard: make(chan string, 100), acked: make(chan struct{}, 100)}
}

func (s *stage) listener(t *testing.T, era, token string) *listener {
	t.Helper()
	l := newListener(t, era)
	var err error
	l.ClientSession, err = l.client().Connect(t.Context(), s.transport(token, "/mcp"),
		&mcp.ClientSessionOptions{ProtocolVersion: era})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// follow subscribes, and waits until the subscription is in place.
func (l *listener) follow(uris ...string) {
	l.t.Helper()
	for _, uri := range uris {
		if err := l.Subscribe(l.t.Context(), &mcp.SubscribeParams{URI: uri}); err != nil {
			l.t.Fatal(err)
		}
		if l.era == modern {
			<-l.acked
		}
	}
}

func (l *listener) hears(want string) {
	l.t.Helper()
	if got := <-l.heard; got != want {
		l.t.Errorf("heard of %s, want %s", got, want)
	}
}

const (
	mill  = "book://page/mill"
	crypt = "book://page/crypt"
	later = "book://page/later"
)

func TestSubscribersAreNotifiedOfVisibleChanges(t *testing.T) {
	s := open(t)
	eachEra(t, func(t *testing.T, era string) {
		gm, user := s.listener(t, era, "gm"), s.listener(t, era, "user")
		gm.follow(crypt)
		user.follow(crypt, later, mill)
		s.book.write("crypt", access.LevelGM, "Something stirs. "+era)
		gm.hears(crypt)
		s.book.write("later", access.LevelUser, "Here now. "+era) // was absent, or had another text
		user.hears(later)
		s.book.write("crypt", access.LevelUser, "Open to all. "+era) // was hidden
		user.hears(crypt)
		gm.hears(crypt)
		s.book.write("crypt", access.LevelGM, "Under the mill.")
		user.hears(crypt)
		gm.hears(crypt)
		if len(user.heard)+len(gm.heard) > 0 {
			t.Error("somebody heard more than changed for them")
		}
	})
}

func TestUnsubscribedClientsGetNoNotices(t *testing.T) {
	s := open(t)
	l := s.listener(t, older, "user")
	l.follow(crypt, mill)
	if err := l.Unsubscribe(t.Context(), &mcp.UnsubscribeParams{URI: crypt}); err != nil {
		t.Fatal(err)
	}
	s.book.write("crypt", access.LevelUser, "Open to all.")
	s.book.write("mill", access.LevelUser, "Burnt.")
	l.hears(mill)
}

func TestDemotedSubscriberIsNotifiedByPresentRights(t *testing.T) {
	s := open(t)
	l := s.listener(t, older, "gm")
	l.follow(crypt, mill)
	s.auth.let("gm", caller("gm", access.RoleUser))
	s.book.write("mill", access.LevelUser, "Burnt.")
	l.hears(crypt) // it is absent now
	l.hears(mill)
	s.book.write("crypt", access.LevelGM, "Something stirs.")
	s.book.write("mill", access.LevelUser, "Built again.")
	l.hears(mill)
}

func TestSubscriptionsAreBounded(t *testing.T) {
	s := open(t, func(c *mcpd.Config) { c.MaxListens = 2 })
	l := s.listener(t, older, "user")
	l.follow(mill, crypt, mill)
	err := l.Subscribe(t.Context(), &mcp.SubscribeParams{URI: later})
	wantRPC(t, err, -32602, "payload_too_large")
}

// TestNoticesKeepTheirPace drives a stdio server inside a synctest bubble, with fake time.
func TestNoticesKeepTheirPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := bubble(t)
		s.say(initialize, `{"jsonrpc":"2.0","method":"notifications/initialized"}`,
			`{"jsonrpc":"2.0","id":2,"method":"resources/subscribe","params":{"uri":"`+mill+`"}}`)
		synctest.Wait()
		began := time.Now()
		for n := range 25 {
			s.book.write("mill", access.LevelUser, time.Duration(n).String())
			time.Sleep(10 * time.Millisecond) // in fake time
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if got := s.heard("resources/updated"); got < 2 || got > 4 {
			t.Errorf("%d notices of 25 changes in %v, want one per 100 ms", got, time.Since(began)-time.Second)
		}
		before := s.heard("resources/updated")
		s.book.write("crypt", access.LevelGM, "Something stirs.")
		s.book.write("mill", access.LevelUser, time.Duration(24).String()) // unchanged
		time.Sleep(time.Second)
		synctest.Wait()
		if got := s.heard("resources/updated"); got != before {
			t.Errorf("%d notices of what did not change for the caller", got-before)
		}
	})
}
