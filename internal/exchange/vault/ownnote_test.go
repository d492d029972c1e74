package vault

import (
	"maps"
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/exchange"
	"loregate/internal/exchange/exchangetest"
	"loregate/internal/exchange/native"
)

// exported returns the files of a game master's export of a world with cards that were never in a vault.
func (s *scene) exported() map[string]string {
	s.T.Helper()
	dir := s.T.TempDir()
	if _, err := native.Export(s.T.Context(), s.Canon, s.As("gm"), dir, nil); err != nil {
		s.T.Fatal(err)
	}
	files := map[string]string{}
	for part := range strings.SplitSeq(exchangetest.FolderText(s.T, dir), "=== ") {
		if name, text, ok := strings.Cut(part, "\n"); ok && !strings.HasPrefix(name, ".") {
			files[name] = strings.TrimSuffix(text, "\n")
		}
	}
	return files
}

// ownWorld returns a world whose cards have words that look secret, openly.
func ownWorld(t *testing.T) *scene {
	s := newScene(t)
	s.Create(canon.NewCard{Name: "Mill", Content: "<p>A mill.</p>"})
	s.Create(canon.NewCard{Name: "Quay", Content: "A quay.\n", Format: canon.FormatMarkdown})
	s.Create(canon.NewCard{Name: "Rumours", Type: "List", Content: "The bridge is old"})
	s.Create(canon.NewCard{Name: "The secret garden", Content: "A garden.\n\n## A hidden stair\n\nIt is known.\n",
		Format: canon.FormatMarkdown, Fields: []byte(`{"status":"a secret garden"}`), AsWritten: true})
	s.Create(canon.NewCard{Name: "The secret garden+Gate", Content: "<p>A gate.</p>"})
	return s
}

var openGardens = map[string]string{"user The secret garden+Gate": "RichText user <p>A gate.</p>",
	"user The secret garden": "RichText user A garden.\n\n## A hidden stair\n\nIt is known.\n"}

// TestMarksInOurNotes marks notes of an export in another program, and imports them into a new world and into the one
// from which they came. A mark hides there as it does in a note of another program, and one that looks secret is asked
// about. What the export itself had openly stays open.
func TestMarksInOurNotes(t *testing.T) {
	head := func(line string) func(map[string]string, string) {
		return func(files map[string]string, name string) {
			files[name] = strings.Replace(files[name], "---\n", "---\n"+line+"\n", 1) + "\nWORD\n"
		}
	}
	body := func(text string) func(map[string]string, string) {
		return func(files map[string]string, name string) { files[name] += text }
	}
	move := func(to string) func(map[string]string, string) {
		return func(files map[string]string, name string) {
			files[to] = files[name] + "\nWORD\n"
			delete(files, name)
		}
	}
	for what, edit := range map[string]func(map[string]string, string){
		"a tag":        head("tags: [gm]"),
		"a tag below":  head("tags: [town, gm/plot]"),
		"a secret tag": head("tags: [secret-plans]"),
		"a draft":      head("draft: true"),
		"a yes":        head("gm: true"),
		"a text":       head("gm: WORD the heir"),
		"a field": func(files map[string]string, name string) {
			files[name] = strings.Replace(files[name], "---\n", "---\nfields: {secrets: WORD}\n", 1)
		},
		"a field of marks": head("fields: {publish: false}"),
		"a status":         head("status: a secret plan"),
		"no players":       head("visibility: a few"),
		"a tag in text":    body("\nWORD #gm-only\n"),
		"a yes in text":    body("\nsecret:: true\n\nWORD\n"),
		"a heading":        body("\n## The keeper's secret plan\n\nWORD\n"),
		"a callout":        body("\n> [!gm-notez] a\n> WORD\n"),
		"a label":          body("\n**Secret plan:** WORD\n"),
		"a comment":        body("\n%%WORD%%\n"),
		"a folder":         move("GM/Mill.md"),
		"a secret folder":  move("Secret plans/Mill.md"),
		"a name":           move("Mill+GM.md"),
		"a secret name":    move("Secret plans.md"),
	} {
		for _, note := range []string{"Mill", "Quay", "Rumours"} {
			t.Run(what+" "+note, func(t *testing.T) {
				was := ownWorld(t)
				files := was.exported()
				edit(files, note+".md")
				here := newScene(t)
				for where, s := range map[string]*scene{"a new world": here, "the same world": was} {
					said := s.importAs("gm", files, Options{Options: exchange.Options{Label: "v"}}).String()
					c, seen, _ := s.Content("user", note)
					all := seen + string(c.Fields) + strings.Join(s.Listing("user"), "\n")
					if strings.Contains(all, "WORD") {
						t.Errorf("%s: players read %q and %s", where, seen, c.Fields)
					}
					s.WantSees(openGardens)
					if all := strings.Join(s.Listing("gm"), "\n"); !strings.Contains(all, "WORD") && s == here {
						t.Errorf("%s: the word is lost: %s", where, said)
					}
				}
			})
		}
	}
}

// TestAnExportOfOursComesBack checks that unedited notes with words that look secret open and hide nothing, in form and
// place as they were.
func TestAnExportOfOursComesBack(t *testing.T) {
	was := ownWorld(t)
	files := was.exported()
	here := newScene(t)
	said := here.importAs("gm", files, Options{Options: exchange.Options{Label: "v"}}).String()
	here.WantSees(openGardens)
	if strings.Contains(said, "please confirm") {
		t.Error(said)
	}
	if again := here.exported(); !maps.Equal(files, again) {
		t.Errorf("the second export differs: %q, %q", files, again)
	}
	c, _, _ := here.Content("user", "The secret garden")
	if !strings.Contains(string(c.Fields), "a secret garden") || c.Label.Level != access.LevelUser {
		t.Errorf("%s", c.Fields)
	}
}

// TestOpenMeansMarksOfOneKind opens a mark by its text alone: if marks of several kinds have it, the import is refused,
// and tells how to say which.
func TestOpenMeansMarksOfOneKind(t *testing.T) {
	notes := map[string]string{"Secret Ford.md": "A ford.\n", "Inn.md": "An inn.\n\nSecret: WORD\n",
		"Mill.md": "A mill.\n\nSecret: WHEEL\n"}
	s := newScene(t)
	o := Options{Options: exchange.Options{Label: "v"}, Open: []string{"secret"}}
	_, err := Import(t.Context(), s.Canon, s.As("gm"), exchangetest.Files(notes), o)
	if err == nil || !strings.Contains(err.Error(), "several kinds") || s.See("user", "Inn") != "-" {
		t.Errorf("%v; players read %q", err, s.See("user", "Inn"))
	}
	o.Open = []string{"Mill.md: label: Secret"}
	s.importAs("gm", notes, o)
	if !strings.Contains(s.See("user", "Mill"), "WHEEL") || strings.Contains(s.See("user", "Inn"), "WORD") ||
		s.See("user", "Secret Ford") != "-" {
		t.Errorf("players read %q, %q, %q", s.See("user", "Mill"), s.See("user", "Inn"), s.See("user", "Secret Ford"))
	}
}
