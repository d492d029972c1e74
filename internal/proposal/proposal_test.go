package proposal_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/op"
	"loregate/internal/proposal"
	"loregate/internal/store/memory"
)

type hint struct {
	Name, Text, Model string
	Closeness         float64
}

type got struct {
	ProposalID, Kind, Status, Author, ExpectedHash, EventID string
	Conflicts                                               []proposal.Issue
	MayRepeat                                               []hint
	Payload                                                 json.RawMessage
	Preview                                                 []proposal.PreviewItem
	Verdicts                                                []struct {
		Gate, Version, InputHash, Code string
		Passed                         bool
	}
	Decision *struct{ Status, By, Note string }
}

func (a actor) get(id string) got {
	a.s.t.Helper()
	g, err := call[got](a, "get-proposal", fields{"proposalId": id})
	if err != nil {
		a.s.t.Fatal(err)
	}
	return g
}

func TestAcceptedProposalIsInCanon(t *testing.T) {
	s := newScene(t, "")
	ada := s.as("ada", access.RoleUser)
	r := ada.propose("propose-ambience", ambience("Tar  smoke\u200b drifts over the bollards. "))
	if r.Status != proposal.Accepted || r.EventID == "" || r.SanitizedText != "Tar smoke drifts over the bollards." {
		t.Fatalf("%+v", r)
	}
	if got := s.layers("quay"); !slices.Equal(got, []string{r.SanitizedText}) {
		t.Errorf("over the quay lie %q", got)
	}
	g := ada.get(r.ProposalID)
	if g.Status != "accepted" || g.EventID != r.EventID || len(g.Verdicts) != 7 || g.Verdicts[6].Gate != "audit" {
		t.Errorf("%+v", g)
	}
	for _, v := range g.Verdicts {
		if !v.Passed || v.Version == "" || len(v.InputHash) != 64 {
			t.Errorf("verdict %+v", v)
		}
	}
	if _, err := call[got](s.as("bob", access.RoleGM), "get-proposal", fields{"proposalId": r.ProposalID}); !errors.Is(err,
		fault.NotFound) {
		t.Errorf("somebody else, without the right to decide: %v", err)
	}
	if g := s.approver(access.RoleUser).get(r.ProposalID); g.Author != "ada" {
		t.Errorf("an approver sees %+v", g)
	}
}

// Fifty identical proposals at once, through the services of two processes, cause one event and one
// layer.
func TestFiftyIdenticalProposalsApplyOnce(t *testing.T) {
	s := newScene(t, "", withLimits(proposal.Limits{KeyMinute: 1000, PlayerMinute: 1000}))
	other := s.another(withLimits(proposal.Limits{KeyMinute: 1000, PlayerMinute: 1000}))
	payload := json.RawMessage(fmt.Sprintf(`{"locationId":%q,"layerType":"ambient","text":"Gulls quarrel above the tally board."}`, ids["@quay"]))
	var all sync.WaitGroup
	var mu sync.Mutex
	statuses, proposals := map[proposal.Status]int{}, map[string]bool{}
	for n := range 50 {
		service := []*proposal.Service{s.service, other}[n%2]
		g := s.grant(s.as("ada", access.RoleUser).c, access.Request{Operation: "propose-ambience", Surface: "world",
			Effect: access.Propose, World: s.world})
		all.Go(func() {
			r, err := service.Submit(t.Context(), g, proposal.Submission{Kind: "ambience", Payload: payload})
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			statuses[r.Status]++
			proposals[r.ProposalID] = true
		})
	}
	all.Wait()
	if statuses[proposal.Accepted] != 1 || statuses[proposal.Duplicate] != 49 || len(proposals) != 1 {
		t.Errorf("%v of %d proposals", statuses, len(proposals))
	}
	if got := s.layers("quay"); len(got) != 1 {
		t.Errorf("over the quay lie %q", got)
	}
}

