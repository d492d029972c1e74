package proposal_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/op"
	"loregate/internal/proposal"
)

// member returns a person who is a member with the role user, signed in.
func (s *scene) member(name string, may access.May) actor {
	a := s.as(name, access.RoleNone)
	a.c.Roles = map[access.WorldID]access.Role{s.world: access.RoleUser}
	a.c.May = map[access.WorldID]access.May{s.world: may}
	a.c.Approve = true // as each person's session
	s.mu.Lock()
	defer s.mu.Unlock()
	s.authors[a.c.Subject] = a.c
	return a
}

// write writes a card, and returns the proposal that the write became, if it did.
func (a actor) write(name, text string) (r proposal.Result, diverted bool, err error) {
	a.s.t.Helper()
	answer, err := a.s.ops.Invoke(a.s.t.Context(), a.c, op.Request{Operation: "write_card", World: "main",
		Input: fmt.Appendf(nil, `{"name": %q, "content": %q}`, name, text)})
	if err != nil || !answer.Reply.Diverted {
		return r, false, err
	}
	return r, true, json.Unmarshal(answer.Output, &r)
}

// TestMembersWhoSuggest follows a suggestion, on which only somebody decides who may make the change.
func TestMembersWhoSuggest(t *testing.T) {
	s := newScene(t, "")
	ada, ben := s.member("ada", access.MayPropose), s.member("ben", access.MayPropose)
	cleo, gm := s.member("cleo", access.MayOwn), s.approver(access.RoleGM)
	world, _ := s.heads()
	r, diverted, err := ada.write("Rent Quay", "<p>Wet.</p>")
	if err != nil || !diverted || r.Status != proposal.Pending {
		t.Fatalf("%+v, %t, %v", r, diverted, err)
	}
	if after, _ := s.heads(); after != world {
		t.Error("the world has moved")
	}
	hash := gm.get(r.ProposalID).ExpectedHash
	decide := func(a actor) error {
		_, err := call[proposal.Result](a, "approve-proposal", fields{"proposalId": r.ProposalID, "expectedHash": hash})
		return err
	}
	again := ada // of another session
	again.c.Key = "key-ada-2"
	for name, row := range map[string]struct {
		who  actor
		want error
	}{"its author": {ada, fault.Denied}, "its author, in another session": {again, fault.Denied},
		"another who suggests": {ben, fault.NotFound}, "one who writes only their own": {cleo, fault.NotFound},
		"one who reads": {s.member("dora", access.MayRead), fault.Denied}} {
		if err := decide(row.who); !errors.Is(err, row.want) {
			t.Errorf("%s approves: %v, want %v", name, err, row.want)
		}
	}
	if err := decide(gm); err != nil {
		t.Fatal(err)
	}
	if after, _ := s.heads(); after != world+1 {
		t.Errorf("after the approval the world is at %d, from %d", after, world)
	}
}

// TestSuggestionsOfOthersCards follows a proposal by a member who writes only their own cards: the canon refuses the
// write, and the same change is made once a game master has agreed to it.
func TestSuggestionsOfOthersCards(t *testing.T) {
	s := newScene(t, "")
	cleo, gm := s.member("cleo", access.MayOwn), s.approver(access.RoleGM)
	if _, diverted, err := cleo.write("Cleo's Boat", "leaks"); err != nil || diverted {
		t.Errorf("her own: %t, %v", diverted, err)
	}
	if _, _, err := cleo.write("Rent Quay", "mine"); !errors.Is(err, fault.Denied) {
		t.Errorf("a card of another: %v", err)
	}
	r := cleo.propose("propose-canon-change", fields{"reason": "It rained.", "op": fields{"name": "write_card",
		"arguments": fields{"name": "Rent Quay", "content": "wet"}}})
	if r.Status != proposal.Pending {
		t.Fatalf("%+v", r)
	}
	if _, err := call[proposal.Result](gm, "approve-proposal",
		fields{"proposalId": r.ProposalID, "expectedHash": gm.get(r.ProposalID).ExpectedHash}); err != nil {
		t.Error(err)
	}
}

// TestOneWhoReadsProposesNothing proposes as a member who only reads, and approves a proposal of before.
func TestOneWhoReadsProposesNothing(t *testing.T) {
	s := newScene(t, "")
	ada, gm := s.member("ada", access.MayPropose), s.approver(access.RoleGM)
	r, _, err := ada.write("Rent Quay", "<p>Wet.</p>")
	if err != nil {
		t.Fatal(err)
	}
	ada = s.member("ada", access.MayRead) // meanwhile
	if _, _, err := ada.write("Rent Quay", "<p>Dry.</p>"); !errors.Is(err, fault.Denied) {
		t.Errorf("writes: %v", err)
	}
	change := fields{"name": "write_card", "arguments": fields{"name": "Rent Quay", "content": "x"}}
	if _, err := call[proposal.Result](ada, "propose-canon-change", fields{"reason": "x", "op": change}); !errors.Is(err, fault.Denied) {
		t.Errorf("proposes: %v", err)
	}
	hash := gm.get(r.ProposalID).ExpectedHash
	if _, err := call[proposal.Result](gm, "approve-proposal",
		fields{"proposalId": r.ProposalID, "expectedHash": hash}); !errors.Is(err, fault.Denied) {
		t.Errorf("a proposal of before is made: %v", err)
	}
}
