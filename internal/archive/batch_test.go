package archive

import (
	"fmt"
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
)

// statuses returns "ok" or the error code of each result.
func (a answer) statuses() string {
	a.T.Helper()
	v, _ := a.At("results")
	var list []string
	for _, r := range v.([]any) {
		m := r.(map[string]any)
		if m["status"] == "ok" {
			list = append(list, "ok")
		} else if code, coded := m["code"].(string); coded {
			list = append(list, code)
		} else {
			list = append(list, m["message"].(string))
		}
	}
	return strings.Join(list, ", ")
}

func (a answer) wantBatch(status, applied int, statuses string) answer {
	a.T.Helper()
	a.Want("applied", applied)
	if got := a.statuses(); a.Reply.Status != status || got != statuses {
		a.T.Errorf("status %d: %s; want %d: %s, in %s", a.Reply.Status, got, status, statuses, a.Raw)
	}
	return a
}

func TestABatchAnswersForEachOperation(t *testing.T) {
	s := newDesk(t)
	s.wrote("Old", "x")
	s.hid(access.LevelGM, "Vault", "gold")
	before := s.commits()
	s.Do("user", "batch_cards", `{"ops": [
		{"action": "create", "name": "Card1", "type": "RichText", "content": "<p>One</p>"},
		{"action": "create", "name": "Old", "content": "y"},
		{"action": "update", "name": "Vault", "content": "y"},
		{"action": "update", "name": "Quay+GM", "content": "y"},
		{"action": "create", "name": "a/b", "content": "x", "markdown_content": "y"},
		{"action": "update", "name": "Old", "content": "z", "if_version": 7},
		{"action": "update", "name": "Old", "patch": {"mode": "append", "content": "z"}, "if_version": 1},
		{"action": "create", "name": "Card1"}
	]}`).wantBatch(207, 2, "ok, conflict, not_found, permission_denied, validation_error, conflict, ok, conflict").
		Want("mode", "per_item").Want("results.0.name", "Card1").Want("results.0.version", 1).Want("results.6.version", 2).
		Want("results.4.validation_errors.0.field", "markdown_content").Want("results.4.validation_errors.1.field", "name").
		WantNo("results.0.message").WantNo("results.1.id")
	s.As("user").reads("Old", "x\nz")
	if got := s.commits(); got != before+2 {
		t.Errorf("%d commits, want one for each operation that held", got-before)
	}
	s.Do("user", "batch_cards",
		`{"ops": [{"action": "create", "name": "Card2"}, {"action": "update", "name": "Card2", "markdown_content": "*b*"}]}`).
		wantBatch(0, 2, "ok, ok")
	s.As("user").reads("Card2", "<p><em>b</em></p>")
	for _, in := range []string{`{"ops": []}`, `{"ops": [` + strings.Repeat(`{"action": "create", "name": "x"},`, 100) +
		`{"action": "create", "name": "x"}]}`,
		`{"ops": [{"action": "delete", "name": "x"}]}`} {
		s.As("user").WantFault("validation_error", "batch_cards", in)
	}
	s.wantRebuilt()
}

func TestABatchIsOnlyChecked(t *testing.T) {
	s := newDesk(t)
	s.wrote("Old", "x")
	before := s.commits()
	ops := `"ops": [{"action": "create", "name": "New"}, {"action": "create", "name": "Old"},
		{"action": "update", "name": "Old", "content": "y"}]}`
	s.Do("user", "batch_cards", `{"dry_run": true, `+ops).wantBatch(207, 0, "ok, conflict, ok").Want("dry_run", true)
	s.Do("user", "batch_cards", `{"dry_run": true, "mode": "transactional", `+ops).
		wantBatch(409, 0, "not applied, conflict, not applied").Want("dry_run", true)
	s.Do("user", "batch_cards",
		`{"dry_run": true, "mode": "transactional", "ops": [{"action": "create", "name": "New"}]}`).
		wantBatch(0, 0, "ok")
	if got := s.commits(); got != before {
		t.Errorf("%d commits of dry runs", got-before)
	}
	s.As("user").reads("Old", "x")
}

func TestFetchOrInitialize(t *testing.T) {
	s := newDesk(t)
	s.typed("Markdown", "There", "old")
	s.Do("user", "batch_cards", `{"ops": [
		{"action": "create", "name": "There", "fetch_or_initialize": true, "markdown_content": "*new*"},
		{"action": "update", "name": "Not+There", "fetch_or_initialize": true, "content": "made"},
		{"action": "create", "name": "Tags", "type": "Pointer", "fetch_or_initialize": true, "patch": {"mode": "items", "add": ["a"]}},
		{"action": "create", "name": "Tags", "fetch_or_initialize": true, "patch": {"mode": "items", "add": ["b", "a"]}},
		{"action": "update", "name": "~01900000-0000-7000-8000-000000000000", "fetch_or_initialize": true, "content": "x"},
		{"action": "create", "name": "Fresh", "fetch_or_initialize": true, "if_version": 1}
	]}`).wantBatch(207, 4, "ok, ok, ok, ok, not_found, not_found")
	s.As("user").Call("get_card", `{"name": "There"}`).Want("content", "*new*").Want("type", "Markdown").Want("version", 2)
	s.As("user").Call("get_card", `{"name": "Not+There"}`).Want("content", "made").Want("type", "RichText")
	s.As("user").reads("Tags", "[[a]]\n[[b]]")
}

