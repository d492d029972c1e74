package planner

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"strings"
	"testing"
	"testing/fstest"

	"loregate/internal/exchange"
	"loregate/internal/exchange/exchangetest"
	"loregate/internal/store/memory"
)

// kankaExport is made from the published form of an export; no real one could be had under an open licence.
var kankaExport = map[string]string{
	"campaign.json": `{"id": 7, "name": "Lendwater"}`, "info.json": `{"kanka_version": "2.9"}`,
	"settings/modules.json": `{"secret_key": "never read"}`,
	"characters/mira_11.json": `{"id": 1, "name": "Mira", "is_private": false, "location_id": 5, "entity": {"id": 11,
		"parent_id": null, "is_private": 0,
		"entry": "<p>Rows to [location:12|the weir] and [entity:13]. {{x}}</p>", "image_uuid": "u1",
		"posts": [{"id": 1, "name": "Seen", "entry": "<p>Salt.</p>", "visibility_id": 1}, {"id": 2, "name": "Plan",
		"entry": "<p>She lies.</p>", "visibility_id": 2}, {"id": 3, "name": "Self", "entry": "<p>Mine.</p>",
		"visibility_id": 4}],
		"entityAttributes": [{"name": "Age", "value": "40"}, {"name": "Debt", "value": "900", "is_private": 1},
		{"name": "Oath", "value": "yes", "is_hidden": true}],
		"relationships": [{"target_id": 12, "relation": "guards", "visibility_id": 1}, {"target_id": 13,
			"relation": "serves", "visibility_id": 3}]}}`,
	"locations/weir_12.json": `{"id": 5, "name": "Weir", "entity": {"id": 12, "entry": "<p>Deep.</p>"}}`,
	"organisations/cult_13.json": `{"id": 2, "name": "Cult of the Bell", "is_private": true, "entity": {"id": 13,
		"entry": "<p>Rings.</p>"}}`,
	"maps/map_14.json": `{"id": 3, "name": "Chart", "entity": {"id": 14}, "map_markers": [{"entity_id": 12,
		"longitude": 3, "latitude": 4, "visibility_id": 1}]}`,
	"gallery/u1.json": `{"id": "u1"}`, "gallery/u1.png": "\x89PNG\r\n\x1a\n0000",
}

func scene(t testing.TB) *exchangetest.Scene { return exchangetest.NewOn(t, memory.New()) }

func TestKanka(t *testing.T) {
	s, files := scene(t), exchangetest.Files(kankaExport)
	sum := s.Import(ImportKanka, files, exchange.Options{Label: "x"})
	if got := s.Listing("user"); len(got) > 0 {
		t.Errorf("before it is confirmed, players see %v", got)
	}
	if !strings.Contains(sum.String(), `permissions of roles are not exported "public entities": 3 notes`) {
		t.Error(sum)
	}
	s = scene(t)
	s.Import(ImportKanka, files, exchange.Options{Label: "x", Open: []string{publicEntities}})
	s.WantSees(map[string]string{
		"user Mira": "Character user <p>Rows to [[Weir|the weir]] and . &#123;&#123;x}}</p>\n<h2>Seen</h2>\n<p>Salt.</p>",
		"user Weir": "Location user <p>Deep.</p>", "user Cult of the Bell": "-", "user Mira+GM": "-",
		"gm Mira+GM": "RichText gm <p>Debt: 900</p>\n<p>Oath: yes</p>\n<h2>Plan</h2>\n<p>She lies.</p>\n<h2>Self</h2>\n<p>Mine.</p>\n",
	})
	for _, word := range []string{"lies", "Debt", "Oath", "Cult", "serves", "Mine", "never read"} {
		if text := strings.Join(s.Listing("user"), "\n"); strings.Contains(text, word) {
			t.Errorf("players read %q", word)
		}
	}
	if got := s.Linked("user", "Mira", "relationship", "type"); got["Weir"] != "guards" || len(got) != 1 {
		t.Errorf("relations %v", got)
	}
	if got := s.Linked("user", "Mira", "at", ""); len(got) != 1 {
		t.Errorf("Mira is at %v", got)
	}
	if got := s.Linked("user", "Chart", "pin", "y"); got["Weir"] != "4" {
		t.Errorf("pins %v", got)
	}
	if _, _, ok := s.Content("user", "Mira+picture"); !ok {
		t.Error("no picture")
	}
	if again := s.Import(ImportKanka, files, exchange.Options{Label: "y",
		Open: []string{publicEntities}}); again.Created+again.Updated+again.Links > 0 {
		t.Errorf("importing again: %s", again)
	}
}

