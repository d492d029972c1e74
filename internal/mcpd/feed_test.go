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

// listener is a client that hears of changes.
func (s *stage) listener(t *testing.T, era, token string) (*mcp.ClientSession, <-chan string) {
	heard := make(chan string, 100)
	cs := s.connect(t, era, token, "/mcp", &mcp.ClientOptions{
		ResourceUpdatedHandler: func(_ context.Context, r *mcp.ResourceUpdatedNotificationRequest) { heard <- r.Params.URI }})
	return cs, heard
}

func subscribe(t *testing.T, cs *mcp.ClientSession, uris ...string) {
	t.Helper()
	for _, uri := range uris {
		if err := cs.Subscribe(t.Context(), &mcp.SubscribeParams{URI: uri}); err != nil {
			t.Fatal(err)
		}
	}
}

const (
	mill  = "book://page/mill"
	crypt = "book://page/crypt"
	later = "book://page/later"
)

func wantHeard(t *testing.T, heard <-chan string, want string) {
	t.Helper()
	if got := <-heard; got != want {
		t.Errorf("heard of %s, want %s", got, want)
	}
}

// subscribed waits until a modern client's stream is in place: the client's Subscribe does
// not wait for the acknowledgement. A change that all see is repeated until it is heard.
func (s *stage) subscribed(heard <-chan string, uri, name string) {
	for n := 0; ; n++ {
		s.book.write(name, access.LevelUser, "text "+time.Duration(n).String())
		select {
		case <-heard:
			return
		case <-time.After(150 * time.Millisecond):
		}
	}
}

func TestSubscribersHearWhatTheySee(t *testing.T) {
	s := open(t)
	eachEra(t, func(t *testing.T, era string) {
		gmSession, gm := s.listener(t, era, "gm")
		userSession, user := s.listener(t, era, "user")
		subscribe(t, gmSession, crypt)
		subscribe(t, userSession, crypt, later, mill)
		s.subscribed(user, mill, "mill")
		s.book.write("crypt", access.LevelGM, "Something stirs. "+era)
		wantHeard(t, gm, crypt)
		s.book.write("later", access.LevelUser, "Here now. "+era) // was absent
		wantHeard(t, user, later)
		s.book.write("crypt", access.LevelUser, "Open to all. "+era) // was hidden
		wantHeard(t, user, crypt)
		wantHeard(t, gm, crypt)
		if len(user)+len(gm) > 0 {
			t.Error("somebody heard more than changed for them")
		}
		s.book.write("crypt", access.LevelGM, "Under the mill.")
		wantHeard(t, user, crypt)
	})
}

func TestUnsubscribedHearNothing(t *testing.T) {
	s := open(t)
	cs, heard := s.listener(t, older, "user")
	subscribe(t, cs, crypt, mill)
	if err := cs.Unsubscribe(t.Context(), &mcp.UnsubscribeParams{URI: crypt}); err != nil {
		t.Fatal(err)
	}
	s.book.write("crypt", access.LevelUser, "Open to all.")
	s.book.write("mill", access.LevelUser, "Burnt.")
	wantHeard(t, heard, mill)
}

func TestDemotedSubscriberHearsAsWhoItIsNow(t *testing.T) {
	s := open(t)
	cs, heard := s.listener(t, older, "gm")
	subscribe(t, cs, crypt, mill)
	s.auth.let("gm", caller("gm", access.RoleUser))
	s.book.write("mill", access.LevelUser, "Burnt.")
	for got := range heard { // that the crypt is gone for it shows once
		if got == mill {
			break
		}
	}
	for len(heard) > 0 {
		<-heard
	}
	s.book.write("crypt", access.LevelGM, "Something stirs.")
	s.book.write("mill", access.LevelUser, "Built again.")
	wantHeard(t, heard, mill)
}

func TestSubscriptionsAreBounded(t *testing.T) {
	s := open(t, func(c *mcpd.Config) { c.MaxListens = 2 })
	cs, _ := s.listener(t, older, "user")
	subscribe(t, cs, mill, crypt, mill)
	err := cs.Subscribe(t.Context(), &mcp.SubscribeParams{URI: later})
	wantRPC(t, err, -32602, "payload_too_large")
}

// TestNoticesKeepTheirPace drives a stdio server inside a bubble, where time is ours.
func TestNoticesKeepTheirPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := bubble(t)
		s.say(initialize, `{"jsonrpc":"2.0","method":"notifications/initialized"}`,
			`{"jsonrpc":"2.0","id":2,"method":"resources/subscribe","params":{"uri":"`+mill+`"}}`)
		synctest.Wait()
		began := time.Now()
		for n := range 25 {
			s.book.write("mill", access.LevelUser, time.Duration(n).String())
			time.Sleep(10 * time.Millisecond) // in the bubble's time
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if got := s.heard("resources/updated"); got < 2 || got > 4 {
			t.Errorf("%d notices of 25 changes in %v, want one per 100 ms", got, time.Since(began)-time.Second)
		}
		before := s.heard("resources/updated")
		s.book.write("crypt", access.LevelGM, "Something stirs.")
		s.book.write("mill", access.LevelUser, time.Duration(24).String()) // as it is
		time.Sleep(time.Second)
		synctest.Wait()
		if got := s.heard("resources/updated"); got != before {
			t.Errorf("%d notices of what did not change for the caller", got-before)
		}
	})
}
