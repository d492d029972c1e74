package prooftest

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/app"
	"loregate/internal/exchange/exchangetest"
	"loregate/internal/wait"
)

// secretForms are the ways in which texts from elsewhere mark a secret; %[1]s and %[2]s are marks. One that does not
// end hides the rest of its text, so it is only ever the last.
var secretForms = []string{
	`<section class="secret">%[1]s</section>`, `<SECTION ID='x' CLASS='Secret box'>%[1]s</SECTION>`,
	`<p class="gm-only">%[1]s</p>`, `<div data-visibility="gm"><p>%[1]s</p><p>%[2]s</p></div>`,
	`<div data-visibility="gm"><div>%[1]s</div>%[2]s</div>`, `<p hidden>%[1]s</p>`, `<p HIDDEN="">%[1]s</p>`,
	`<span style="display:none">%[1]s</span>`, `<span style="color: red; DISPLAY : none !important">%[1]s</span>`,
	`<secret>%[1]s</secret>`, `<Secret>%[1]s <b>%[2]s</b></Secret>`, `<!-- %[1]s -->`, `<!-- GM: %[1]s <b>%[2]s</b> -->`,
	`[secret]%[1]s[/secret]`, `[SECRET]%[1]s[/Secret]`, `[secret]%[1]s [secret]%[2]s[/secret] [/secret]`,
	`[secret][secret]%[1]s[/secret]%[2]s[/secret]`, `[spoiler]%[1]s[/spoiler]`, `[hidden]%[1]s[/hidden]`,
	`<template>%[1]s</template>`,
}

// openEnds are marks that hide to the end of a text.
var openEnds = []string{`[secret]%[1]s and %[2]s`, `<!-- %[1]s and %[2]s`, `<section class="secret">%[1]s<p>%[2]s</p>`}

// sentFile is a file that a game master imports.
type sentFile struct {
	name  string
	files map[string]string // of a zip; or one file of that name
	open  []string          // suspicions that players may see
}

// markedFiles returns a file of each format with marks in its secrets. Players read each word that begins with open.
type markedFiles struct {
	mint *markMint
	list []sentFile
}

func (m *markedFiles) mark(place string) string {
	return m.mint.newMark(place, access.NewLabel(access.LevelGM))
}

// text returns a text with secrets in all forms, and the open word of the format at its beginning.
func (m *markedFiles) text(format, end string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "open%s ", format)
	for _, form := range append(slices.Clone(secretForms), end) {
		place := format + ": " + form
		text := strings.ReplaceAll(form, "%[1]s", m.mark(place))
		if strings.Contains(form, "%[2]s") {
			text = strings.ReplaceAll(text, "%[2]s", m.mark(place))
		}
		b.WriteString(text + " ")
	}
	return b.String()
}

func quoted(text string) string {
	b, _ := json.Marshal(text) // a string always encodes
	return string(b)
}

func (m *markedFiles) add(name string, files map[string]string, open ...string) {
	m.list = append(m.list, sentFile{name, files, open})
}

func (m *markedFiles) one(name, text string, open ...string) {
	m.add(name, map[string]string{name: text}, open...)
}

