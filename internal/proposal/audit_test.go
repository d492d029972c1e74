package proposal_test

import (
	"errors"
	"fmt"
	"testing"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/proposal"
	"loregate/internal/store/memory"
)

// path is one way for a proposal to cause writes. ready sets up the scene and returns the call. The
// call reports whether it succeeded, or whether it answered that the verdict could not be stored.
type path struct {
	name    string
	ready   func(s *scene) func() (done, unaudited bool)
	changes int // of the world, after success
	records int // of the ledger
}

// readOutcome classifies the answer to a proposal, or its error.
func readOutcome(t *testing.T, r proposal.Result, err error) (done, unaudited bool) {
	t.Helper()
	switch {
	case errors.Is(err, fault.Unavailable):
		return false, fault.Show(err, "").Error.Details["code"] == "AUDIT_UNAVAILABLE"
	case err != nil:
		t.Errorf("the answer is %v", err)
		return false, false
	case r.Rejection != nil:
		return false, r.Rejection.Code == "AUDIT_UNAVAILABLE" && r.Rejection.Retryable && r.Rejection.Fallback.Text != "" &&
			r.EventID == ""
	}
	return true, false
}

func writePaths(t *testing.T) []path {
	propose := func(tool string, in fields) func(*scene) func() (bool, bool) {
		return func(s *scene) func() (bool, bool) {
			ada := s.as("ada", access.RoleUser)
			return func() (bool, bool) {
				r, err := keyed[proposal.Result](ada, tool, "once", in)
				return readOutcome(t, r, err)
			}
		}
	}
	decide := func(tool, status string) func(*scene) func() (bool, bool) {
		return func(s *scene) func() (bool, bool) {
			ada, gm := s.as("ada", access.RoleUser), s.approver(access.RoleGM)
			id := ada.propose("propose-quest", seed(nil)).ProposalID
			in := fields{"proposalId": id}
			who := gm
			switch tool {
			case "approve-proposal":
				in["expectedHash"] = gm.get(id).ExpectedHash
			case "withdraw-proposal":
				who = ada
			}
			return func() (bool, bool) {
				r, err := keyed[struct{ Status string }](who, tool, "once", in)
				if err == nil && r.Status != status {
					t.Errorf("it is %s then", r.Status)
				}
				return readOutcome(t, proposal.Result{}, err)
			}
		}
	}
	divert := func(s *scene) func() (bool, bool) {
		bot := s.as("ai-bot", access.RoleUser)
		bot.c.Advisory = true
		return func() (bool, bool) {
			r, err := keyed[proposal.Result](bot, "write_card", "once", fields{"name": "Rent Quay", "content": "<p>Wet.</p>"})
			return readOutcome(t, r, err)
		}
	}
	line := fields{"npcId": ids["@gudrun"], "playerId": ids["@wren"], "draftText": "You're early. The tide isn't."}
	return []path{
		{"a proposal that is accepted", propose("propose-ambience",
			ambience("A smell of frying sprats and cold iron.")), 1, 1},
		{"a line", propose("propose-npc-dialogue", line), 1, 1},
		{"an act", propose("propose-action", fields{"playerId": ids["@tam"],
			"actionEnvelope": fields{"frames": []fields{{"verb": "look"}}}}), 0, 1},
		{"a proposal that waits", propose("propose-quest", seed(nil)), 0, 1},
		{"an event that waits", propose("enqueue-world-event", fields{"type": "NPC.Tick", "payload": fields{"n": 1}}), 0, 1},
		{"a change that waits", propose("propose-canon-change",
			fields{"op": fields{"name": "write_card", "arguments": fields{"name": "Rain Log", "content": "<p>It rained.</p>"}},
				"reason": "It rained."}), 0, 1},
		{"a write of an advisory key", divert, 0, 1},
		{"an approval", decide("approve-proposal", "accepted"), 1, 1},
		{"a rejection", decide("reject-proposal", "rejected"), 0, 1},
		{"a withdrawal", decide("withdraw-proposal", "withdrawn"), 0, 1},
		{"the carrying out of what was accepted", resuming(t), 1, 0},
	}
}

// resuming sets up a verdict without its change, as a killed process leaves it, and returns a call
// of Resume by another process.
func resuming(t *testing.T) func(*scene) func() (bool, bool) {
	return func(s *scene) func() (bool, bool) {
		s.store.after.Store(1)
		s.as("ada", access.RoleUser).propose("propose-ambience", ambience("Rope creaks in its own time."))
		s.store.broken.Store(false)
		next := s.another()
		g := s.grant(access.Caller{Subject: "keeper", EveryRole: access.RoleAdmin, Operator: true, Approve: true},
			access.Request{Operation: "resume", Effect: access.Propose, World: s.world})
		return func() (bool, bool) {
			n, err := next.Resume(t.Context(), g)
			if err == nil && n > 1 {
				t.Errorf("%d were carried out", n)
			}
			return err == nil, err != nil
		}
	}
}

// TestNothingIsPersistedWithoutItsVerdict makes the store fail at each write of each path, either
// once or from then on. Nothing may be in the world without its verdict, the caller is told to try
// again, and trying again applies the proposal once.
func TestNothingIsPersistedWithoutItsVerdict(t *testing.T) {
	for _, p := range writePaths(t) {
		for nth := range 3 {
			for what, fail := range map[string]func(*fragile){
				"alone": func(f *fragile) { f.alone.Store(int64(nth + 1)) },
				"on":    func(f *fragile) { f.after.Store(int64(nth)); f.broken.Store(nth == 0) },
			} {
				t.Run(fmt.Sprintf("%s, write %d %s", p.name, nth+1, what), func(t *testing.T) {
					s := newSceneOn(t, memory.New())
					s.settle("main", "")
					p.try(s, nth, fail)
				})
			}
		}
	}
}

// try runs a path with a failing store, and again after the store is repaired.
func (p path) try(s *scene, nth int, fail func(*fragile)) {
	s.t.Helper()
	do := p.ready(s)
	world, ledger := s.heads()
	fail(s.store)
	done, unaudited := do()
	s.store.alone.Store(0)
	s.store.after.Store(0)
	s.store.broken.Store(false)
	w, l := s.heads()
	if int(w-world) > int(l-ledger) && p.records > 0 {
		s.t.Errorf("the world has %d commits more, and the ledger %d records", w-world, l-ledger)
	}
	if nth == 0 && (w != world || l != ledger || done) {
		s.t.Errorf("with no store, the world went from %d to %d, the ledger from %d to %d, and it is said to be done: %t",
			world, w, ledger, l, done)
	}
	if !done && !unaudited {
		s.t.Error("it was not done, and nobody was told so")
	}
	for range 2 {
		if done, _ = do(); !done {
			s.t.Fatal("it is not done with the store mended")
		}
	}
	if w, l = s.heads(); int(w-world) != p.changes || int(l-ledger) != p.records {
		s.t.Errorf("in the end the world has %d commits more and the ledger %d records; want %d and %d", w-world, l-ledger,
			p.changes, p.records)
	}
}
