package main

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/png"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"loregate/internal/app"
	"loregate/internal/exchange/exchangetest"
)

// runIn runs the command in a folder and fails the test if the exit code is not the expected one.
func runIn(t *testing.T, dir string, code int, args string) string {
	t.Helper()
	got := runCommand(t, dir, "", strings.Fields(args)...)
	if got.code != code {
		t.Fatalf("loregate %s: exit %d, want %d\n%s%s", args, got.code, code, got.stdout, got.err)
	}
	return got.stdout + got.err
}

func writeFile(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestImportIsItsDryRun(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, dir, "towns.csv", "name,type,ruler\nWeir,Location,Mira\nMira,Character,\n")
	plan := func() string {
		out := runIn(t, dir, 0, "import table towns.csv --dry-run")
		m := regexp.MustCompile(`--plan ([0-9a-f]{32})\n`).FindStringSubmatch(out)
		if m == nil {
			t.Fatalf("no plan in\n%s", out)
		}
		return m[1]
	}
	first := plan()
	if again := plan(); again != first {
		t.Errorf("the same dry run has the plans %s and %s", first, again)
	}
	if out := runIn(t, dir, 0, "world list"); strings.Contains(out, "main") {
		t.Errorf("a dry run creates a world: %s", out)
	}
	for what, args := range map[string]string{"another level": "--level gm", "another option": "--starter-location Weir"} {
		if out := runIn(t, dir, 1, "import table towns.csv --plan "+first+" "+args); !strings.Contains(out, "changed since") {
			t.Errorf("%s: %s", what, out)
		}
	}
	writeFile(t, dir, "towns.csv", "name,type,ruler\nWeir,Location,Mira\nMira,Character,x\n")
	if out := runIn(t, dir, 1, "import table towns.csv --plan "+first); !strings.Contains(out, "changed since") {
		t.Errorf("another source: %s", out)
	}
	second := plan()
	if out := runIn(t, dir, 0, "import table towns.csv --plan "+second); !strings.Contains(out, "2 cards created") {
		t.Error(out)
	}
	if out := runIn(t, dir, 1, "import table towns.csv --plan "+second); !strings.Contains(out, "changed since") {
		t.Errorf("another world: %s", out)
	}
}

func TestBundleOnTheCommandLine(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, dir, "towns.csv", "name,type\nWeir,Location\n")
	runIn(t, dir, 0, "import towns.csv")
	runIn(t, dir, 0, "export lore main.lore --as admin")
	if out := runIn(t, dir, 1, "export lore main.lore --as admin"); !strings.Contains(out, "exists already") {
		t.Error(out)
	}
	out := runIn(t, dir, 0, "import main.lore --data other --dry-run")
	if !strings.Contains(out, "Recognized as Bundles of Loregate") || !strings.Contains(out, "Dry run") {
		t.Error(out)
	}
	if out := runIn(t, dir, 0, "import main.lore --data other"); !strings.Contains(out, "not a key of this store") {
		t.Error(out)
	}
	if out := runIn(t, dir, 0, "import main.lore"); !strings.Contains(out, "which is a key of this store") {
		t.Error(out)
	}
	if out := runIn(t, dir, 0, "import main.lore --data other"); !strings.Contains(out, ": 0 of ") {
		t.Error(out)
	}
	runIn(t, dir, 0, "export lore again.lore --as admin --data other")
	a, b := entriesOf(t, dir, "main.lore"), entriesOf(t, dir, "again.lore")
	if string(a["signature.jws"]) == string(b["signature.jws"]) {
		t.Error("two stores gave the same signature")
	}
	delete(a, "signature.jws")
	delete(b, "signature.jws")
	if len(a) != 3 || !maps.EqualFunc(a, b, bytes.Equal) {
		t.Error("the world that came in leaves with other bytes")
	}
	for args, says := range map[string]string{"--world main": "brings its own world", "--level gm": "leave out --level"} {
		if out := runIn(t, dir, 1, "import main.lore --data other "+args); !strings.Contains(out, says) {
			t.Errorf("%s: %s", args, out)
		}
	}
	a["manifest.json"] = append(a["manifest.json"], ' ')
	a["signature.jws"] = []byte("e30..e30")
	writeEntries(t, dir, "forged.lore", a)
	out = runIn(t, dir, 1, "import forged.lore --data third")
	if !strings.Contains(out, "does not belong to its manifest") {
		t.Error(out)
	}
	delete(a, "signature.jws")
	writeEntries(t, dir, "unsigned.lore", a)
	if out := runIn(t, dir, 0, "import unsigned.lore --data third"); !strings.Contains(out, "is not signed") {
		t.Error(out)
	}
	runIn(t, dir, 0, "export lore players.lore")
	if out := runIn(t, dir, 0, "import players.lore"); !strings.Contains(out, "as seen by user") {
		t.Error(out)
	}
}

