package modeltest

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/agent"
	"loregate/internal/app"
	"loregate/internal/canon"
	"loregate/internal/model/modeltest"
	"loregate/internal/op"
	"loregate/internal/proposal"
	"loregate/internal/usage"
	"loregate/internal/waittest"
)

// scriptedAgents is a model that answers each agent with a text that the gates let through.
func scriptedAgents(prompt string) string {
	switch {
	case strings.Contains(prompt, "You plan a short quest"):
		place := placeID.FindStringSubmatch(prompt)
		return `{"title":"Out and About","hook":"Somebody ought to look.","objectives":[{"id":"a","text":"Go.","locationId":"` +
			place[1] + `","bring":"","to":"","talk":"","about":"","waitMinutes":0,"requires":[]}]}`
	case strings.Contains(prompt, "You draft a place"):
		return `{"name":"Gull Stairs","text":"Wet boards and the smell of tar.","terrain":"riverbank"}`
	case strings.Contains(prompt, "You write the atmosphere"):
		return "The river mutters, loses its thread, and begins again."
	case strings.Contains(prompt, "You speak for"):
		return "Mind your step, the stones are wet."
	}
	return ""
}

// newPlayer makes a player where players begin.
func (h *house) newPlayer(name string) string {
	h.t.Helper()
	var made struct{ Player struct{ ID string } }
	h.do(access.RoleUser, "POST", "/api/players?world="+app.SampleWorld, object{"name": name}, &made)
	return made.Player.ID
}

func (h *house) command(player, text string) {
	h.t.Helper()
	h.do(access.RoleUser, "POST", "/api/players/"+player+"/commands?world="+app.SampleWorld, object{"text": text}, nil)
}

// TestEachAgentRuns runs each agent once, without a model and with one, first as a dry run that leaves no proposal. What
// an agent proposes has passed the gates, and its trace has its calls.
func TestEachAgentRuns(t *testing.T) {
	for _, modelled := range []bool{false, true} {
		t.Run(fmt.Sprintf("model %t", modelled), func(t *testing.T) {
			var fake *modeltest.Server
			if modelled {
				fake = modeltest.Serve(t, scriptedAgents)
			}
			h := open(t, config(t, fake))
			player := h.newPlayer("Mira")
			h.command(player, "attack old cod wilkin")
			h.command(player, "attack gil thrupp")
			h.write(func(p *canon.Plan) error { // the canon denies it: he is at the quay
				place, err := p.Find(t.Context(), "The Halfbridge")
				if err == nil {
					_, err = p.Layer(canon.Layer{Card: place.ID, Kind: "ambient", Text: "Old Cod Wilkin is here."})
				}
				return err
			})
			for _, c := range []struct {
				role   string
				order  agent.Order
				status string // one of these words
			}{
				{"aggregator", agent.Order{Quest: agent.QuestWish{Drafts: 2, Seed: 1}}, "done"},
				{"canonicality", agent.Order{}, "pending_review"},
				{"encounter", agent.Order{Location: "Rent Quay"}, "accepted pending_review"},
				{"intent", agent.Order{Text: "go north"}, "done"},
				{"intent", agent.Order{Text: "look", Player: player}, "pending_review"},
				{"narrator", agent.Order{Location: "rope walk"}, "accepted"},
				{"npc", agent.Order{Player: player}, "accepted"},
				{"planner", agent.Order{Quest: agent.QuestWish{Drafts: 2, Seed: 1}}, "pending_review"},
				{"safety", agent.Order{Text: "The tide comes in."}, "done"},
				{"safety", agent.Order{}, "done"},
				{"world", agent.Order{Location: "The Halfbridge"}, "pending_review"},
			} {
				dry := c.order
				dry.DryRun = true
				r, err := h.app.RunAgent(t.Context(), app.SampleWorld, c.role, dry)
				if want := map[bool]string{true: "done", false: "passed"}[c.status == "done"]; err != nil ||
					r.Status != want && r.Status != "passed" {
					t.Errorf("%s, dry: %+v %v", c.role, r, err)
				}
				r, err = h.app.RunAgent(t.Context(), app.SampleWorld, c.role, c.order)
				if err != nil || !strings.Contains(c.status, r.Status) || r.Calls > agent.MaxToolCalls {
					t.Errorf("%s: %+v %v; want %s", c.role, r, err, c.status)
					continue
				}
				trace, err := h.app.ExplainRun(t.Context(), app.SampleWorld, r.Run)
				if err != nil || len(trace.Calls) == 0 || trace.Calls[0].Subject != access.Subject("agent-"+c.role) ||
					len(trace.Proposals) != len(r.Proposals) {
					t.Errorf("%s: trace %+v %v", c.role, trace, err)
				}
			}
		})
	}
}

