package archive

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/op/optest"
)

func TestACardIsMade(t *testing.T) {
	s := newDesk(t)
	got := s.Do("user", "create_card", `{"name": "Oda Tarn", "type": "character", "content": "<p class='x'>See [[The A & B|\"it\"]] {{Lease|view:link}}</p>",
		"fields": {"age": 61, "none": null}, "codename": "char-oda"}`)
	got.Want("name", "Oda Tarn").Want("type", "Character").Want("version", 1).Want("codename",
		"char-oda").WantNo("level").WantNo("children")
	if got.Reply.Location != "/api/mcp/cards/Oda%20Tarn" || got.Reply.ETag != "1" {
		t.Errorf("reply %+v", got.Reply)
	}
	s.As("user").Call("get_card", `{"name": ":char-oda"}`).Want("content",
		`<p class='x'>See [[The A & B|"it"]] {{Lease|view:link}}</p>`).
		Want("fields.age", 61).WantNo("fields.none")
	s.Do("user", "create_card", `{"name": "Plain"}`).Want("type", "RichText").Want("content_length", 0)
	if o, _ := s.ops.Find("create_card"); o.Status != 201 {
		t.Errorf("status %d", o.Status)
	}
	s.wantRebuilt()
}

// A name that the caller sees on several cards is no target of a write: the user here has taken the name of a card that
// is hidden from it.
func TestAWriteNamesOneCard(t *testing.T) {
	s := newDesk(t)
	s.hid(access.LevelGM, "Aldous", "<p>He found the street.</p>")
	s.Do("user", "create_card", `{"name": "Aldous", "content": "Mine now."}`)
	id := s.As("user").Call("get_card", `{"name": "Aldous"}`).Text("id")
	for operation, more := range map[string]string{
		"update_card":       `"patch": {"mode": "append", "content": "A secret."}`,
		"rename_card":       `"new_name": "Else"`,
		"set_card_level":    `"level": "gm"`,
		"delete_card":       `"confirm": "Aldous"`,
		"restore_card":      `"to_version": 1`,
		"upload_attachment": `"data": "AAEC"`,
		"auto_link":         `"mode": "apply", "dry_run": false`,
	} {
		said := s.As("admin").WantFault("conflict", operation, `{"name": "aldous", `+more+`}`)
		if !strings.Contains(said, id+" (user)") || !strings.Contains(said, "(gm)") {
			t.Errorf("%s: %s", operation, said)
		}
	}
	s.As("gm").Call("batch_cards", `{"ops": [{"action": "update", "name": "Aldous", "content": "x"}]}`).
		Want("results.0.code", "conflict")
	s.Do("user", "update_card", `{"name": "Aldous", "content": "Still mine."}`)
	s.Do("gm", "update_card", `{"name": "~`+id+`", "content": "Read by all."}`)
}

// TestAWrittenCardIsAnsweredWhole fails each look-up of an answer in turn: a card that could not be read is not left
// out of it.
func TestAWrittenCardIsAnsweredWhole(t *testing.T) {
	s := newDesk(t)
	for n := 0; ; n++ {
		s.store.lookUps = n
		input := fmt.Sprintf(`{"name": "Loft %d", "children": [{"name": "+hook"}, {"name": "+beam"}]}`, n)
		got, err := s.As("user").invoke("create_card", input)
		failed := s.store.lookUps < 0
		s.store.lookUps = -1
		switch {
		case !failed && n < 3:
			t.Fatalf("%d look-ups were made", n)
		case err == nil:
			answer{optest.Check(t, s.ops, "create_card", input, got)}.Want("children.1.name", fmt.Sprintf("Loft %d+beam", n))
		case !failed:
			t.Fatal(err)
		}
		if !failed {
			return
		}
	}
}

