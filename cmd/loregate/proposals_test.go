package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

func TestShowProposal(t *testing.T) {
	shown, err := readProposal(json.RawMessage(`{"proposalId":"p1","kind":"canon_change/1","status":"pending_review","author":"scribe","actor":"ai","expectedHash":"aa",
		"what":"The Inn","change":"update (+1 -1 lines, age)","createdUtc":"2026-01-02T03:04:05Z","expiresUtc":"2026-01-09T03:04:05Z","payload":{"reason":"It \u001b[2Jrained."},
		"issues":[{"field":"","error":"waits for a person"}],
		"preview":[{"act":"rename","what":"The Old Inn -> The Inn","type":"RichText","level":"gm","diff":"never shown","was":{"name":"The Old Inn","level":"user"},
			"fields":[{"name":"age","before":61,"after":62},{"name":"rank","before":null,"after":"first"}],"text":"@@ -1 +1 @@\n-a\n+a \u001b[8mhidden\u001b[0m \u202eturned\n"}],
		"verdicts":[{"gate":"schema","passed":true},{"gate":"safety","passed":false}]}`))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := shown.print(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"canon_change/1 of scribe (ai), 2026-01-02 03:04: pending_review",
		"\nThe Inn: update (+1 -1 lines, age)\n", "Why: It \ufffd[2Jrained.\n", "Note: waits for a person\n",
		"\nrename The Old Inn -> The Inn, RichText, level gm\n", "  level: user -> gm\n", "  field age: 61 -> 62\n",
		"  field rank: none -> \"first\"\n", "@@ -1 +1 @@\n-a\n+a \ufffd[8mhidden",
		"Refused by: safety\n", "loregate proposals approve p1 --hash aa\n", "Until 2026-01-09 03:04 UTC"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("lacks %q:\n%s", want, out.String())
		}
	}
	if strings.ContainsAny(out.String(), "\x1b\u202e") || strings.Contains(out.String(), "never shown") {
		t.Errorf("what an agent wrote reaches the terminal as it is: %q", out.String())
	}
}

func TestDecisionIsPrintedInOneLine(t *testing.T) {
	shown, err := readProposal(json.RawMessage(`{"proposalId":"p1","author":"scribe","what":"The\nInn","change":"update (+1 -1 lines)"}`))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := (listing{}).printDecision(&out, json.RawMessage(`{"status":"accepted"}`), "approved", shown); err != nil ||
		out.String() != "approved: The Inn: update (+1 -1 lines), by scribe (p1)\n" {
		t.Errorf("%q, %v", out.String(), err)
	}
	out.Reset()
	if err := (listing{JSON: true}).printDecision(&out, json.RawMessage(`{"status":"accepted"}`), "approved",
		shown); err != nil || !json.Valid(out.Bytes()) {
		t.Errorf("%q, %v", out.String(), err)
	}
}
