package vaulttest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"loregate/internal/app/apptest"
)

// owner edits notes by REST, and the files of a copy in the same way.
type owner struct {
	t     *testing.T
	r     *rand.Rand
	url   string
	key   string
	dir   string            // the vault as it was imported
	want  map[string]string // the files that must change, as they must be
	notes []string
}

// findNotes returns the notes whose names no other note has, sorted.
func findNotes(t *testing.T, dir string) (notes []string) {
	t.Helper()
	byName := map[string][]string{}
	for p := range vaultFiles(t, dir) {
		if strings.EqualFold(path.Ext(p), ".md") {
			name := strings.TrimSuffix(strings.ToLower(path.Base(p)), ".md")
			byName[name] = append(byName[name], p)
		}
	}
	for _, same := range byName {
		if len(same) == 1 {
			notes = append(notes, same[0])
		}
	}
	slices.Sort(notes)
	return notes
}

// vaultFiles returns the files of a folder by path, except those whose names begin with a dot.
func vaultFiles(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err != nil || p == dir {
			return err
		}
		if strings.HasPrefix(d.Name(), ".") {
			if d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		}
		if d.Type().IsRegular() {
			data, err := os.ReadFile(p)
			rel, _ := filepath.Rel(dir, p)
			files[filepath.ToSlash(rel)] = string(data)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// card is a card as REST shows it.
type card struct {
	Content string
	Format  string `json:"text_format"`
	Type    string
}

func (o *owner) getCard(name string) (c card, ok bool) {
	status, body := apptest.Send(o.t, http.MethodGet, o.url+"/api/mcp/cards/"+url.PathEscape(name)+"?format=markdown", o.key, "")
	return c, status == http.StatusOK && json.Unmarshal(body, &c) == nil && c.Format == "markdown"
}

// change is an edit: of a card's text, and of the text of its note.
type change struct {
	file, card, find, replace string
}

// drawChange draws an edit of a line that its note and its card have once. ok is false if the note has
// no such line.
func (o *owner) drawChange(file string) (c change, text string, ok bool) {
	text, changed := o.want[file]
	if !changed {
		data, err := os.ReadFile(filepath.Join(o.dir, filepath.FromSlash(file)))
		if err != nil {
			o.t.Fatal(err)
		}
		text = string(data)
	}
	lines := strings.Split(text, "\n")
	line := strings.TrimSuffix(lines[o.r.IntN(len(lines))], "\r")
	if !isLong(line) || strings.Count(text, line) != 1 || strings.ContainsAny(line, "<%[") { // no mark is broken
		return c, text, false
	}
	name := strings.TrimSuffix(path.Base(file), path.Ext(file))
	for _, name := range []string{name, name + "+GM"} {
		is, ok := o.getCard(name)
		if !ok || strings.Count(is.Content, line) != 1 {
			continue
		}
		o.want[file] = text
		c = change{file: file, card: name, find: line}
		switch o.r.IntN(3) {
		case 0:
			words := strings.Split(line, " ")
			words[len(words)-1] += fmt.Sprintf(" edited%d", o.r.IntN(1000))
			c.replace = strings.Join(words, " ")
		case 1:
			c.replace = line + fmt.Sprintf("\nand after that %d days of rain", o.r.IntN(1000))
		case 2:
			c.replace = line[:len(line)/2] + "~" + line[len(line)/2:]
			if !isText(c.replace) {
				c.replace = line + "~"
			}
		}
		return c, text, true
	}
	return c, text, false
}

func isText(s string) bool { return strings.ToValidUTF8(s, "") == s }

// applyToFile makes the change in the text of the note.
func (c change) applyToFile(text string) string {
	replace := c.replace
	if strings.Contains(text, "\r\n") {
		replace = strings.ReplaceAll(replace, "\n", "\r\n")
	}
	return strings.Replace(text, c.find, replace, 1)
}

// body returns the arguments of update_card.
func (c change) body() map[string]any {
	return map[string]any{"format": "markdown", "patch": map[string]any{"mode": "find_replace", "find": c.find,
		"replace": c.replace}}
}

// editNotes makes edits of random lines in random notes.
func (o *owner) editNotes(edits int) {
	most := 400 * edits
	for tries := 0; edits > 0; tries++ {
		if tries > most {
			o.t.Fatalf("%d edits found no line", edits)
		}
		file := draw(o.r, o.notes)
		c, text, ok := o.drawChange(file)
		if !ok {
			continue
		}
		in, err := json.Marshal(c.body())
		if err != nil {
			o.t.Fatal(err)
		}
		if status, answer := apptest.Send(o.t, http.MethodPatch, o.url+"/api/mcp/cards/"+url.PathEscape(c.card), o.key,
			string(in)); status != http.StatusOK {
			o.t.Fatalf("%+v: %d %s", c, status, answer)
		}
		o.want[file] = c.applyToFile(text)
		edits--
	}
}