// If a process stops after any write, another one applies the verdict that has no change yet, once.
func TestResumeAppliesAcceptedProposals(t *testing.T) {
	for writes := range int64(3) {
		t.Run(fmt.Sprintf("after %d writes", writes), func(t *testing.T) {
			s := newScene(t, "")
			ada := s.as("ada", access.RoleUser)
			s.store.after.Store(writes)
			s.store.broken.Store(writes == 0)
			r := ada.propose("propose-ambience", ambience("A smell of frying sprats and cold iron."))
			s.store.after.Store(0)
			s.store.broken.Store(false)
			if writes < 2 {
				if r.Rejection == nil || r.Rejection.Code != "AUDIT_UNAVAILABLE" || !r.Rejection.Retryable {
					t.Fatalf("the answer is %+v", r)
				}
				want := []string{"nothing was changed", "it will be applied"}[writes]
				if !strings.Contains(r.Rejection.Message, want) {
					t.Errorf("the answer is %q and does not say %q", r.Rejection.Message, want)
				}
			}
			next := s.another()
			g := s.grant(access.Caller{Subject: "keeper", EveryRole: access.RoleAdmin, Operator: true, Approve: true},
				access.Request{Operation: "resume", Effect: access.Propose, World: s.world})
			for range 2 {
				if _, err := next.Resume(t.Context(), g); err != nil {
					t.Fatal(err)
				}
			}
			again := ada.propose("propose-ambience", ambience("A smell of frying sprats and cold iron."))
			if want := []proposal.Status{proposal.Accepted, proposal.Duplicate,
				proposal.Duplicate}[writes]; again.Status != want || again.EventID == "" {
				t.Errorf("again: %+v", again)
			}
			if got := s.layers("quay"); len(got) != 1 {
				t.Errorf("over the quay lie %q", got)
			}
		})
	}
}

// A retry alone applies a proposal that was accepted but not applied, and an idempotency key
// returns the first answer.
func TestRetryAppliesAcceptedProposal(t *testing.T) {
	s := newScene(t, "")
	ada := s.as("ada", access.RoleUser)
	in := ambience("Somebody has chalked a boat where a number should be.")
	in["idempotencyKey"] = "once"
	s.store.after.Store(1)
	r := ada.propose("propose-ambience", in)
	s.store.broken.Store(false)
	if r.Rejection == nil {
		t.Fatalf("%+v", r)
	}
	again := ada.propose("propose-ambience", in)
	if again.Status != proposal.Accepted || again.ProposalID != r.ProposalID || again.EventID == "" {
		t.Errorf("%+v", again)
	}
	if third := ada.propose("propose-ambience", in); third.EventID != again.EventID || third.Status != proposal.Accepted {
		t.Errorf("%+v", third)
	}
	lowered := s.as("gm", access.RoleGM)
	if r := lowered.propose("propose-quest", fields{"seedSpec": seed(nil)["seedSpec"],
		"idempotencyKey": "high"}); r.Status != proposal.Pending {
		t.Fatalf("%+v", r)
	}
	lowered.c.EveryRole = access.RoleUser
	if _, err := call[proposal.Result](lowered, "propose-quest",
		fields{"seedSpec": seed(nil)["seedSpec"], "idempotencyKey": "high"}); !errors.Is(err, fault.Denied) {
		t.Errorf("repeated with a lower role: %v", err)
	}
	in["text"] = "Another text under the same key."
	if _, err := call[proposal.Result](ada, "propose-ambience", in); !errors.Is(err, fault.Conflict) {
		t.Errorf("another text under the same key: %v", err)
	}
}

func seed(with fields) fields {
	spec := fields{"title": "A Note Too Few", "hook": "The rent song has lost its fourth note.",
		"objectives": []fields{{"id": "a", "text": "Ask.", "learn": "rent song"}}}
	for k, v := range with {
		spec[k] = v
	}
	return fields{"seedSpec": spec}
}

