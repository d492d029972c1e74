package proposal_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/op"
	"loregate/internal/proposal"
)

// keyed calls an operation under an idempotency key.
func keyed[Out any](a actor, name, key string, input fields) (out Out, err error) {
	b, err := json.Marshal(input)
	if err != nil {
		a.s.t.Fatal(err)
	}
	answer, err := a.s.ops.Invoke(a.s.t.Context(), a.c,
		op.Request{Operation: name, Input: b, World: "main", Transport: "rest", IdempotencyKey: key})
	if err != nil {
		return out, err
	}
	return out, json.Unmarshal(answer.Output, &out)
}

// A decision that is repeated, even concurrently, decides once and always has the first answer.
// Under another key it is another decision and comes too late.
func TestRepeatedDecisionHasFirstAnswer(t *testing.T) {
	s := newScene(t, "")
	ada, gm := s.as("ada", access.RoleUser), s.approver(access.RoleGM)
	first := ada.propose("propose-quest", seed(nil)).ProposalID
	hash := gm.get(first).ExpectedHash
	_, before := s.heads()
	var all sync.WaitGroup
	answers := make([]proposal.Result, 16)
	for n := range answers {
		all.Go(func() {
			var err error
			if answers[n], err = keyed[proposal.Result](gm, "approve-proposal", "yes",
				fields{"proposalId": first, "expectedHash": hash}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for _, a := range answers {
		if a.Status != proposal.Accepted || a.EventID == "" || a.EventID != answers[0].EventID ||
			string(a.QuestDraft) != string(answers[0].QuestDraft) {
			t.Errorf("one of them answers %+v, and another %+v", a, answers[0])
		}
	}
	if _, after := s.heads(); after != before+1 {
		t.Errorf("%d decisions are recorded", after-before)
	}
	other := s.as("approver-other", access.RoleGM)
	other.c.Approve = true
	for name, tc := range map[string]struct {
		who actor
		key string
	}{"another key": {gm, "again"}, "no key": {gm, ""}, "another's": {other, "yes"}} {
		if _, err := keyed[proposal.Result](tc.who, "approve-proposal", tc.key,
			fields{"proposalId": first, "expectedHash": hash}); !errors.Is(err, fault.Conflict) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := keyed[got](gm, "reject-proposal", "yes", fields{"proposalId": first}); !errors.Is(err, fault.Conflict) {
		t.Errorf("rejected under the key of the approval: %v", err)
	}
	second := ada.propose("propose-quest", seed(fields{"title": "Two", "hook": "Two is all there is to it."})).ProposalID
	third := ada.propose("propose-quest", seed(fields{"title": "Three",
		"hook": "Of three there is no more to say."})).ProposalID
	for range 2 {
		if g, err := keyed[got](gm, "reject-proposal", "no", fields{"proposalId": second}); err != nil ||
			g.Status != "rejected" {
			t.Errorf("%+v, %v", g, err)
		}
		if g, err := keyed[got](ada, "withdraw-proposal", "back", fields{"proposalId": third}); err != nil ||
			g.Status != "withdrawn" {
			t.Errorf("%+v, %v", g, err)
		}
	}
}

// Of several concurrent approvals one succeeds; the others come too late, and the proposal stays
// accepted.
func TestConcurrentApprovalsApplyOnce(t *testing.T) {
	s := newScene(t, "")
	ada := s.as("ada", access.RoleUser)
	id := ada.propose("propose-quest", seed(nil)).ProposalID
	judges := make([]actor, 12)
	for n := range judges {
		judges[n] = s.as(fmt.Sprintf("judge-%d", n), access.RoleGM)
		judges[n].c.Approve = true
	}
	hash := judges[0].get(id).ExpectedHash
	_, before := s.heads()
	var all sync.WaitGroup
	var accepted atomic.Int32
	for _, j := range judges {
		all.Go(func() {
			switch _, err := keyed[proposal.Result](j, "approve-proposal", "", fields{"proposalId": id, "expectedHash": hash}); {
			case err == nil:
				accepted.Add(1)
			case !errors.Is(err, fault.Conflict) && !errors.Is(err, fault.Unavailable):
				t.Errorf("too late: %v", err)
			}
		})
	}
	all.Wait()
	if _, after := s.heads(); accepted.Load() != 1 || after != before+1 {
		t.Errorf("%d approved, and %d decisions are recorded", accepted.Load(), after-before)
	}
	if g := ada.get(id); g.Status != "accepted" || g.EventID == "" {
		t.Errorf("then it is %+v", g)
	}
}

// A wrong expectedHash is refused with the hash to send. A listing describes each change in one
// line.
func TestWrongHashErrorNamesRightHash(t *testing.T) {
	s := newScene(t, "")
	ada, gm := s.as("ada", access.RoleUser), s.approver(access.RoleGM)
	r := ada.propose("propose-canon-change", fields{"op": fields{"name": "write_card",
		"arguments": fields{"name": "Rent Quay", "content": "<p>One.</p><p>Two.</p>"}}, "reason": "It rained."})
	for hash, want := range map[string]string{
		"aa": "has 64 hexadecimal digits; send the expectedHash that get-proposal",
		"aa00000000000000000000000000000000000000000000000000000000000000": `which is "Rent Quay": update (+`,
	} {
		_, err := call[any](gm, "approve-proposal", fields{"proposalId": r.ProposalID, "expectedHash": hash})
		if err == nil || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), "/api/proposals/"+r.ProposalID) {
			t.Errorf("%s: %v", hash, err)
		}
	}
	list, err := call[struct {
		Proposals []struct{ What, Change string }
	}](gm, "list-proposals", fields{})
	if err != nil || len(list.Proposals) != 1 || list.Proposals[0].What != "Rent Quay" ||
		!strings.HasPrefix(list.Proposals[0].Change, "update (+") {
		t.Errorf("%+v, %v", list, err)
	}
}
