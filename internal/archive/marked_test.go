package archive

import (
	"maps"
	"strings"
	"testing"

	"loregate/internal/secrecy"
)

// Marked text survives each way of writing in the form that a card does not keep, and stays marked.
func TestMarkedTextSurvivesTheOtherForm(t *testing.T) {
	const inMarkdown = "Seen.\n\n> [!secret] HID\n> HID\n\nSeen %%HID%% too.\n\n<!-- HID -->\n\n[//]: # (HID)\n\n" +
		"{{< secret >}}HID{{< /secret >}}\n\nSeen."
	const inHTML = `<p>Seen <!-- HID --> too.</p><div class="secret"><p>HID</p><p>HID</p></div>` +
		`<p data-visibility="gm">HID</p><p>Seen <span class="gm-only">HID</span>.</p><p>[secret]HID[/secret]</p>`
	s := newDesk(t)
	text := map[string]string{"markdown": inMarkdown, "html": inHTML}
	for _, kept := range []string{"html", "markdown"} {
		given := map[string]string{"html": "markdown", "markdown": "html"}[kept]
		form := map[string]secrecy.Form{"html": secrecy.HTML, "markdown": secrecy.Markdown}[kept]
		base := map[string]any{"text_format": kept, "format": kept, "content": map[string]string{
			"html":     "<p>An old quay.</p>\n<!-- HID -->\n<p>It stands.</p>",
			"markdown": "An old quay.\n\n%%HID%%\n\nIt stands."}[kept]}
		for way, calls := range map[string][]map[string]any{
			"create": {{"text_format": kept, "format": given, "content": text[given]}},
			"update": {base, {"format": given, "content": text[given]}},
			"append": {base, {"format": given, "patch": map[string]any{"mode": "append", "content": map[string]string{
				"html": "", "markdown": "\n\n"}[given] + text[given]}}},
			"another form": {{"text_format": given, "format": given, "content": text[given]}, {"text_format": kept}},
		} {
			name := strings.ReplaceAll(way+" "+kept, " ", "")
			for i, in := range calls {
				in := maps.Clone(in)
				in["name"] = name
				s.Do("gm", map[bool]string{true: "create_card", false: "update_card"}[i == 0], asJSON(in))
			}
			content := s.As("gm").Call("get_card",
				asJSON(map[string]any{"name": name, "full": true, "format": kept})).Text("content")
			open := secrecy.Split(content, form, func(m secrecy.Mark) bool { return !m.Doubt }).Open
			want := strings.Count(text[given], "HID")
			if way == "append" {
				want++
			}
			if got := strings.Count(content, "HID"); got != want || strings.Contains(open, "HID") {
				t.Errorf("%s: %d of %d marked words are there, and open is %q\n%s", name, got, want, open, content)
			}
			if !strings.Contains(open, "Seen") {
				t.Errorf("%s: the open text is %q", name, open)
			}
		}
	}
}