// TestAnAgentKeepsToItsToolsAndItsBudget has an agent whose budget is spent write by rules or end, and never call an
// operation that its file does not name.
func TestAnAgentKeepsToItsToolsAndItsBudget(t *testing.T) {
	fake := modeltest.Serve(t, scriptedAgents)
	h := open(t, config(t, fake))
	budgets, err := agent.Budgets()
	if err != nil || budgets["agent world"] == (usage.Budget{}) {
		t.Fatal(budgets, err)
	}
	w, _, err := h.app.Canon.WorldBySlug(t.Context(), app.SampleWorld)
	if err != nil {
		t.Fatal(err)
	}
	if err := h.app.SpendTokens(t.Context(), w.ID, "agent world", budgets["agent world"].HardHour); err != nil {
		t.Fatal(err)
	}
	r, err := h.app.RunAgent(t.Context(), app.SampleWorld, "world", agent.Order{Location: "The Halfbridge"})
	if err != nil || r.Status != "pending_review" || r.Spent != 0 {
		t.Errorf("with a spent budget: %+v %v", r, err)
	}
	for _, asked := range fake.Requests() {
		if strings.Contains(asked.Prompt, "You draft a place") {
			t.Error("a model is asked although the budget is spent")
		}
	}
	for _, name := range agent.Names() {
		role, err := agent.FindRole(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, tool := range role.Tools {
			if _, ok := h.app.Ops.Find(tool); !ok {
				t.Errorf("%s may call %s, which does not exist", name, tool)
			}
		}
		if c := role.Caller(); c.MayUse("world", "approve-proposal") || c.MayUse("archive", "card") || c.Approve {
			t.Errorf("%s may do more than its tools", name)
		}
	}
}

// TestASwitchEndsAnAgent switches an agent off while a model lets it wait.
func TestASwitchEndsAnAgent(t *testing.T) {
	asked, answer := make(chan struct{}, 1), make(chan struct{})
	fake := modeltest.Serve(t, func(string) string {
		asked <- struct{}{}
		<-answer
		return ""
	})
	t.Cleanup(func() { close(answer) })
	h := open(t, config(t, fake))
	ended := make(chan error, 1)
	go func() {
		_, err := h.app.RunAgent(context.WithoutCancel(t.Context()), app.SampleWorld, "narrator", agent.Order{Location: "rope walk"})
		ended <- err
	}()
	<-asked
	if err := h.app.SwitchAgent(t.Context(), app.SampleWorld, "narrator", false); err != nil {
		t.Fatal(err)
	}
	err := waittest.Receive(t, ended, "the end of the agent, while its model still owes an answer")
	if err == nil || !strings.Contains(err.Error(), "switched off") {
		t.Error(err)
	}
	if _, err := h.app.RunAgent(t.Context(), app.SampleWorld, "narrator", agent.Order{}); err == nil {
		t.Error("an agent that is off runs")
	}
	list, err := h.app.AgentRoles(t.Context(), app.SampleWorld)
	for _, r := range list {
		if (r.Name == "narrator" || r.Name == "npc" || r.Name == "encounter") == r.On {
			t.Errorf("%s: on is %t", r.Name, r.On)
		}
	}
	if err != nil {
		t.Error(err)
	}
}

// TestAuditsFindWhatTheCanonDenies moves a person away of whom a layer tells. The audit finds the layer, the agent
// proposes to end it, once, and an approval takes it off the place.
func TestAuditsFindWhatTheCanonDenies(t *testing.T) {
	h := open(t, config(t, nil))
	const in = "?world=" + app.SampleWorld
	var place struct {
		Location struct{ ID string }
		NPCs     []struct{ ID, Name string }
	}
	h.do(access.RoleGM, "GET", "/api/world/location-context"+in, nil, &place)
	here, who := place.Location.ID, place.NPCs[0]
	text := who.Name + " is here."
	h.write(func(p *canon.Plan) error {
		id, err := uuid.Parse(here)
		if err == nil {
			_, err = p.Layer(canon.Layer{Card: canon.CardID(id), Kind: "ambient", Text: text})
		}
		return err
	})
	find := func() (id, why string) {
		for offset := 0; ; {
			var out struct {
				Drifts     []agent.Drift
				NextOffset int
			}
			h.do(access.RoleGM, "GET", fmt.Sprintf("/api/world/drift%s&limit=200&offset=%d", in, offset), nil, &out)
			for _, d := range out.Drifts {
				if d.Text == text {
					id, why = d.LayerID, d.Why
				}
			}
			if offset = out.NextOffset; offset == 0 {
				return id, why
			}
		}
	}
	if id, why := find(); id != "" {
		t.Fatalf("a true layer is found: %s", why)
	}
	h.write(func(p *canon.Plan) error {
		away, err := p.Find(h.t.Context(), "The Halfbridge")
		if err != nil {
			return err
		}
		id, err := uuid.Parse(who.ID)
		if err != nil {
			return err
		}
		links, _, err := p.Links(h.t.Context(), canon.LinkQuery{From: canon.CardID(id), Kinds: []string{"at"},
			Page: canon.Page{Limit: 1}})
		if err != nil {
			return err
		}
		links[0].To = away.ID
		_, err = p.Link(links[0])
		return err
	})
	layer, why := find()
	if layer == "" || !strings.Contains(why, who.Name) {
		t.Fatalf("a false layer is not found: %q", why)
	}
	r, err := h.app.RunAgent(t.Context(), app.SampleWorld, "canonicality", agent.Order{})
	if err != nil || len(r.Proposals) == 0 {
		t.Fatalf("%+v %v", r, err)
	}
	again, err := h.app.RunAgent(t.Context(), app.SampleWorld, "canonicality", agent.Order{})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range again.Proposals {
		if p.Status == proposal.Pending {
			t.Errorf("proposed twice: %+v", p)
		}
	}
	for _, p := range r.Proposals {
		h.approve(p.ProposalID)
	}
	if id, why := find(); id != "" {
		t.Errorf("an ended layer is found: %s", why)
	}
}

// write commits a plan as the operator.
func (h *house) write(plan func(*canon.Plan) error) {
	h.t.Helper()
	w, _, err := h.app.Canon.WorldBySlug(h.t.Context(), app.SampleWorld)
	if err != nil {
		h.t.Fatal(err)
	}
	err = h.app.WithGrant(h.t.Context(), app.Operator(), access.Request{Operation: "test", Effect: access.Write,
		World: w.ID}, func(g access.Grant) error {
		_, err := h.app.Canon.Update(h.t.Context(), g, plan)
		return err
	})
	if err != nil {
		h.t.Fatal(err)
	}
}

// approve approves a proposal as the operator.
func (h *house) approve(id string) {
	h.t.Helper()
	var shown struct{ ExpectedHash string }
	for _, step := range []struct{ operation, input string }{{"get-proposal", `{"proposalId":%q}`},
		{"approve-proposal", `{"proposalId":%q,"expectedHash":%q}`}} {
		arguments := []any{id}
		if shown.ExpectedHash != "" {
			arguments = append(arguments, shown.ExpectedHash)
		}
		answer, err := h.app.Ops.Invoke(h.t.Context(), app.Operator(), op.Request{Operation: step.operation,
			World: app.SampleWorld, Input: fmt.Appendf(nil, step.input, arguments...)})
		if err == nil {
			err = json.Unmarshal(answer.Output, &shown)
		}
		if err != nil {
			h.t.Fatalf("%s: %v", step.operation, err)
		}
	}
}