func TestKankaEntityWithoutID(t *testing.T) {
	files := exchangetest.Files(map[string]string{"campaign.json": "{}",
		"characters/mira_11.json": `{"name": "Mira", "entity": {"image_uuid": "u1"}}`})
	s := scene(t)
	const why = "characters/mira_11.json: its entity has no id"
	if _, err := ImportKanka(t.Context(), s.Canon, s.As("admin"), files, exchange.Options{}); err == nil ||
		!strings.Contains(err.Error(), why) {
		t.Errorf("alone: %v", err)
	}
	maps.Copy(files, exchangetest.Files(map[string]string{"locations/weir_12.json": kankaExport["locations/weir_12.json"]}))
	if sum := s.Import(ImportKanka, files, exchange.Options{}); sum.Created != 1 || !strings.Contains(sum.String(), why) {
		t.Error(sum)
	}
}

func prose(nodes string) string { return `{"type": "doc", "content": [` + nodes + `]}` }

func TestLegendKeeper(t *testing.T) {
	s := scene(t)
	files := exchangetest.Files(map[string]string{"w.lk": `{"version": 1, "calendars": [{}], "resources": [
		{"id": "a", "name": "Weir", "tags": ["location"], "aliases": ["Dam"], "documents": [{"type": "page",
			"content": ` + prose(
		`{"type": "heading", "attrs": {"level": 2}, "content": [{"type": "text", "text": "Deep <x>"}]},
		 {"type": "paragraph", "content": [{"type": "text", "text": "See ", "marks": [{"type": "strong"}]},
		{"type": "mention", "attrs": {"id": "b", "text": "@Vault"}}, {"type": "mention", "attrs": {"id": "d",
		"text": "Mira"}}]},
		 {"type": "bodiedExtension", "attrs": {"extensionKey": "block-secret"}, "content": [{"type": "paragraph",
		"content": [{"type": "text", "text": "The bell."}]}]},
		 {"type": "codeBlock", "content": [{"type": "text", "text": "x = 1"}]}`) + `},
		 {"type": "page", "isHidden": true, "content": ` + prose(`{"type": "paragraph", "content": [{"type": "text",
			"text": "Kept."}]}`) + `},
		 {"type": "map", "map": {"pins": [{"pos": [4, 3], "linkedResourceId": "d"}, {"pos": [1, 1],
		"linkedResourceId": "d", "isHidden": true}]}}]},
		{"id": "b", "name": "Vault", "isHidden": true, "parentId": "a"}, {"id": "c", "name": "Chest", "parentId": "b"},
		{"id": "d", "name": "Mira", "parentId": "a", "tags": ["npc"]}]}`})
	sum := s.Import(ImportLegendKeeper, files, exchange.Options{Label: "x"})
	s.WantSees(map[string]string{
		"user Weir":  "Location user <h2>Deep &lt;x&gt;</h2>\n<p><b>See </b>Vault[[Mira]]</p>\n<pre>x = 1</pre>\n",
		"gm Weir+GM": "RichText gm <p>The bell.</p>\n<p>Kept.</p>\n", "user Vault": "-", "user Chest": "-",
		"user Mira": "Character user ",
	})
	if got := s.Linked("user", "Weir", "pin", "x"); got["Mira"] != "3" {
		t.Errorf("pins %v", got)
	}
	if got := s.Linked("user", "Mira", "within", ""); len(got) != 1 {
		t.Errorf("Mira is within %v", got)
	}
	if !strings.Contains(sum.String(), "1 calendars are left out") {
		t.Error(sum)
	}
}

