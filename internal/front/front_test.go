package front_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/front"
	"loregate/internal/op"
)

func TestPartsAreRecordedAndCountedOnce(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.ask(s.with(access.RoleUser, nil), "browse", `{"name": "Quay", "view": "children"}`)
	want := []string{"get_card ok", "list_children ok", "browse ok"}
	if got := s.records.operations(); !slices.Equal(got, want) {
		t.Errorf("recorded %v, want %v", got, want)
	}
	s.refused(s.with(access.RoleUser, nil), "history", `{"name": "Nowhere"}`, fault.NotFound, "Nowhere")
	want = []string{"get_card_history not_found", "history not_found"}
	if got := s.records.operations(); !slices.Equal(got, want) {
		t.Errorf("recorded %v, want %v", got, want)
	}
}

func TestBrowseShowsWhatLiesAround(t *testing.T) {
	t.Parallel()
	s := open(t)
	got := fmt.Sprint(s.ask(s.with(access.RoleUser, nil), "browse", `{"name": "quay"}`))
	for _, part := range []string{"Quay+sign", "links:[Mill]", "name:Quay"} {
		if !strings.Contains(got, part) {
			t.Errorf("%s is not in %s", part, got)
		}
	}
	if got := fmt.Sprint(s.ask(s.with(access.RoleUser, nil), "browse", `{"name": "Mill"}`)); !strings.Contains(got,
		"linked_by:[map[name:Quay") {
		t.Errorf("who links to the mill is not in %s", got)
	}
}

func TestWriteCreatesAndChanges(t *testing.T) {
	t.Parallel()
	s := open(t)
	c := s.with(access.RoleUser, nil)
	for _, row := range []struct{ input, did, content string }{
		{`{"name": "Quay", "append": "Nets *dry*.", "dry_run": true}`, "would be changed", "Wet stones"},
		{`{"name": "Quay", "append": "Nets *dry*."}`, "changed", "<em>dry</em>"},
		{`{"name": "Quay", "append": "It %%leaks%% a lot."}`, "changed", "It <!-- leaks --> a lot."},
		{`{"name": "Quay", "find": "Wet", "replace": "Cold"}`, "changed", "Cold stones"},
		{`{"name": "Quay", "find": "Cold", "content": "Warm"}`, "changed", "Warm stones"},
		{`{"name": "Weir", "content": "A *weir*.", "dry_run": true}`, "would be created", ""},
		{`{"name": "Weir", "content": "A *weir*."}`, "created", "<em>weir</em>"},
	} {
		if got := s.ask(c, "write", row.input)["did"]; got != row.did {
			t.Errorf("%s: %v, want %s", row.input, got, row.did)
		}
		name := "Quay"
		if strings.Contains(row.input, "Weir") {
			name = "Weir"
		}
		a, err := s.call(c, "get_card", `{"name": "`+name+`"}`)
		if row.content == "" {
			if fault.KindOf(err) != fault.NotFound {
				t.Errorf("a dry run left a card: %v", err)
			}
		} else if err != nil || !strings.Contains(string(a.Output), row.content) {
			t.Errorf("after %s: %v, want %s", row.input, a, row.content)
		}
	}
	for input, field := range map[string]string{
		`{"name": "Quay", "content": "a", "append": "b"}`: "content: give one",
		`{"name": "Quay", "find": "a"}`:                   "find: needs replace",
		`{"name": "Quay"}`:                                "content: nothing to change",
		`{"name": "Quay", "content": "all new"}`:          "if_match",
		`{"name": "Quay", "append": "x", "level": "gm"}`:  "level: is for new cards",
	} {
		s.refused(c, "write", input, fault.Invalid, field)
	}
}

