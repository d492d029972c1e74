package archive

import (
	"encoding/json"
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
)

// meant makes the references of a card that are written as a path mean another card.
func (s *scene) meant(from, path, to string, level access.Level) {
	s.t.Helper()
	s.change(func(p *canon.Plan) error {
		a, err := p.Card(from)
		if err != nil {
			return err
		}
		b, err := p.Card(to)
		if err != nil {
			return err
		}
		attrs, err := json.Marshal(map[string]string{canon.WrittenAttr: path})
		if err != nil {
			return err
		}
		_, err = p.Link(canon.Link{Kind: canon.LinkRefers, From: a.ID, To: b.ID, Attrs: attrs, Label: access.NewLabel(level)})
		return err
	})
}

// TestReferencesLeadToTheirCards shows, lists and renames cards that references mean by another name than they write.
func TestReferencesLeadToTheirCards(t *testing.T) {
	s := newDesk(t)
	for name, text := range map[string]string{"Tavern": "one", "B+Tavern": "two", "GM Tavern": "three"} {
		s.made(canon.NewCard{Name: name, Format: canon.FormatMarkdown, Content: text})
	}
	s.leveled("GM Tavern", access.LevelGM)
	s.made(canon.NewCard{Name: "Road", Format: canon.FormatMarkdown,
		Content: "See [[A/Tavern]], [[B/Tavern|there]], [it](../B/Tavern.md#Cellar), ![[B/Tavern]] and [[C/Tavern]].\n\n" +
			"| a | [[B/Tavern\\|x]] |\n|---|---|\n"})
	s.made(canon.NewCard{Name: "Path", Format: canon.FormatMarkdown, Content: "[[Tavern]]"})
	s.meant("Road", "B/Tavern", "B+Tavern", access.LevelUser)
	s.meant("Road", "../B/Tavern", "B+Tavern", access.LevelUser)
	s.meant("Road", "C/Tavern", "GM Tavern", access.LevelUser)
	html := func(who string) string {
		return s.As(who).Call("get_card", `{"name": "Road", "rendered": true}`).Text("content")
	}
	for _, part := range []string{"[[Tavern]]", "[[B+Tavern|there]]", "[[B+Tavern|it]]", "two", "[[B+Tavern|x]]"} {
		if !strings.Contains(html("user"), part) {
			t.Errorf("%q is missing in %s", part, html("user"))
		}
	}
	if strings.Contains(html("user"), "GM Tavern") || !strings.Contains(html("gm"), "[[GM Tavern|Tavern]]") {
		t.Errorf("players read %s, the GM %s", html("user"), html("gm"))
	}
	for _, tc := range []struct{ who, name, kind, has, lacks string }{
		{"user", "Road", "links", "B+Tavern", "GM Tavern"}, {"gm", "Road", "links", "GM Tavern", ""},
		{"user", "B+Tavern", "referers", "Road", "Path"}, {"user", "B+Tavern", "nested_in", "Road", ""},
		{"user", "Tavern", "referers", "Path", ""}, {"gm", "GM Tavern", "linked_by", "Road", ""},
	} {
		got := s.As(tc.who).Call("get_relationships", `{"name": "`+tc.name+`", "kind": "`+tc.kind+`"}`).Has(tc.has)
		if tc.lacks != "" {
			got.Lacks(tc.lacks)
		}
	}
	s.Do("admin", "rename_card", `{"name": "Tavern", "new_name": "Inn", "update_referers": true}`)
	s.Do("admin", "rename_card", `{"name": "B+Tavern", "new_name": "Old House", "update_referers": true}`)
	text := s.As("user").Call("get_card", `{"name": "Road"}`).Text("content")
	if !strings.Contains(text, "[[B/Tavern|there]], [it](../B/Tavern.md#Cellar), ![[B/Tavern]]") ||
		!strings.Contains(html("user"), "[[Old House|there]]") {
		t.Errorf("after the renames: %s\n%s", text, html("user"))
	}
	if text = s.As("user").Call("get_card", `{"name": "Path"}`).Text("content"); text != "[[Inn]]" {
		t.Errorf("a reference by name reads %s", text)
	}
}