func TestMarkdownIsConvertedForTheType(t *testing.T) {
	s := newDesk(t)
	for _, c := range []struct{ typ, want string }{
		{"RichText", "<h1>A</h1>\n<p>[[B|c]] <em>d</em> {{+e|f:g}}</p>"},
		{"Character", "<h1>A</h1>\n<p>[[B|c]] <em>d</em> {{+e|f:g}}</p>"},
		{"Markdown", "# A\n\n[[B|c]] *d* {{+e|f:g}}"},
		{"PlainText", "# A\n\n[[B|c]] *d* {{+e|f:g}}"},
	} {
		s.Do("user", "create_card", asJSON(map[string]any{"name": "Of " + c.typ, "type": c.typ,
			"markdown_content": "# A\n\n[[B|c]] *d* {{+e|f:g}}"}))
		s.As("user").reads("Of "+c.typ, c.want)
	}
	s.Do("user", "create_card", `{"name": "Script", "markdown_content": "<script>x</script>ok"}`)
	s.As("user").reads("Script", "ok")
	s.Do("user", "update_card", `{"name": "Of Markdown", "markdown_content": "*new*"}`)
	s.As("user").reads("Of Markdown", "*new*")
	s.Do("user", "update_card", `{"name": "`+s.idOf("Of Markdown")+`", "type": "RichText", "markdown_content": "*newer*"}`)
	s.As("user").reads("Of Markdown", "<p><em>newer</em></p>")
}

func TestFieldsThatAreCards(t *testing.T) {
	s := newDesk(t)
	s.Do("gm", "create_card", `{"name": "Mail", "type": "Email template", "fields": {"*from": "a@b.example", "+GM": "<p>secret</p>",
		"+tags": {"type": "Pointer", "markdown_content": "- one\n- two"}, "*type+*default": "x", "plain": 1}}`).
		WantNames("children", "Mail+*from, Mail+*type+*default, Mail+GM, Mail+tags")
	s.As("user").reads("Mail+*from", "a@b.example")
	s.As("user").reads("Mail+*type+*default", "x")
	s.As("user").Call("get_tags", `{"name": "Mail"}`).WantNames("tags", "one, two")
	s.As("user").Call("get_card", `{"name": "Mail"}`).Want("fields.plain", 1).WantNo("fields.*from").Lacks("secret")
	s.As("gm").Call("get_card", `{"name": "Mail+GM"}`).Want("level", "gm")

	f := s.As("user").asked("update_card", `{"name": "Mail", "fields": {"+GM": "mine"}}`)
	if f.Kind != fault.Denied || f.Details["required_role"] != "gm" {
		t.Errorf("a player writes +GM: %v", f)
	}
	s.Do("user", "update_card", `{"name": "Mail", "fields": {"*from": "c@d.example", "plain": null}}`)
	s.As("user").reads("Mail+*from", "c@d.example")
	s.As("user").Call("get_card", `{"name": "Mail"}`).WantNo("fields.plain")

	if f := s.As("user").asked("update_card", `{"name": "Mail", "fields": {"*from": null}}`); f.Kind != fault.Denied ||
		f.Details["required_role"] != "admin" {
		t.Errorf("a player removes a child card: %v", f)
	}
	s.Do("admin", "update_card", `{"name": "Mail", "fields": {"*from": null, "*never": null}}`)
	s.As("user").WantNotFound("get_card", `{"name": "Mail+*from"}`)
	s.As("admin").wantFields(fault.Rule, "update_card", `{"name": "Mail", "fields": {"*type": null}}`, "fields.*type.name")
	s.As("user").wantFields(fault.Invalid, "update_card",
		`{"name": "Mail", "fields": {"*a": 1, "*b": {"contents": "x"}, "+": "x"}}`, "fields.*a fields.*b fields.+")
	s.wantRebuilt()
}

