package worldtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/agent"
	"loregate/internal/app"
	"loregate/internal/fault"
	"loregate/internal/op"
)

// draftedQuest is the part of a quest draft that a scripted player reads.
type draftedQuest struct {
	Title      string
	GiverID    string
	Objectives []struct {
		ID, LocationID, Bring, To, Talk, About string
		WaitMinutes                            int
	}
}

// operate calls an operation as the operator, who may approve.
func (h *stage) operate(operation, input string, into any) {
	h.t.Helper()
	answer, err := h.app.Ops.Invoke(h.t.Context(), app.Operator(), op.Request{Operation: operation, World: app.SampleWorld,
		Input: []byte(input)})
	if err == nil {
		err = json.Unmarshal(answer.Output, into)
	}
	if err != nil {
		h.t.Fatalf("%s: %v", operation, err)
	}
}

func (h *stage) nameOf(id string) string {
	h.t.Helper()
	var got struct {
		Item struct{ Fields struct{ Name string } }
	}
	h.operate("get-canonical-fact", fmt.Sprintf(`{"factId":%q}`, id), &got)
	return got.Item.Fields.Name
}

// proposeQuest has a committee propose a quest, and approves it.
func (h *stage) proposeQuest(w agent.QuestWish) (done agent.Committee, q draftedQuest) {
	h.t.Helper()
	done, err := h.app.ProposeQuest(h.t.Context(), app.SampleWorld, access.RoleUser, w)
	if err != nil || done.Status != "pending_review" || len(done.Drafts) != w.Drafts {
		h.t.Fatalf("seed %d: %+v %v", w.Seed, done, err)
	}
	if err := json.Unmarshal(done.Proposal.QuestDraft, &q); err != nil {
		h.t.Fatal(err)
	}
	id := done.Proposal.ProposalID
	var shown struct {
		ExpectedHash string
		Provenance   struct{ Opinions []struct{ By string } }
	}
	h.operate("get-proposal", fmt.Sprintf(`{"proposalId":%q}`, id), &shown)
	if len(shown.Provenance.Opinions) != 2*w.Drafts {
		h.t.Fatalf("seed %d: %d opinions on %d drafts", w.Seed, len(shown.Provenance.Opinions), w.Drafts)
	}
	var approved struct{ Status string }
	h.operate("approve-proposal", fmt.Sprintf(`{"proposalId":%q,"expectedHash":%q}`, id, shown.ExpectedHash), &approved)
	if approved.Status != "accepted" {
		h.t.Fatalf("seed %d: approved as %q", w.Seed, approved.Status)
	}
	return done, q
}

// play walks a quest to its end, from Rent Quay and back, and returns the last narration.
func (h *stage) play(p madePlayer, q draftedQuest) (last string) {
	h.t.Helper()
	there, back := "", ""
	say := func(text string) { last = h.does(p, text).Narration }
	goBack := func() {
		if back != "" {
			say("go " + back)
			back = ""
		}
	}
	say("accept " + q.Title)
	for _, o := range q.Objectives {
		switch {
		case o.LocationID != "":
			if there, back = h.wayTo(o.LocationID); there != "" {
				say("go " + there)
			} else {
				say("look")
			}
		case o.WaitMinutes > 0:
			for range 5 {
				say("rest")
			}
		case o.Bring != "" && o.To == "":
			say("take " + h.nameOf(o.Bring))
		case o.Bring != "":
			goBack()
			say("give " + h.nameOf(o.Bring) + " to " + h.nameOf(o.To))
		case o.About != "":
			say("ask " + h.nameOf(o.Talk) + " about " + o.About)
		case o.Talk == q.GiverID:
			goBack()
			say("talk to " + h.nameOf(o.Talk))
		default:
			say("talk to " + h.nameOf(o.Talk))
		}
	}
	return last
}

// wayTo returns the direction from Rent Quay to a place beside it and the one back; "" if the place is Rent Quay.
func (h *stage) wayTo(id string) (there, back string) {
	h.t.Helper()
	var from, to place
	h.send(http.MethodGet, "/api/world/location-context", h.keys[access.RoleUser], "", &from)
	if from.Location.ID == id {
		return "", ""
	}
	h.send(http.MethodGet, "/api/world/location-context?locationId="+id, h.keys[access.RoleUser], "", &to)
	for _, e := range from.Exits {
		if e.ToLocationID == id {
			there = e.Direction
		}
	}
	for _, e := range to.Exits {
		if e.ToLocationID == from.Location.ID {
			back = e.Direction
		}
	}
	return there, back
}

