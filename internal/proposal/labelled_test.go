package proposal_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/proposal"
	"loregate/internal/store/memory"
)

// labelled is a proposal with its expected verdict; see testdata/README.md.
type labelled struct {
	N          int
	Kind       string
	Gate       string
	Why        string
	Payload    json.RawMessage
	By         string
	Provenance json.RawMessage
	After      []json.RawMessage
	Burst      int
	Hour       int
	World      struct{ Profile string }
	Store      string
}

var placeholder = regexp.MustCompile(`@[a-z]+`)

func labelledSet(t testing.TB) []labelled {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", "labelled.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var list []labelled
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := placeholder.ReplaceAllFunc(bytes.Clone(lines.Bytes()), func(m []byte) []byte {
			if id, ok := ids[string(m)]; ok {
				return []byte(id)
			}
			return m
		})
		var row labelled
		if err := json.Unmarshal(line, &row); err != nil {
			t.Fatal(err)
		}
		list = append(list, row)
	}
	return list
}

var tools = map[string]string{"ambience": "propose-ambience", "npc_dialogue": "propose-npc-dialogue",
	"quest": "propose-quest", "world_event": "enqueue-world-event"}

// provenance returns valid provenance with the replacements of the row.
func (l labelled) provenance(t testing.TB, s *scene) fields {
	t.Helper()
	id := "ambience"
	var with map[string]any
	if err := json.Unmarshal(l.Provenance, &with); err != nil {
		t.Fatal(err)
	}
	if other, ok := with["templateId"].(string); ok {
		if _, err := s.prompts.Get(other, ""); err == nil {
			id = other
		}
	}
	p, err := s.prompts.Get(id, "")
	if err != nil {
		t.Fatal(err)
	}
	all := fields{"model": "test", "templateId": id, "templateVersion": p.Metadata.Version, "templateHash": p.Hash(),
		"contextRefs": []string{goodRef}, "contextHash": contextHash(t, 1)}
	maps.Copy(all, with)
	return all
}

func (l labelled) input(t testing.TB, s *scene) fields {
	t.Helper()
	var in fields
	if err := json.Unmarshal(l.Payload, &in); err != nil {
		t.Fatal(err)
	}
	if len(l.Provenance) > 0 && string(l.Provenance) != "null" {
		in["provenance"] = l.provenance(t, s)
	}
	return in
}

// other returns an unrelated payload of the same kind for the same player.
func (l labelled) other(t testing.TB, n int) fields {
	t.Helper()
	text := fmt.Sprintf("w%da w%db w%dc w%dd w%de", n, n, n, n, n)
	var in fields
	if err := json.Unmarshal(l.Payload, &in); err != nil {
		t.Fatal(err)
	}
	switch l.Kind {
	case "ambience":
		in["text"] = text
	case "npc_dialogue":
		in["draftText"] = text
	case "quest":
		in["seedSpec"] = fields{"title": text, "hook": text + " hook", "objectives": []fields{{"id": "a", "text": text, "waitMinutes": 1}}}
	}
	return in
}

