package worldtest

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/agent"
	"loregate/internal/app"
	"loregate/internal/app/apptest"
	"loregate/internal/fault"
	"loregate/internal/op"
	"loregate/internal/remote"
	"loregate/internal/waittest"
)

// An agent runs against a server elsewhere over MCP, with a key of its own: the server records its calls under that key,
// lets it do no more than its role, and stops it when the key is revoked.
func TestAgentsRunOverMCPWithTheirOwnKeys(t *testing.T) {
	dir := t.TempDir()
	apptest.Sample(t, dir)
	a, _ := apptest.Open(t, apptest.Config(t, dir), app.Options{})
	addr, _ := apptest.Serve(t, a, "127.0.0.1:0")
	url := "http://" + addr + "/api/mcp"
	elsewhere := apptest.Config(t, t.TempDir())
	keyOf := func(role string) (secret, id string) {
		secret, id, err := a.CreateAgentKey(t.Context(), app.SampleWorld, role)
		if err != nil {
			t.Fatal(err)
		}
		return secret, id
	}
	run := func(key, role string, o agent.Order) (agent.Report, error) {
		return app.RunRemoteAgent(t.Context(), elsewhere, app.RemoteOptions{URL: url, Key: key, World: app.SampleWorld}, role, o)
	}

	key, id := keyOf("narrator")
	r, err := run(key, "narrator", agent.Order{Location: "loc-rope-walk"})
	if err != nil || len(r.Proposals) == 0 || r.Status != "accepted" {
		t.Fatalf("the narrator: %+v, %v", r, err)
	}
	local, err := a.RunAgent(t.Context(), app.SampleWorld, "narrator", agent.Order{Location: "loc-rope-walk"})
	if err != nil || local.Status != agent.Skipped {
		t.Errorf("the same narrator here, after the other: %+v, %v", local, err)
	}
	safety, _ := keyOf("safety")
	if r, err := run(safety, "safety", agent.Order{Text: "The tide comes in."}); err != nil || r.Status != agent.Done {
		t.Errorf("the safety: %+v, %v", r, err)
	}
	if _, err := run(safety, "planner", agent.Order{}); fault.KindOf(err) != fault.Invalid {
		t.Errorf("a committee elsewhere: %v", err)
	}

	apptest.Eventually(t, "the calls are recorded with the key of the narrator", waittest.Patience, func() bool {
		var called []string
		for rec, err := range a.AccessTail(t.Context(), access.TailOptions{Last: 1000}) {
			if err != nil {
				t.Fatal(err)
			}
			if rec.Key == id && rec.Subject == "agent-narrator" && rec.Outcome == "ok" {
				called = append(called, rec.Operation)
			}
		}
		return slices.Contains(called, "get-location-context") && slices.Contains(called, "get-atmosphere") &&
			slices.Contains(called, "propose-ambience")
	})

	bridge, err := remote.New(t.Context(), remote.Config{URL: url, Key: key, Role: access.RoleUser, World: app.SampleWorld,
		Tools: []string{"all"}})
	if err != nil {
		t.Fatal(err)
	}
	client, err := bridge.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	read := func(name string) error {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		_, err := client.Invoke(ctx, access.Caller{}, op.Request{Operation: name, Input: []byte(`{}`)})
		return err
	}
	if err := read("get-location-context"); err != nil {
		t.Errorf("a tool of the narrator: %v", err)
	}
	for _, name := range []string{"get_card", "propose-place", "advance-time"} {
		if err := read(name); err == nil {
			t.Errorf("%s is open to the key of the narrator", name)
		}
	}
	for _, on := range []bool{false, true} {
		if err := a.SwitchAgent(t.Context(), app.SampleWorld, "narrator", on); err != nil {
			t.Fatal(err)
		}
		err := read("get-location-context")
		if (err == nil) != on || err != nil && !strings.Contains(err.Error(), "switched off") {
			t.Errorf("an agent elsewhere that is switched %v: %v", on, err)
		}
	}
	if err := a.Identity.RevokeKey(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	apptest.Eventually(t, "a revoked key is refused", waittest.Patience, func() bool { return read("get-location-context") != nil })
	if err := client.Close(); err != nil {
		t.Error(err)
	}
	if _, err := run(key, "narrator", agent.Order{}); fault.KindOf(err) != fault.Unauthorized {
		t.Errorf("a run with a revoked key: %v", err)
	}
}