func TestABatchWritesChildren(t *testing.T) {
	s := newDesk(t)
	s.Do(
		"user",
		"batch_cards",
		`{"ops": [{"action": "create", "name": "verification_email", "type": "EmailTemplate", "children": [
		{"name": "*from", "type": "Phrase", "content": "noreply@wiki.example"},
		{"name": "*html message", "type": "RichText", "content": "<p>Click {{_|verify_url}} [[A+B|c]]</p>", "children": [{"name": "+note", "markdown_content": "*n*"}]},
		{"name": "Elsewhere", "content": "own"}
	]}]}`,
	).wantBatch(
		0,
		1,
		"ok",
	)
	s.As("user").reads("verification_email+*from", "noreply@wiki.example")
	s.As("user").reads("verification_email+*html message", "<p>Click {{_|verify_url}} [[A+B|c]]</p>")
	s.As("user").reads("verification_email+*html message+note", "<p><em>n</em></p>")
	s.As("user").reads("Elsewhere", "own")
	s.Do("user", "batch_cards",
		`{"ops": [{"action": "update", "name": "verification_email", "children": [{"name": "*from", "content": "new"}]}]}`)
	s.As("user").Call("get_card", `{"name": "verification_email+*from"}`).Want("content", "new").Want("type",
		"Phrase").Want("version", 2)
}

func TestALevelIsChangedByAdminsOnly(t *testing.T) {
	s := newDesk(t)
	s.wrote("Well", "deep")
	in := `{"ops": [{"action": "update", "name": "Well", "level": "gm"}, {"action": "update", "name": "Well", "level": "user", "content": "deeper"}]}`
	s.Do("gm", "batch_cards", in).wantBatch(207, 1, "permission_denied, ok")
	s.Do("admin", "batch_cards", `{"ops": [{"action": "update", "name": "Well", "level": "gm"}]}`).wantBatch(0, 1, "ok")
	s.As("user").WantNotFound("get_card", `{"name": "Well"}`)
}

func TestATransactionIsAllOrNothing(t *testing.T) {
	s := newDesk(t)
	s.wrote("Old", "x")
	before := s.commits()
	ops := func(last string) string {
		return `{"mode": "transactional", "ops": [{"action": "create", "name": "Ship", "type": "Cardtype"}, {"action": "create", "name": "Heron", "type": "Ship"},
			{"action": "update", "name": "Heron", "content": "sails"}, ` + last + `]}`
	}
	got := s.Do("user", "batch_cards", ops(`{"action": "create", "name": "Old"}`)).wantBatch(409, 0,
		"not applied, not applied, not applied, conflict")
	for i := range 4 {
		got.Want(fmt.Sprintf("results.%d.status", i), "error").WantNo(fmt.Sprintf("results.%d.id", i))
	}
	s.Do("user", "batch_cards", ops(`{"action": "update", "name": "Old", "content": "y", "if_version": 4}`)).wantBatch(409,
		0, "not applied, not applied, not applied, conflict")
	s.Do("user", "batch_cards", ops(`{"action": "update", "name": "Gone", "content": "y"}`)).wantBatch(422, 0,
		"not applied, not applied, not applied, not_found")
	s.Do("user", "batch_cards", ops(`{"action": "create", "name": "X+GM"}`)).wantBatch(422, 0,
		"not applied, not applied, not applied, permission_denied")
	s.Do("user", "batch_cards", ops(`{"action": "create", "name": "a/b"}, {"action": "create", "name": "c//d"}`)).
		wantBatch(422, 0, "not applied, not applied, not applied, validation_error, validation_error")
	s.As("user").WantNotFound("get_card", `{"name": "Heron"}`)
	if got := s.commits(); got != before {
		t.Errorf("%d commits of batches that failed", got-before)
	}
	s.Do("user", "batch_cards", ops(`{"action": "update", "name": "Old", "content": "y", "if_version": 1}`)).wantBatch(0,
		4, "ok, ok, ok, ok").
		Want("mode", "transactional").Want("results.2.version", 1)
	if got := s.commits(); got != before+1 {
		t.Errorf("%d commits, want one", got-before)
	}
	s.As("user").reads("Heron", "sails")
	s.wantRebuilt()
}

// TestABatchFailsAsAWholeOrPerStep makes the store fail at every commit, with an error and with a
// panic.
func TestABatchFailsAsAWholeOrPerStep(t *testing.T) {
	const n = 5
	quiet(t)
	for _, mode := range []string{"per_item", "transactional"} {
		for _, panics := range []bool{false, true} {
			for k := 1; k <= n; k++ {
				t.Run(fmt.Sprintf("%s/panics=%t/%d", mode, panics, k), func(t *testing.T) { breakBatch(t, mode, panics, k, n) })
			}
		}
	}
}

