package app

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"
	"testing"

	"loregate/internal/exchange"
	"loregate/internal/exchange/vault"
	"loregate/internal/secrecy"
)

// importIntro is the beginning of docs/import.md.
const importIntro = "# Import a world\n\nMade from the code; do not edit by hand.\n\n" +
	"A world comes in from a folder, a file or an archive (zip, 7z, gz, tar.gz), and what is secret there is secret here. Each\n" +
	"format below has its steps. [table.md](table.md) goes on from there to a table with players. The same\n" +
	"steps work for all formats:\n\n" +
	"1. `loregate world create mine` creates the world, if it does not exist.\n" +
	"2. `loregate import PATH --world mine --dry-run` changes nothing. It names the format that it recognized, the number of\n" +
	"   cards that players would see, all that it hides and by which mark, and every part that it would leave out or change.\n" +
	"3. Decide about the things under *Hidden, please confirm*: `--open TEXT` shows them to players, `--confirm TEXT` keeps\n" +
	"   them hidden. `--level gm` hides the whole import. `--link TARGET=NOTE` decides a link that fits several notes.\n" +
	"4. Repeat the command with `--plan HASH` in place of `--dry-run`. The dry run printed the hash. The import then does\n" +
	"   exactly what was shown, or nothing if the source, the options or the world have changed.\n" +
	"5. `loregate export markdown ./as-players-see-it --world mine --as user` shows what players can read.\n\n" +
	"A later import of the same source updates the same cards. If an import is cut off, repeat it: it goes on.\n" +
	"A vault is known again by the file `.loregate/vault.json` that an export writes, or by its notes, also in another\n" +
	"folder; `--vault NAME` names it. The answers of `--open` and `--confirm` count at later imports too, and the other flag\n" +
	"takes one back. An answer that opens holds for the notes and parts that it was given for: later ones with the\n" +
	"same mark are asked about. What was opened here stays open, and the summary names it; `--confirm` hides it.\n" +
	"An export for game masters says which changes it holds: edit its notes and import it again, and only cards that were\n" +
	"changed here after the export keep their text, with the source's beside it.\n" +
	"An import is one entry of the recent changes, with one undo: `undo_import`, or *Undo this import…* on the page of the\n" +
	"changes. It first lists what it does, and leaves cards alone that were changed since, unless these edits may be lost.\n" +
	"The undo can be undone, and the source imported again. [table.md](table.md#undo-a-change) shows how.\n" +
	"Text that was imported counts as written by a stranger: a proposal that rests on it waits for a person, unless\n" +
	"`proposals.trusted_imports` names its format ([config.md](config.md)).\n\n" +
	"## Limits\n\nA file that is sent may have 64 MiB; an archive may hold 100,000 entries and 2 GiB, and become " +
	"100 times\n" +
	"larger. A file that is read as a whole may have 120 MiB. An import may use 64 MiB of memory, 8 times its " +
	"largest file\n" +
	"and 4 KiB for each file, at most 1 GiB; and 30 s of processor time, 3 s for each MiB and 3 ms for each file. " +
	"Beyond\n" +
	"that it ends with an error that names the file: divide the source, or unpack the archive and import its folder.\n\n" +
	"## Formats\n\n| format | for | goes out too | tried with |\n|---|---|---|---|\n"

// renderImportPage returns docs/import.md.
func renderImportPage() []byte {
	b := bytes.NewBufferString(importIntro)
	outs := map[string]string{"markdown": "yes", "lore": "yes", "lorebook": "yes", "character": "yes", "table": "yes",
		"memory": "yes"}
	for _, f := range Formats() {
		tried := f.Page.Tried
		if tried == "" {
			tried = "*untried*: made from the published form, no real file could be had"
		}
		fmt.Fprintf(b, "| [%s](#%[1]s) | %s | %s | %s |\n", f.Name, tableCell(f.Title), outs[f.Name], tableCell(tried))
	}
	for _, f := range Formats() {
		writeFormat(b, f)
	}
	writeTypes(b)
	writeSecrets(b)
	return b.Bytes()
}

func writeFormat(b *bytes.Buffer, f exchange.Format) {
	p := f.Page
	world := " --world mine"
	if f.Whole {
		world = ""
	}
	fmt.Fprintf(b, "\n## %s\n\n%s. %s\n\n", f.Name, strings.ToUpper(f.Title[:1])+f.Title[1:], p.Get)
	call := "loregate import " + f.Name + " " + p.Example + world
	fmt.Fprintf(b, "```sh\n%s --dry-run\n%s\n```\n\n", call, call)
	fmt.Fprintf(b, "- **Becomes.** %s\n- **Stays behind.** %s\n- **Who sees it.** %s\n", p.Maps, p.Lost, p.Sight)
	switch f.Name {
	case "markdown", "lore", "lorebook", "character", "table", "memory":
		at := cmp.Or(map[string]string{"character": "./heroes", "lorebook": "./books", "lore": "./for-gms.lore",
			"table": "./world.csv", "memory": "./world.jsonl"}[f.Name], p.Example)
		fmt.Fprintf(b, "\nBack again:\n\n```sh\nloregate export %s %s%s --as gm\n```\n", f.Name, at, " --world mine")
	}
}

func writeTypes(b *bytes.Buffer) {
	b.WriteString("\n## Types of notes\n\nA note of a vault becomes a card of a type by its front matter (`type:` and the like), else its tags, else its\n" +
		"folders from the innermost out. `--types WORD=TYPE` overrides the table. Plurals match too.\n\n| type | words |\n|---|---|\n")
	for _, t := range vault.TypeWords() {
		fmt.Fprintf(b, "| %s | %s |\n", t.Type, strings.Join(t.Words, ", "))
	}
}

func writeSecrets(b *bytes.Buffer) {
	b.WriteString("\n## Marks of secrets\n\nThese marks hide a note or a part of it from players. Those of " +
		"elements, comments, blocks and headings count in the\n" +
		"texts, names and fields of every format; the others in vaults and tables. The name of a post, page, document or\n" +
		"section of another program counts as a heading, that of a field as one in front matter, and that of an entry or\n" +
		"journal of a campaign as the name of a note, but for words such as keeper. A hidden part of a text comes in at its\n" +
		"place; hidden names, tags and fields, and notes of the game master, in a card named GM below the card. A mark that\n" +
		"does not end hides the rest of its text, and the import says so. Things that only look\n" +
		"secret are hidden too, and wait under *Hidden, please confirm*. `loregate import --explain` prints this table with the\n" +
		"secret words of each language.\n\nAn export as GM to a table, a graph or a lorebook writes hidden fields as notes of " +
		"the game master or into a mark, which an\nimport hides again, and names those for which it has none.\n\n" +
		"| mark | secret | looks secret |\n|---|---|---|\n")
	for _, r := range secrecy.Rules() {
		fmt.Fprintf(b, "| %s | %s | %s |\n", r.Name, tableCell(r.Exact), tableCell(r.Suspicious))
	}
}

func TestReferenceOfImports(t *testing.T) {
	for _, f := range Formats() {
		p := f.Page
		if p.Get == "" || p.Example == "" || p.Maps == "" || p.Lost == "" || p.Sight == "" {
			t.Errorf("the page of %s lacks a part: %+v", f.Name, p)
		}
	}
	golden(t, "docs/import.md", renderImportPage())
}
