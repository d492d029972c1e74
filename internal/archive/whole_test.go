package archive

import (
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/fault"
)

// longText has 24,012 characters, three times the length of one read over MCP.
var longText = strings.Repeat("The tide keeps its own book. ", 828)

func overMCP(content string, tag string) string {
	in := map[string]any{"name": "Annals", "content": content}
	if tag != "" {
		in["if_match"] = tag
	}
	return asJSON(in)
}

// Reading a long card and writing it back never shortens it, for any caller and transport.
func TestReadingAndWritingBackLosesNothing(t *testing.T) {
	onEachStore(t, func(s *scene) {
		t := s.t
		if len(longText) != 24_012 {
			t.Fatalf("the card has %d characters", len(longText))
		}
		s.wrote("Annals", longText)
		whole := func() {
			t.Helper()
			s.As("user").reads("Annals", longText)
		}
		for _, who := range []actor{s.Agent("user"), s.As("user")} {
			read := who.Call("get_card", `{"name": "Annals"}`).Want("truncated", true)
			part, tag := read.Text("content"), read.Text("etag")
			if len(part) != 8000 || !strings.HasPrefix(tag, "partial-") {
				t.Fatalf("%d characters, etag %s", len(part), tag)
			}
			f := who.asked("update_card", overMCP(part, tag))
			if f.Kind != fault.Stale || !strings.Contains(f.Message, "lose the rest") ||
				!strings.Contains(f.Message, `get_card {"full":true,"name":"Annals"}`) {
				t.Errorf("a part as the whole: %v", f)
			}
			whole()
			got := who.Call("batch_cards", `{"ops": [`+strings.Replace(overMCP(part, tag), `{`, `{"action": "update", `, 1)+`]}`)
			got.Want("applied", 0).Want("results.0.code", "conflict")
			whole()
		}
		rest := s.Agent("user").Call("get_card", `{"name": "Annals"}`, overREST).Want("content", longText).WantNo("truncated")
		if rest.Reply.ETag != "1" {
			t.Errorf("the entity tag of all content is %s", rest.Reply.ETag)
		}
		asked := s.As("user").Call("get_card", `{"name": "Annals", "max_content_length": 100}`,
			overREST).Want("truncated", true)
		if !strings.HasPrefix(asked.Reply.ETag, "partial-") || asked.Reply.ETag != asked.Text("etag") {
			t.Errorf("the entity tag of a part is %s", asked.Reply.ETag)
		}
		if f := s.As("user").asked("update_card", overMCP(asked.Text("content"), asked.Reply.ETag),
			overREST); f.Kind != fault.Stale {
			t.Errorf("a part as the whole over REST: %v", f)
		}
		s.As("user").Call("get_revision", `{"name": "Annals", "version": 1}`, overREST).Want("content", longText)
		s.Agent("user").Call("get_revision", `{"name": "Annals", "version": 1}`).Want("truncated", true)
		whole()
	})
}

