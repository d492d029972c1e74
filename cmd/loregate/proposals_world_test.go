package main

import (
	"encoding/json"
	"strings"
	"testing"
)

// With several worlds, the proposals of all are listed, and each can be decided by its id alone.
func TestProposalsOfSeveralWorlds(t *testing.T) {
	dir := t.TempDir()
	must := func(args ...string) string {
		t.Helper()
		got := runCommand(t, dir, "", args...)
		if got.code != 0 {
			t.Fatalf("%v: %d\n%s%s", args, got.code, got.stdout, got.err)
		}
		return got.stdout
	}
	ids := map[string]string{}
	for _, world := range []string{"one", "two"} {
		must("world", "create", world)
		var made struct{ ProposalID, Status string }
		out := must("call", "propose-canon-change",
			`{"op":{"name":"create_card","arguments":{"name":"Inn","content":"x"}},"reason":"It was built."}`, "--world", world,
			"--role", "user")
		if err := json.Unmarshal([]byte(out), &made); err != nil || made.Status != "pending_review" {
			t.Fatalf("%v %s", err, out)
		}
		ids[world] = made.ProposalID
	}
	list := must("proposals", "list")
	if one, two := strings.Index(list, "one"), strings.Index(list, "two"); !strings.HasPrefix(list, "WORLD") || two < 0 ||
		one < two ||
		!strings.Contains(list, ids["one"]) || !strings.Contains(list, ids["two"]) {
		t.Errorf("listed:\n%s", list)
	}
	if list := must("proposals", "list", "--world", "one"); strings.Contains(list, "WORLD") ||
		strings.Contains(list, ids["two"]) {
		t.Errorf("of one world:\n%s", list)
	}
	var rows struct {
		Proposals []struct{ ProposalID, World string }
	}
	if err := json.Unmarshal([]byte(must("proposals", "list", "--json", "--limit", "1")), &rows); err != nil ||
		len(rows.Proposals) != 1 || rows.Proposals[0].World != "two" {
		t.Errorf("as JSON: %v %+v", err, rows)
	}
	if shown := must("proposals", "show", ids["one"]); !strings.Contains(shown, "Inn") {
		t.Errorf("shown:\n%s", shown)
	}
	must("proposals", "approve", ids["one"])
	must("proposals", "reject", ids["two"])
	must("call", "get_card", `{"name":"Inn"}`, "--world", "one")
	if got := runCommand(t, dir, "", "call", "get_card", `{"name":"Inn"}`, "--world", "two"); got.code == 0 {
		t.Error("what was rejected was done")
	}
	if got := runCommand(t, dir, "", "proposals", "show", "01a202f9-e4e6-74c8-a395-b96956c8b965"); got.code != 1 ||
		!strings.Contains(got.err, "in any world") {
		t.Errorf("one that is not there: %d %s", got.code, got.err)
	}
}
