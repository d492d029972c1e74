package vault

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/exchange"
	"loregate/internal/exchange/exchangetest"
)

// differences returns the notes of a vault that an export did not write with the same bytes, and the
// number of notes.
func differences(t testing.TB, vault, export string) (differ []string, notes int) {
	t.Helper()
	err := filepath.WalkDir(vault, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.EqualFold(filepath.Ext(p), ".md") {
			if err == nil && d.IsDir() && strings.HasPrefix(d.Name(), ".") {
				return fs.SkipDir
			}
			return err
		}
		notes++
		rel, _ := filepath.Rel(vault, p)
		want, err := os.ReadFile(p)
		if got, errGot := os.ReadFile(filepath.Join(export, rel)); err != nil || errGot != nil || !bytes.Equal(got, want) {
			differ = append(differ, rel)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return differ, notes
}

// TestUntouchedNotesComeBack imports the vaults of others and exports them again.
func TestUntouchedNotesComeBack(t *testing.T) {
	for _, name := range []string{"obsi-forge-apedia", "cairn-srd", "thellade-slice"} {
		t.Run(name, func(t *testing.T) {
			dir := exchangetest.RealData(t, name)
			s := newStoredScene(t)
			s.importDir("admin", dir, Options{Options: exchange.Options{Level: access.LevelUser}})
			out := t.TempDir()
			s.export("gm", out)
			differ, notes := differences(t, dir, out)
			t.Logf("%d of %d notes are the same", notes-len(differ), notes)
			if 1000*len(differ) > notes {
				t.Errorf("%d notes differ: %v", len(differ), exchange.FirstNames(differ))
			}
		})
	}
}

// writtenVault has everything that is hard to give back as it was.
func writtenVault() map[string]string {
	return map[string]string{
		"Places/Old Mill.md": "---\n# the mill\ntags: [river, 'north']   # two\naliases: [Mill]\nbuilt: 1204\n\nmiller: \"[[Oda]]\"\n" +
			"gm notes: he did it\n---\n\nThe mill *turns*.  \n\n> [!secret]- Who\n> The miller is a spy.\n\nIt stands.\n\n%%not yet%%\nLast line",
		"Places/Quay.md":     "\ufeff---\r\ntype: location\r\n---\r\nThe quay.\r\n\r\n## GM notes\r\nA trap.\r\n\r\n## More\r\nTide.\r\n",
		"Mixed.md":           "one\r\ntwo\nthree\r\nfour\n",
		"Old.md":             "a\rb\r",
		"Odd\tName.md":       "\xff odd \x00 bytes\n",
		"Empty.md":           "",
		"Blank.md":           "---\n---\n",
		"JSON.md":            "{\"title\": \"x\"}\ntext\n",
		"TOML.md":            "+++\ntitle = 'x'\n+++\ntext\n",
		"Broken.md":          "---\na: [b\nc: }\n---\nx\n",
		"Endless.md":         "---\na: b\n",
		"Twice.md":           "---\na: 1\na: 2\n---\n<!-- c -->\nblock ^id\n{:.class}\n",
		"Plugins.md":         "```dataview\nLIST\n```\n<% tp.file.title %> `INPUT[text:x]` [a:: b] {{x}}\n![[map.png|300]]\n![[Quay#More]] [q](Places/Quay.md)\n",
		"GM/Plot.md":         "---\nart: art/face.jpg\n---\nThe [[Old Mill]] burns. %%why%%\n",
		"a/x/Inn.md":         "1",
		"b/x/Inn.md":         "2",
		"Inn.md":             "3 [[Plot]]",
		"map.png":            "\x89PNG\r\n\x1a\nmap",
		"art/face.jpg":       "face",
		"unnamed.txt":        "no note names this",
		".obsidian/app.json": "{}",
	}
}

// writeVault writes a vault to a new folder.
func writeVault(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for p, text := range files {
		at := filepath.Join(dir, p)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// wantFiles compares a folder with a vault. Files whose names begin with a dot do not count, unless
// the vault has them.
func wantFiles(t testing.TB, dir string, want map[string]string) {
	t.Helper()
	got := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(dir, p)
		if _, ok := want[rel]; !ok && strings.HasPrefix(rel, ".") {
			return nil
		}
		data, err := os.ReadFile(p)
		got[rel] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for p, text := range want {
		if is, ok := got[p]; !ok || is != text {
			t.Errorf("%s (there: %t)\n got %q\nwant %q", p, ok, is, text)
		}
		delete(got, p)
	}
	for p, text := range got {
		t.Errorf("there is also %s: %q", p, text)
	}
}

// TestEveryByteComesBack exports a vault into its own folder, which changes nothing, and into a new
// one, which then has all notes and the files that they name.
func TestEveryByteComesBack(t *testing.T) {
	files := writtenVault()
	dir := writeVault(t, files)
	s := newScene(t)
	s.importDir("admin", dir, Options{HideLinks: true})
	for _, p := range s.export("gm", dir).Problems {
		t.Error(p)
	}
	wantFiles(t, dir, files)
	out := t.TempDir()
	s.export("admin", out)
	delete(files, "unnamed.txt")
	delete(files, ".obsidian/app.json")
	wantFiles(t, out, files)

	again := s.importDir("admin", dir, Options{HideLinks: true})
	if again.Created+again.Updated > 0 {
		t.Errorf("importing again: %s", again)
	}
}

// TestEditsStandWhereTheyWereMade edits cards and checks that the export differs from the vault there
// and nowhere else.
func TestEditsStandWhereTheyWereMade(t *testing.T) {
	files := writtenVault()
	dir := writeVault(t, files)
	s := newScene(t)
	s.importDir("admin", dir, Options{})
	text := func(name, old, fresh string) {
		t.Helper()
		s.Edit(name, func(p *canon.Plan, c canon.Card) error {
			was, err := p.Text(c)
			if err != nil {
				return err
			}
			if !strings.Contains(was, old) {
				t.Errorf("%q does not contain %q: %q", name, old, was)
			}
			now := strings.Replace(was, old, fresh, 1)
			_, err = p.Update(c, canon.Edit{Content: &now})
			return err
		})
	}
	fields := func(name, patch string) {
		t.Helper()
		s.Edit(name, func(p *canon.Plan, c canon.Card) error {
			_, err := p.Update(c, canon.Edit{Fields: []byte(patch)})
			return err
		})
	}
	change := func(p, old, fresh string) {
		t.Helper()
		if !strings.Contains(files[p], old) {
			t.Fatalf("%s lacks %q", p, old)
		}
		files[p] = strings.Replace(files[p], old, fresh, 1)
	}
	text("Old Mill", "It stands.", "It fell.\n\nAll of it.")
	text("Old Mill", "The mill", "The old mill")
	text("Old Mill+GM", "is a spy", "was a spy")
	fields("Old Mill", `{"built": 1205, "miller": null, "ruined": true}`)
	fields("Old Mill+GM", `{"gm notes": "she did it"}`)
	change("Places/Old Mill.md", "It stands.", "It fell.\n\nAll of it.")
	change("Places/Old Mill.md", "The mill", "The old mill")
	change("Places/Old Mill.md", "is a spy", "was a spy")
	change("Places/Old Mill.md", "built: 1204\n", "built: 1205\n")
	change("Places/Old Mill.md", "miller: \"[[Oda]]\"\n", "")
	change("Places/Old Mill.md", "he did it\n", "she did it\nruined: true\n")
	text("Quay", "Tide.", "Low tide.\nHigh tide.")
	change("Places/Quay.md", "Tide.", "Low tide.\r\nHigh tide.")
	text("Mixed", "three", "3")
	change("Mixed.md", "three\r\n", "3\n")
	text("Plot", "burns", "burnt")
	change("GM/Plot.md", "burns", "burnt")
	s.Edit("Empty", func(p *canon.Plan, c canon.Card) error { return p.Trash(c) })
	delete(files, "Empty.md")
	s.Edit("Twice", func(p *canon.Plan, c canon.Card) error { _, err := p.Rename(c, "Once"); return err })
	files["Once.md"] = files["Twice.md"]
	delete(files, "Twice.md")
	s.Edit("TOML", func(p *canon.Plan, c canon.Card) error {
		_, err := p.SetLabel(c, access.NewLabel(access.LevelGM))
		return err
	})
	files["TOML.md"] = "---\nlevel: gm\n---\n" + files["TOML.md"]
	s.Create(canon.NewCard{Name: "Fresh", Format: canon.FormatMarkdown, Content: "- new"})
	s.export("gm", dir)
	data, err := os.ReadFile(filepath.Join(dir, "Fresh.md"))
	if err != nil || !strings.HasSuffix(string(data), "---\n- new\n") {
		t.Errorf("%v: %q", err, data)
	}
	files["Fresh.md"] = string(data)
	wantFiles(t, dir, files)

	// The edited vault comes in again, and changes nothing; a fresh world gets the same.
	if again := s.importDir("admin", dir, Options{}); again.Created+again.Updated > 0 {
		t.Errorf("importing again: %s", again)
	}
	s.export("gm", dir)
	wantFiles(t, dir, files)
}

// TestBothSidesChanged checks that an import overwrites no change made here, and says which notes it
// leaves.
func TestBothSidesChanged(t *testing.T) {
	files := map[string]string{"Mill.md": "one\n", "Inn.md": "inn\n", "Quay.md": "quay\n"}
	dir := writeVault(t, files)
	label := Options{Options: exchange.Options{Label: "v"}}
	s := newScene(t)
	s.importDir("admin", dir, label)
	edit := func(name, fresh string) {
		s.Edit(name, func(p *canon.Plan, c canon.Card) error {
			_, err := p.Update(c, canon.Edit{Content: &fresh})
			return err
		})
	}
	edit("Mill", "here\n")
	edit("Inn", "kept\n")
	other := writeVault(t, map[string]string{"Mill.md": "there\n", "Inn.md": "inn\n"})
	sum := s.importDir("admin", other, label)
	s.WantSees(map[string]string{"user Mill": "RichText user here\n", "gm Mill+GM+Conflict": "RichText gm there\n",
		"user Mill+GM+Conflict": "-", "user Inn": "RichText user kept\n", "user Quay": "RichText user quay\n"})
	if text := sum.String(); !strings.Contains(text, "Mill.md: changed here and at the source") ||
		!strings.Contains(text, "Gone at the source: 1 notes and files (Quay.md)") {
		t.Error(text)
	}
	s.importDir("admin", other, label) // the conflict stays
	s.WantSees(map[string]string{"user Mill": "RichText user here\n", "gm Mill+GM+Conflict": "RichText gm there\n"})
	s.Edit("Mill+GM+Conflict", func(p *canon.Plan, c canon.Card) error { return p.Trash(c) })
	edit("Mill", "both\n")
	pruned := label
	pruned.Prune = true
	sum = s.importDir("admin", other, pruned)
	if text := sum.String(); strings.Contains(text, "changed here") || !strings.Contains(text, "1 cards that are gone") {
		t.Error(text)
	}
	s.WantSees(map[string]string{"user Mill": "RichText user both\n", "admin Quay": "-",
		"user Inn": "RichText user kept\n"})
	s.export("gm", other)
	wantFiles(t, other, map[string]string{"Mill.md": "both\n", "Inn.md": "kept\n"})
}

// TestNotesOfAlikeNamesComeBack imports notes whose cards get the names of other cards in part: of a parent
// with another spelling, and of a hidden card with tags of its own. Two pictures have the same name.
func TestNotesOfAlikeNamesComeBack(t *testing.T) {
	files := map[string]string{
		"~ Town.md":       "the town",
		"Town/x/Gates.md": "1",
		"Town/x/Gate.md":  "2",
		"Other/Gate.md":   "3",
		"Inns/Mill.md":    "---\ntags: \n- \nbuilt: 1\n---\nopen",
		"GM/mill.md":      "---\ntags: [plot]\n---\nhidden ![[b/x.png]]",
		"Gallery.md":      "![[a/x.png]]",
		"a/x.png":         "\x89PNG\r\n\x1a\na",
		"b/x.png":         "\x89PNG\r\n\x1a\nb",
	}
	dir := writeVault(t, files)
	s := newScene(t)
	s.importDir("admin", dir, Options{})
	for _, p := range s.export("gm", dir).Problems {
		t.Error(p)
	}
	wantFiles(t, dir, files)
}