func TestLegendKeeperProperties(t *testing.T) {
	s := scene(t)
	text := func(words string) string {
		return prose(`{"type": "paragraph", "content": [{"type": "text", "text": "` + words + `"}]}`)
	}
	secret := prose(`{"type": "paragraph", "content": [{"type": "text", "text": "Oak."}]}, {"type": "bodiedExtension",
		"attrs": {"extensionKey": "block-secret"}, "content": [{"type": "infoboxPmRow", "attrs": {"value":
		{"type": "KEY_VALUE", "title": "X", "data": {"rows": [{"key": "Trap", "value": ` + text("Needle.") + `}]}}}}]}`)
	sum := s.Import(ImportLegendKeeper, exchangetest.Files(map[string]string{"w.lk": `{"version": 1, "resources": [
		{"id": "a", "name": "Weir", "properties": [
			{"type": "TEXT_FIELD", "title": "SUMMARY", "data": {"fragment": ` + text("A town.") + `}},
			{"type": "TEXT_FIELD", "title": "Debt", "isHidden": true, "data": {"fragment": ` + text("900.") + `}},
			{"type": "TEXT_FIELD", "title": "Chest", "data": {"fragment": ` + secret + `}},
			{"type": "RESOURCE_LINK", "title": "Friends", "data": {"items": [{"resourceId": "b"}]}},
			{"type": "RESOURCE_LINK", "title": "Spies", "isHidden": true, "data": {"items": [{"resourceId": "b"}]}},
			{"type": "IMAGE", "title": "IMAGE", "data": {"url": "https://x.example/a.png"}}],
		"documents": [{"type": "page", "content": ` + prose(`{"type": "extension", "attrs": {"extensionKey": "block-key-value",
			"parameters": {"rows": [{"key": "Evasion", "value": `+text("12")+`}]}}},
			{"type": "taskList", "content": [{"type": "taskItem", "attrs": {"state": "DONE"}, "content": [{"type": "text",
			"text": "Row"}]}]}, {"type": "mediaSingle", "content": [{"type": "media", "attrs": {"url": "x"}}]}`) + `},
			{"type": "time", "content": {"events": [{"id": "e"}, {"id": "f"}]}}]},
		{"id": "b", "name": "Mira"}]}`}), exchange.Options{Label: "x"})
	s.WantSees(map[string]string{
		"user Weir":  "Lore user <p><b>Evasion</b></p>\n<p>12</p>\n<ul><li>done: Row</li>\n</ul>\n",
		"gm Weir+GM": "RichText gm <p>Debt: 900.</p>\n<p><b>Trap</b></p>\n<p>Needle.</p>\n"})
	if c, _, _ := s.Content("user", "Weir"); string(c.Fields) != `{"Chest":"Oak.","SUMMARY":"A town."}` {
		t.Errorf("fields %s", c.Fields)
	}
	if got := s.Linked("user", "Weir", "relationship", "type"); got["Mira"] != "Friends" || len(got) != 1 {
		t.Errorf("players see the relationships %v", got)
	}
	for _, said := range []string{"2 pictures stand on the servers", "2 events of timelines"} {
		if !strings.Contains(sum.String(), said) {
			t.Errorf("%q is missing from\n%s", said, sum)
		}
	}
}