func TestChildrenNestAtMostFiveDeep(t *testing.T) {
	s := newDesk(t)
	nest := func(n int) string {
		in := `{"name": "+c` + "0" + `"}`
		for i := 1; i < n; i++ {
			in = `{"name": "+c` + string(rune('0'+i)) + `", "content": "x", "children": [` + in + `]}`
		}
		return in
	}
	s.Do("user", "create_card", `{"name": "Tree", "children": [`+nest(5)+
		`, {"name": "Elsewhere+Leaf", "content": "as it stands"}]}`)
	s.As("user").reads("Tree+c4+c3+c2+c1", "x")
	s.As("user").reads("Elsewhere+Leaf", "as it stands")
	before := s.commits()
	s.As("user").wantFields(fault.Invalid, "create_card", `{"name": "Deep", "children": [`+nest(6)+`]}`,
		"children[0].children[0].children[0].children[0].children[0].children")
	// An existing child is updated; a child given twice is refused.
	s.Do("user", "create_card", `{"name": "Bush", "children": [{"name": "Elsewhere+Leaf", "content": "new"}]}`)
	s.As("user").reads("Elsewhere+Leaf", "new")
	s.As("user").wantFields(fault.Rule, "create_card", `{"name": "Hedge", "children": [{"name": "+a"}, {"name": "+A"}]}`,
		"children[1].name")
	s.As("user").wantFields(fault.Rule, "create_card", `{"name": "Hedge", "children": [{"name": "hedges"}]}`,
		"children[0].name")
	s.As("user").WantNotFound("get_card", `{"name": "Hedge"}`)
	if got := s.commits(); got != before+1 {
		t.Errorf("%d commits, want 1", got-before)
	}
}

func TestFaultyInputIsRefused(t *testing.T) {
	s := newDesk(t)
	s.wrote("Well", "deep")
	s.typed("Pointer", "Well+tags", "[[a]]")
	before := s.commits()
	for _, c := range []struct {
		name, input, fields string
		kind                fault.Kind
	}{
		{"create_card", `{"name": "a/b", "content": "x", "markdown_content": "y", "children": [{"name": "+", "content": "x", "markdown_content": "y"}]}`,
			"name markdown_content children[0].markdown_content children[0].name", fault.Invalid},
		{"create_card", `{"name": "  "}`, "name", fault.Invalid},
		{"create_card", `{"name": "A++B"}`, "name", fault.Invalid},
		{"create_card", `{"name": "~A"}`, "name", fault.Invalid},
		{"create_card", `{"name": ":a"}`, "name", fault.Invalid},
		{"create_card", asJSON(map[string]any{"name": strings.Repeat("a", 256)}), "name", fault.Invalid},
		{"create_card", `{"name": "A", "type": "Spaceship"}`, "type", fault.Rule},
		{"create_card", `{"name": "A", "type": "File"}`, "type", fault.Rule},
		{"create_card", `{"name": "A", "type": "Image", "content": "x"}`, "content", fault.Rule},
		{"create_card", `{"name": "A", "codename": "Big"}`, "codename", fault.Invalid},
		{"create_card", `{"name": "A", "children": [{"name": "+b", "type": "Spaceship"}]}`, "children[0].type", fault.Rule},
		{"create_card", `{"name": "A", "nme": 1, "level": "gods"}`, "nme level", fault.Invalid},
		{"update_card", `{"name": "Well", "content": "x", "patch": {"mode": "append", "content": "y"}}`, "patch",
			fault.Invalid},
		{"update_card", `{"name": "Well", "content": "x", "markdown_content": "y"}`, "markdown_content", fault.Invalid},
		{"update_card", `{"name": "Well", "patch": {"mode": "sideways"}}`, "patch.mode", fault.Invalid},
		{"update_card", `{"name": "Well", "patch": {"mode": "append", "find": "x", "content": "y"}}`, "patch.find",
			fault.Invalid},
		{"update_card", `{"name": "Well", "patch": {"mode": "replace_between", "start_marker": "<h2>", "replacement_html": "x"}}`, "patch.end_marker", fault.Invalid},
		{"update_card", `{"name": "Well", "patch": {"mode": "items", "add": ["x"]}}`, "patch.mode", fault.Rule},
		{"update_card", `{"name": "Well", "type": "File"}`, "type", fault.Rule},
		{"rename_card", `{"name": "Well", "new_name": "a/b"}`, "new_name", fault.Invalid},
		{"rename_card", `{"name": "Well", "new_name": "Well+Deeper"}`, "new_name", fault.Rule},
		{"set_card_level", `{"name": "Well", "level": "user", "subjects": ["alice"]}`, "subjects", fault.Invalid},
		{"set_card_level", `{"name": "Well", "level": "gm", "subjects": ["a,b", "c", "d e"]}`, "subjects[0] subjects[2]",
			fault.Invalid},
		{"undo_change", `{"id": "yesterday"}`, "id", fault.Invalid},
	} {
		s.As("admin").wantFields(c.kind, c.name, c.input, c.fields)
	}
	if f := s.As("user").asked("create_card", asJSON(map[string]any{"name": "Big",
		"content": strings.Repeat("a", canon.MaxContent+1)})); f.Kind != fault.TooLarge {
		t.Errorf("too much content: %v", f)
	}
	if got := s.commits(); got != before {
		t.Errorf("refused calls made %d commits", got-before)
	}
}

