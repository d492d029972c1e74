package vaulttest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// sampleNotes is the number of notes of the vault that writeSample writes.
const sampleNotes = 400

// sampleVault writes notes with everything that vaults of game masters have. Each line of a text has a
// number, so that no two are the same. All is drawn from r.
type sampleVault struct {
	r     *rand.Rand
	lines int
	names []string
	files map[string]string
}

var (
	firstWords = []string{"Amber", "Bracken", "Cinder", "Dusk", "Elder", "Fallow", "Gallow", "Heron", "Iron", "Juniper",
		"Kestrel", "Lantern", "Marsh", "Needle", "Osier", "Pewter", "Quarry", "Raven", "Salt", "Thistle"}
	secondWords = []string{"bridge", "croft", "deep", "fell", "ford", "gate", "hollow", "keep", "landing", "mill", "moor",
		"ness", "point", "reach", "spire", "stead", "tarn", "vale", "wharf", "wick"}
	textWords = strings.Fields("the old miller waits by a broken wheel while rain falls on slate roofs and nobody in town " +
		"remembers why its bell was taken down before winter or who paid for iron doors under warm cellars")
	foldersOf = []string{"Places", "People/Nobles", "People", "Factions", "Sessions", "Items", "Räume", "GM", "GM/Plots",
		"Geheimnisse", "Secret Societies"}
	headsOf = []string{
		"",
		"---\ntags: [town, 'old']   # as the players say\naliases: [NAME the Old]\n---\n",
		"---\n# kept by hand\ntype: location\nbuilt: YEAR\nrelated:\n  - \"[[OTHER]]\"\n---\n\n",
		"---\npublish: false\nborn: YEAR\n---\n",
		"---\ndg-publish: true\nmood:   'grim'\n\nstats: {str: 10, dex: 12}\n---\n",
		"---\nvisibility: gm\n---\n",
		"---\ntags:\n  - npc\n  - gm/plot\n---\n",
		"---\nstatus: hidden\n---\n",
		"---\nplayers: false\n---\n",
	}
)

// writeSample writes a vault of sampleNotes notes into a new folder.
func writeSample(t *testing.T, r *rand.Rand) string {
	t.Helper()
	v := &sampleVault{r: r, files: map[string]string{"maps/coast.png": "\x89PNG\r\n\x1a\ncoast", ".obsidian/app.json": "{}\n"}}
	for _, a := range firstWords {
		for _, b := range secondWords {
			v.names = append(v.names, a+b)
		}
	}
	for i := range sampleNotes {
		v.addNote(v.names[i])
	}
	dir := t.TempDir()
	for name, text := range v.files {
		at := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func draw[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

// line returns a line of text with a number of its own.
func (v *sampleVault) line() string {
	v.lines++
	words := make([]string, 8+v.r.IntN(10))
	for i := range words {
		words[i] = draw(v.r, textWords)
	}
	return fmt.Sprintf("%s no%d.", strings.Join(words, " "), v.lines)
}

func (v *sampleVault) addNote(name string) {
	other := draw(v.r, v.names[:sampleNotes])
	head := strings.NewReplacer("NAME", name, "YEAR", fmt.Sprint(v.r.IntN(2000)), "OTHER", other).Replace(draw(v.r, headsOf))
	var b strings.Builder
	fmt.Fprintf(&b, "%s# %s\n\n", head, name)
	for range 2 + v.r.IntN(6) {
		b.WriteString(v.block(other))
	}
	text := strings.TrimSuffix(b.String(), strings.Repeat("\n", v.r.IntN(3)))
	switch v.r.IntN(12) {
	case 0:
		text = strings.ReplaceAll(text, "\n", "\r\n")
	case 1:
		text = "\ufeff" + text
	}
	if v.r.IntN(20) == 0 {
		name += "+GM"
	}
	v.files[filepath.ToSlash(filepath.Join(draw(v.r, foldersOf), name+".md"))] = text
}

// block returns one block of a note's text.
func (v *sampleVault) block(other string) string {
	l := v.line
	switch v.r.IntN(18) {
	case 0:
		return "> [!secret]- Who knows\n> " + l() + "\n> " + l() + "\n\n"
	case 1:
		return "> [!note] " + l() + "\n> " + l() + "\n\n"
	case 2:
		return l() + " %%" + l() + "%%\n\n"
	case 3:
		return "%%\n" + l() + "\n" + l() + "\n%%\n\n"
	case 4:
		return "## GM notes\n" + l() + "\n\n- " + l() + "\n\n## After that\n" + l() + "\n\n"
	case 5:
		return "<div class=\"secret\">\n" + l() + "\n</div>\n\n"
	case 6:
		return "| who | where |\n|:---|---|\n| [[" + other + "\\|them]] | " + l() + " |\n\n"
	case 7:
		return "```dataview\nTABLE built FROM #town\n```\n\n"
	case 8:
		return "<% tp.file.title %> " + l() + " ^block-" + fmt.Sprint(v.lines) + "\n\n"
	case 9:
		return "![[coast.png|300]]\n" + l() + "  \n" + l() + "\n\n"
	case 10:
		return "weather:: " + l() + "\n\n"
	case 11:
		return "1. " + l() + "\n\t- " + l() + "\n   * " + l() + "\n\n"
	case 12:
		return "Setext of " + other + "\n---\n\n" + l() + "\n\n\n"
	case 13:
		return "> [!dm-only] " + l() + "\n> " + l() + "\n> > " + l() + "\n\n"
	}
	return l() + " See [[" + other + "]] and [there](Places/" + other + ".md).\n" + l() + "\n\n"
}
