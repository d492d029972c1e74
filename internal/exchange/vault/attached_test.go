package vault

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"unicode/utf16"

	"loregate/internal/access"
	"loregate/internal/exchange/exchangetest"
)

// attachedFiles are files that an open note shows. HID in a text means that players must not get the file.
var attachedFiles = map[string]string{
	"Open.canvas": `{"nodes":[{"type":"text","text":"50% of [[Inn]]"},{"type":"file","file":"Inn.md"}]}`,
	"A.canvas":    `{"nodes":[{"type":"text","text":"Seen. %%HID%%"}]}`,
	"B.canvas":    `{"nodes":[{"type":"text","text":"> [!secret]\n> HID"}]}`,
	"C.canvas":    `{"nodes":[{"type":"group","label":"Up <!-- HID -->"}]}`,
	"D.canvas":    `{"nodes":[{"type":"file","file":"GM/Plot.md","HID":1}]}`,
	"E.canvas":    `{"nodes":[{"type":"text","text":"HID [[Plot]]"}],"edges":[]}`,
	"F.canvas":    `{"nodes":[{"type":"text","text":"%%HID%%","text":"seen"}]}`,
	"G.canvas":    `{"nodes":[{"type":"text","text":"HID [p](GM/Plot.md#x)"}]}`,
	"H.canvas":    `{"nodes":[{"type":"file","file":"GM/map.png","HID":1}]}`,
	"Open.base":   "filters:\n  and:\n    - file.inFolder(\"Town\")\nviews:\n  - type: table\n    name: All\n",
	"A.base":      "filters:\n  and:\n    - file.inFolder(\"GM\") # HID\n",
	"B.base":      "formulas:\n  x: 'if(file.hasLink(\"Plot\"), \"HID\", \"\")'\n",
	"C.base":      "views:\n  - type: table\n    name: \"HID %%the heir%%\"\n",
	"D.base":      "formulas:\n  gm notes: 'HID'\n",
	"E.base":      "filters: [HID\n",
	"Open.csv":    "name,age\nOda,40\n",
	"A.csv":       "name,gm notes\nOda,HID\n",
	"B.csv":       "name;text\nOda;%%HID%%\n",
	"C.tsv":       "name\tvisibility\nHID\tgm\n",
	"D.csv":       "\ufeffname,text\nOda,[[Plot]] HID\n",
	"E.csv":       "name,text\r\nOda,caf\xe9 %%HID%%\r\n",
	"F.csv":       utf16File("name,text\nOda,%%HID%%\n"),
	"Open.html":   "<!DOCTYPE html><html><head><title>t</title><style>p{}</style></head><body><p>Hi</p></body></html>",
	"A.html":      "<html>\n\n    <p hidden>HID</p></html>",
	"B.html":      "<html><body><!-- HID --></body></html>",
	"C.html":      "<html><body><a href=\"GM/Plot.md\">HID</a></body></html>",
	"Open.svg":    "<?xml version=\"1.0\"?><!-- made by hand --><svg><style>text{}</style><defs><path id=\"p\"/></defs><text>Inn</text></svg>",
	"A.svg":       "<svg><text visibility=\"hidden\">HID</text></svg>",
	"B.svg":       "<svg><text>%%HID%%</text></svg>",
	"Open.json":   `{"name":"Oda","notes":"none"}`,
	"A.json":      `{"name":"Oda","gm_notes":"HID"}`,
	"B.json":      `[{"name":"HID","hidden":true}]`,
	"Open.txt":    "Nothing.",
	"A.txt":       "---\npublish: false\n---\nHID",
	"B.txt":       "HID #gm-only",
	"C.txt":       "[[GM/Plot|HID]]",
}

// utf16File returns a text as programs of Windows save it.
func utf16File(text string) string {
	b := []byte{0xff, 0xfe}
	for _, u := range utf16.Encode([]rune(text)) {
		b = append(b, byte(u), byte(u>>8))
	}
	return string(b)
}

// attachedVault is a vault with an open note that shows all attachedFiles.
func attachedVault() map[string]string {
	v := maps.Clone(attachedFiles)
	v["Inn.md"], v["GM/Plot.md"], v["GM/map.png"] = "An inn.", "HID", "x"
	v["Town/N.md"] = "x"
	for file := range attachedFiles {
		v["Board.md"] += "![[" + file + "]]\n"
	}
	return v
}