func TestStaleWritesAreRefused(t *testing.T) {
	s := newDesk(t)
	s.wrote("Well", "one")
	s.Do("user", "update_card", `{"name": "Well", "content": "two", "if_match": 1}`).Want("version", 2)
	f := s.As("user").asked("update_card", `{"name": "Well", "content": "three", "if_match": "1"}`)
	if f.Kind != fault.Stale || f.Kind.HTTPStatus() != 412 || f.Details["current_version"] != uint32(2) {
		t.Errorf("stale: %v %v", f, f.Details)
	}
	s.As("user").reads("Well", "two")
	// Without if_match the last write wins, and fields are merged.
	s.Do("user", "update_card", `{"name": "Well", "content": "four", "fields": {"a": 1, "b": 2}}`)
	s.Do("user", "update_card", `{"name": "Well", "fields": {"b": null, "c": 3}}`).Want("version", 4)
	s.As("user").Call("get_card", `{"name": "Well"}`).Want("content", "four").Want("fields.a",
		1).WantNo("fields.b").Want("fields.c", 3)
	// A version that the caller cannot see leaves no gap in the numbers.
	s.leveled("Well", access.LevelGM)
	s.edited("Well", "hidden")
	s.leveled("Well", access.LevelUser)
	s.Do("user", "update_card", asJSON(map[string]any{"name": "Well", "content": "five",
		"if_match": s.As("user").version("Well")}))
}

func TestAnEmptyUpdateChangesNothing(t *testing.T) {
	s := newDesk(t)
	s.wrote("Well", "deep")
	before := s.commits()
	for _, in := range []string{`{"name": "Well"}`, `{"name": "Well", "content": "deep"}`,
		`{"name": "Well", "fields": {}}`, `{"name": "Well", "type": "rich text"}`} {
		s.Do("user", "update_card", in).Want("version", 1).WantNo("change_id")
	}
	if got := s.commits(); got != before {
		t.Errorf("%d commits, want none", got-before)
	}
}