func breakBatch(t *testing.T, mode string, panics bool, k, n int) {
	s := newDesk(t)
	var ops, want []string
	for i := 1; i <= n; i++ {
		ops = append(ops, fmt.Sprintf(`{"action": "create", "name": "Card%d"}`, i))
		if i == k {
			want = append(want, "internal_error")
		} else {
			want = append(want, "ok")
		}
	}
	in := `{"mode": "` + mode + `", "ops": [` + strings.Join(ops, ", ") + `]}`
	there := n - 1
	if s.store.breakAt(k, panics); mode == "transactional" {
		if s.store.breakAt(1, panics); k > 1 { // a single commit: make operation k of the plan fail instead
			s.store.breakAt(0, false)
			ops[k-1] = `{"action": "update", "name": "Gone", "content": "x"}`
			in = `{"mode": "` + mode + `", "ops": [` + strings.Join(ops, ", ") + `]}`
		}
		there = 0
		got, err := s.As("user").invoke("batch_cards", in)
		if k == 1 && fault.KindOf(err) != fault.Internal || k > 1 && got.Reply.Status != 422 {
			t.Errorf("error %v, answer %+v", err, got)
		}
	} else {
		s.Do("user", "batch_cards", in).wantBatch(207, n-1, strings.Join(want, ", ")).Lacks("disk")
	}
	s.store.breakAt(0, false)
	s.As("user").Call("search_cards", `{"q": "Card"}`).Want("total", there)
	s.wantRebuilt()
}

func TestARepeatedBatchChangesNothing(t *testing.T) {
	s := newDesk(t)
	for _, mode := range []string{"per_item", "transactional"} {
		in := `{"mode": "` + mode + `", "ops": [{"action": "create", "name": "` + mode +
			`"}, {"action": "update", "name": "` + mode + `", "patch": {"mode": "append", "content": "x"}}]}`
		first := s.Do("user", "batch_cards", in, withKey(mode)).wantBatch(0, 2, "ok, ok")
		before := s.commits()
		again := s.Do("user", "batch_cards", in, withKey(mode)).wantBatch(0, 2, "ok, ok").Want("results.1.id",
			first.Text("results.0.id"))
		if !again.Reply.Replayed || first.Reply.Replayed || s.commits() != before {
			t.Errorf("%s: replayed %t, %d more commits", mode, again.Reply.Replayed, s.commits()-before)
		}
		s.As("user").reads(mode, "x")
		// The key is refused for any other batch, also one with more or different operations.
		for _, ops := range []string{`{"action": "create", "name": "New"}`, in[strings.Index(in, "[")+1:len(in)-2] +
			`, {"action": "create", "name": "New"}`} {
			if f := s.As("user").asked("batch_cards", `{"mode": "per_item", "ops": [`+ops+`]}`,
				withKey("per_item")); f.Kind != fault.Conflict {
				t.Errorf("another body: %v", f)
			}
		}
		s.As("user").WantNotFound("get_card", `{"name": "New"}`)
	}
	// A batch that was interrupted continues where it stopped.
	quiet(t)
	in := `{"ops": [{"action": "create", "name": "A"}, {"action": "create", "name": "B"}, {"action": "create", "name": "C"}]}`
	s.store.breakAt(2, false)
	s.Do("user", "batch_cards", in, withKey("k")).wantBatch(207, 2, "ok, internal_error, ok")
	s.store.breakAt(0, false)
	s.Do("user", "batch_cards", in, withKey("k")).wantBatch(0, 3, "ok, ok, ok")
	s.As("user").Call("get_card", `{"name": "B"}`).Want("version", 1)
}

func TestAWorldMayRestrictBatchesToAdmins(t *testing.T) {
	s := newDesk(t)
	s.change(func(p *canon.Plan) error { return p.Configure("Main", canon.Settings{BatchRole: "admin"}) })
	in := `{"ops": [{"action": "create", "name": "A"}]}`
	if f := s.As("gm").asked("batch_cards", in); f.Kind != fault.Denied || f.Details["required_role"] != "admin" {
		t.Errorf("a gm's batch: %v", f)
	}
	s.Do("admin", "batch_cards", in).wantBatch(0, 1, "ok")
}

func TestABatchNeedsNoActions(t *testing.T) {
	s := newDesk(t)
	s.wrote("Quay", "x")
	s.Do("user", "batch_cards",
		`{"ops": [{"name": "Rock", "content": "w"}, {"name": "Quay", "patch": {"mode": "append", "content": "y"}}]}`)
	s.As("user").reads("Rock", "w")
	if v := s.As("user").version("Quay"); v != 2 {
		t.Errorf("the card that exists has version %d", v)
	}
}