// A game master's hidden texts do not affect other authors, neither as near duplicates nor by using
// up limits.
func TestHiddenProposalsDoNotAffectOthers(t *testing.T) {
	s := newScene(t, "", withLimits(proposal.Limits{WorldMinute: 3, KeyMinute: 3}))
	gm, ada := s.as("gm", access.RoleGM), s.as("ada", access.RoleUser)
	text := "The water below has learned to count, and it is patient about it."
	for n, in := range []fields{{"locationId": ids["@cellar"], "layerType": "ambient", "text": text},
		{"locationId": ids["@cellar"], "layerType": "ambient", "text": "Something down here hums in nine."},
		{"locationId": ids["@cellar"], "layerType": "weather", "text": "Drip, and after a while, drip."}} {
		if r := gm.propose("propose-ambience", in); r.Status != proposal.Accepted {
			t.Fatalf("%d: %+v", n, r.Rejection)
		}
	}
	if r := gm.propose("propose-ambience", ambience("One more than the world takes in a minute.")); r.Rejection == nil ||
		r.Rejection.Gate != proposal.GateRate {
		t.Errorf("the fourth of the game master's: %+v", r)
	}
	if r := ada.propose("propose-ambience", ambience(text)); r.Status != proposal.Accepted {
		t.Errorf("a player's is held back: %+v", r.Rejection)
	}
}

// In a place that everyone sees, a hidden text causes no near duplicate for callers who cannot see
// it.
func TestHiddenTextIsNoDuplicate(t *testing.T) {
	s := newScene(t, "")
	gm, approver := s.as("gm", access.RoleGM), s.approver(access.RoleGM)
	text := "Below the third step somebody keeps count of those who pass."
	about := func(payload fields) fields {
		payload["text"] = text
		return fields{"type": "NPC.Tick", "payload": payload, "scope": "loc:" + ids["@quay"]}
	}
	r := gm.propose("enqueue-world-event", about(fields{"npcId": ids["@veil"]}))
	if _, err := call[proposal.Result](approver, "approve-proposal",
		fields{"proposalId": r.ProposalID, "expectedHash": approver.get(r.ProposalID).ExpectedHash}); err != nil {
		t.Fatal(err)
	}
	if r := s.as("ada", access.RoleUser).propose("enqueue-world-event", about(fields{})); r.Status != proposal.Pending {
		t.Errorf("a player is told of it: %+v", r.Rejection)
	}
	if r := gm.propose("enqueue-world-event", about(fields{"n": 1})); r.Rejection == nil ||
		r.Rejection.Gate != proposal.GateDuplication {
		t.Errorf("one who sees it: %+v", r)
	}
}

func TestQuestWaitsForPerson(t *testing.T) {
	s := newScene(t, "")
	ada, gm := s.as("ada", access.RoleUser), s.approver(access.RoleGM)
	r := ada.propose("propose-quest", seed(nil))
	if r.Status != proposal.Pending || len(r.QuestDraft) == 0 || len(r.Issues) == 0 {
		t.Fatalf("%+v", r)
	}
	g := gm.get(r.ProposalID)
	if g.Status != "pending_review" || len(g.Preview) != 1 || g.Preview[0].Act != "create" ||
		!strings.Contains(g.Preview[0].Diff, "fourth note") {
		t.Fatalf("the approver sees %+v", g)
	}
	for name, tc := range map[string]struct {
		who  actor
		hash string
		want fault.Kind
	}{
		"its author":             {actor{s, approving(ada.c)}, g.ExpectedHash, fault.Denied},
		"nobody who may approve": {s.as("gm", access.RoleGM), g.ExpectedHash, fault.NotFound},
		"another hash":           {gm, strings.Repeat("00", 32), fault.Stale},
	} {
		_, err := call[proposal.Result](tc.who, "approve-proposal",
			fields{"proposalId": r.ProposalID, "expectedHash": tc.hash})
		if !errors.Is(err, tc.want) {
			t.Errorf("approved by %s: %v", name, err)
		}
	}
	done, err := call[proposal.Result](gm, "approve-proposal",
		fields{"proposalId": r.ProposalID, "expectedHash": g.ExpectedHash, "note": "Good."})
	if err != nil || done.Status != proposal.Accepted || done.EventID == "" {
		t.Fatalf("%+v, %v", done, err)
	}
	if cause, decision := s.causeOf(done.EventID), s.lastRecord(); cause != decision {
		t.Errorf("the event follows from %s, and not from the decision %s", cause, decision)
	}
	after := ada.get(r.ProposalID)
	if after.Status != "accepted" || after.Decision == nil || after.Decision.By != "approver-gm" ||
		after.EventID != done.EventID {
		t.Errorf("%+v", after)
	}
	if _, err := call[proposal.Result](gm, "approve-proposal",
		fields{"proposalId": r.ProposalID, "expectedHash": g.ExpectedHash}); !errors.Is(err, fault.Conflict) {
		t.Errorf("approved twice: %v", err)
	}
}

