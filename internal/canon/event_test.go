package canon_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
)

func (a actor) sendEvent(e canon.Event) (canon.Receipt, error) {
	return a.do(func(p *canon.Plan) error { return p.Event(e) })
}

// events lists the events that an actor sees, latest first.
func (a actor) events(q canon.EventQuery) (list []canon.StoredEvent) {
	a.s.t.Helper()
	q.Page = canon.Page{Limit: 100}
	err := a.read(func(snap *canon.Snapshot) (err error) {
		list, _, err = snap.Events(a.s.t.Context(), q)
		return err
	})
	if err != nil {
		a.s.t.Fatal(err)
	}
	return list
}

func TestAnEventIsSeenByThoseWhoSeeItsLabel(t *testing.T) {
	s := newScene(t)
	cause := uuid.New()
	r := s.as("user").must(func(p *canon.Plan) error {
		p.Cause(cause)
		return p.Event(canon.Event{Type: "said", Scope: "place:1", Payload: []byte(`{"text":"hello <b>"}`),
			Actor: canon.EventActor{Kind: "player", ID: "7"}, Version: 1})
	})
	if _, err := s.as("gm").sendEvent(canon.Event{Type: "plotted", Label: access.NewLabel(access.LevelGM)}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.as("user").sendEvent(canon.Event{Type: "plotted",
		Label: access.NewLabel(access.LevelGM)}); !errors.Is(err, fault.Denied) {
		t.Errorf("an event above its author's view: %v", err)
	}
	heard := s.as("user").events(canon.EventQuery{})
	if len(heard) != 1 || len(s.as("gm").events(canon.EventQuery{})) != 2 {
		t.Fatalf("the user hears %+v", heard)
	}
	e := heard[0]
	if e.ID != r.Change || e.Seq != r.Seq || e.Causation != cause.String() || e.By != "user" || e.Actor.ID != "7" ||
		!e.At.Equal(r.At) {
		t.Errorf("the event %+v of %+v", e, r)
	}
	s.wantRebuilt()
}

func TestEventIsValidated(t *testing.T) {
	s := newScene(t)
	for field, e := range map[string]canon.Event{
		"event.type":       {},
		"event.payload":    {Type: "a", Payload: []byte(`{`)},
		"event.actor.kind": {Type: "a", Actor: canon.EventActor{Kind: "ghost"}},
		"event.key":        {Type: "a", Key: string(make([]byte, 300))},
	} {
		_, err := s.as("gm").sendEvent(e)
		var f *fault.Error
		if !errors.As(err, &f) || len(f.Fields) != 1 || f.Fields[0].Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
}

func TestRepeatedEventIsRecognised(t *testing.T) {
	s := newScene(t)
	once := func(who, key string, label access.Label) (told bool) {
		t.Helper()
		_, err := s.as(who).do(func(p *canon.Plan) error {
			earlier, sent, err := p.EventOnce(canon.Event{Type: "hit", Key: key, Label: label})
			if told = !sent; sent && earlier.Key != key {
				t.Errorf("the earlier event %+v", earlier)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return told
	}
	gm := access.NewLabel(access.LevelGM)
	for i, step := range []struct {
		who, key string
		label    access.Label
		want     bool
	}{
		{"user", "a", access.Label{}, true}, {"gm", "a", access.Label{}, false}, {"user", "b", access.Label{}, true},
		{"gm", "c", gm, true}, {"user", "c", access.Label{}, true}, // the key of a hidden event is free
	} {
		if got := once(step.who, step.key, step.label); got != step.want {
			t.Errorf("step %d: told %t", i, got)
		}
	}
	s.now = s.now.Add(7*24*time.Hour + time.Minute)
	if !once("user", "a", access.Label{}) {
		t.Error("a key is remembered for longer than a week")
	}
	if _, err := s.as("user").do(func(p *canon.Plan) error { _, _, err := p.EventOnce(canon.Event{Type: "hit"}); return err }); !errors.Is(err, fault.Invalid) {
		t.Errorf("without a key: %v", err)
	}
}

// A plan depends on the link that it moves: if another writer moved it first, the plan runs again.
func TestConcurrentLinkMovesAreReplanned(t *testing.T) {
	s := newScene(t)
	gm := s.as("gm")
	for _, name := range []string{"Hero", "Hall", "Yard"} {
		gm.create(name, "")
	}
	hero, _, _ := gm.card("Hero")
	id := canon.LinkIDOf("at", hero.ID.String())
	if id == canon.LinkIDOf("a", "t"+hero.ID.String()) || id != canon.LinkIDOf("at", hero.ID.String()) {
		t.Error("the id of a link does not follow from its parts")
	}
	for _, round := range []string{"where there was none", "where there was one"} {
		var from []canon.Seq
		move := func(to string, meanwhile func()) func(*canon.Plan) error {
			return func(p *canon.Plan) error {
				list, _, err := p.Links(t.Context(), canon.LinkQuery{From: hero.ID, Kinds: []string{"at"},
					Page: canon.Page{Limit: 1}})
				if err != nil {
					return err
				}
				l := canon.Link{ID: id}
				if len(list) > 0 {
					l = list[0]
				}
				from = append(from, l.Since)
				p.DependOnLink(l)
				if meanwhile != nil {
					meanwhile()
					meanwhile = nil
				}
				there, err := p.Card(to)
				if err == nil {
					_, err = p.Link(canon.Link{ID: id, Kind: "at", From: hero.ID, To: there.ID})
				}
				return err
			}
		}
		var other canon.Receipt
		gm.must(move("Hall", func() { other = gm.must(move("Yard", nil)) }))
		if len(from) != 3 || from[0] != from[1] || from[2] != other.Seq {
			t.Errorf("%s: planned from %v; the other move was commit %d", round, from, other.Seq)
		}
	}
	s.wantRebuilt()
}

// Of two calls that send the same event at once, the later one finds the event of the other.
func TestConcurrentSameEventIsStoredOnce(t *testing.T) {
	s := newScene(t)
	tell := func(meanwhile func()) (sent bool) {
		t.Helper()
		s.as("user").must(func(p *canon.Plan) (err error) {
			_, sent, err = p.EventOnce(canon.Event{Type: "hit", Key: "a"})
			if meanwhile != nil {
				meanwhile()
				meanwhile = nil
			}
			return err
		})
		return sent
	}
	if !tell(func() { tell(nil) }) {
		t.Error("the later does not find the other's")
	}
	if heard := s.as("user").events(canon.EventQuery{}); len(heard) != 1 {
		t.Errorf("%d events", len(heard))
	}
}

func TestHiddenLinkCausesNoConflict(t *testing.T) {
	s := newScene(t)
	gm := s.as("gm")
	gm.create("A", "")
	a, _, _ := gm.card("A")
	id := canon.LinkIDOf("exit", "north")
	gm.must(func(p *canon.Plan) error {
		_, err := p.Link(canon.Link{ID: id, Kind: "exit", From: a.ID, To: a.ID, Label: access.NewLabel(access.LevelGM)})
		return err
	})
	s.as("user").must(func(p *canon.Plan) error {
		p.DependOnLink(canon.Link{ID: id})
		_, err := p.Link(canon.Link{ID: id, Kind: "exit", From: a.ID, To: a.ID})
		return err
	})
	s.as("user").must(func(p *canon.Plan) error {
		mine := canon.Link{ID: id, Kind: "exit", From: a.ID, To: a.ID}
		gone := canon.Link{ID: canon.LinkIDOf("exit", "south"), Kind: "exit", From: a.ID, To: canon.CardID{1}}
		if err := p.PrefetchLinks([]canon.Link{mine, gone}); err != nil {
			return err
		}
		if _, err := p.Link(gone); fault.KindOf(err) != fault.NotFound {
			t.Errorf("a link to a card that does not exist: %v", err)
		}
		got, err := p.Link(mine)
		if got == id {
			t.Error("a prefetched plan replaces a hidden link")
		}
		return err
	})
	s.wantRebuilt()
}

func TestReadsAsOfACommit(t *testing.T) {
	s := newScene(t)
	gm := s.as("gm")
	gm.create("Hall", "one")
	hall, _, _ := gm.card("Hall")
	var then canon.Seq
	_ = gm.read(func(snap *canon.Snapshot) error { then = snap.As(access.LevelUser).Now(); return nil })
	at := s.now
	gm.edit("Hall", "two")
	gm.create("Yard", "")
	err := gm.read(func(snap *canon.Snapshot) error {
		seq, err := snap.SeqAt(t.Context(), at)
		if err != nil || seq != then || snap.Now() != then+2 {
			t.Errorf("at %v stood commit %d, %v; want %d; now %d", at, seq, err, then, snap.Now())
		}
		v, ok, err := snap.CardAt(t.Context(), hall.ID, seq)
		if err != nil || !ok || v.Rev != 1 {
			t.Errorf("then the card was %+v, %t, %v", v, ok, err)
		}
		list, err := snap.CardsAt(t.Context(), []canon.CardID{hall.ID}, snap.Now())
		if len(list) != 1 || list[0].Rev != 2 {
			t.Errorf("now the card is %+v", list)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
