package proposal_test

import (
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/proposal"
)

// A standing approval lets proposals of a kind pass, up to a number per hour, below a card. It is
// stored, and one operation ends all of them. Proposals with other reasons to wait still wait.
func TestStandingApproval(t *testing.T) {
	s := newScene(t, "")
	bot, gm := s.as("ai-bot", access.RoleUser), s.approver(access.RoleGM)
	change := func(who actor, name, text string) proposal.Result {
		t.Helper()
		return who.propose("propose-canon-change", fields{"op": fields{"name": "write_card",
			"arguments": fields{"name": name, "content": text}}, "reason": "It rained."})
	}
	give := func(who actor, in fields) error {
		_, err := call[any](who, "give-standing-approval", in)
		return err
	}
	if r := change(bot, "Rain Log", "one"); r.Status != proposal.Pending {
		t.Fatalf("%+v", r)
	}
	for name, in := range map[string]fields{
		"no operation":        {"kind": "canon_change", "perHour": 2},
		"none that there is":  {"kind": "canon_change", "operation": "burn_card", "perHour": 2},
		"no kind that waits":  {"kind": "ambience", "perHour": 2},
		"too many":            {"kind": "quest", "perHour": 61},
		"a card out of sight": {"kind": "quest", "perHour": 2, "under": "The Drowned Attic"},
	} {
		if give(gm, in) == nil {
			t.Errorf("%s: it is given", name)
		}
	}
	given := fields{"kind": "canon_change", "operation": "write_card", "under": "Rent Quay", "perHour": 2}
	for name, who := range map[string]actor{"an agent": s.as("ai-gm", access.RoleGM),
		"a gm who may not approve": s.as("gm-2", access.RoleGM)} {
		if err := give(who, given); fault.KindOf(err) != fault.Denied && fault.KindOf(err) != fault.NotFound {
			t.Errorf("%s gives it: %v", name, err)
		}
	}
	if err := give(gm, given); err != nil {
		t.Fatal(err)
	}
	want := func(what string, r proposal.Result, status proposal.Status) {
		t.Helper()
		if r.Status != status || status == proposal.Accepted && r.EventID == "" {
			t.Errorf("%s: %+v, %+v", what, r, r.Rejection)
		}
	}
	want("the card", change(bot, "Rent Quay", "<p>Wet.</p>"), proposal.Accepted)
	want("another card", change(bot, "Fishgate Market", "<p>Wet.</p>"), proposal.Pending)
	want("what lies below", change(bot, "Rent Quay+steps", "<p>Slippery.</p>"), proposal.Accepted)
	want("the third in an hour", change(bot, "Rent Quay", "<p>Drier.</p>"), proposal.Pending)
	s.later(61 * time.Minute)
	other := s.another()
	if n, err := other.StandingLines(t.Context(), s.grant(gm.c,
		access.Request{Operation: "look", Effect: access.Read, World: s.world})); err != nil || len(n) != 1 {
		t.Errorf("another process knows of %v, %v", n, err)
	}
	want("an hour later", change(bot, "Rent Quay", "<p>Dry.</p>"), proposal.Accepted)
	want("its giver's own", change(gm, "Rent Quay", "<p>By the gm.</p>"), proposal.Pending)
	want("another kind", bot.propose("propose-quest", seed(nil)), proposal.Pending)
	if _, err := call[any](gm, "end-standing-approvals", fields{}); err != nil {
		t.Fatal(err)
	}
	want("after the switch", change(bot, "Rent Quay", "<p>Damp.</p>"), proposal.Pending)
}

// A standing approval names a card. It is hidden from everybody who does not see that card: from
// another approver of the same role, and from its giver once the card is hidden.
func TestStandingApprovalOfHiddenCard(t *testing.T) {
	s := newScene(t, "")
	giver, other := s.approver(access.RoleGM), s.as("approver-2", access.RoleGM)
	other.c.Approve = true
	label := func(l access.Label) {
		s.by("hide", s.world, func(p *canon.Plan) error {
			c, err := p.Card("~" + idOf("quay").String())
			if err == nil {
				_, err = p.SetLabel(c, l)
			}
			return err
		})
	}
	label(access.NewLabel(access.LevelAdmin, giver.c.Subject))
	if _, err := call[any](giver, "give-standing-approval",
		fields{"kind": "quest", "under": "Rent Quay", "perHour": 2}); err != nil {
		t.Fatal(err)
	}
	shown := func(who actor, want int) {
		t.Helper()
		out, err := call[struct{ Standing []any }](who, "list-standing-approvals", fields{})
		if err != nil || len(out.Standing) != want {
			t.Errorf("%s is shown %v, %v", who.c.Subject, out.Standing, err)
		}
		lines, err := s.service.StandingLines(t.Context(),
			s.grant(who.c, access.Request{Operation: "look", Effect: access.Read, World: s.world}))
		if err != nil || len(lines) != want {
			t.Errorf("%s is told %v, %v", who.c.Subject, lines, err)
		}
	}
	shown(giver, 1)
	shown(other, 0)
	label(access.NewLabel(access.LevelAdmin))
	shown(giver, 0)
	label(access.NewLabel(access.LevelUser))
	shown(giver, 1)
	shown(other, 1)
}