// A text that is added has the form in which its page keeps the text, and its marks hide there.
func TestWriteKeepsTheFormOfThePage(t *testing.T) {
	t.Parallel()
	s := open(t)
	gm, player := s.with(access.RoleGM, nil), s.with(access.RoleUser, nil)
	for i, row := range []struct{ form, before, write, whole, open string }{
		{"markdown", "Wet *stones*.", `"append": "Nets *dry*."`, "Wet *stones*.\n\nNets *dry*.",
			"Wet *stones*.\n\nNets *dry*."},
		{"markdown", "Wet.", `"append": "It %%leaks%% a lot.\n\n> [!gm]\n> SPY"`,
			"Wet.\n\nIt %%leaks%% a lot.\n\n> [!gm]\n> SPY", "Wet.\n\nIt a lot.\n"},
		{"markdown", "Wet stones.", `"find": "Wet", "replace": "%%Old%% *cold*"`, "%%Old%% *cold* stones.",
			"*cold* stones."},
		{"html", "<p>Wet.</p>", `"append": "It %%leaks%% a lot."`,
			"<p>Wet.</p>\n<p>It <!-- leaks --> a lot.</p>", "<p>Wet.</p>\n<p>It a lot.</p>"},
		{"html", "<p>Wet stones.</p>", `"find": "Wet", "replace": "%%Old%% cold"`, "<p><!-- Old --> cold stones.</p>",
			"<p> cold stones.</p>"},
		{"html", "<p>Wet stones.</p>", `"find": "Wet", "replace": "1. <em>cold</em>"`,
			"<p>1. <em>cold</em> stones.</p>", "<p>1. <em>cold</em> stones.</p>"},
	} {
		name := fmt.Sprintf("Page %d", i)
		create, err := json.Marshal(map[string]any{"name": name, "text_format": row.form, "content": row.before})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.call(gm, "create_card", string(create)); err != nil {
			t.Fatal(err)
		}
		s.ask(gm, "write", `{"name": "`+name+`", `+row.write+`}`)
		for _, reads := range []struct {
			by   access.Caller
			want string
		}{{gm, row.whole}, {player, row.open}} {
			got := s.ask(reads.by, "get_card", `{"name": "`+name+`"}`)["content"]
			if got != reads.want {
				t.Errorf("after %s to %s, %s reads %q, want %q", row.write, row.before, reads.by.Subject, got, reads.want)
			}
		}
	}
}

// Labels are added to those that a page has, each once.
func TestWriteAddsLabels(t *testing.T) {
	t.Parallel()
	s := open(t)
	c := s.with(access.RoleUser, nil)
	for _, row := range []struct{ input, did, tags string }{
		{`{"name": "Quay", "labels": ["wet"]}`, "changed", "wet"},
		{`{"name": "Quay", "label": ["cold", "Wet"]}`, "changed", "wet cold"},
		{`{"name": "Quay", "tags": ["cold"]}`, "unchanged", "wet cold"},
		{`{"name": "Quay", "labels": ["grey"], "dry_run": true}`, "would be changed", "wet cold"},
		{`{"name": "Sluice", "content": "A gate.", "labels": ["wet", "iron"]}`, "created", "wet iron"},
	} {
		out := s.ask(c, "write", row.input)
		if out["did"] != row.did {
			t.Errorf("%s: %v, want %s", row.input, out["did"], row.did)
		}
		got := fmt.Sprint(s.ask(c, "call_operation", `{"operation": "get_tags", "arguments": {"name": "`+
			out["name"].(string)+`"}}`))
		for _, tag := range strings.Fields(row.tags) {
			if !strings.Contains(got, "name:"+tag) {
				t.Errorf("%s: the tags are %s, without %s", row.input, got, tag)
			}
		}
		if strings.Contains(got, "grey") {
			t.Errorf("%s: a dry run added a label: %s", row.input, got)
		}
	}
	s.refused(c, "write", `{"name": "Quay", "labels": ["x"], "append": "More."}`, fault.Invalid, "call of their own")
}

// Several who give a page its first labels at once all succeed.
func TestFirstLabelsAtOnce(t *testing.T) {
	t.Parallel()
	s := open(t)
	c := s.with(access.RoleUser, nil)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			if _, err := s.call(c, "write", fmt.Sprintf(`{"name": "Quay", "labels": ["label%d"]}`, i)); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	got := fmt.Sprint(s.ask(c, "call_operation", `{"operation": "get_tags", "arguments": {"name": "Quay"}}`))
	for i := range 8 {
		if !strings.Contains(got, fmt.Sprintf("name:label%d", i)) {
			t.Errorf("label%d is not in %s", i, got)
		}
	}
}

