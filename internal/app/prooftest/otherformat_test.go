package prooftest

import (
	"path/filepath"
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/app"
	"loregate/internal/canon"
	"loregate/internal/exchange/exchangetest"
	"loregate/internal/exchange/vault"
)

// TestOtherFormatsKeepSecrets checks that a game master's export in each format that has no parts in place opens
// nothing when it is imported again, and loses no mark that the format can have.
func TestOtherFormatsKeepSecrets(t *testing.T) {
	t.Parallel()
	x := newWeave(t, "embedded", 1, false)
	var hidden []string
	put := func(name, text string, f textForm, more fields) {
		in := fields{"name": name, "content": text, "format": f.String(), "text_format": f.String(), "type": "Character"}
		for k, v := range more {
			in[k] = v
		}
		if err := x.rest("gm", "POST", "/api/mcp/cards", in, nil); err != nil {
			t.Fatal(name, err)
		}
	}
	secret := func() string {
		word := x.word("", forGM, nil).word
		hidden = append(hidden, word)
		return word
	}
	for _, m := range exactMarks {
		a, b := secret(), secret()
		if !strings.Contains(m.text, "{b}") {
			hidden = hidden[:len(hidden)-1]
		}
		text, _ := m.around("first", "last")
		put(strings.NewReplacer(":", "", ",", "", "+", "plus").Replace(m.kind), x.fill(text, a, b), m.form, nil)
	}
	put("All of it", "Seen.\n\n"+secret()+" #gm-only\n", inMarkdown, nil)
	put("Two paragraphs", "Seen.\n\n%%\n"+secret()+"\n\n"+secret()+"\n%%\n\nSeen too.\n", inMarkdown, nil)
	put("A level", "Seen by few: "+secret()+".\n", inMarkdown, fields{"level": "gm"})
	put("Beside", "Seen.\n", inMarkdown, nil)
	put("Beside+GM", "Of the game master: "+secret()+"\n\n"+secret()+"\n", inMarkdown, nil)

	for _, f := range []struct {
		format, file string
		all          bool // it has every card
	}{{"table", "out.csv", true}, {"table", "out.jsonl", true}, {"memory", "out.jsonl", true}, {"lorebook", "out", true},
		{"character", "out", false}, {"markdown", "out", true}} {
		path := filepath.Join(t.TempDir(), f.file)
		sum, err := x.app.Export(t.Context(), f.format, "lendwater", path, access.RoleGM, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range sum.Problems {
			t.Logf("%s: %s: %s", f.format, p.File, p.Why)
		}
		world := f.format + strings.ReplaceAll(filepath.Ext(f.file), ".", "-")
		if _, err := x.app.CreateWorld(t.Context(), canon.NewWorld{Slug: world, Title: world}); err != nil {
			t.Fatal(err)
		}
		o := app.ImportOptions{Level: access.LevelUser}
		if f.format == "lorebook" {
			o.Vault = vault.Options{Open: []string{"entries of lorebooks"}}
		}
		if _, err := x.app.Import(t.Context(), f.format, world, path, o); err != nil {
			t.Fatal(f.format, err)
		}
		read := func(role access.Role) string {
			dir := filepath.Join(t.TempDir(), "again")
			if _, err := x.app.Export(t.Context(), "markdown", world, dir, role, nil); err != nil {
				t.Fatal(err)
			}
			return exchangetest.FolderText(t, dir)
		}
		players, masters := read(access.RoleUser), read(access.RoleGM)
		for _, word := range hidden {
			if strings.Contains(players, word) {
				at := strings.Index(players, word)
				t.Errorf("%s: players read %s", world, players[max(0, at-300):min(len(players), at+100)])
			}
			if f.all && !strings.Contains(masters, word) {
				t.Errorf("%s: %s is lost", world, word)
			}
		}
	}
}