func TestScabardAndWorldAnvil(t *testing.T) {
	s := scene(t)
	s.Import(ImportScabard, exchangetest.Files(map[string]string{"s.json": `{"pages": [
		{"concept": "Place", "id": 5, "page": {"id": 99, "name": "Weir", "description": "Deep.", "secrets": "The bell.",
		"gmSecrets": "It rings.", "aliases": "Dam"}},
		{"concept": "Character", "id": 6, "page": {"name": "Mira", "description": "Rows.", "isSecret": true}},
		{"concept": "Item", "id": 7, "page": {"name": "Oar"}}],
		"conns": [{"fromid": 5, "toid": 7, "relationship": "holds", "r": {"isSecret": true}}, {"fromid": 7, "toid": 5,
			"relationship": "lies at"}]}`}), exchange.Options{Label: "x"})
	s.WantSees(map[string]string{"user Weir": "Location user <p>Deep.</p>\n",
		"gm Weir+GM": "RichText gm <p>The bell.</p>\n<p>It rings.</p>\n", "user Mira": "-"})
	if got := s.Linked("user", "Oar", "relationship", "type"); got["Weir"] != "lies at" {
		t.Errorf("%v", got)
	}
	if got := s.Linked("user", "Weir", "relationship", ""); len(got) != 0 {
		t.Errorf("players see %v", got)
	}
	s = scene(t)
	s.Import(ImportWorldAnvil,
		exchangetest.Files(map[string]string{"a.json": `[{"id": "1", "title": "Weir", "slug": "weir", "state": "public",
		"templateType": "settlement", "tags": "river,mud",
		"content": "A [b]deep[/b] <x> place of @[Mira](person:2) and @[Tess](person:3).[secret]Bell.[/secret]\n\nEnd.",
		"seeded": "Rings.", "ggmnotes": "Old.", "subscribergroups": []},
		{"id": "2", "title": "Mira", "slug": "mira", "state": "private", "templateType": "person", "content": "Rows."},
		{"id": "3", "title": "Tess", "slug": "tess", "templateType": "person",
			"content": "Smith."}]`}), exchange.Options{Label: "x", Open: []string{"unknown state"}})
	s.WantSees(map[string]string{"user Weir": "Location user <p>A <b>deep</b> &lt;x&gt; place of Mira and [[Tess]].</p>\n<p>End.</p>\n",
		"gm Weir+GM": "RichText gm \n<p>Bell.</p>\n<h2>ggmnotes</h2>\n<p>Old.</p>\n<h2>seeded</h2>\n<p>Rings.</p>\n",
		"user Mira":  "-", "user Tess": "Character user <p>Smith.</p>\n"})
}

func TestDecko(t *testing.T) {
	s := scene(t)
	sum := s.Import(ImportDecko,
		exchangetest.Files(map[string]string{"cards-export.ndjson": `
{"name": "Weir", "type": "RichText", "content": "<p>See [[Mira]].</p>"}
{"name": "Weir+GM", "type": "RichText", "content": "The bell."}
{"name": "Weir+GM+AI", "type": "RichText", "content": "More."}
{"name": "Mira+tags", "type": "Pointer", "content": "[[river]]"}
{"name": "Vault", "type": "Location", "content": "Gold."}
{"name": "Vault+*self+*read", "type": "Pointer", "content": "[[Administrator]]"}
{"name": "Clan", "type": "Cardtype", "content": ""}
{"name": "Reed", "type": "Clan", "content": "A clan."}
{"name": "Old", "type": "Strange", "content": "Odd."}
{"name": "tess", "type": "User", "content": "mail"}
{"name": "*logo", "type": "Image", "content": "x"}
nonsense`}), exchange.Options{Label: "x"})
	s.WantSees(map[string]string{"user Weir": "RichText user <p>See [[Mira]].</p>", "user Weir+GM": "-",
		"gm Weir+GM":      "RichText gm The bell.",
		"user Weir+GM+AI": "-", "gm Weir+GM+AI": "RichText gm More.", "user Vault": "-", "user Mira": "-",
		"gm Mira+tags": "Pointer gm [[river]]",
		"user Reed":    "Clan user A clan.", "user Old": "RichText user Odd.", "gm tess": "-"})
	for _, said := range []string{"1 cards of the type User are left out", "1 rules and cards of the system",
		"cards-export.ndjson:13: is not a card", "*read rule: 1 notes", "1 cards have a type"} {
		if !strings.Contains(sum.String(), said) {
			t.Errorf("%q is missing from\n%s", said, sum)
		}
	}
}

