package foundry

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/syndtr/goleveldb/leveldb"

	"loregate/internal/exchange"
	"loregate/internal/exchange/exchangetest"
	"loregate/internal/store/memory"
)

func scene(t testing.TB) *exchangetest.Scene { return exchangetest.NewOn(t, memory.New()) }

// writeLevel writes a database to a folder.
func writeLevel(t testing.TB, dir string, records map[string]string) {
	t.Helper()
	db, err := leveldb.OpenFile(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range records {
		if err := db.Put([]byte(k), []byte(v), nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// writeWorld writes a small world folder.
func writeWorld(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "world.json"), []byte(`{"id": "lendwater", "title": "Lendwater"}`),
		0o600); err != nil {
		t.Fatal(err)
	}
	writeLevel(t, filepath.Join(dir, "data", "journal"), map[string]string{
		"!journal!J1": `{"_id": "J1", "name": "The Weir", "pages": ["P1", "P2"], "ownership": {"default": 2},
		"folder": "F1"}`,
		"!journal.pages!J1.P1": `{"_id": "P1", "name": "Seen", "type": "text", "sort": 1, "ownership": {"default": -1},
		"text": {"format": 1,
			"content": "<p>A weir. Roll [[/roll 1d6]]. See @UUID[JournalEntry.J2]{the bell} and @UUID[Actor.A1].</p><section id=\"x\" class=\"foundry-note secret\"><p>It is <section>hollow</section>.</p></section><p>End.</p><section class=\"secret revealed\">Known.</section>"}}`,
		"!journal.pages!J1.P2": `{"_id": "P2", "name": "Kept", "type": "text", "sort": 2, "ownership": {"default": 0},
		"text": {"content": "<p>Below the weir.</p>"}}`,
		"!journal!J2": `{"_id": "J2", "name": "The Drowned Bell", "pages": ["P3"], "ownership": {"default": 0,
		"u1": 3}}`,
		"!journal.pages!J2.P3": `{"_id": "P3", "name": "Bell", "ownership": {"default": -1},
		"text": {"content": "<p>It rings. @UUID[.P3] @Actor[Mira]{Mira}</p>"}}`,
	})
	writeLevel(t, filepath.Join(dir, "data", "actors"), map[string]string{
		"!actors!A1": `{"_id": "A1", "name": "Mira", "type": "character", "items": ["I9"],
		"ownership": {"default": 1}, "system": {"hp": {"value": 7}, "details": {"biography": {"value": "<p>Salt.</p>"}}}}`,
		"!actors.items!A1.I9": `{"_id": "I9", "name": "Oar"}`,
		"!actors!A2": `{"_id": "A2", "name": "Tess", "type": "npc", "ownership": {"default": 2},
		"system": {"hp": {"value": 4}, "details": {"publicNotes": "<p>Smith.</p>", "privateNotes": "<p>Spy.</p>"},
		"gmPlan": "x"}}`,
	})
	writeLevel(t, filepath.Join(dir, "data", "scenes"), map[string]string{
		"!scenes!S1": `{"_id": "S1", "name": "Weir", "ownership": {"default": 2}, "notes": ["N1"],
		"tokens": ["T1"]}`,
		"!scenes.notes!S1.N1":  `{"_id": "N1", "entryId": "J1", "pageId": "P1", "x": 10, "y": 20}`,
		"!scenes.tokens!S1.T1": `{"_id": "T1", "actorId": "A2", "hidden": true}`,
	})
	writeLevel(t, filepath.Join(dir, "data", "folders"),
		map[string]string{"!folders!F1": `{"_id": "F1", "name": "River", "type": "JournalEntry"}`})
	writeLevel(t, filepath.Join(dir, "data", "users"),
		map[string]string{"!users!u1": `{"_id": "u1", "name": "hashedpassword"}`})
	return dir
}

func TestWorldFolder(t *testing.T) {
	s, dir := scene(t), writeWorld(t)
	before := exchangetest.FolderText(t, dir)
	sum := s.Import(Import, os.DirFS(dir), exchange.Options{Label: "x"})
	if exchangetest.FolderText(t, dir) != before {
		t.Error("the import wrote to the folder")
	}
	s.WantSees(map[string]string{
		"user The Weir":         "Document user ",
		"user The Weir+Seen":    "Document user <p>A weir. Roll &#91;&#91;/roll 1d6]]. See the bell and [[Mira]].</p><p>End.</p><section class=\"secret revealed\">Known.</section>\n",
		"user The Weir+Kept":    "-",
		"gm The Weir+Kept":      "Document gm <p>Below the weir.</p>\n",
		"user The Drowned Bell": "-",
		"gm The Drowned Bell":   "Document gm <p>It rings. [[The Drowned Bell]] @Actor[Mira]{Mira}</p>\n",
		"gm The Weir+Seen+GM":   "RichText gm <section id=\"x\" class=\"foundry-note secret\"><p>It is <section>hollow</section>.</p></section>",
		"user Mira":             "Character user ",
		"user Tess":             "Creature user <p>Smith.</p>\n",
	})
	for who, words := range map[string][]string{"user": {"Salt", "Spy", "hollow", "Bell", "Oar", "gmPlan", `"value":7`,
		"appears_in", "hashed"},
		"admin": {"hashed", "gmPlan"}} {
		text := strings.Join(s.Listing(who), "\n")
		for _, word := range words {
			if strings.Contains(text, word) {
				t.Errorf("%s reads %q", who, word)
			}
		}
	}
	if got := s.Linked("user", "Weir", "pin", "x"); got["The Weir+Seen"] != "10" {
		t.Errorf("pins %v", got)
	}
	if got := s.Linked("gm", "Tess", "appears_in", ""); len(got) != 1 {
		t.Errorf("Tess appears in %v", got)
	}
	for _, said := range []string{`ownership "none": 1 notes`, `ownership "shared with single users"`,
		`HTML element "class=secret": 1 parts`, "users: this collection is not imported"} {
		if !strings.Contains(sum.String(), said) {
			t.Errorf("%q is missing from\n%s", said, sum)
		}
	}
	if again := s.Import(Import, os.DirFS(dir),
		exchange.Options{Label: "y"}); again.Created+again.Updated+again.Links > 0 {
		t.Errorf("importing again: %s", again)
	}
}

// TestPacksAreForTheGM checks the other sources: packs with and without a manifest, files of JSON lines,
// exported documents and adventures.
func TestPacksAreForTheGM(t *testing.T) {
	item := strings.ReplaceAll(`{"_id": "I1", "name": "Salt", "type": "item", "img": "x.webp", "ownership": {"default": 2},
		"system": {"description": {"value": "<p>White.</p>"}}}`, "\n", "")
	pack := t.TempDir()
	writeLevel(t, filepath.Join(pack, "packs", "goods"), map[string]string{"!items!I1": item})
	manifest := func(player string) fs.FS {
		dir := t.TempDir()
		writeLevel(t, filepath.Join(dir, "packs", "goods"), map[string]string{"!items!I1": item})
		text := fmt.Sprintf(`{"id": "m", "packs": [{"name": "goods", "path": "./packs/goods", "type": "Item",
		"ownership": {"PLAYER": %q}}]}`, player)
		if err := os.WriteFile(filepath.Join(dir, "module.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return os.DirFS(dir)
	}
	recovered := t.TempDir()
	writeLevel(t, filepath.Join(recovered, "data", "items"), map[string]string{"!items!I1": item})
	os.WriteFile(filepath.Join(recovered, "world.json"), []byte(`{"id": "w"}`), 0o600)
	for _, name := range []string{"CURRENT", "MANIFEST-000000"} {
		os.Remove(filepath.Join(recovered, "data", "items", name))
	}
	for name, tc := range map[string]struct {
		files   fs.FS
		visible bool
		says    string
	}{
		"a pack without manifest": {os.DirFS(pack), false, `unknown ownership "packs/goods"`},
		"a pack for players":      {manifest("OBSERVER"), true, ""},
		"a pack for the GM":       {manifest("NONE"), false, `ownership "pack packs/goods"`},
		"a recovered world":       {os.DirFS(recovered), false, "was recovered"},
		"an exported document": {fstest.MapFS{"fvtt-Item-salt-I1.json": {Data: []byte(item)}}, false,
			"unknown ownership"},
		"JSON lines": {fstest.MapFS{"module.json": {Data: []byte(`{}`)}, "packs/goods.db": {Data: []byte(
			strings.Replace(item, "White", "Grey",
				1) + "\n" + item + "\n" + `{"_id": "I2", "name": "Gone", "type": "item", "img": "",
		"system": {}}` + "\n" + `{"_id": "I2", "$$deleted": true}`)}}, false, "unknown ownership"},
		"an adventure": {fstest.MapFS{"fvtt-Adventure-a.json": {Data: []byte(`{"_id": "V1", "name": "Adventure",
		"items": [` + item + `]}`)}}, false, "unknown ownership"},
	} {
		s := scene(t)
		sum := s.Import(Import, tc.files, exchange.Options{Label: "x"})
		_, text, ok := s.Content("gm", "Salt")
		if _, _, seen := s.Content("user", "Salt"); seen != tc.visible || !ok || text != "<p>White.</p>\n" ||
			!strings.Contains(sum.String(), tc.says) {
			t.Errorf("%s: visible %v, %v %q\n%s", name, seen, ok, text, sum)
		}
		if _, _, ok := s.Content("gm", "Gone"); ok {
			t.Errorf("%s: a deleted document came in", name)
		}
		if why := recognize(exchange.NewPeek(tc.files, "")); why == "" {
			t.Errorf("%s is not recognized", name)
		}
	}
}

// TestRealPacks imports the packs of others, twice.
func TestRealPacks(t *testing.T) {
	for _, tc := range []struct {
		folder string
		cards  int
		card   string
	}{{"cairn-foundry", 300, "Gorilla"}, {"azure-compendia", 20, "Story Kits Settlements+The Starving God-Thing"}} {
		s, files := scene(t), os.DirFS(exchangetest.RealData(t, tc.folder))
		sum := s.Import(Import, files, exchange.Options{Label: tc.folder})
		t.Log(exchangetest.FirstLine(sum))
		if _, _, ok := s.Content("gm", tc.card); !ok || sum.Created < tc.cards || len(s.Listing("user")) > 0 {
			t.Errorf("%s: %v\n%s", tc.folder, ok, sum)
		}
		if again := s.Import(Import, files,
			exchange.Options{Label: tc.folder}); again.Created+again.Updated+again.Links > 0 {
			t.Errorf("importing again: %s", exchangetest.FirstLine(again))
		}
	}
}

// FuzzDatabase checks that no bytes of a database cause a panic or show anything to players.
func FuzzDatabase(f *testing.F) {
	dir := f.TempDir()
	writeLevel(f, dir, map[string]string{"!items!I1": `{"_id": "I1", "name": "Salt", "ownership": {"default": 2}}`})
	for _, name := range []string{"000001.log", "MANIFEST-000000"} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, data)
	}
	f.Fuzz(func(t *testing.T, log, manifest []byte) {
		s := scene(t)
		// only panics and visible cards are failures
		_, _ = Import(t.Context(), s.Canon, s.As("admin"), fstest.MapFS{"p/CURRENT": {Data: []byte("MANIFEST-000000\n")},
			"p/MANIFEST-000000": {Data: manifest}, "p/000001.log": {Data: log}, "p/000003.ldb": {Data: log}},
			exchange.Options{})
		if got := s.Listing("user"); len(got) > 0 {
			t.Errorf("a user sees %v", got)
		}
	})
}