func approving(c access.Caller) access.Caller { c.Approve = true; return c }

func TestRejectedWithdrawnExpired(t *testing.T) {
	s := newScene(t, "")
	ada, gm := s.as("ada", access.RoleUser), s.approver(access.RoleGM)
	titled := func(title string) fields {
		return seed(fields{"title": title, "hook": title + " is all there is to it."})
	}
	first, second, third := ada.propose("propose-quest", titled("One")), ada.propose("propose-quest", titled("Two")),
		ada.propose("propose-quest", titled("Three"))
	if g, err := call[got](gm, "reject-proposal", fields{"proposalId": first.ProposalID, "note": "No."}); err != nil ||
		g.Status != "rejected" || g.Decision.Note != "No." {
		t.Errorf("%+v, %v", g, err)
	}
	if _, err := call[got](gm, "withdraw-proposal", fields{"proposalId": second.ProposalID}); !errors.Is(err,
		fault.Denied) {
		t.Errorf("withdrawn by another: %v", err)
	}
	if g, err := call[got](ada, "withdraw-proposal", fields{"proposalId": second.ProposalID}); err != nil ||
		g.Status != "withdrawn" {
		t.Errorf("%+v, %v", g, err)
	}
	if r := ada.propose("propose-quest", titled("Two")); r.Status != proposal.Pending {
		t.Errorf("what was withdrawn is no duplicate: %+v", r)
	}
	hash := gm.get(third.ProposalID).ExpectedHash
	s.later(7 * 24 * time.Hour)
	if g := gm.get(third.ProposalID); g.Status != "expired" || g.ExpectedHash != "" {
		t.Errorf("%+v", g)
	}
	if _, err := call[proposal.Result](gm, "approve-proposal",
		fields{"proposalId": third.ProposalID, "expectedHash": hash}); !errors.Is(err, fault.Conflict) {
		t.Errorf("approved too late: %v", err)
	}
}

// A write of an advisory key changes nothing until somebody approves exactly this change. It is
// then made with its author's rights.
func TestAdvisoryKeyProposes(t *testing.T) {
	s := newScene(t, "")
	bot, gm := s.as("ai-bot", access.RoleUser), s.approver(access.RoleGM)
	bot.c.Advisory = true
	write := func(text string) (proposal.Result, op.Reply) {
		t.Helper()
		answer, err := s.ops.Invoke(t.Context(), bot.c, op.Request{Operation: "write_card", World: "main",
			Input: fmt.Appendf(nil, `{"name":"Rent Quay","content":%q}`, text)})
		if err != nil {
			t.Fatal(err)
		}
		var r proposal.Result
		if err := json.Unmarshal(answer.Output, &r); err != nil {
			t.Fatal(err)
		}
		return r, answer.Reply
	}
	bad := op.Request{Operation: "write_card", World: "main", Input: []byte(`{"name":"Rent Quay++x","content":"x"}`)}
	_, want := s.ops.Invoke(t.Context(), s.as("ada", access.RoleUser).c, bad)
	_, got := s.ops.Invoke(t.Context(), bot.c, bad)
	if got == nil || fault.KindOf(got) != fault.KindOf(want) ||
		fault.Show(got, "").Error.Details["code"] != "INVARIANT_BROKEN" {
		t.Errorf("a write that is refused of any key with %v: %v", want, got)
	}
	for i := range 2 {
		once := op.Request{Operation: "write_card", World: "main", Input: []byte(`{"name":"Rent Quay","content":"once"}`),
			IdempotencyKey: "once"}
		if a, err := s.ops.Invoke(t.Context(), bot.c, once); err != nil || a.Reply.Replayed != (i > 0) {
			t.Errorf("call %d with one key: %+v, %v", i, a, err)
		}
	}
	world, _ := s.heads()
	one, reply := write("<p>Wet.</p>")
	if one.Status != proposal.Pending || !reply.Diverted || reply.Status != 202 {
		t.Fatalf("%+v, %+v", one, reply)
	}
	if after, _ := s.heads(); after != world {
		t.Errorf("the world moved from %d to %d", world, after)
	}
	two, _ := write("<p>Dry.</p>")
	g := gm.get(one.ProposalID)
	if len(g.Preview) != 1 || g.Preview[0].What != "Rent Quay" || !strings.Contains(g.Preview[0].Diff, "+<p>Wet.</p>") {
		t.Errorf("the approver sees %+v", g.Preview)
	}
	done, err := call[proposal.Result](gm, "approve-proposal",
		fields{"proposalId": one.ProposalID, "expectedHash": g.ExpectedHash})
	if err != nil || done.EventID == "" {
		t.Fatalf("%+v, %v", done, err)
	}
	stale := gm.get(two.ProposalID)
	_, before := s.heads()
	if _, err := call[proposal.Result](gm, "approve-proposal",
		fields{"proposalId": two.ProposalID, "expectedHash": stale.ExpectedHash}); !errors.Is(err, fault.Stale) {
		t.Errorf("what it read has moved: %v", err)
	}
	if g := gm.get(two.ProposalID); g.Status != "outdated" {
		t.Errorf("then it is %s", g.Status)
	}
	if _, after := s.heads(); after != before+1 {
		t.Errorf("%d records tell that it was outdated: it was not to be agreed to first", after-before)
	}
	three, _ := write("<p>Damp.</p>")
	hash := gm.get(three.ProposalID).ExpectedHash
	s.mu.Lock()
	delete(s.authors, bot.c.Subject)
	s.mu.Unlock()
	if _, err := call[proposal.Result](gm, "approve-proposal",
		fields{"proposalId": three.ProposalID, "expectedHash": hash}); !errors.Is(err, fault.Denied) {
		t.Errorf("its author has no rights any more: %v", err)
	}
}

