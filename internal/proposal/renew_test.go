package proposal_test

import (
	"errors"
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/proposal"
)

// An outdated or expired proposal is made again by its author or a game master, as a new proposal on the present canon.
func TestAnOutdatedProposalIsMadeAgain(t *testing.T) {
	s := newScene(t, "")
	bot, other, gm := s.as("ai-scribe", access.RoleUser), s.as("ada", access.RoleUser), s.approver(access.RoleGM)
	change := func(text string) string {
		return bot.propose("propose-canon-change", fields{"reason": "it rained", "op": fields{"name": "write_card",
			"arguments": fields{"name": "Rent Quay", "content": text}}}).ProposalID
	}
	approve := func(id string) error {
		_, err := call[proposal.Result](gm, "approve-proposal",
			fields{"proposalId": id, "expectedHash": gm.get(id).ExpectedHash})
		return err
	}
	renew := func(a actor, id string) (proposal.Result, error) {
		return call[proposal.Result](a, "renew-proposal", fields{"proposalId": id})
	}
	first, second := change("<p>Wet.</p>"), change("<p>Damp.</p>")
	if _, err := renew(bot, second); !errors.Is(err, fault.Conflict) {
		t.Errorf("one that waits is made again: %v", err)
	}
	if err := approve(first); err != nil {
		t.Fatal(err)
	}
	if err := approve(second); !errors.Is(err, fault.Stale) {
		t.Fatalf("it is not outdated: %v", err)
	}
	if _, err := renew(other, second); !errors.Is(err, fault.NotFound) {
		t.Errorf("somebody who may not see it makes it again: %v", err)
	}
	if _, err := renew(s.approver(access.RoleUser), second); !errors.Is(err, fault.Denied) {
		t.Errorf("somebody who may only decide on it makes it again: %v", err)
	}
	if _, err := renew(gm, first); !errors.Is(err, fault.Conflict) {
		t.Errorf("an accepted one is made again: %v", err)
	}
	again, err := renew(bot, second)
	if err != nil || again.Status != proposal.Pending || again.ProposalID == second {
		t.Fatalf("%+v, %v", again, err)
	}
	if was, is := gm.get(second), gm.get(again.ProposalID); string(was.Payload) != string(is.Payload) ||
		was.Status != "outdated" || is.Author != "ai-scribe" {
		t.Errorf("%+v\nis made again as %+v", was, is)
	}
	if err := approve(again.ProposalID); err != nil {
		t.Errorf("it is not approved: %v", err)
	}
	third := change("<p>Dry.</p>")
	s.later(30 * 24 * time.Hour)
	byGM, err := renew(gm, third)
	if err != nil || byGM.Status != proposal.Pending || gm.get(byGM.ProposalID).Author != "approver-gm" {
		t.Errorf("an expired one, by a game master: %+v, %v", byGM, err)
	}
}