// A write to a name that several cards have is refused.
func TestWriteToSeveralCards(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.ask(s.with(access.RoleGM, nil), "write", `{"name": "The Diver", "content": "Drowned.", "level": "gm"}`)
	s.ask(s.with(access.RoleUser, nil), "write", `{"name": "The Diver", "content": "Mine."}`)
	s.refused(s.with(access.RoleGM, nil), "write", `{"name": "the diver", "append": "A secret."}`, fault.Conflict, "(gm)")
	s.ask(s.with(access.RoleUser, nil), "write", `{"name": "The Diver", "append": "More."}`)
}

// A question of which no operation knows the words is about the world.
func TestFindOperationLeavesQuestionsAboutTheWorld(t *testing.T) {
	t.Parallel()
	s := open(t)
	c := s.with(access.RoleUser, nil)
	got := fmt.Sprint(s.ask(c, "find_operation", `{"words": "Who sold the miller seven grey geese?"}`))
	if !strings.Contains(got, "ask_canon") || !strings.Contains(got, "operations:[]") {
		t.Errorf("a question about the world finds %s", got)
	}
	if got := fmt.Sprint(s.ask(c, "find_operation", `{"words": "Who changed a card?"}`)); !strings.Contains(got, "get_card_history") {
		t.Errorf("a question about the wiki finds %s", got)
	}
	mixed := s.ask(c, "find_operation", `{"words": "Who sold the miller seven grey geese? Tell me the name of the page."}`)
	first := mixed["operations"].([]any)[0].(map[string]any)
	if first["operation"] != "search" && first["operation"] != "ask_canon" {
		t.Errorf("a question about the world before another sentence finds %v first", first)
	}
}

func TestDoorsOpenWhatTheCallerMayUse(t *testing.T) {
	t.Parallel()
	s := open(t)
	user, admin := s.with(access.RoleUser, nil), s.with(access.RoleAdmin, nil)
	if got := fmt.Sprint(s.ask(user, "call_operation",
		`{"operation": "get_card", "arguments": {"name": "Quay"}}`)); !strings.Contains(got,
		"Wet stones") {
		t.Errorf("a call through the door: %s", got)
	}
	for _, row := range []struct {
		who         access.Caller
		door, input string
		kind        fault.Kind
		text        string
	}{
		{user, "call_operation", `{"operation": "create_card", "arguments": {"name": "X"}}`, fault.Invalid,
			"change_by_operation"},
		{user, "change_by_operation", `{"operation": "get_card", "arguments": {"name": "Quay"}}`, fault.Invalid,
			"call_operation"},
		{user, "change_by_operation", `{"operation": "delete_card", "arguments": {"name": "Quay"}}`, fault.Invalid, "no " +
			"operation"},
		{user, "call_operation", `{"operation": "delete_card"}`, fault.Invalid, "no operation"},
		{admin, "change_by_operation", `{"operation": "delete_card", "arguments": {"name": "Quay"}}`, fault.Invalid,
			"destroys nothing"},
		{user, "call_operation", `{"operation": "browse"}`, fault.Invalid, "call it by its name"},
		{user, "call_operation", `{"operation": "call_operation", "arguments": {"operation": "get_card"}}`, fault.Invalid,
			"by its name"},
		{user, "call_operation", `{"operation": "get_card", "arguments": {"nam": "Quay"}}`, fault.Invalid, "name"},
		{user, "call_operation", `{"operation": "get_crad"}`, fault.Invalid, "no operation"},
	} {
		s.refused(row.who, row.door, row.input, row.kind, row.text)
	}
	if got := fmt.Sprint(s.ask(admin, "change_by_operation",
		`{"operation": "delete_card", "arguments": {"name": "Quay", "dry_run": true}}`)); !strings.Contains(got,
		"deleted:false") {
		t.Errorf("a dry run destroys nothing: %s", got)
	}
}

// What an unknown operation's answer says must not tell a hidden operation from an absent one.
func TestHiddenOperationsAreAbsent(t *testing.T) {
	t.Parallel()
	s := open(t)
	user := s.with(access.RoleUser, nil)
	text := func(name string) string {
		_, err := s.call(user, "call_operation", `{"operation": "`+name+`"}`)
		return strings.ReplaceAll(fault.Show(err, "").Error.Message, name, "NAME")
	}
	if hidden, absent := text("list_trash"), text("trash_list"); hidden != absent {
		t.Errorf("hidden %q, absent %q", hidden, absent)
	}
	for _, words := range []string{"list_trash", "trash", "back up the instance"} {
		if got := fmt.Sprint(s.ask(user, "find_operation", `{"words": "`+words+`"}`)); strings.Contains(got, "list_trash") ||
			strings.Contains(got, "create_backup") {
			t.Errorf("%s finds %s", words, got)
		}
	}
}

