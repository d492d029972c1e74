package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

func TestAProposalIsShownForAPersonToDecide(t *testing.T) {
	var shown shownProposal
	err := json.Unmarshal([]byte(`{"proposalId":"p1","kind":"canon_change/1","status":"pending_review","author":"scribe","actor":"ai","expectedHash":"aa",
		"createdUtc":"2026-01-02T03:04:05Z","expiresUtc":"2026-01-09T03:04:05Z","payload":{"text":"\u001b[2J"},
		"preview":[{"act":"update","what":"The Inn","type":"RichText","level":"user","diff":"+a \u001b[8mhidden\u001b[0m \u202eturned\n"}],
		"verdicts":[{"gate":"schema","passed":true},{"gate":"safety","passed":false}]}`), &shown)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := shown.print(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"canon_change/1 of scribe (ai), 2026-01-02 03:04: pending_review", "update The Inn, RichText, level user\n+a \ufffd[8mhidden",
		"Gates: schema passed, safety REFUSED\n", "loregate proposals approve p1 --hash aa\n", "Until 2026-01-09 03:04 UTC"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("lacks %q:\n%s", want, out.String())
		}
	}
	if strings.ContainsAny(out.String(), "\x1b\u202e") {
		t.Errorf("what an agent wrote reaches the terminal as it is: %q", out.String())
	}
}