func TestCanonChangeIsCheckedLikeCall(t *testing.T) {
	s := newScene(t, "")
	ada := s.as("ada", access.RoleUser)
	change := func(name string, arguments any) proposal.Result {
		return ada.propose("propose-canon-change", fields{"op": fields{"name": name, "arguments": arguments},
			"reason": "It rained."})
	}
	for name, tc := range map[string]struct {
		r     proposal.Result
		gate  proposal.Gate
		field string
	}{
		"no such operation": {change("burn_world", fields{}), proposal.GateSchema, "op.name"},
		"a read":            {change("get-proposal", fields{}), proposal.GateSchema, "op.name"},
		"a bad argument":    {change("write_card", fields{"name": "Quay"}), proposal.GateSchema, "op.arguments.content"},
	} {
		if tc.r.Rejection == nil || tc.r.Rejection.Gate != tc.gate || len(tc.r.Issues) == 0 ||
			tc.r.Issues[0].Field != tc.field {
			t.Errorf("%s: %+v", name, tc.r)
		}
	}
	if r := change("write_card", fields{"name": "Rain Log",
		"content": "<p>It rained.</p>"}); r.Status != proposal.Pending {
		t.Errorf("%+v", r)
	}
}

// A proposal waits for a person if its context has a higher level than its readers see, or if an
// agent sees more than its readers and cites no context.
func TestContextAboveReadersWaitsForPerson(t *testing.T) {
	s := newScene(t, "")
	s.allow("ambience")
	agent := s.as("ai-narrator", access.RoleGM)
	with := func(text string, refs ...string) fields {
		p, err := s.prompts.Get("ambience", "")
		if err != nil {
			t.Fatal(err)
		}
		in := ambience(text)
		in["provenance"] = fields{"templateId": "ambience", "templateVersion": p.Metadata.Version, "templateHash": p.Hash(),
			"contextRefs": refs, "contextHash": contextHash(t, len(refs))}
		return in
	}
	for name, tc := range map[string]struct {
		in   fields
		want proposal.Status
	}{
		"a player's context":     {with("Rope creaks, and under it the water seems to count.", goodRef), proposal.Accepted},
		"a master's among them":  {with("Mist comes in off the flats.", goodRef, secretRef), proposal.Pending},
		"a master's view, alone": {ambience("Wind from the pans, salt on the lips."), proposal.Pending},
	} {
		if r := agent.propose("propose-ambience", tc.in); r.Status != tc.want {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

func TestReplay(t *testing.T) {
	s := newScene(t, "")
	ada := s.as("ai-ada", access.RoleUser)
	in := ambience("Salt has dried in rings on the planks.")
	p, err := s.prompts.Get("ambience", "")
	if err != nil {
		t.Fatal(err)
	}
	in["provenance"] = fields{"templateId": "ambience", "templateVersion": p.Metadata.Version, "templateHash": p.Hash(),
		"contextRefs": []string{goodRef}, "contextHash": contextHash(t, 1), "parameters": fields{"mood": "grim"}}
	accepted := ada.propose("propose-ambience", in)
	if accepted.Status != proposal.Accepted {
		t.Fatalf("%+v", accepted.Rejection)
	}
	refused := ada.propose("propose-ambience", fields{"locationId": ids["@tower"], "layerType": "ambient",
		"text": "A dragon lands on the parapet.", "provenance": in["provenance"]})
	again := func(id string) proposal.Replayed {
		t.Helper()
		r, err := call[proposal.Replayed](ada, "replay-proposal", fields{"proposalId": id})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	before, ledger := s.heads()
	if r := again(accepted.ProposalID); !r.Identical || !strings.Contains(r.Prompt, "in a grim mood") ||
		!strings.Contains(r.Prompt, `"name":"Rent Quay"`) {
		t.Errorf("%+v", r)
	}
	if r := again(refused.ProposalID); !r.Identical {
		t.Errorf("what was refused: %+v", r)
	}
	if w, l := s.heads(); w != before || l != ledger {
		t.Errorf("a replay stored something: %d, %d", w, l)
	}
}

func TestListing(t *testing.T) {
	s := newSceneOn(t, memory.New())
	s.settle("main", "")
	ada, bob, gm := s.as("ada", access.RoleUser), s.as("bob", access.RoleUser), s.approver(access.RoleGM)
	for n := range 5 {
		ada.propose("propose-ambience", ambience(fmt.Sprintf("w%da w%db w%dc w%dd", n, n, n, n)))
	}
	bob.propose("propose-quest", seed(nil))
	list := func(a actor, in fields) (ids []string, next string) {
		t.Helper()
		out, err := call[struct {
			Proposals []struct{ ProposalID, Status string }
			Next      string
		}](a, "list-proposals", in)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range out.Proposals {
			ids = append(ids, p.ProposalID)
		}
		return ids, out.Next
	}
	if all, _ := list(gm, fields{}); len(all) != 6 {
		t.Errorf("an approver sees %d", len(all))
	}
	if mine, _ := list(ada, fields{}); len(mine) != 5 {
		t.Errorf("their author sees %d", len(mine))
	}
	if waiting, _ := list(gm, fields{"status": "pending_review"}); len(waiting) != 1 {
		t.Errorf("%d wait", len(waiting))
	}
	var paged []string
	for before := ""; ; {
		in := fields{"limit": 2, "kind": "ambience"}
		if before != "" {
			in["before"] = before
		}
		page, next := list(ada, in)
		paged = append(paged, page...)
		if before = next; next == "" {
			break
		}
	}
	if all, _ := list(ada, fields{}); !slices.Equal(paged, all) {
		t.Errorf("in pages %v, at once %v", paged, all)
	}
}

// Secrets are refused and not stored.
func TestSecretIsNotStored(t *testing.T) {
	s := newScene(t, "")
	ada := s.as("ada", access.RoleUser)
	secret := "ghp_abcdefghijklmnopqrstuvwxyz0123456789"
	r := ada.propose("propose-ambience", ambience("Scratched on slate: "+secret))
	if r.Rejection == nil || r.Rejection.Gate != proposal.GateSafety {
		t.Fatalf("%+v", r)
	}
	g := s.grant(ada.c, access.Request{Operation: "look", Effect: access.Read, World: s.world})
	for rec, err := range s.canon.Records(t.Context(), g, canon.LedgerStream(proposal.LedgerKind, s.world.String()), 1) {
		if err != nil || strings.Contains(string(rec.Event.Payload), secret) {
			t.Errorf("record %d keeps the secret, %v", rec.Seq, err)
		}
	}
}