func TestNamesAreCheckedBeforeAnyLookUp(t *testing.T) {
	s := newDesk(t)
	s.wrote("Quay", "wet")
	s.wrote("Quay+GM", "secret")
	for _, c := range []struct{ name, there, not string }{
		{"create_card", `{"name": "Quay+GM"}`, `{"name": "Moor+gm"}`},
		{"update_card", `{"name": "Quay+GM", "content": "x"}`, `{"name": "Moor+gm", "content": "x"}`},
		{"update_card", `{"name": "Quay+GM", "content": "x", "if_match": 9}`,
			`{"name": "Moor+gm", "content": "x", "if_match": 9}`},
		{"auto_link", `{"name": "Quay+GM"}`, `{"name": "Moor+gm"}`},
		{"upload_attachment", `{"name": "Quay+GM", "data": "YQ=="}`, `{"name": "Moor+gm", "data": "YQ=="}`},
	} {
		there := s.As("user").WantFault("permission_denied", c.name, c.there)
		not := s.As("user").WantFault("permission_denied", c.name, c.not)
		if strings.ReplaceAll(there, "Quay+GM", "N") != strings.ReplaceAll(not, "Moor+gm", "N") ||
			!strings.Contains(there, `"required_role":"gm"`) {
			t.Errorf("%s tells:\n%s\n%s", c.name, there, not)
		}
	}
	f := s.As("user").asked("create_card", `{"name": "New", "children": [{"name": "+GM", "content": "x"}]}`)
	if f.Kind != fault.Denied || f.Details["required_role"] != "gm" || f.Details["card"] != "+GM" {
		t.Errorf("a child for the GM: %v", f)
	}
	if f := s.As("user").asked("update_card", `{"name": "Quay", "fields": {"+GM": null}}`); f.Details["card"] != "+GM" {
		t.Errorf("a child of the GM removed: %v", f)
	}
	s.As("user").WantNotFound("get_card", `{"name": "New"}`)
	if f := s.As("user").asked("create_card", `{"name": "New", "level": "gm"}`); f.Kind != fault.Denied ||
		f.Details["required_role"] != "gm" {
		t.Errorf("above the own level: %v", f)
	}
}

func TestHiddenCardsAreAbsentToWriters(t *testing.T) {
	s := newDesk(t)
	s.hid(access.LevelGM, "Vault", "gold")
	s.hid(access.LevelGM, "Vault+door", "iron")
	for _, c := range []struct{ name, with string }{
		{"update_card", `, "content": "x"`}, {"update_card", `, "content": "x", "if_match": 1`}, {"auto_link", ``},
		{"update_card", `, "patch": {"mode": "append", "content": "x"}`},
	} {
		hidden := s.As("user").WantNotFound(c.name, `{"name": "Vault"`+c.with+`}`)
		absent := s.As("user").WantNotFound(c.name, `{"name": "Vaunt"`+c.with+`}`)
		if strings.ReplaceAll(hidden, "Vault", "N") != strings.ReplaceAll(absent, "Vaunt", "N") {
			t.Errorf("%s tells:\n%s\n%s", c.name, hidden, absent)
		}
	}
	// The hidden card does not block its name, and a card created below that name gets a new parent
	// of the caller's own.
	s.Do("user", "create_card", `{"name": "Vault+window", "content": "glass"}`)
	s.Do("user", "update_card", `{"name": "Vault", "content": "mine"}`).Want("version", 2)
	s.As("gm").reads("~"+s.idOf("Vault+door"), "iron")
	s.As("gm").Call("get_card", `{"name": "Vault"}`).Want("content", "mine").Want("homonyms.#", 1)
	s.As("user").WantNotFound("get_card", `{"name": "Vault+door"}`)
	s.Do("gm", "create_card", `{"name": "Crypt", "level": "gm"}`).Want("level", "gm")
	s.Do("user", "create_card", `{"name": "Crypt"}`).WantNo("homonyms")
	s.As("user").WantFault("conflict", "create_card", `{"name": "crypts"}`)
	s.wantRebuilt()
}

func TestACardIsCreatedWithALevel(t *testing.T) {
	s := newDesk(t)
	s.wrote("Open", "x")
	got := s.Do("gm", "create_card", `{"name": "Open", "level": "gm", "content": "y"}`).Want("level",
		"gm").Want("homonyms.0.level", "user")
	if want := "/api/mcp/cards/~" + got.Text("id"); got.Reply.Location != want {
		t.Errorf("location %q, want %q", got.Reply.Location, want)
	}
	s.As("gm").reads("Open", "x")
	s.Do("gm", "create_card", `{"name": "Deep+Down", "level": "gm"}`)
	s.As("user").WantNotFound("get_card", `{"name": "Deep"}`)
	s.Do("user", "create_card", `{"name": "Loose+End", "ensure_parents": false}`)
	s.As("user").WantNotFound("get_card", `{"name": "Loose"}`)
	s.As("user").reads("Loose+End", "")
}