func TestFindOperation(t *testing.T) {
	t.Parallel()
	s := open(t)
	admin := s.with(access.RoleAdmin, nil)
	for words, want := range map[string]string{
		"rename_tag": "rename_tag", "Rename Tag": "rename_tag", "compare two versions of a page": "diff_card",
		"bring a deleted card back from the trash": "restore_card", "move a card to another name": "rename_card",
		"find and replace everywhere": "replace_everywhere", "undo what I changed": "undo_change",
		"statistics": "get_card_stats",
	} {
		found := s.ask(admin, "find_operation", `{"words": "`+words+`"}`)["operations"].([]any)
		var names []string
		for _, one := range found {
			names = append(names, one.(map[string]any)["operation"].(string))
		}
		if !slices.Contains(names, want) {
			t.Errorf("%q finds %v, want %s", words, names, want)
		}
	}
	none := s.ask(admin, "find_operation", `{"words": "zzz qqq"}`)
	if len(none["operations"].([]any)) != 0 || !strings.Contains(none["note"].(string), "archive") {
		t.Errorf("words that fit nothing: %v", none)
	}
}

// A key's binding limits calls, also those through the doors.
// An operation that only shows a change unless told otherwise gives the call that makes it.
func TestShownChangesGiveTheCallThatMakesThem(t *testing.T) {
	t.Parallel()
	s := open(t)
	c := s.with(access.RoleGM, nil)
	out := s.ask(c, "change_by_operation", `{"operation": "replace_everywhere", "arguments": {"find": "Wet", "replace": "Dry"}}`)
	note, _ := out["result"].(map[string]any)["note"].(string)
	_, call, ok := strings.Cut(note, "The call that makes the change: ")
	var next struct {
		Tool      string
		Arguments json.RawMessage
	}
	if !ok || json.Unmarshal([]byte(call), &next) != nil {
		t.Fatalf("the note is %q", note)
	}
	made := s.ask(c, next.Tool, string(next.Arguments))
	if made["result"].(map[string]any)["note"] != nil {
		t.Errorf("the change is made, and still a call is given: %v", made)
	}
	if got := fmt.Sprint(s.ask(c, "fetch", `{"id": "Quay"}`)); !strings.Contains(got, "Dry stones") {
		t.Errorf("after the call the page is %s", got)
	}
	asked := s.ask(c, "change_by_operation",
		`{"operation": "replace_everywhere", "arguments": {"find": "Dry", "replace": "Wet", "dry_run": true}}`)
	if asked["result"].(map[string]any)["note"] != nil {
		t.Errorf("a dry run that was asked for gives a call: %v", asked)
	}
}

// The search for operations names a tool of the set where that fits best.
func TestFindOperationNamesToolsOfTheSet(t *testing.T) {
	t.Parallel()
	s := open(t)
	out := s.ask(s.with(access.RoleUser, nil), "find_operation", `{"words": "throw some dice", "limit": 1}`)
	if got := fmt.Sprint(out["operations"]); !strings.Contains(got, "call_by:roll itself") {
		t.Errorf("found are %s", got)
	}
}

