package canon_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
)

// on returns an actor of a surface, with an idempotency key ("" means no key).
func (s *scene) on(surface string, effect access.Effect, key string) actor {
	c := access.Caller{Subject: "host", EveryRole: access.RoleGM}
	return s.admit(c, access.Request{Operation: "turn", Surface: surface, Effect: effect, World: s.world,
		IdempotencyKey: key})
}

func (a actor) append(id canon.StreamID, after canon.Seq, types ...string) (canon.Receipt, error) {
	var events []canon.Event
	for _, t := range types {
		events = append(events, canon.Event{Type: t, Payload: json.RawMessage(`{"n": 1}`)})
	}
	return a.s.canon.Append(a.s.t.Context(), a.grant, id, after, events)
}

// records lists the records of a ledger as "seq:type".
func (a actor) records(id canon.StreamID, from canon.Seq) (text string, err error) {
	for rec, err := range a.s.canon.Records(a.s.t.Context(), a.grant, id, from) {
		if err != nil {
			return text, err
		}
		text += fmt.Sprintf(" %d:%s", rec.Seq, rec.Event.Type)
	}
	return text, nil
}

func TestLedgerAppendsInOrder(t *testing.T) {
	s := newScene(t)
	game := canon.LedgerStream("game", "one")
	host := s.on("alignment", access.Write, "")
	r, err := host.append(game, 0, "begun", "dealt")
	if err != nil || r.Seq != 2 {
		t.Fatalf("%+v, %v", r, err)
	}
	if _, err := host.append(game, 1, "late"); !errors.Is(err, fault.Conflict) || !canon.Moved(err) {
		t.Errorf("appending behind the head: %v", err)
	}
	if _, err := host.append(game, 2, "voted"); err != nil {
		t.Fatal(err)
	}
	if got, err := host.records(game, 2); err != nil || got != " 2:dealt 3:voted" {
		t.Errorf("the ledger tells %q, %v", got, err)
	}
	if h, err := s.canon.Head(t.Context(), host.grant, game); err != nil || h.Seq != 3 {
		t.Errorf("head %+v, %v", h, err)
	}
	all, err := s.canon.Verify(t.Context(), s.as("operator").grant, nil)
	if err != nil || len(all) != 2 {
		t.Errorf("verified %+v, %v", all, err)
	}
	s.wantRebuilt()
}

func TestALedgerIsReadInWholePages(t *testing.T) {
	s := newScene(t)
	game, host := canon.LedgerStream("game", "long"), s.on("alignment", access.Write, "")
	types := make([]string, 600)
	for i := range types {
		types[i] = "step"
	}
	if _, err := host.append(game, 0, types...); err != nil {
		t.Fatal(err)
	}
	n := canon.Seq(0)
	for rec, err := range s.canon.Records(t.Context(), host.grant, game, 1) {
		if n++; err != nil || rec.Seq != n {
			t.Fatalf("record %d has number %d, %v", n, rec.Seq, err)
		}
	}
	if n != 600 {
		t.Errorf("%d records", n)
	}
}

func TestLedgerIsOpenOnlyToItsSurface(t *testing.T) {
	s := newScene(t)
	game, mine := canon.LedgerStream("game", "one"), canon.LedgerStream("proposals", s.world.String())
	host := s.on("alignment", access.Write, "")
	if _, err := host.append(game, 0, "begun"); err != nil {
		t.Fatal(err)
	}
	if _, err := host.append(mine, 0, "made"); err != nil {
		t.Errorf("a ledger of any surface: %v", err)
	}
	other, err := s.canon.CreateWorld(t.Context(), s.as("operator").grant, canon.NewWorld{Slug: "other"})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name string
		who  actor
		id   canon.StreamID
	}{
		{"of another surface", s.on("archive", access.Write, ""), game},
		{"of no kind", host, "one"},
		{"of an unknown kind", host, canon.LedgerStream("run", "one")},
		{"of a world's canon", host, canon.WorldStream(s.world)},
		{"without an id", host, canon.LedgerStream("game", "")},
		{"of another world", host, canon.LedgerStream("proposals", other.ID.String())},
		{"of another world, in parts", host, canon.LedgerStream("proposals", other.ID.String()+"/a")},
	} {
		_, err := test.who.append(test.id, 0, "in")
		_, rerr := test.who.records(test.id, 1)
		_, herr := s.canon.Head(t.Context(), test.who.grant, test.id)
		for _, err := range []error{err, rerr, herr} {
			if !errors.Is(err, fault.NotFound) {
				t.Errorf("a ledger %s: %v", test.name, err)
			}
		}
	}
	if _, err := s.canon.Append(t.Context(), access.Grant{}, game, 1, nil); err == nil {
		t.Error("a call without a grant appends")
	}
}

func TestAppendRepeatAndDryRun(t *testing.T) {
	s := newScene(t)
	game := canon.LedgerStream("game", "one")
	first, err := s.on("alignment", access.Write, "k").append(game, 0, "a", "b")
	if err != nil {
		t.Fatal(err)
	}
	again, err := s.on("alignment", access.Write, "k").append(game, 0, "a", "b")
	if err != nil || !again.Replayed || again.Change != first.Change || again.Seq != 2 {
		t.Errorf("repeated: %+v, %v; first %+v", again, err, first)
	}
	host := s.on("alignment", access.Write, "")
	host.grant = host.grant.DryRun()
	if r, err := host.append(game, 2, "c"); err != nil || !r.DryRun {
		t.Errorf("rehearsed: %+v, %v", r, err)
	}
	if _, err := s.on("alignment", access.Read, "").append(game, 2, "c"); err == nil {
		t.Error("an operation that reads appends")
	}
	if _, err := s.on("alignment", access.Propose, "").append(game, 2, ""); !errors.Is(err, fault.Invalid) {
		t.Errorf("an event without a type: %v", err)
	}
	if _, err := s.on("alignment", access.Propose, "").append(game, 2, "c"); err != nil {
		t.Errorf("an operation that proposes: %v", err)
	}
	if got, _ := s.on("alignment", access.Read, "").records(game, 1); got != " 1:a 2:b 3:c" {
		t.Errorf("the ledger tells %q", got)
	}
}
