package scaletest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/app"
	"loregate/internal/app/apptest"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/op"
)

// onEachStore runs a test on a data folder and on PostgreSQL.
func onEachStore(t *testing.T, test func(t *testing.T, at string)) {
	t.Run("embedded", func(t *testing.T) { test(t, t.TempDir()) })
	t.Run("postgres", func(t *testing.T) { test(t, database(t)) })
}

// reading is a world with readers, for questions about what they have seen.
type reading struct {
	t     *testing.T
	app   *app.App
	shut  func()
	at    string
	world access.WorldID
	cards map[string]canon.CardID
}

func newReading(t *testing.T, at string) *reading {
	r := &reading{t: t, at: at, cards: map[string]canon.CardID{}}
	r.app, r.shut = openAppOnce(t, at, app.Options{})
	if err := r.app.EnsureWorld(t.Context()); err != nil {
		t.Fatal(err)
	}
	w, _, err := r.app.Canon.WorldBySlug(t.Context(), app.FirstWorld)
	if err != nil {
		t.Fatal(err)
	}
	r.world = w.ID
	r.make("Lantern", "", "It burns at dusk.", "")
	r.make("Ferry", "", "It crosses the water.", "")
	r.make("Vault", "", "The rope is hidden here.", "gm")
	return r
}

func (r *reading) caller(who access.Subject) access.Caller {
	role := access.RoleUser
	if who == "gm" {
		role = access.RoleGM
	}
	c := app.Local(role)
	c.Subject = who
	return c
}

func (r *reading) make(name, cardType, content, level string) {
	r.t.Helper()
	in := map[string]string{"name": name, "content": content}
	if cardType != "" {
		in["type"] = cardType
	}
	if level != "" {
		in["level"] = level
	}
	b, err := json.Marshal(in)
	if err != nil {
		r.t.Fatal(err)
	}
	r.cards[name] = canon.CardID{}
	var out struct{ ID canon.CardID }
	if err := json.Unmarshal(r.call("gm", "create_card", string(b)), &out); err != nil || out.ID.IsZero() {
		r.t.Fatalf("create %s: %v", name, err)
	}
	r.cards[name] = out.ID
}

func (r *reading) call(who access.Subject, operation, input string) []byte {
	r.t.Helper()
	a, err := r.app.Ops.Invoke(r.t.Context(), r.caller(who), op.Request{Operation: operation, World: app.FirstWorld,
		Input: []byte(input)})
	if err != nil {
		r.t.Fatalf("%s %s: %v", operation, input, err)
	}
	return a.Output
}

// put puts a player at a place.
func (r *reading) put(player, place string) {
	r.t.Helper()
	ctx := r.t.Context()
	a, err := r.app.Guard.Admit(ctx, r.caller("gm"), access.Request{Operation: "put", Effect: access.Write, World: r.world})
	if err != nil {
		r.t.Fatal(err)
	}
	defer a.Done(ctx, 0, nil)
	_, err = r.app.Canon.Update(ctx, a.Grant, func(p *canon.Plan) error {
		from, to := r.cards[player], r.cards[place]
		_, err := p.Link(canon.Link{ID: canon.LinkIDOf("at", player, place), Kind: "at", From: from, To: to,
			Attrs: []byte("{}"), Label: access.NewLabel(access.LevelUser)})
		return err
	})
	if err != nil {
		r.t.Fatal(err)
	}
}

// seen returns the entries about a card below the game master's role, as text.
func (r *reading) seen(name string, since time.Time) string {
	r.t.Helper()
	list, err := r.ask(r.caller("gm"), since, r.cards[name])
	if err != nil {
		r.t.Fatal(err)
	}
	list = slices.DeleteFunc(list, func(s access.Seen) bool { return s.Role >= access.RoleGM })
	slices.SortFunc(list, func(a, b access.Seen) int { return strings.Compare(string(a.Subject), string(b.Subject)) })
	text := ""
	for _, s := range list {
		if s.First.After(s.Last) || time.Since(s.Last) > time.Hour {
			r.t.Errorf("%s was seen from %s to %s", name, s.First, s.Last)
		}
		text += fmt.Sprintf("%s %d %v\n", s.Subject, s.Times, s.Operations)
	}
	return text
}