func TestBindingsLimitTheDoors(t *testing.T) {
	t.Parallel()
	s := open(t)
	set := s.with(access.RoleUser, func(c *access.Caller) { c.Surfaces = []string{front.Surface} })
	one := s.with(access.RoleUser, func(c *access.Caller) { c.Operations = []string{"call_operation", "get_tags"} })
	reads := s.with(access.RoleUser, func(c *access.Caller) { c.ReadOnly = true })
	wiki := s.with(access.RoleUser, func(c *access.Caller) { c.Surfaces = []string{"archive"} })

	s.ask(set, "call_operation", `{"operation": "get_tags"}`)
	s.ask(set, "browse", `{"name": "Quay"}`)
	s.refused(set, "get_tags", `{}`, fault.NotFound, "no operation")
	s.ask(one, "call_operation", `{"operation": "get_tags"}`)
	s.refused(one, "call_operation", `{"operation": "get_card", "arguments": {"name": "Quay"}}`, fault.Invalid, "no "+
		"operation")
	s.refused(one, "browse", `{"name": "Quay"}`, fault.NotFound, "no operation")
	s.refused(wiki, "browse", `{"name": "Quay"}`, fault.NotFound, "no operation")
	for tool, input := range map[string]string{
		"write": `{"name": "Quay", "append": "x"}`, "create_card": `{"name": "X"}`, "link": `{"from": "Quay", "to": "Mill"}`,
		"change_by_operation": `{"operation": "create_card", "arguments": {"name": "X"}}`,
	} {
		s.refused(reads, tool, input, fault.Denied, "only reads")
	}
	s.ask(reads, "browse", `{"name": "Quay"}`)
}

// A repeated call has no second effect, although the tool itself commits nothing.
func TestIdempotencyKeysReachTheParts(t *testing.T) {
	t.Parallel()
	s := open(t)
	c := s.with(access.RoleUser, nil)
	for n := range 2 {
		a, err := s.ops.Invoke(context.Background(), c, op.Request{Operation: "write", IdempotencyKey: "once",
			Transport: "mcp",
			Input:     []byte(`{"name": "Quay", "append": "Once."}`)})
		if err != nil || a.Reply.Replayed != (n == 1) {
			t.Errorf("call %d: %v, %v", n, a, err)
		}
	}
	if got := fmt.Sprint(s.ask(c, "get_card", `{"name": "Quay"}`)["content"]); strings.Count(got, "Once.") != 1 {
		t.Errorf("written twice: %s", got)
	}
}

func TestRoll(t *testing.T) {
	t.Parallel()
	s := open(t)
	c := s.with(access.RoleUser, nil)
	for dice, want := range map[string][2]float64{
		"d20": {1, 20}, "2d6+3": {5, 15}, " 3D6 - 1 ": {2, 17}, "d%": {1, 100}, "4dF": {-4, 4}, "4d6kh3": {3, 18},
		"2d20kl1+1d4": {2, 24}, "7": {7, 7}, "2-d4": {-2, 1}, "1d10000": {1, 10000}, "200d2": {200, 400},
	} {
		if got, ok := s.ask(c, "roll", fmt.Sprintf(`{"dice": %q}`, dice))["total"].(float64); !ok || got < want[0] || got > want[1] {
			t.Errorf("%s: %v, want %v", dice, got, want)
		}
	}
	for _, dice := range []string{"x", "2d", "d0", "0d6", "201d6", "100d6+101d6", "1d10001", "2d6 3d6", "2d6+",
		"--2",
		"2d6k", "²d6"} {
		s.refused(c, "roll", fmt.Sprintf(`{"dice": %q}`, dice), fault.Invalid, "dice")
	}
}

// A long text ends at a sentence, and the call beside it gives the rest without loss.
func TestLongTextsContinue(t *testing.T) {
	t.Parallel()
	s := open(t)
	sentence := "The água of the quay is “black” and slow today. "
	text := strings.TrimSpace(strings.Repeat(sentence, 400))
	if _, err := s.call(operator, "create_card",
		fmt.Sprintf(`{"name": "Ännals \"of\" the quay", "type": "Markdown", "content": %q}`,
			text)); err != nil {
		t.Fatal(err)
	}
	whole, next := "", map[string]any{"name": `Ännals "of" the quay`, "version": 1}
	for range 10 {
		input, err := json.Marshal(next)
		if err != nil {
			t.Fatal(err)
		}
		out := s.ask(s.with(access.RoleUser, nil), "history", string(input))
		part := out["content"].(string)
		whole += part
		more, ok := out["more"].(string)
		if !ok {
			break
		}
		if !strings.HasSuffix(part, "today.") {
			t.Errorf("a part ends with %q", part[len(part)-20:])
		}
		next = nil
		if err := json.Unmarshal([]byte(strings.TrimPrefix(more, "history ")), &next); err != nil {
			t.Fatalf("%s: %v", more, err)
		}
	}
	if whole != text {
		t.Errorf("the parts have %d bytes, the text %d", len(whole), len(text))
	}
}
