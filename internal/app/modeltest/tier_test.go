package modeltest

import (
	"strings"
	"testing"

	"loregate/internal/agent"
	"loregate/internal/app"
	"loregate/internal/fault"
	"loregate/internal/model/modeltest"
)

// TestTheTiersServeTheirPurposes has each model asked for its purposes, and the other one if it does not answer. A spent
// budget of a tier ends its purposes alone.
func TestTheTiersServeTheirPurposes(t *testing.T) {
	rich, cheap := modeltest.Serve(t, scriptedAgents), modeltest.Serve(t, scriptedAgents)
	c := config(t, rich)
	c.Model.Cheap.Name, c.Model.Cheap.URL, c.Model.Cheap.Purposes = "small-1", cheap.URL, []string{"npc_dialogue"}
	c.Budgets.CheapHour = 50_000
	h := open(t, c)
	player := h.newPlayer("Mira")
	counts := func(f *modeltest.Server, part string) (n int) {
		for _, asked := range f.Requests() {
			if strings.Contains(asked.Prompt, part) {
				n++
			}
		}
		return n
	}
	run := func(role string, o agent.Order) {
		t.Helper()
		if r, err := h.app.RunAgent(t.Context(), app.SampleWorld, role, o); err != nil || r.Status == "skipped" {
			t.Errorf("%s: %+v %v", role, r, err)
		}
	}
	const line, place = "You speak for", "You draft a place"
	run("npc", agent.Order{Player: player, DryRun: true})
	run("world", agent.Order{Location: "The Halfbridge", DryRun: true})
	if counts(cheap, line) != 1 || counts(rich, line) != 0 || counts(cheap, place) != 0 || counts(rich, place) != 1 {
		t.Errorf("lines %d %d, places %d %d", counts(cheap, line), counts(rich, line), counts(cheap, place),
			counts(rich, place))
	}
	for _, asked := range cheap.Requests() {
		if strings.Contains(asked.Authorization, modeltest.Key) {
			t.Error("the key of one endpoint is sent to the other")
		}
	}
	cheap.Answer(func(string) string { return "" })
	h.command(player, "look")
	run("npc", agent.Order{Player: player, DryRun: true})
	if counts(cheap, line) < 2 || counts(rich, line) != 1 {
		t.Errorf("after the cheap model went down: lines %d %d", counts(cheap, line), counts(rich, line))
	}
	w, _, err := h.app.Canon.WorldBySlug(t.Context(), app.SampleWorld)
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		err = h.app.SpendTokens(t.Context(), w.ID, agent.TierBudget(agent.Cheap), 200)
	}
	if fault.KindOf(err) != fault.RateLimited {
		t.Fatal(err)
	}
	before := len(cheap.Requests()) + counts(rich, line)
	h.command(player, "say hello")
	run("npc", agent.Order{Player: player, DryRun: true})
	if after := len(cheap.Requests()) + counts(rich, line); after != before {
		t.Errorf("a spent tier is asked %d times", after-before)
	}
}