func (h *stage) pennies(p madePlayer) int {
	h.t.Helper()
	var got struct {
		Player struct {
			Inventory []struct {
				Name     string
				Quantity int
			}
		}
	}
	h.send(http.MethodGet, "/api/players/"+p.Player.ID+"?world="+app.SampleWorld, h.keys[access.RoleGM], "", &got)
	for _, i := range got.Player.Inventory {
		if i.Name == "Sound Penny" {
			return i.Quantity
		}
	}
	return 0
}

// TestQuestsOfACommitteeArePlayedToTheirEnd proposes quests with several seeds, approves them and plays each to its end:
// it pays its reward once.
func TestQuestsOfACommitteeArePlayedToTheirEnd(t *testing.T) {
	h := open(t)
	p := h.makePlayer("Mira Lowtide")
	shapes, paid := map[string]bool{}, 0
	for seed := uint64(1); seed <= 12 && len(shapes) < 4; seed++ {
		wish := agent.QuestWish{Drafts: 3, Seed: seed, Reward: "2 Sound Penny"}
		if seed > 1 {
			wish.Drafts = 1
		}
		done, q := h.proposeQuest(wish)
		shape := q.Objectives[1].ID
		if shapes[shape] {
			continue
		}
		shapes[shape] = true
		last := h.play(p, q)
		if paid += 2; h.pennies(p) != paid || !strings.Contains(last, "is done. You get Sound Penny (2).") {
			t.Fatalf("seed %d, %s: %d pennies after %q; %+v", seed, q.Title, h.pennies(p), last, done)
		}
		h.does(p, "accept "+q.Title)
		h.does(p, "talk to "+h.nameOf(q.GiverID))
		if h.pennies(p) != paid {
			t.Errorf("%s pays again", q.Title)
		}
	}
	if len(shapes) < 4 {
		t.Errorf("only %v were proposed", shapes)
	}
}

// TestQuestsFromAGMsViewStayHidden has quests drafted at a place of the GM: no user finds the proposal, and a user's own
// planner finds no such place.
func TestQuestsFromAGMsViewStayHidden(t *testing.T) {
	h := open(t)
	wish := agent.QuestWish{Location: "The Lens Cell", Drafts: 5}
	if _, err := h.app.ProposeQuest(t.Context(), app.SampleWorld, access.RoleUser, wish); fault.KindOf(err) != fault.NotFound {
		t.Errorf("a user's planner: %v", err)
	}
	done, err := h.app.ProposeQuest(t.Context(), app.SampleWorld, access.RoleGM, wish)
	if err != nil || done.Status != "pending_review" {
		t.Fatalf("%s %s %v", done.Status, done.Why, err)
	}
	path := "/api/proposals/" + done.Proposal.ProposalID + "?world=" + app.SampleWorld
	if code := h.send(http.MethodGet, path, h.keys[access.RoleUser], "", nil); code != http.StatusNotFound {
		t.Errorf("a user reads the proposal: %d", code)
	}
	var shown struct{ Status string }
	if h.operate("get-proposal", fmt.Sprintf(`{"proposalId":%q}`, done.Proposal.ProposalID), &shown); shown.Status != done.Status {
		t.Errorf("the operator finds it as %q", shown.Status)
	}
	trace, err := h.app.ExplainRun(t.Context(), app.SampleWorld, done.Run)
	calls := map[string]int{}
	for _, c := range trace.Calls {
		calls[c.Operation]++
	}
	if err != nil || len(trace.Proposals) != 1 || calls["assess_draft"] != len(done.Drafts) || calls["propose-quest"] == 0 ||
		calls["get-location-context"] == 0 || !strings.Contains(string(trace.Proposals[0]), `"opinions"`) {
		t.Errorf("the trace: %v, %d proposals, %v", calls, len(trace.Proposals), err)
	}
	if _, err := h.app.ExplainRun(t.Context(), app.SampleWorld, "another"); fault.KindOf(err) != fault.NotFound {
		t.Errorf("another run: %v", err)
	}
	for _, k := range []int{0, 6} {
		wish.Drafts = k
		if _, err := h.app.ProposeQuest(t.Context(), app.SampleWorld, access.RoleGM, wish); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%d drafts: %v", k, err)
		}
	}
}