// Over MCP an agent may replace content only after it has read all of it.
func TestAnAgentMustReadContentBeforeReplacingIt(t *testing.T) {
	s := newScene(t)
	s.wrote("Annals", longText)
	s.wrote("Annals+note", "Short.")
	bot := s.Agent("user")
	for name, tag := range map[string]string{
		"no tag": "", "the version's number": "1", "a number, as text": "01", "a made-up tag": "whole-AAAAAAAAAAAAAAAAAAAAAA",
		"another card's":     bot.Call("get_card", `{"name": "Annals+note"}`).Text("etag"),
		"a rendered form's":  bot.Call("get_card", `{"name": "Annals", "rendered": true, "full": true}`).Text("etag"),
		"the last part's":    bot.Call("get_card", `{"name": "Annals", "content_offset": 20000}`).Text("etag"),
		"a cut whole read's": bot.Call("get_card", `{"name": "Annals", "full": true}`, atMost(8<<10)).Text("etag"),
		"a partial, renamed": strings.Replace(bot.Call("get_card", `{"name": "Annals"}`).Text("etag"), "partial-",
			"whole-", 1),
	} {
		if f := bot.asked("update_card", overMCP("Short.", tag)); f.Kind != fault.Stale && f.Kind != fault.Invalid ||
			!strings.Contains(f.Message, "get_card") {
			t.Errorf("%s: %v", name, f)
		}
	}
	bot.wantFields(fault.Invalid, "update_card", `{"name": "Annals", "markdown_content": "Short."}`, "if_match")
	bot.wantFields(fault.Invalid, "update_card", `{"name": "Annals", "fields": {"+note": "Shorter."}}`,
		"fields.+note.if_match")
	bot.wantFields(fault.Invalid, "create_card",
		`{"name": "Index", "children": [{"name": "Annals+note", "content": "Shorter."}]}`, "children[0].if_match")
	s.As("user").reads("Annals", longText)
	s.As("user").reads("Annals+note", "Short.")

	tag := bot.Call("get_card", `{"name": "Annals", "full": true}`).Text("etag")
	written := bot.Call("update_card", overMCP("Anew.", tag))
	if f := bot.asked("update_card", overMCP("Anew, again.", tag)); f.Kind != fault.Stale ||
		f.Details["current_version"] != uint32(2) {
		t.Errorf("the tag of an older version: %v", f)
	}
	bot.Call("update_card", overMCP("Anew, again.", written.Text("etag")))
	part := bot.Call("get_card", `{"name": "Annals", "max_content_length": 2}`).Text("etag")
	patched := bot.Call("update_card",
		`{"name": "Annals", "patch": {"mode": "append", "content": " More."}, "if_match": "`+part+`"}`).WantNo("etag")
	patched.Want("version", 4)
	bot.Call("update_card", `{"name": "Annals", "fields": {"a": 1}}`)
	bot.Call("update_card", `{"name": "Annals", "content": "Of a person's key."}`, overREST)
	s.As("user").Call("update_card", `{"name": "Annals", "content": "By a person.", "if_match": 6}`)

	made := bot.Call("create_card", `{"name": "Fresh", "content": "One."}`)
	bot.Call("update_card", `{"name": "Fresh", "content": "Two.", "if_match": "`+made.Text("etag")+`"}`)
	bot.Call("create_card", `{"name": "Empty"}`)
	bot.Call("update_card", `{"name": "Empty", "content": "Nothing was lost."}`)
}

// A read tag reveals nothing hidden: its length is fixed, and it covers the version number that the
// reader sees.
func TestAReadTagRevealsNothingHidden(t *testing.T) {
	tags := map[int]string{}
	for _, hidden := range []int{0, 3} {
		s := newScene(t)
		s.hid(access.LevelGM, "Annals", "zero")
		for i := range hidden {
			s.edited("Annals", strings.Repeat("x", i+1))
		}
		s.edited("Annals", "Known now.")
		s.leveled("Annals", access.LevelUser)
		got := s.As("user").Call("get_card", `{"name": "Annals"}`)
		got.Want("version", 1)
		tags[hidden] = got.Text("etag")
	}
	if len(tags[0]) != len(tags[3]) {
		t.Errorf("the tags are %v", tags)
	}
}

// An agent may replace a file only if it names the version of the file that it replaces.
func TestAnAgentMustNameTheFileItReplaces(t *testing.T) {
	s := newDesk(t)
	s.Do("user", "upload_attachment", `{"name": "Map", "data": "`+file(gif)+`"}`)
	bot := s.Agent("user")
	other := `{"name": "Map", "data": "` + file("another") + `"`
	bot.wantFields(fault.Invalid, "upload_attachment", other+`}`, "if_match")
	bot.wantFields(fault.Invalid, "upload_attachment", other+`, "if_match": 1}`, "if_match")
	bot.Call("upload_attachment", `{"name": "Map", "data": "`+file(gif)+`"}`).Want("version", 1)
	tag := bot.Call("get_attachment", `{"name": "Map", "max_bytes": 0}`).Text("etag")
	bot.Call("upload_attachment", other+`, "if_match": "`+tag+`"}`).Want("version", 2)
	if f := bot.asked("upload_attachment", `{"name": "Map", "data": "eA==", "if_match": "`+tag+
		`"}`); f.Kind != fault.Stale {
		t.Errorf("an older tag: %v", f)
	}
	bot.Call("upload_attachment", `{"name": "Fresh", "data": "eA=="}`)
}
