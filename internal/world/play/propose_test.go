package play_test

import (
	"encoding/json"
	"errors"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/proposal"
	"loregate/internal/world"
	"loregate/internal/world/play"
	"loregate/internal/world/worldtest"
)

func proposed(s *worldtest.Scene, player string, frame string) play.ProposedAct {
	s.T.Helper()
	var a play.ProposedAct
	if err := json.Unmarshal([]byte(`{"playerId":"`+player+`","actionEnvelope":{"frames":[`+frame+`]}}`), &a); err != nil {
		s.T.Fatal(err)
	}
	return a
}

func TestProposedAct(t *testing.T) {
	s := worldtest.New(t)
	p := s.Joins("Mira")
	a := proposed(s, p.ID.String(), `{"verb":"move","direction":"north"}`)
	var event canon.Event
	s.Change(func(plan *canon.Plan) (err error) {
		if event, err = a.Plan(t.Context(), plan, access.NewLabel(access.LevelUser)); err != nil {
			return err
		}
		return plan.Event(event)
	})
	if p.Stands() != "Square" || event.Type != string(world.PlayerMove) || event.Actor.ID != p.ID.String() {
		t.Errorf("at %s after %+v", p.Stands(), event)
	}
	_, err := s.Canon.Update(t.Context(), s.Admin, func(plan *canon.Plan) error {
		_, err := proposed(s, p.ID.String(), `{"verb":"move","direction":"east"}`).Plan(t.Context(), plan,
			access.NewLabel(access.LevelUser))
		return err
	})
	if !errors.Is(err, fault.Rule) {
		t.Errorf("through a locked door: %v", err)
	}
}

// A proposed act makes no card of a noun: it is refused, in words that say why.
func TestProposedActOnANounOfTheText(t *testing.T) {
	s := newCompany(t)
	p := s.Joins("Mira")
	for _, frame := range []string{`{"verb":"talk","directObject":"letter-writer"}`, `{"verb":"take","directObject":"turbot"}`} {
		_, err := s.Canon.Update(t.Context(), s.Admin, func(plan *canon.Plan) error {
			_, err := proposed(s, p.ID.String(), frame).Plan(t.Context(), plan, access.NewLabel(access.LevelUser))
			return err
		})
		if !errors.Is(err, fault.Rule) {
			t.Errorf("%s: %v", frame, err)
		}
	}
}

func TestProposedActOfOthersNeedsReview(t *testing.T) {
	s := worldtest.New(t)
	p := s.Joins("Mira")
	check := func(who access.Grant, player string) (f proposal.Finding) {
		t.Helper()
		err := s.Canon.Read(t.Context(), who, func(snap *canon.Snapshot) (err error) {
			f, err = proposed(s, player, `{"verb":"look"}`).Check(t.Context(), proposal.State{Snapshot: snap})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	for who, review := range map[string]bool{"host": false, "stranger": true, "gm": false} {
		if f := check(s.Grant(who), p.ID.String()); len(f.Issues) > 0 || (f.Review != "") != review {
			t.Errorf("%s: %+v", who, f)
		}
	}
	absent := check(s.Grant("user"), "01900000-0000-7000-8000-000000000000")
	for _, name := range []string{"Ghost", "Oda Tarn", "Cellar"} {
		got := check(s.Grant("user"), s.IDOf(name).String())
		if len(got.Issues) != 1 || got.Issues[0] != absent.Issues[0] {
			t.Errorf("%s: %+v, of nobody %+v", name, got, absent)
		}
	}
}

func TestActionKind(t *testing.T) {
	if k := play.ActionKind(); k.Schema() != "player_action/1" || k.Tool.Name != "propose-action" {
		t.Errorf("%+v", k)
	}
}