// entriesOf returns the entries of a zip file.
func entriesOf(t *testing.T, dir, name string) map[string][]byte {
	t.Helper()
	z, err := zip.OpenReader(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	out := map[string][]byte{}
	for _, e := range z.File {
		if out[e.Name], err = fs.ReadFile(z, e.Name); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// writeEntries writes a zip file.
func writeEntries(t *testing.T, dir, name string, entries map[string][]byte) {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for entry, data := range entries {
		w, err := z.Create(entry)
		if err == nil {
			_, err = w.Write(data)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	writeFile(t, dir, name, b.String())
}

// importPageData names files of others for formats of docs/import.md.
var importPageData = map[string]string{"srd": "srd-2014/5e-SRD-Spells.json", "light": "light-worlds",
	"ranvier": "ranvier-areas", "foundry": "cairn-foundry", "memory": "mcp-memory", "azgaar": "azgaar-maps",
	"watabou": "watabou", "evennia": "evennia-tutorial", "twee": "twee-chapbook", "mediawiki": "mediawiki-tiny",
	"markdown": "thellade-slice"}

// importPageFiles returns files made from the published forms of the other formats, at the paths of the
// examples in docs/import.md.
func importPageFiles(t *testing.T) map[string]map[string]string {
	return map[string]map[string]string{
		"kanka": {"kanka.zip/campaign.json": `{"id": 7, "name": "Lendwater"}`,
			"kanka.zip/info.json":              `{"kanka_version": "2.9"}`,
			"kanka.zip/locations/weir_12.json": `{"id": 5, "name": "Weir", "entity": {"id": 12, "entry": "Deep."}}`},
		"legendkeeper": {"world.lk": `{"version": 1, "resources": [{"id": "a", "name": "Weir", "documents": []}]}`},
		"scabard": {"scabard.json": `{"pages": [{"concept": "Place", "id": 5, "page": {"name": "Weir", ` +
			`"description": "Deep."}}], "conns": []}`},
		"worldanvil": {"articles/weir.json": `{"id": "1", "title": "Weir", "slug": "weir", "state": "public", ` +
			`"templateType": "settlement", "content": "Deep."}`},
		"decko": {"cards-export.ndjson": `{"name": "Weir", "type": "RichText", "content": "Deep."}`},
		"lorebook": {"world-info.json": `{"entries": {"0": {"uid": 0, "key": ["weir"], "comment": "Weir", ` +
			`"content": "Deep."}}}`},
		"circlemud": {"lib/world/wld/30.wld": "#3001\nThe Weir~\nDeep.\n~\n30 0 0 0 0 1\nS\n$~\n"},
		"table":     {"towns.csv": "name,type\nWeir,Location\n"},
		"turns": {"turns.jsonl.gz": packText(t,
			`{"ep": "C1E001", "n": 1, "names": ["MIRA"], "text": "Who is there?"}`+"\n")},
		"open5e": {"srd-2024/Spell.json": `[{"model": "api_v2.spell", "pk": "srd-2024_light", "fields": {` +
			`"name": "Light", "desc": "A glow.", "level": 0}}]`},
		"character": {"hero.png": pictureWithCard(t, `{"spec": "chara_card_v2", "spec_version": "2.0", "data": `+
			`{"name": "Mira", "description": "A smith.", "first_mes": "Well met."}}`)},
		"fantasy-calendar": {"calendar.json": `{"name": "Tides", "static_data": {"year_data": {"global_week": ["One"], ` +
			`"timespans": [{"name": "Rain", "type": "month", "length": 30}]}}, "dynamic_data": {"year": 120, "timespan": 0, ` +
			`"day": 1}, "events": [{"name": "Fall", "description": "It fell.", ` +
			`"data": {"date": [90, 0, 1]}, "settings": {}}]}`},
	}
}

// TestTheCommandsOfTheImportPage follows docs/import.md with files of others: each format's commands are run
// as they stand there, on the file in place of the example.
func TestTheCommandsOfTheImportPage(t *testing.T) {
	for format, data := range importPageData {
		t.Run(format, func(t *testing.T) { followImportPage(t, t.TempDir(), format, exchangetest.RealData(t, data)) })
	}
}

// TestTheCommandsOfTheImportPageWordByWord runs the commands of the other formats without a change.
func TestTheCommandsOfTheImportPageWordByWord(t *testing.T) {
	for format, files := range importPageFiles(t) {
		t.Run(format, func(t *testing.T) {
			dir, zips := t.TempDir(), map[string]map[string][]byte{}
			for name, text := range files {
				if archive, entry, ok := strings.Cut(name, ".zip/"); ok {
					if zips[archive+".zip"] == nil {
						zips[archive+".zip"] = map[string][]byte{}
					}
					zips[archive+".zip"][entry] = []byte(text)
					continue
				}
				if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o700); err != nil {
					t.Fatal(err)
				}
				writeFile(t, dir, name, text)
			}
			for name, entries := range zips {
				writeEntries(t, dir, name, entries)
			}
			followImportPage(t, dir, format, "")
		})
	}
	t.Run("lore", func(t *testing.T) {
		dir := t.TempDir()
		runIn(t, dir, 0, "world create mine --data elsewhere")
		runIn(t, dir, 0, "export lore ./mine.lore --world mine --as admin --data elsewhere")
		runIn(t, dir, 0, "import lore ./mine.lore --dry-run")
		runIn(t, dir, 0, "import lore ./mine.lore")
		runIn(t, dir, 0, "export lore ./for-gms.lore --world mine --as gm")
	})
}

// TestEveryFormatOfTheImportPageIsFollowed compares the formats that can be imported with those of the tests above.
func TestEveryFormatOfTheImportPageIsFollowed(t *testing.T) {
	made := importPageFiles(t)
	for _, name := range app.FormatNames() {
		if made[name] == nil && importPageData[name] == "" && name != "lore" {
			t.Errorf("no test follows the section %s of docs/import.md", name)
		}
	}
}

// packText packs a text with gzip.
func packText(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write([]byte(text))
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// pictureWithCard returns a PNG picture with a character card in its text chunk chara.
func pictureWithCard(t *testing.T, card string) string {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 2, 2))); err != nil {
		t.Fatal(err)
	}
	const end = 12 // bytes of the chunk IEND
	chunk := []byte("tEXtchara\x00" + base64.StdEncoding.EncodeToString([]byte(card)))
	out := binary.BigEndian.AppendUint32(slices.Clone(b.Bytes()[:b.Len()-end]), uint32(len(chunk)-4))
	out = binary.BigEndian.AppendUint32(append(out, chunk...), crc32.ChecksumIEEE(chunk))
	return string(append(out, b.Bytes()[b.Len()-end:]...))
}

// TestOptionsWithoutEffect gives options to formats that do not use them, named and recognized.
func TestOptionsWithoutEffect(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, dir, "towns.csv", "name,type\nWeir,Location\n")
	writeFile(t, dir, "srd.json",
		`[{"model": "api_v2.spell", "pk": "x", "fields": {"name": "Light", "desc": "A glow."}}]`)
	for _, c := range []struct{ format, args, says string }{
		{"table", "towns.csv --history", "table has no older versions, so --history has no effect"},
		{"table", "towns.csv --prune", "work only with markdown; leave them out for table"},
		{"open5e", "srd.json --starter-location Weir", "open5e contains no places"},
		{"open5e", "srd.json --dry-run --open Weir", `there is no suspicion called "Weir"`},
	} {
		for _, named := range []string{"", c.format + " "} {
			if out := runIn(t, dir, 1, "import "+named+c.args); !strings.Contains(out, c.says) {
				t.Errorf("import %s%s: %s", named, c.args, out)
			}
		}
	}
	if out := runIn(t, dir, 0, "world list"); strings.Contains(out, "main") {
		t.Errorf("a refused import creates a world: %s", out)
	}
}

// followImportPage runs the commands of a format's section in a folder, with the source in place of the
// example if it is named.
func followImportPage(t *testing.T, dir, format, source string) {
	t.Helper()
	_, section, ok := strings.Cut(readText(t, "docs/import.md"), "\n## "+format+"\n")
	if !ok {
		t.Fatal("the page has no such section")
	}
	section, _, _ = strings.Cut(section, "\n## ")
	runIn(t, dir, 0, "world create mine")
	lines := 0
	for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(section, -1) {
		for line := range strings.Lines(block[1]) {
			args := strings.Fields(strings.TrimPrefix(line, "loregate "))
			if args[0] == "import" && source != "" {
				args[2] = source
			}
			got := runCommand(t, dir, "", args...)
			if lines++; got.code != 0 {
				t.Errorf("%s: exit %d\n%s%s", line, got.code, got.stdout, got.err)
			}
			if dry := strings.Contains(line, "--dry-run"); dry && !strings.Contains(got.stdout, "--plan ") ||
				args[0] == "import" && strings.Contains(got.stdout, " 0 cards created, 0 updated") {
				t.Errorf("%s:\n%s", line, got.stdout)
			}
		}
	}
	if lines < 2 {
		t.Errorf("the section has %d commands", lines)
	}
}
