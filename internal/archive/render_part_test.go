package archive

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
)

// TestHiddenPartsStandApart renders texts with hidden parts for a game master and for players.
func TestHiddenPartsStandApart(t *testing.T) {
	for _, tc := range []struct{ form, text, gm, players string }{
		{"markdown", "An inn. %%The *cook* spies.%%\n\nCheap.\n",
			"<p>An inn. <span gm>The <em>cook</em> spies.</span></p>\n<p>Cheap.</p>", "<p>An inn.</p>\n<p>Cheap.</p>"},
		{"markdown", "An inn.\n\n> [!secret] The cook\n> She spies %%for the duke%% here.\n\nCheap.\n",
			"<p>An inn.</p>\n<div gm><blockquote>\n<p><strong>The cook</strong></p>\n" +
				"<p>She spies <span inner>for the duke</span> here.</p>\n</blockquote></div>\n<p>Cheap.</p>",
			"<p>An inn.</p>\n<p>Cheap.</p>"},
		{"markdown", "Rooms:\n\n- blue\n- %%red, with a door%%\n- green\n",
			"<p>Rooms:</p>\n<ul>\n<li>blue</li>\n<li><span gm>red, with a door</span></li>\n<li>green</li>\n</ul>",
			"<p>Rooms:</p>\n<ul>\n<li>blue</li>\n<li>green</li>\n</ul>"},
		{"markdown", "An inn.\n\n## GM notes\n\nShe spies.\n\n## Rooms\n\nTen.\n",
			"<p>An inn.</p>\n<div gm><h2>GM notes</h2>\n<p>She spies.</p></div>\n<h2>Rooms</h2>\n<p>Ten.</p>",
			"<p>An inn.</p>\n<h2>Rooms</h2>\n<p>Ten.</p>"},
		{"markdown", "%%\nA whole\n\nnote.\n%%\n\nAn inn.\n",
			"<div gm><p>A whole</p>\n<p>note.</p></div>\n<p>An inn.</p>", "<p>An inn.</p>"},
		{"markdown", "%%One line.%%\n\nAn inn.\n", "<div gm><p>One line.</p></div>\n<p>An inn.</p>", "<p>An inn.</p>"},
		{"html", "<p>An inn.<!-- The cook spies. --></p><section class=\"gm\"><p>A cellar.</p></section><p>Cheap.</p>",
			"<p>An inn.<span gm>The cook spies.</span></p>" +
				"<div gm><section class=\"gm\"><p>A cellar.</p></section></div><p>Cheap.</p>",
			"<p>An inn.</p><p>Cheap.</p>"},
		{"html", "<p>An inn.<script>spy()</script> Cheap.</p>", "<p>An inn. Cheap.</p>", "<p>An inn. Cheap.</p>"},
	} {
		s := newDesk(t)
		content, err := json.Marshal(tc.text)
		if err != nil {
			t.Fatal(err)
		}
		s.Do("gm", "create_card", `{"name": "Inn", "text_format": "`+tc.form+`", "content": `+string(content)+`}`)
		s.Do("gm", "create_card", `{"name": "Street", "text_format": "`+tc.form+`", "content": "{{Inn}}"}`)
		if got := plainApart(s.As("gm").Call("get_card", `{"name": "Inn", "rendered": true}`).Text("content")); got != tc.gm {
			t.Errorf("%q\nis shown to a game master as %q\nwant                          %q", tc.text, got, tc.gm)
		}
		if got := s.As("gm").Call("get_card", `{"name": "Street", "rendered": true}`).Text("content"); strings.Count(got,
			"data-part=") != strings.Count(tc.gm, " gm>") {
			t.Errorf("%q is nested as %q", tc.text, got)
		}
		player := s.As("user").Call("get_card", `{"name": "Inn", "rendered": true}`).Text("content")
		if strings.TrimSpace(player) != tc.players {
			t.Errorf("%q\nis shown to players as %q\nwant                   %q", tc.text, player, tc.players)
		}
	}
}

// TestAPartThatWasToldNamesItsReaders renders a part that one player reads.
func TestAPartThatWasToldNamesItsReaders(t *testing.T) {
	s := newDesk(t)
	made := s.Do("gm", "create_card", `{"name": "Inn", "text_format": "markdown", "content": "An inn. %%A spy.%%\n"}`)
	s.Do("gm", "reveal_part", `{"name": "Inn", "parts": ["`+made.Text("hidden.0.id")+`"], "to": ["user", "ada"]}`)
	if got := s.As("gm").Call("get_card", `{"name": "Inn", "rendered": true}`).Text("content"); !strings.Contains(got,
		` data-told="ada user">A spy.</span>`) {
		t.Errorf("a game master is shown %q", got)
	}
	s.As("user").Call("get_card", `{"name": "Inn", "rendered": true}`).Want("content", "<p>An inn. A spy.</p>")
}

// plainApart replaces the attributes of elements of hidden parts by a word.
func plainApart(text string) string {
	part := regexp.MustCompile(` data-hidden="gm" data-part="[0-9a-f]{10}" data-card="[0-9a-f-]{36}"`)
	text = part.ReplaceAllString(text, " gm")
	return strings.TrimSpace(strings.ReplaceAll(text, ` data-hidden="gm"`, " inner"))
}