// judge submits a row and returns the gate that refused it, or "".
func (l labelled) judge(t testing.TB, s *scene) (string, proposal.Result) {
	t.Helper()
	who := s.as("somebody", access.RoleUser)
	if l.By == "ai" {
		who = s.as("ai-somebody", access.RoleUser)
	}
	before := s.as("another", access.RoleUser)
	for _, payload := range l.After {
		var in fields
		if err := json.Unmarshal(payload, &in); err != nil {
			t.Fatal(err)
		}
		earlier := before
		if l.Kind != "ambience" && l.Kind != "npc_dialogue" {
			earlier = who // a pending proposal is known to its author alone
		}
		if r := earlier.propose(tools[l.Kind], in); r.Status != proposal.Accepted && r.Status != proposal.Pending {
			t.Fatalf("row %d: what went before is %+v", l.N, r.Rejection)
		}
	}
	for n := range l.Burst + l.Hour {
		if l.Hour > 0 {
			s.later(50 * time.Second)
		}
		if r := who.propose(tools[l.Kind], l.other(t, n)); r.Rejection != nil {
			t.Fatalf("row %d: burst %d is refused: %+v", l.N, n, r.Rejection)
		}
	}
	if l.Hour > 0 {
		s.later(50 * time.Second)
	}
	world, ledger := s.heads()
	s.store.broken.Store(l.Store == "fails")
	r := who.propose(tools[l.Kind], l.input(t, s))
	s.store.broken.Store(false)
	if l.Store == "fails" {
		if w, g := s.heads(); w != world || g != ledger {
			t.Errorf("row %d: something was stored: world %d to %d, ledger %d to %d", l.N, world, w, ledger, g)
		}
	}
	switch {
	case r.Status == proposal.Duplicate:
		return "duplication", r
	case r.Rejection != nil:
		return string(r.Rejection.Gate), r
	}
	return "", r
}

// score counts a gate's correct and wrong verdicts on the rows that reach it.
type score struct{ hit, wrong, missed, right int }

func (s score) precision() float64 { return float64(s.hit) / max(1, float64(s.hit+s.wrong)) }
func (s score) recall() float64    { return float64(s.hit) / max(1, float64(s.hit+s.missed)) }

// Every labelled proposal is refused by exactly the expected gate, or by none.
func TestLabelledProposals(t *testing.T) {
	s := newSceneOn(t, memory.New())
	gates := []string{"schema", "safety", "invariant", "duplication", "replay", "rate", "audit"}
	by, all := map[string]*score{}, &score{}
	for _, g := range gates {
		by[g] = &score{}
	}
	rows := labelledSet(t)
	for _, row := range rows {
		s.settle(fmt.Sprintf("row-%d", row.N), row.World.Profile)
		got, r := row.judge(t, s)
		if got != row.Gate {
			why := ""
			if r.Rejection != nil {
				why = r.Rejection.Message
			}
			t.Logf("row %d (%s) is refused by %q, and not by %q: %s", row.N, row.Why, got, row.Gate, why)
		}
		if r.Rejection != nil {
			wantWhole(t, row.N, *r.Rejection)
		}
		for _, g := range gates {
			count(by[g], got == g, row.Gate == g)
		}
		count(all, got != "", row.Gate != "")
	}
	for _, g := range gates {
		t.Logf("%-12s precision %.3f  recall %.3f  (%d refused rightly, %d wrongly, %d let by)", g, by[g].precision(),
			by[g].recall(), by[g].hit, by[g].wrong, by[g].missed)
		if by[g].precision() <= 0.90 || by[g].recall() <= 0.95 {
			t.Errorf("gate %s: precision %.3f, recall %.3f", g, by[g].precision(), by[g].recall())
		}
	}
	t.Logf("%-12s precision %.3f  recall %.3f  of %d", "all", all.precision(), all.recall(), len(rows))
	if len(rows) < 200 || all.precision() <= 0.90 || all.recall() <= 0.95 {
		t.Errorf("of %d: precision %.3f, recall %.3f", len(rows), all.precision(), all.recall())
	}
}

func count(s *score, refused, ought bool) {
	switch {
	case refused && ought:
		s.hit++
	case refused:
		s.wrong++
	case ought:
		s.missed++
	default:
		s.right++
	}
}

// wantWhole checks that a rejection has every part that the contract requires: gate, code, message
// and fallback.
func wantWhole(t *testing.T, row int, r proposal.Rejection) {
	t.Helper()
	if r.Gate == "" || r.Code == "" || r.Message == "" || r.Fallback.Text == "" || r.Details == nil {
		t.Errorf("row %d: the rejection lacks a part: %+v", row, r)
	}
	if r.Retryable != (r.RetryAfterSeconds > 0) {
		t.Errorf("row %d: retryable %t, retry after %d", row, r.Retryable, r.RetryAfterSeconds)
	}
}