// TestAttachedFilesWithMarks imports files of all forms that an open note shows. Those that hold a mark or name a
// hidden note are the game master's, and each is a question that can be answered both ways.
func TestAttachedFilesWithMarks(t *testing.T) {
	s := newScene(t)
	sum := s.importAs("admin", attachedVault(), Options{})
	text := sum.String()
	for file, data := range attachedFiles {
		_, _, player := s.Content("user", file)
		_, _, gm := s.Content("gm", file)
		hidden := strings.Contains(data, "HID") || strings.HasPrefix(data, "\xff\xfe")
		if player == hidden || !gm {
			t.Errorf("%s: a player sees it: %t, the GM: %t", file, player, gm)
		}
		if asked := strings.Contains(text, fmt.Sprintf("attached file %q", file)); asked != hidden {
			t.Errorf("%s is asked about: %t", file, asked)
		}
	}
	s.importAs("admin", attachedVault(), Options{Open: []string{"A.canvas"}, Confirm: []string{"B.canvas"}})
	s.wantReads("user", map[string]bool{"A.canvas": true, "B.canvas": false, "A.html": false})
	sum = s.importAs("admin", attachedVault(), Options{})
	if text := sum.String(); strings.Contains(text, `attached file "A.canvas"`) || strings.Contains(text, `attached file "B.canvas": 1 notes and files (`) {
		t.Errorf("the answers are forgotten: %s", text)
	}
	s.wantReads("user", map[string]bool{"A.canvas": true, "B.canvas": false})
	// A file that has changed at the source is asked about again.
	v := attachedVault()
	v["A.canvas"] = `{"nodes":[{"type":"text","text":"%%HID AGAIN%%"}]}`
	for range 2 {
		sum = s.importAs("admin", v, Options{})
		if !strings.Contains(sum.String(), `attached file "A.canvas"`) {
			t.Errorf("a file that shows something new is not asked about: %s", sum)
		}
		if _, text, _ := s.Content("user", "A.canvas"); strings.Contains(text, "AGAIN") {
			t.Error("players read what is new in a file that was opened")
		}
	}
}

func (s *scene) wantReads(who string, want map[string]bool) {
	s.T.Helper()
	for name, reads := range want {
		if _, _, ok := s.Content(who, name); ok != reads {
			s.T.Errorf("%s reads %s: %t", who, name, ok)
		}
	}
}

// TestAttachedFilesComeBack exports a world with attached files of all forms.
func TestAttachedFilesComeBack(t *testing.T) {
	s := newScene(t)
	v := attachedVault()
	s.importAs("admin", v, Options{Open: []string{"A.canvas"}})
	dir := t.TempDir()
	s.export("admin", dir)
	got := exchangetest.FolderText(t, dir)
	for file, text := range v {
		if file != "GM/map.png" && !strings.Contains(got, text) {
			t.Errorf("%s does not come back", file)
		}
	}
}

// TestBoardsAndDrawings imports notes that plugins keep boards and drawings in.
func TestBoardsAndDrawings(t *testing.T) {
	for name, tc := range map[string]string{
		"board": "---\nkanban-plugin: board\n---\n\n## Doing\n\n- [ ] SEEN\n- [ ] **Secret:** HID\n- [ ] SEEN %%HID%%\n\n" +
			"## GM notes\n\n- [ ] HID\n\n## Done\n\n- [x] SEEN\n\n%% kanban:settings\n```\n{\"kanban-plugin\":\"board\"}\n```\n%%\n",
		"drawing": "---\nexcalidraw-plugin: parsed\n---\n\n# Excalidraw Data\n## Text Elements\nSEEN ^a1\n\n%%HID%% ^a2\n\n" +
			"%%\n## Drawing\n```json\n{\"text\": \"HID\"}\n```\n%%\n",
	} {
		s := newScene(t)
		s.importAs("admin", map[string]string{"N.md": tc}, Options{})
		text := s.See("user", "N")
		if strings.Contains(text, "HID") || strings.Count(text, "SEEN") != strings.Count(tc, "SEEN") {
			t.Errorf("%s: players read %s", name, text)
		}
		dir := t.TempDir()
		s.export("admin", dir)
		if got := exchangetest.FolderText(t, dir); !strings.Contains(got, tc) {
			t.Errorf("%s comes back as %s", name, got)
		}
	}
}

// TestFieldsOfAccess imports notes with fields that may say who reads them, and a list with a secret callout in it.
func TestFieldsOfAccess(t *testing.T) {
	for text, want := range map[string]string{
		"---\naccess: gm only\n---\nx": "asked", "---\nshare: secret\n---\nx": "asked", "---\npermission: DM\n---\nx": "asked",
		"---\naccess: class features\n---\nx": "open", "---\naudience: everyone\n---\nx": "open",
		"---\naudience: children\n---\nx": "hidden", "---\naudience: the council\n---\nx": "hidden",
		"- SEEN\n  > [!secret]\n  > HID\n- SEEN\n":         "open",
		"> - SEEN\n>   > [!secret]\n>   > HID\n> - SEEN\n": "open",
	} {
		s := newScene(t)
		sum := s.importAs("admin", map[string]string{"N.md": text}, Options{})
		got := "open"
		for _, h := range sum.Hides {
			if h.Notes > 0 {
				got = map[bool]string{true: "asked", false: "hidden"}[h.Doubt]
			}
		}
		if got != want || (sum.Levels[access.LevelUser] == 1) != (want == "open") {
			t.Errorf("%q is %s, want %s: %s", text, got, want, sum)
		}
		seen := s.See("user", "N")
		if strings.Contains(seen, "HID") || want == "open" && strings.Count(seen, "SEEN") != strings.Count(text, "SEEN") {
			t.Errorf("%q: players read %s", text, seen)
		}
	}
}
