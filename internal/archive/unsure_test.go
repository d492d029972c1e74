package archive

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"loregate/internal/op"
	"loregate/internal/secrecy"
)

// unsureTexts returns texts in Markdown by authors who know the table of marks, with marks that need an answer: every
// kind of mark that looks secret, and the beginnings of texts whose mark has its end later.
func unsureTexts(t *testing.T) (texts []string) {
	f, err := os.Open("../secrecy/testdata/split.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	seen := map[string]bool{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var c struct{ Form, Text string }
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		if c.Form != "markdown" || len(c.Text) > 120 {
			continue
		}
		for _, text := range []string{c.Text, c.Text[:strings.LastIndex(c.Text, "HID")+len("HID")]} {
			list := secrecy.FindUnsure("", text, secrecy.Markdown)
			if len(list) != 1 || !strings.Contains(text, "HID") {
				continue
			}
			if kind := list[0].Mark.Rule + secrecy.ClosingSign(list[0].Sign); !seen[kind] {
				seen[kind] = true
				texts = append(texts, text)
			}
		}
	}
	return texts
}

// TestUnsureMarksNeedAnAnswer writes such texts in each way in which a text is written.
func TestUnsureMarksNeedAnAnswer(t *testing.T) {
	texts := unsureTexts(t)
	if len(texts) < 12 {
		t.Fatalf("there are only %d texts: %q", len(texts), texts)
	}
	ways := map[string]func(at, text string) (name string, in map[string]any){
		"create": func(at, text string) (string, map[string]any) {
			return "create_card", map[string]any{"name": "New" + at, "text_format": "markdown", "format": "markdown",
				"content": text}
		},
		"create from Markdown": func(at, text string) (string, map[string]any) {
			return "create_card", map[string]any{"name": "New" + at, "markdown_content": text}
		},
		"a child": func(at, text string) (string, map[string]any) {
			return "create_card", map[string]any{"name": "Above" + at, "children": []any{map[string]any{"name": "+New",
				"text_format": "markdown", "format": "markdown", "content": text}}}
		},
		"update": func(at, text string) (string, map[string]any) {
			return "update_card", map[string]any{"name": "Note" + at, "format": "markdown", "content": "Old.\n\n" + text}
		},
		"update from Markdown": func(at, text string) (string, map[string]any) {
			return "update_card", map[string]any{"name": "Page" + at, "markdown_content": "Old.\n\n" + text}
		},
		"append": func(at, text string) (string, map[string]any) {
			return "update_card", map[string]any{"name": "Note" + at, "format": "markdown",
				"patch": map[string]any{"mode": "append", "content": "\n\n" + text}}
		},
		"append to HTML": func(at, text string) (string, map[string]any) {
			return "update_card", map[string]any{"name": "Page" + at, "format": "markdown",
				"patch": map[string]any{"mode": "append", "content": "\n\n" + text}}
		},
		"replace": func(at, text string) (string, map[string]any) {
			return "update_card", map[string]any{"name": "Note" + at, "format": "markdown",
				"patch": map[string]any{"mode": "find_replace", "find": "Old.", "replace": "Old.\n\n" + text}}
		},
		"everywhere": func(at, text string) (string, map[string]any) {
			return "replace_everywhere", map[string]any{"find": "Note" + at + "\n", "replace": text, "dry_run": false}
		},
		"batch": func(at, text string) (string, map[string]any) {
			return "batch_cards", map[string]any{"mode": "transactional", "ops": []any{map[string]any{"name": "Note" + at,
				"format": "markdown", "content": text}}}
		},
	}
	s := newDesk(t)
	for n, way := range slices.Sorted(maps.Keys(ways)) {
		for i, text := range texts {
			if (n+i)%3 > 0 { // each text in some of the ways
				continue
			}
			write := func(at string, answer string) (said string) {
				for _, name := range []string{"Note", "Page"} {
					s.Do("gm", "create_card", asJSON(map[string]any{"name": name + at, "text_format": map[string]string{
						"Note": "markdown", "Page": "html"}[name], "markdown_content": "Old.\n\nNote" + at + "\n"}))
				}
				operation, in := ways[way](at, text)
				if answer != "" {
					in[answer] = true
				}
				return saidOf(s.As("gm").invoke(operation, asJSON(in)))
			}
			reads := func(who, at string) (all string) {
				for _, name := range []string{"Note" + at, "Page" + at, "New" + at, "Above" + at + "+New"} {
					if a, err := s.As(who).invoke("get_card", asJSON(map[string]any{"name": name, "full": true})); err == nil {
						var card struct{ Content string }
						if err := json.Unmarshal(a.Output, &card); err != nil {
							t.Fatal(err)
						}
						all += card.Content + "\n"
					}
				}
				return all
			}
			at := fmt.Sprintf(" %d %d ", n, i)
			said := write(at+"a", "")
			if !strings.Contains(said, "line ") || !strings.Contains(said, "as_written") || !strings.Contains(said, "hide_unsure") {
				t.Errorf("%s, %q: the answer does not ask: %s", way, text, said)
			}
			if got := reads("gm", at+"a"); strings.Contains(got, "HID") {
				t.Errorf("%s, %q: it was written before its author has answered: %s", way, text, got)
			}
			said = write(at+"b", "hide_unsure")
			if way == "append to HTML" && strings.HasPrefix(said, "conflict") {
				continue // the change must be sent as HTML
			}
			if got := reads("user", at+"b"); strings.Contains(got, "HID") || !strings.Contains(reads("gm", at+"b"), "HID") {
				t.Errorf("%s, %q: hidden, players read %s\n game masters %s\n%s", way, text, got, reads("gm", at+"b"), said)
			}
			said = write(at+"c", "as_written")
			if strings.Contains(way, "from Markdown") && (strings.Contains(said, "<h2>") || strings.Contains(text, "<script>")) {
				continue // a link in a heading looks secret, and the heading of HTML is a mark; scripts are not kept
			}
			if way == "append to HTML" && (strings.HasPrefix(said, "conflict") || strings.Contains(said, `"hidden"`)) {
				continue // the same, or a part that came out marked
			}
			if got := reads("user", at+"c"); !strings.Contains(got, "HID") {
				t.Errorf("%s, %q: as text, players read %s\n%s", way, text, got, said)
			}
		}
	}
}

// TestPlayersAreNotAsked writes unsure marks as somebody who hides nothing.
func TestPlayersAreNotAsked(t *testing.T) {
	s := newDesk(t)
	for i, text := range unsureTexts(t)[:4] {
		name := fmt.Sprint("Diary ", i)
		s.Do("user", "create_card", asJSON(map[string]any{"name": name, "text_format": "markdown", "format": "markdown",
			"content": text}))
		s.As("gm").Call("get_card", asJSON(map[string]any{"name": name})).WantNo("hidden")
		s.Do("gm", "update_card", asJSON(map[string]any{"name": name, "format": "markdown",
			"patch": map[string]any{"mode": "prepend", "content": "More.\n\n"}}))
	}
}

func saidOf(a *op.Answer, err error) string {
	if err != nil {
		return err.Error()
	}
	return string(a.Output)
}