func TestRepeatedCallsAreAnsweredWithTheCurrentVisibility(t *testing.T) {
	s := newDesk(t)
	in := `{"name": "Well", "content": "deep"}`
	first := s.Do("gm", "create_card", in, withKey("k1"))
	s.edited("Well", "deeper")
	again := s.Do("gm", "create_card", in, withKey("k1")).Want("id", first.Text("id")).Want("version", 2)
	if !again.Reply.Replayed || first.Reply.Replayed || again.Reply.Location == "" {
		t.Errorf("replayed %t, then %t", first.Reply.Replayed, again.Reply.Replayed)
	}
	s.As("gm").reads("Well", "deeper")
	if f := s.As("gm").asked("create_card", `{"name": "Well", "content": "other"}`,
		withKey("k1")); f.Kind != fault.Conflict {
		t.Errorf("another body: %v", f)
	}
	s.Do("gm", "update_card", `{"name": "Well", "content": "x"}`, withKey("k2"))
	s.leveled("Well", access.LevelAdmin)
	if f := s.As("gm").asked("update_card", `{"name": "Well", "content": "x"}`, withKey("k2")); f.Kind != fault.NotFound {
		t.Errorf("a repeated call whose card is out of sight: %v", f)
	}
	// A caller whose role was lowered is checked again against the name rules.
	low := s.As("gm")
	s.Do("gm", "create_card", `{"name": "Pit+GM"}`, withKey("k3"))
	low.caller.Roles = map[access.WorldID]access.Role{s.world: access.RoleUser}
	if f := low.asked("create_card", `{"name": "Pit+GM"}`, withKey("k3")); f.Kind != fault.Denied {
		t.Errorf("a lowered role repeats: %v", f)
	}
}

func TestConcurrentCallsWithOneKeyHaveOneEffect(t *testing.T) {
	s := newDesk(t)
	s.wrote("Well", "")
	before := s.commits()
	var all sync.WaitGroup
	answers := make([]string, 16)
	for i := range answers {
		all.Go(func() {
			got, err := s.As("user").invoke("update_card", `{"name": "Well", "patch": {"mode": "append", "content": "x"}}`,
				withKey("k"))
			if err != nil {
				t.Error(err)
				return
			}
			answers[i] = string(got.Output)
		})
	}
	all.Wait()
	for _, a := range answers {
		if a != answers[0] {
			t.Errorf("answers %q", answers)
			break
		}
	}
	if n := s.commits(); n != before+1 {
		t.Errorf("%d commits", n-before)
	}
	// Without a key each call has its own effect, and none is lost.
	const others = 16
	for range others {
		all.Go(func() {
			if _, err := s.As("user").invoke("update_card",
				`{"name": "Well", "patch": {"mode": "append", "content": "y"}}`); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	content := s.As("user").Call("get_card", `{"name": "Well"}`).Text("content")
	if x, y := strings.Count(content, "x"), strings.Count(content, "y"); x != 1 || y != others {
		t.Errorf("%d x, %d y", x, y)
	}
}

func BenchmarkCreate(b *testing.B) {
	s := newDesk(b)
	a, n := s.As("user"), 0
	for b.Loop() {
		n++
		a.Call("create_card", asJSON(map[string]any{"name": "Card " + itoa(n), "content": "<p>See [[Well]].</p>"}))
	}
}

func BenchmarkUpdate(b *testing.B) {
	s := newDesk(b)
	s.wrote("Well", "deep")
	a, n := s.As("user"), 0
	for b.Loop() {
		n++
		a.Call("update_card", asJSON(map[string]any{"name": "Well", "content": "<p>deep " + itoa(n) + "</p>"}))
	}
}