func newMarkedFiles(mint *markMint) []sentFile {
	m := &markedFiles{mint: mint}
	for i, end := range openEnds {
		m.one(fmt.Sprintf("anvil%d.json", i), fmt.Sprintf(`[{"id": "%d", "title": "Anvil %[1]d", "slug": "anvil-%[1]d",
			"state": "public", "templateType": "settlement", "content": %s}]`, i, quoted(m.text("anvil", end))))
		m.add(fmt.Sprintf("hall%d.zip", i), map[string]string{"world.json": `{"id": "w", "title": "W"}`,
			"data/journal.db": fmt.Sprintf(`{"_id": "J%d", "name": "Hall %[1]d", "ownership": {"default": 2}, "pages": [{"_id": "P1", `+
				`"name": "Seen", "ownership": {"default": -1}, "text": {"content": %s}}]}`, i, quoted(m.text("hall", end))) + "\n"})
		m.one(fmt.Sprintf("table%d.csv", i), "name,text\n"+fmt.Sprintf("Table %d,\"%s\"\n", i,
			strings.ReplaceAll(m.text("table", end), `"`, `""`)))
		m.add(fmt.Sprintf("vault%d.zip", i), map[string]string{fmt.Sprintf("Vault %d.md", i): m.text("vault", end)})
		m.one(fmt.Sprintf("memory%d.jsonl", i), fmt.Sprintf(`{"type":"entity","name":"Memory %d","entityType":"place","observations":[%s]}`,
			i, quoted(m.text("memory", end)))+"\n")
		m.one(fmt.Sprintf("dump%d.xml", i), fmt.Sprintf("<mediawiki><page><title>Dump %d</title><ns>0</ns><id>1</id><revision>"+
			"<text>%s</text></revision></page></mediawiki>", i, strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").
			Replace(m.text("dump", end))))
		m.one(fmt.Sprintf("book%d.json", i), fmt.Sprintf(`{"entries": {"1": {"uid": 1, "key": ["book %d"], "keysecondary": [],
			"comment": "Book %[1]d", "content": %s}}}`, i, quoted(m.text("book", end))))
		m.one(fmt.Sprintf("story%d.twee", i), fmt.Sprintf(":: StoryTitle\nStory %d\n\n:: Yard %[1]d\n%s\n", i, m.text("story", end)))
		m.one(fmt.Sprintf("decko%d.ndjson", i), fmt.Sprintf(`{"name": "Decko %d", "type": "RichText", "content": %s}`, i,
			quoted(m.text("decko", end)))+"\n"+fmt.Sprintf(`{"name": "Decko %d+x", "type": "RichText", "content": "x"}`, i)+"\n")
		m.add(fmt.Sprintf("kanka%d.zip", i), map[string]string{"campaign.json": `{"id": 7, "name": "L"}`,
			"info.json": `{"kanka_version": "2.9"}`, "locations/kanka_1.json": fmt.Sprintf(`{"id": %d, "name": "Kanka %[1]d", "entity":
			{"id": %[1]d, "is_private": 0, "entry": %s}}`, i+1, quoted(m.text("kanka", end)))},
			`permissions of roles are not exported: public entities`)
	}
	m.addOthers()
	hid := func(place string) string { return m.mark(place) }
	m.one("anvil-entities.json", fmt.Sprintf(`[
		{"id": "11", "title": "Anvil Tower", "slug": "t", "state": "public", "templateType": "settlement", "content": "openanvil"},
		{"id": "12", "title": "%s", "slug": "x", "state": "public", "entityClass": "Secret", "content": "%s"},
		{"id": "13", "title": "%s", "slug": "y", "state": "public", "entityClass": "NoteBook", "content": "%s"},
		{"id": "14", "title": "%s", "slug": "z", "state": "private", "content": "%s"},
		{"id": "15", "title": "Draft [secret]%s[/secret]", "slug": "d", "state": "public", "tags": "a,[SECRET]%s[/SECRET]"}]`,
		hid("a Secret's name"), hid("a Secret's text"), hid("a NoteBook's name"), hid("a NoteBook's text"),
		hid("a private article's name"), hid("a private article's text"), hid("a mark in a title"), hid("a mark in a tag")))
	m.one("relations.csv", fmt.Sprintf("name,text,Ally,%s (gm),parent (gm)\n"+
		"Relations,openrelations,Tess,Tess,Vale\nTess,Sews.,,,\nVale,A vale.,,,\n", hid("the kind of a hidden relation")))
	m.one("readers.csv", fmt.Sprintf("name,text,players\nFor One,%s,alice\nFor All,openreaders,everyone\nFor Nobody,%s,Some Stranger\n",
		m.mint.newMark("a row for one player", forAlice), hid("a row for a stranger")))
	m.add("pages.zip", map[string]string{"world.json": `{"id": "w2", "title": "W"}`, "data/journal.db": fmt.Sprintf(
		`{"_id": "J9", "name": "Pages", "ownership": {"default": 2}, "pages": [{"_id": "P1", "name": "Seen", "ownership": {"default": -1}, `+
			`"text": {"content": "openpages"}}, {"_id": "P2", "name": "%s", "ownership": {"default": 0}, "text": {"content": "%s"}}, `+
			`{"_id": "P3", "name": "%s", "ownership": {"default": 1}, "text": {"content": "%s"}}]}`, hid("a page's name"),
		hid("a page's text"), hid("a limited page's name"), hid("a limited page's text")) + "\n",
		"data/items.db": fmt.Sprintf(
			`{"_id": "I1", "name": "%s", "type": "weapon", "ownership": {"default": 2}, "system": {"identified": false, "unidentified": `+
				`{"name": "Blade", "description": "<p>Dull.</p>"}, "description": {"value": "%s"}}}`+"\n"+
				`{"_id": "I2", "name": "%s", "type": "weapon", "ownership": {"default": 2}, "system": {"identification": {"status": `+
				`"unidentified", "unidentified": {"name": "Cloak", "data": {"description": {"value": "Grey."}}}}, "description": `+
				`{"value": "%s"}}}`+"\n"+
				`{"_id": "I3", "name": "%s", "type": "weapon", "ownership": {"default": 2}, "system": {"identified": false, `+
				`"description": {"value": "%s"}}}`, hid("an item's name"), hid("an item's text"), hid("a PF2e item's name"),
			hid("a PF2e item's text"), hid("a nameless item's name"), hid("a nameless item's text")) + "\n"})
	notes := map[string]string{"Open Note.md": "openvault\n\nSee [[Cellar of Bones]].\n"}
	for i, head := range []string{"players: [Some Stranger]", "subjects: [Some Stranger]", "visible_to: Some Stranger",
		"visible_to: gm", "visibility: gm", "loregate: 1\nvisible_to: gm", "players: false", "publish: false", "secret: true",
		"level: gm", "status: hidden", "tags: [gm]"} {
		notes[fmt.Sprintf("Note %d.md", i)] = "---\n" + head + "\n---\n" + hid("a note with "+head) + "\n"
	}
	notes["For Alice.md"] = "---\nplayers: [alice]\n---\n" + m.mint.newMark("a note for one player", forAlice) + "\n"
	notes["Marks.md"] = "openvault\n\n%% " + hid("a comment") + " %%\n\n> [!secret]- Title\n> " + hid("a callout") + "\n> > [!note]\n> > " +
		hid("a callout within") + "\n\n## GM notes\n\n" + hid("a section") + "\n\n## More\n\n| a | b |\n|---|---|\n| x %%" +
		hid("a comment in a cell") + "%% | [gm:: " + hid("a field in a cell") + "] |\n\n::: secret\n" + hid("a container") + "\n:::\n\n>!" +
		hid("a spoiler") + "!<\n\n[//]: # (" + hid("a Markdown comment") + ")\n\n```ad-gm\n" + hid("a code block") + "\n```\n"
	notes["Fields.md"] = "---\nsecrets: " + hid("a field") + "\ngm notes: " + hid("a field of the GM") + "\n---\nopenvault\n"
	m.add("notes.zip", notes)
	return m.list
}

