package exchange

import (
	"strings"
	"testing"

	"loregate/internal/secrecy"
)

// Every question can be answered both ways by the text that a summary and a page show, whatever the mark is.
func TestEveryMarkCanBeAnswered(t *testing.T) {
	for _, m := range []secrecy.Mark{
		{Rule: "HTML element", What: "details"}, {Rule: "HTML element", What: "<Script> without end"},
		{Rule: "+GM in a name", What: ""}, {Rule: "front matter", What: "status: Hidden: deep"},
		{Rule: "front matter", What: "Secret::"}, {Rule: "tag", What: "#GM/plot"}, {Rule: "tag", What: "#a/"},
		{Rule: "folder", What: "Players/Geheime Orte"}, {Rule: "folder", What: "a, b; c/"},
		{Rule: "block", What: "/// Secret"},
		{Rule: "block", What: "::: secret \"x\" 'y'"}, {Rule: "heading", What: "  Secret\r\n\tplan  of <Ada> & co  "},
		{Rule: "heading", What: "Société Secrète"}, {Rule: "heading", What: "Socie\u0301te\u0301 secre\u0300te"},
		{Rule: "heading", What: "秘密"}, {Rule: "label", What: "Secret \x00\x07of \xff"}, {Rule: "label", What: "/"},
		{Rule: "name", What: strings.Repeat("Very long secrét ", 200)},
	} {
		m.Doubt = true
		first := NewChoices(nil, nil)
		first.Decide(m, "A/N.md", true)
		asked := first.List()[0]
		text := asked.Rule
		if asked.What != "" {
			text += ": " + asked.What
		}
		// A form sends line ends as CR LF and no NUL, and JSON no bytes that are not UTF-8.
		text = strings.ToValidUTF8(text, "\ufffd")
		text = strings.NewReplacer("\r\n", "\r\n", "\n", "\r\n", "\x00", "\ufffd").Replace(text)
		if n := len([]rune(text)); n > 1000 {
			t.Errorf("%.40s…: the choice has %d characters", text, n)
		}
		opened, kept := NewChoices([]string{text}, nil), NewChoices(nil, []string{text})
		if opened.Decide(m, "A/N.md", true) || opened.CheckUnused() != nil {
			t.Errorf("%q is not opened: %v", text, opened.CheckUnused())
		}
		if !kept.Decide(m, "A/N.md", true) || kept.CheckUnused() != nil || kept.List()[0].Doubt {
			t.Errorf("%q is not confirmed: %v", text, kept.CheckUnused())
		}
	}
}