func (r *reading) ask(c access.Caller, since time.Time, cards ...canon.CardID) (list []access.Seen, err error) {
	a, err := r.app.Guard.Admit(r.t.Context(), c, access.Request{Operation: "ask", World: r.world, MinRole: access.RoleUser})
	if err != nil {
		r.t.Fatal(err)
	}
	defer a.Done(r.t.Context(), 0, nil)
	return r.app.Canon.SeenBy(r.t.Context(), a.Grant, cards, since)
}

func (r *reading) want(name, want string) {
	r.t.Helper()
	if got := r.seen(name, time.Time{}); got != want {
		r.t.Errorf("%s was seen by\n%swant\n%s", name, got, want)
	}
}

// TestEveryAnswerThatHeldACardCounts has one reader for each way of reading.
func TestEveryAnswerThatHeldACardCounts(t *testing.T) { onEachStore(t, testEveryAnswer) }

func testEveryAnswer(t *testing.T, at string) {
	r := newReading(t, at)
	for _, way := range []struct {
		who              access.Subject
		operation, input string
	}{
		{"by-name", "get_card", `{"name": "Lantern"}`},
		{"by-list", "search_cards", `{"prefix": "Lan"}`},
		{"by-search", "search_cards", `{"q": "dusk"}`},
		{"by-changes", "recent_changes", `{}`},
		{"by-history", "get_card_history", `{"name": "Lantern"}`},
		{"by-door", "browse", `{"name": "Lantern"}`},
	} {
		r.call(way.who, way.operation, way.input)
		got := r.seen("Lantern", time.Time{})
		if want := fmt.Sprintf("%s 1 [%s]\n", way.who, way.operation); !strings.Contains(got, want) {
			t.Errorf("after %s:\n%s", way.operation, got)
		}
	}
	if got := r.seen("Vault", time.Time{}); got != "" {
		t.Errorf("players saw a hidden card:\n%s", got)
	}
	if got := r.seen("Ferry", time.Time{}); strings.Count(got, "\n") != 1 { // only by-changes
		t.Errorf("the ferry was seen by\n%s", got)
	}
}

func TestAnswersFromTheCacheCount(t *testing.T) {
	onEachStore(t, func(t *testing.T, at string) {
		r := newReading(t, at)
		for range 5 {
			r.call("ada", "get_card", `{"name": "Lantern"}`)
		}
		r.want("Lantern", "ada 5 [get_card]\n")
	})
}

func TestResourcesAndSuggestionsCount(t *testing.T) {
	onEachStore(t, func(t *testing.T, at string) {
		r := newReading(t, at)
		read := func(uri string, compared bool) {
			_, err := r.app.Ops.ReadResource(t.Context(), r.caller("ada"), op.ResourceRequest{
				Ask: op.Ask{World: app.FirstWorld}, URI: uri, Compared: compared})
			if err != nil {
				t.Fatal(err)
			}
		}
		read("archive://card/Lantern", false)
		read("archive://card/Ferry", true) // as for a subscription
		r.want("Lantern", "ada 1 [card]\n")
		r.want("Ferry", "")
		_, err := r.app.Ops.Invoke(t.Context(), r.caller("ben"), op.Request{Operation: "get_card", World: app.FirstWorld,
			Input: []byte(`{"name": "Ferri"}`)})
		if !errors.Is(err, fault.NotFound) {
			t.Fatal(err)
		}
		r.want("Ferry", "ben 1 [get_card]\n")
	})
}

