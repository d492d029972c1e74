package world

import (
	"encoding/json"
	"errors"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/proposal"
)

func (s *scene) proposed(player string, frame string) proposedAct {
	s.t.Helper()
	var a proposedAct
	if err := json.Unmarshal([]byte(`{"playerId":"`+player+`","actionEnvelope":{"frames":[`+frame+`]}}`), &a); err != nil {
		s.t.Fatal(err)
	}
	return a
}

func TestProposedAct(t *testing.T) {
	s := newScene(t)
	p := s.joins("Mira")
	a := s.proposed(p.id.String(), `{"verb":"move","direction":"north"}`)
	var event canon.Event
	s.change(func(plan *canon.Plan) (err error) {
		if event, err = a.Plan(t.Context(), plan, access.NewLabel(access.LevelUser)); err != nil {
			return err
		}
		return plan.Event(event)
	})
	if p.stands() != "Square" || event.Type != string(PlayerMove) || event.Actor.ID != p.id.String() {
		t.Errorf("at %s after %+v", p.stands(), event)
	}
	_, err := s.canon.Update(t.Context(), s.admin, func(plan *canon.Plan) error {
		_, err := s.proposed(p.id.String(), `{"verb":"move","direction":"east"}`).Plan(t.Context(), plan,
			access.NewLabel(access.LevelUser))
		return err
	})
	if !errors.Is(err, fault.Rule) {
		t.Errorf("through a locked door: %v", err)
	}
}

func TestProposedActOfOthersNeedsReview(t *testing.T) {
	s := newScene(t)
	p := s.joins("Mira")
	check := func(who access.Grant, player string) (f proposal.Finding) {
		t.Helper()
		err := s.canon.Read(t.Context(), who, func(snap *canon.Snapshot) (err error) {
			f, err = s.proposed(player, `{"verb":"look"}`).Check(t.Context(), proposal.State{Snapshot: snap})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	for who, review := range map[string]bool{"host": false, "stranger": true, "gm": false} {
		if f := check(s.grant(who), p.id.String()); len(f.Issues) > 0 || (f.Review != "") != review {
			t.Errorf("%s: %+v", who, f)
		}
	}
	absent := check(s.grant("user"), "01900000-0000-7000-8000-000000000000")
	for _, name := range []string{"Ghost", "Oda Tarn", "Cellar"} {
		got := check(s.grant("user"), s.idOf(name).String())
		if len(got.Issues) != 1 || got.Issues[0] != absent.Issues[0] {
			t.Errorf("%s: %+v, of nobody %+v", name, got, absent)
		}
	}
}

func TestActionKind(t *testing.T) {
	if k := ActionKind(); k.Schema() != "player_action/1" || k.Tool.Name != "propose-action" {
		t.Errorf("%+v", k)
	}
}