// addOthers adds files of the formats that have one text each.
func (m *markedFiles) addOthers() {
	text := func(format string) string { return m.text(format, openEnds[0]) }
	json := func(format string) string { return quoted(text(format)) }
	m.one("scabard.json", `{"pages": [{"concept": "Place", "id": 5, "page": {"id": 99, "name": "Scabard", "description": `+
		json("scabard")+`, "secrets": "`+m.mark("a secret of Scabard")+`", "gmSecrets": "`+m.mark("a GM's secret of Scabard")+
		`"}}], "conns": []}`)
	m.one("turns.jsonl", `{"ep": "Episode Nine", "n": 1, "names": ["ADA"], "text": `+json("turns")+"}\n")
	m.one("character.json", `{"spec": "chara_card_v2", "data": {"name": "Character", "description": `+json("character")+
		`, "scenario": "`+m.mark("a scenario")+`", "system_prompt": "`+m.mark("a prompt")+`"}}`)
	m.one("5e-SRD-Spells.json", `[{"index": "spark", "name": "Spark of Nine", "url": "/s", "desc": [`+json("spell")+`]}]`)
	m.one("open5e.json", `[{"model": "api_v2.spell", "pk": "s9", "fields": {"name": "Spell of Nine", "desc": `+json("openspell")+`}}]`)
	m.one("light.json", `{"nodes": {"room_9": {"room": true, "name": "Light Room", "desc": `+json("light")+
		`, "container_node": {"target_id": "VOID"}}}}`)
	m.add("areas.zip", map[string]string{"a/manifest.yml": "title: Area\n",
		"a/rooms.yml": "- id: r9\n  title: Ranvier Room\n  description: " + json("ranvier") + "\n"})
	m.add("circle.zip", map[string]string{"wld/9.wld": "#901\nCircle Room~\n" + text("circle") + "\n~\n9 0 0\nS\n$\n"})
	m.one("town.ev", "@dig/teleport Evennia Room\n#\n@desc here = "+text("evennia")+"\n#\n")
	m.one("azgaar.json", `{"info": {"mapName": "M"}, "settings": {"distanceUnit": "km"}, "notes": [{"id": "burg1", "name": "N", "legend": `+
		json("azgaar")+`}], "pack": {"burgs": [{}, {"i": 1, "name": "Burg Nine", "cell": 1, "x": 1, "y": 1}]}}`)
	m.one("calendar.json", `{"name": "Calendar of Nine", "dynamic_data": {}, "static_data": {"year_data": {"timespans": [{"name": "M"}]}, `+
		`"event_data": [{"name": "Feast", "id": "1", "description": `+json("feast")+`, "data": {"date": [1, 1, 1]}}, {"name": "`+
		m.mark("a hidden event's name")+`", "id": "2", "description": "`+m.mark("a hidden event's text")+
		`", "data": {"date": [1, 1, 2]}, "settings": {"hide": true}}]}}`)
	m.one("keeper.lk", `{"version": 1, "resources": [{"id": "a", "name": "Keeper Page", "documents": [{"type": "page", "content": {"type": `+
		`"doc", "content": [{"type": "paragraph", "content": [{"type": "text", "text": `+quoted("openkeeper [SECRET]"+
		m.mark("words in brackets, where tags are shown as words")+"[/secret]")+`}]}, {"type": `+
		`"bodiedExtension", "attrs": {"extensionKey": "block-secret"}, "content": [{"type": "paragraph", "content": [{"type": `+
		`"text", "text": "`+m.mark("a secret block")+`"}]}]}]}}, {"type": "page", "isHidden": true, "content": {"type": "doc", `+
		`"content": [{"type": "paragraph", "content": [{"type": "text", "text": "`+m.mark("a hidden page")+`"}]}]}}]}, {"id": "b", `+
		`"name": "`+m.mark("a hidden resource's name")+`", "isHidden": true}]}`)
}