// TestAnOpenStreamCounts follows the players on the map, and asks while the stream is open.
func TestAnOpenStreamCounts(t *testing.T) {
	onEachStore(t, func(t *testing.T, at string) {
		r := newReading(t, at)
		r.make("Mira", "Player", "", "")
		r.put("Mira", "Ferry")
		feeds := r.app.Ops.Feeds()
		feed := feeds[slices.IndexFunc(feeds, func(f *op.Feed) bool { return f.Name == "follow_map" })]
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		st, err := r.app.Ops.Follow(ctx, r.caller("ada"), op.FeedRequest{Ask: op.Ask{World: app.FirstWorld}, Feed: feed})
		if err != nil {
			t.Fatal(err)
		}
		for m, err := range st.Messages {
			if err != nil {
				t.Fatal(err)
			}
			st.Sent(len(m.Data))
			st.Sent(len(m.Data)) // nothing new
			break
		}
		r.want("Mira", "ada 1 [follow_map]\n")
		st.Close(nil)
		r.want("Mira", "ada 1 [follow_map]\n")
		r.want("Vault", "")
	})
}

// TestAnExportMayHoldEveryCard exports more cards than a record names, and a bundle.
func TestAnExportMayHoldEveryCard(t *testing.T) {
	onEachStore(t, func(t *testing.T, at string) {
		r := newReading(t, at)
		if _, err := r.app.Export(t.Context(), "lore", app.FirstWorld, filepath.Join(t.TempDir(), "w.lore"),
			access.RoleUser, nil); err != nil {
			t.Fatal(err)
		}
		list, err := r.ask(r.caller("gm"), time.Time{}, r.cards["Ferry"])
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(list, func(s access.Seen) bool { return s.Whole > 0 })
		if i < 0 || !slices.Contains(list[i].Operations, "export_lore") {
			t.Errorf("after the export %+v", list)
		}
	})
}

// TestWhatWasSeenIsKnownToAllProcesses reads through two processes, of which one is stopped.
func TestWhatWasSeenIsKnownToAllProcesses(t *testing.T) {
	onEachStore(t, func(t *testing.T, at string) {
		r := newReading(t, at)
		r.call("ada", "get_card", `{"name": "Lantern"}`)
		first, shutFirst := r.app, r.shut
		r.app, r.shut = openAppOnce(t, at, app.Options{})
		r.call("ben", "get_card", `{"name": "Lantern"}`)
		second := r.app
		apart := func(p *app.App, want string) {
			t.Helper()
			r.app = p
			apptest.Eventually(t, "seen by "+want, patience, func() bool { return r.seen("Lantern", time.Time{}) == want })
		}
		both := "ada 1 [get_card]\nben 1 [get_card]\n"
		apart(second, both)
		apart(first, both)
		r.call("ada", "get_card", `{"name": "Lantern"}`)
		shutFirst()
		apart(second, "ada 2 [get_card]\nben 1 [get_card]\n")
		r.app = second
		r.call("ben", "get_card", `{"name": "Lantern"}`)
		r.shut()
		r.app, _ = openAppOnce(t, at, app.Options{})
		r.want("Lantern", "ada 2 [get_card]\nben 2 [get_card]\n")
	})
}

// TestOnlyGameMastersLearnWhoHasSeen asks as a player, and about a card that the game master does not see.
func TestOnlyGameMastersLearnWhoHasSeen(t *testing.T) {
	onEachStore(t, func(t *testing.T, at string) {
		r := newReading(t, at)
		r.call("ada", "get_card", `{"name": "Lantern"}`)
		list, err := r.ask(r.caller("ada"), time.Time{}, r.cards["Lantern"])
		if !errors.Is(err, fault.Denied) || len(list) > 0 {
			t.Errorf("a player learned %+v, %v", list, err)
		}
		if list, err := r.ask(r.caller("gm"), time.Time{}, canon.CardID{1}); err != nil || len(list) > 0 {
			t.Errorf("of no card: %+v, %v", list, err)
		}
		if got := r.seen("Lantern", time.Now().Add(time.Hour)); got != "" {
			t.Errorf("from now on it was seen by\n%s", got)
		}
	})
}