func TestEmptySources(t *testing.T) {
	for name, read := range map[string]exchangetest.Importer{"kanka": ImportKanka, "legendkeeper": ImportLegendKeeper,
		"scabard":    ImportScabard,
		"worldanvil": ImportWorldAnvil, "decko": ImportDecko} {
		for _, files := range []fs.FS{fstest.MapFS{"a.json": {Data: []byte("{}")}}, exchangetest.ErrorFS{}} {
			s := scene(t)
			if _, err := read(t.Context(), s.Canon, s.As("admin"), files, exchange.Options{}); err == nil ||
				len(s.Listing("admin")) > 0 {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// FuzzPlanners checks that no bytes cause a panic, or cards that players see against the level.
func FuzzPlanners(f *testing.F) {
	f.Add(kankaExport["characters/mira_11.json"])
	f.Add(`{"name": "A", "entity": {"image_uuid": "u"}}`) // an entity without an id
	f.Add(`{"version": 1, "resources": [{"id": "a", "parentId": "a", "documents": [{"content": {"type": "doc",
		"content": [{"type": "text", "text": "x"}]}}]}]}`)
	f.Add(`{"static_data": {"year_data": {"timespans": [{"name": 1}]}}, "events": [{"data": {"date": [1e9, -5, 1]}}],
		"entity": {"id": 1, "reminders": [{"year": -1e99, "month": {}}]}, "months": "[", "date": "--"}`)
	f.Add(`{"title": "a", "slug": "b", "content": "[b]@[a](b:c)[/b][secret:1]", "pages": [{"id": 1,
		"page": {"name": "x"}}], "name": "A+B", "type": "x"}`)
	f.Fuzz(func(t *testing.T, text string) {
		exchangetest.CheckHostile(t, memory.New(), exchangetest.Files(map[string]string{"m/a.json": text}), ImportKanka,
			ImportLegendKeeper, ImportScabard, ImportWorldAnvil, ImportDecko, ImportFantasyCalendar)
	})
}

func Example() {
	world, owner := exchangetest.NewWorld()
	line := `{"name": "Weir", "type": "RichText", "content": "Deep."}`
	files := exchangetest.Files(map[string]string{"cards-export.ndjson": line})
	summary, err := ImportDecko(context.Background(), world, owner, files, exchange.Options{Label: "example"})
	fmt.Println(summary.Created, err)
	// Output: 1 <nil>
}

// TestWorldAnvilSecrets imports secrets in each form that World Anvil has for them.
func TestWorldAnvilSecrets(t *testing.T) {
	s := scene(t)
	sum := s.Import(ImportWorldAnvil, exchangetest.Files(map[string]string{"a.json": `[
		{"id": "1", "title": "Weir", "slug": "weir", "state": "public", "templateType": "settlement",
			"content": "a[SECRET]HID[/SECRET]b[Secret]HID[secret]HID[/secret]HID[/sEcret]c[subcontainer:7]HID[/subcontainer]d[secret:12]e<span class=\"gm-only\">HID</span>[secret]HID\n\nHID"},
		{"id": "2", "title": "HID bell", "slug": "x", "state": "public", "entityClass": "Secret", "content": "HID"},
		{"id": "3", "title": "HID plans", "slug": "y", "state": "public", "entityClass": "NoteBook", "content": "HID"},
		{"id": "4", "title": "HID page", "slug": "z", "state": "public", "entityClass": "NoteSection", "content": "HID"},
		{"id": "5", "title": "Mira [secret]HID[/secret]", "slug": "m", "state": "public", "tags": "a,[secret]HID[/secret]", "content": "Rows."}]`}),
		exchange.Options{Label: "x"})
	s.WantSees(map[string]string{"user Weir": "Location user <p>abcde</p>\n", "user Mira": "Lore user <p>Rows.</p>\n"})
	if players := strings.Join(s.Listing("user"), "\n"); strings.Contains(players, "HID") {
		t.Errorf("players read\n%s", players)
	}
	if _, text, _ := s.Content("gm", "Weir+GM"); strings.Count(text, "HID") != 8 {
		t.Errorf("the GM reads %q", text)
	}
	if !strings.Contains(sum.String(), "has no end") {
		t.Error(sum)
	}
}

// TestWorldAnvilHeadingsHideSections imports a section whose heading hides it.
func TestWorldAnvilHeadingsHideSections(t *testing.T) {
	s := scene(t)
	s.Import(ImportWorldAnvil, exchangetest.Files(map[string]string{"a.json": `[{"id": "1", "title": "Weir",
		"state": "public", "content": "SEEN\n[h2][b]GM notes[/b][/h2]\nHID [quote]HID[/quote]\n[h3]More[/h3]\nHID\n[h2]Next[/h2]\nSEEN <x>"}]`}),
		exchange.Options{Label: "x"})
	_, players, _ := s.Content("user", "Weir")
	all := strings.Join(s.Listing("gm"), "\n")
	if strings.Contains(players, "HID") || strings.Count(players, "SEEN") != 2 || !strings.Contains(players, "&lt;x&gt;") ||
		!strings.Contains(all, "HID") || !strings.Contains(all, "blockquote") {
		t.Errorf("players read %s\ngame masters %s", players, all)
	}
}