// data returns the bytes of a file as it is sent.
func (f sentFile) data(t testing.TB) []byte {
	t.Helper()
	if text, ok := f.files[f.name]; ok {
		return []byte(text)
	}
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(f.files)) {
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write([]byte(f.files[name]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// importAnswer is an import, or its check, as the interface answers it.
type importAnswer struct {
	ID, Status, Message string
	Report              struct{ Created int }
}

// sendImport checks an import as the game master and returns the answers; settled is the last one.
func (o *oracle) sendImport(f sentFile) (settled importAnswer) {
	o.t.Helper()
	body, _ := json.Marshal(fields{"filename": f.name, "data": base64.StdEncoding.EncodeToString(f.data(o.t)), "open": f.open})
	return o.awaitImport(request{operation: "check_import", method: "POST", path: "/api/imports", body: string(body)})
}

// awaitImport makes a call that starts a job, and waits for its end.
func (o *oracle) awaitImport(r request) (got importAnswer) {
	o.t.Helper()
	for {
		answer := o.call("gm", r)
		got = importAnswer{}
		if err := json.Unmarshal([]byte(answer.body), &got); err != nil || answer.status >= 300 {
			return importAnswer{Status: "refused", Message: answer.body}
		}
		if got.Status == "completed" || got.Status == "failed" {
			return got
		}
		wait.For(o.t.Context(), 20*time.Millisecond)
		r = request{operation: "get_import", method: "GET", path: "/api/imports/" + url.PathEscape(got.ID)}
	}
}

// newImportOracle returns an oracle on an empty world, for marks that imports bring in.
func newImportOracle(t *testing.T, on string, mint *markMint) *oracle {
	t.Helper()
	s := &story{stage: newStage(t, on), mint: mint, who: newAuthor("user", access.RoleUser), ids: map[string]string{}}
	s.giveKeys("user", "alice", "gm", "admin")
	alice := app.MemberSpec{Subject: "alice", Role: access.RoleUser}
	if err := s.app.SetMember(t.Context(), "lendwater", alice); err != nil {
		t.Fatal(err)
	}
	return &oracle{story: s, finds: newDetector(mint.all), hits: map[string]map[string]int{}, fine: map[string]bool{},
		last: map[string]string{}, shown: map[string]map[*mark]bool{}, asked: map[*mark]bool{}, leaked: map[*mark]bool{}}
}

// TestNoImportedSecretLeaks imports files of each format with marks in their secrets over the interface, and looks in
// all that lower callers read.
func TestNoImportedSecretLeaks(t *testing.T) {
	onEachStore(t, func(t *testing.T, on string) {
		skipOnPostgres(t, on)
		t.Parallel()
		mint := newMint(41)
		list := newMarkedFiles(mint)
		o := newImportOracle(t, on, mint)
		for _, f := range list {
			checked := o.sendImport(f)
			done := o.awaitImport(request{operation: "carry_out_import", method: "POST", path: "/api/imports/" + checked.ID, body: "{}"})
			if done.Status != "completed" || done.Report.Created == 0 {
				t.Errorf("%s: %+v, %+v", f.name, checked, done)
			}
		}
		for _, who := range []string{"user", "alice"} {
			o.readCards(who)
			o.readElsewhere(who)
		}
		o.checkExports()
		o.readCards("gm")
		for i := range o.finds.marks {
			m := &o.finds.marks[i]
			leftOut := strings.HasPrefix(m.place, "dump: <!--") || strings.HasPrefix(m.place, "feast: <") // for everybody
			if !o.shown["gm"][m] && !leftOut {
				t.Errorf("the GM does not see %s (%s)", m.place, m.word)
			}
		}
		o.wantOpenWords()
	})
}

// readElsewhere reads lists, searches, exports and pages.
func (o *oracle) readElsewhere(who string) {
	o.t.Helper()
	for _, path := range []string{"/api/mcp/queries?limit=100", "/api/mcp/site_context", "/api/world/map", "/api/world/spatial"} {
		o.call(who, request{operation: "read", method: "GET", path: path})
	}
	for _, of := range o.app.Ops.All() {
		if of.Effect == access.Read && of.MinRole <= access.RoleUser {
			o.invoke(who, of, fields{}, true)
		}
	}
	for i := range o.finds.marks {
		if i%7 == 0 { // a search that quotes its question proves nothing: the word before the marks finds their cards
			o.call(who, request{operation: "search", method: "GET", path: "/api/mcp/cards?search_in=both&highlight=true&q=open*"})
		}
	}
	for _, path := range []string{"/", "/changes", "/search?q=open", "/w/lendwater", "/map"} {
		o.call(who, pageRequest(path))
	}
}

// wantOpenWords checks that players read the open text of each format: an import that hides everything proves nothing.
func (o *oracle) wantOpenWords() {
	o.t.Helper()
	for _, format := range []string{"anvil", "hall", "table", "vault", "memory", "dump", "story", "decko", "kanka", "relations",
		"readers", "pages", "scabard", "turns", "character", "spell", "openspell", "light", "ranvier", "circle", "evennia", "azgaar",
		"feast", "keeper"} {
		got := o.send("user", request{operation: "search_cards", method: "GET", path: "/api/mcp/cards?search_in=content&q=open" + format})
		if !strings.Contains(got.body, `"total":`) || strings.Contains(got.body, `"total":0`) {
			o.t.Errorf("players do not find the open word of %s: %s", format, clip(got.body, 300))
		}
	}
}

// TestNoRealSecretLeaks does the same with the reported worlds and the vault of marks.
func TestNoRealSecretLeaks(t *testing.T) {
	reported, vault := exchangetest.RealData(t, "reported"), exchangetest.RealData(t, "marks-vault")
	onEachStore(t, func(t *testing.T, on string) {
		skipOnPostgres(t, on)
		t.Parallel()
		o := newImportOracle(t, on, newMint(43))
		read := func(name, dir string) sentFile {
			f := sentFile{name: name, files: map[string]string{}}
			err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
				if err != nil || d.IsDir() {
					return err
				}
				b, err := os.ReadFile(path)
				rel, _ := filepath.Rel(dir, path)
				f.files[filepath.ToSlash(rel)] = string(b)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			return f
		}
		for _, f := range []sentFile{read("one.zip", filepath.Join(reported, "01-foundry-gm-marks", "world")),
			read("two.zip", filepath.Join(reported, "02-foundry-unidentified", "world")), read("marks.zip", vault)} {
			checked := o.sendImport(f)
			done := o.awaitImport(request{operation: "carry_out_import", method: "POST", path: "/api/imports/" + checked.ID, body: "{}"})
			if done.Status != "completed" {
				t.Fatalf("%s: %+v, %+v", f.name, checked, done)
			}
		}
		hidden := []string{"HID1", "HID2", "HID3", "HID4", "HID5", "HID6", "HID7", "Demon Sword", "Cloak of Teeth", "Known Bad"}
		table, err := os.ReadFile(vault + ".tsv")
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(table)) {
			row := strings.Split(strings.TrimSpace(line), "\t")
			if len(row) == 4 && row[3] == "hidden" && !strings.Contains(row[1], "Undercroft/Wax Ledger") {
				hidden = append(hidden, row[0])
			}
		}
		if len(hidden) < 120 {
			t.Fatalf("only %d code words", len(hidden))
		}
		seen := &strings.Builder{}
		ids := slices.Concat(o.listAll("user", "cards"), o.listAll("user", "changes"))
		slices.Sort(ids)
		for _, id := range slices.Compact(ids) {
			for _, path := range []string{"?full=true", "?rendered=true&with_children=true", "/file", "/history/1", "/history/2"} {
				seen.WriteString(o.send("user", request{operation: "read", method: "GET", path: "/api/mcp/cards/~" + id + path}).String())
			}
		}
		for _, word := range hidden {
			if strings.Contains(seen.String(), word) {
				t.Errorf("players read %s", word)
			}
		}
		if !strings.Contains(seen.String(), "OPEN-002-PUFFIN") || !strings.Contains(seen.String(), "Rusty Sword") {
			t.Error("players read nothing of the imports")
		}
	})
}
