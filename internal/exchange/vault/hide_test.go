package vault

import (
	"fmt"
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/exchange"
	"loregate/internal/exchange/exchangetest"
	"loregate/internal/fault"
)

// TestSecretMarks imports notes that are secret in whole or in part. SECRET marks text that
// players must not see, SEEN in text that they must see.
func TestSecretMarks(t *testing.T) {
	meta := func(lines string) string { return "---\n" + lines + "\n---\nSECRET" }
	open := func(lines string) string { return "---\n" + lines + "\n---\nSEEN" }
	for i, tc := range []struct{ path, text string }{
		// Folders and names, by words.
		{"01b/03b Secret Factions/Deep/N.md", "SECRET"}, {"GM_Notes/N.md", "SECRET"}, {"2-dm-only/N.md", "SECRET"},
		{"DMsNotes/N.md", "SECRET"}, {"Spoilers!/N.md", "SECRET"},
		{"GameMaster/N.md", "SECRET"}, {"For My Eyes Only/N.md", "SECRET"}, {"Behind the Screen/N.md", "SECRET"},
		{"Keeper's Lore/N.md", "SECRET"}, {"_storyteller/N.md", "SECRET"},
		{"Spielleiterwissen/N.md", "SECRET"}, {"Geheimnisse der Stadt/N.md", "SECRET"}, {"SL-Notizen/N.md", "SECRET"},
		{"Hinter dem Schirm/N.md", "SECRET"}, {"Versteckte Orte/N.md", "SECRET"},
		{"Notes MJ/N.md", "SECRET"}, {"Maître du jeu/N.md", "SECRET"}, {"Lieux cachés/N.md", "SECRET"},
		{"Société secrète/N.md", "SECRET"}, {"Derrière l'écran/N.md", "SECRET"},
		{"Notas del máster/N.md", "SECRET"}, {"Secretos/N.md", "SECRET"}, {"Director de Juego/N.md", "SECRET"},
		{"Lugares ocultos/N.md", "SECRET"}, {"Solo para mí/N.md", "SECRET"},
		{"The Heir (GM).md", "SECRET"}, {"Mill+GM.md", "SECRET"}, {"hiddenDoor.md", "SECRET"},
		{"Secretary/N.md", "SEEN"}, {"Innkeepers/N.md", "SEEN"}, {"Admin/N.md", "SEEN"}, {"Weapons Cache/N.md", "SEEN"},
		{"Master List/N.md", "SEEN"}, {"Privateer/N.md", "SEEN"},
		// Front matter.
		{"N.md", meta("publish: false")}, {"N.md", meta("dg-publish: 'no'")}, {"N.md", meta("Publish: off")},
		{"N.md", meta("player: 0")}, {"N.md", meta("players: \"False\"")},
		{"N.md", meta("player(s): false")}, {"N.md", meta("visibility: [gm]")}, {"N.md", meta("visibility: {players: no}")},
		{"N.md", meta("hidden: 1")}, {"N.md", meta("status: Hidden")},
		{"N.md", meta("Secret: on")}, {"N.md", meta("gm_only: yes")}, {"N.md", meta("tags: [npc, gm/plot]")},
		{"N.md", meta("Tags: DM-Only")}, {"N.md", meta("tags:\n  - faction/secret-society")},
		{"N.md", meta("access: gm")}, {"N.md", meta("geheim: ja")}, {"N.md", meta("draft: true")},
		{"N.md", meta("cssclasses: [gm-only]")},
		{"N.md", open("access: class features")}, {"N.md", open("publish: true")}, {"N.md", open("player: Ann")},
		{"N.md", open("secret: 'no'")}, {"N.md", open("hidden: 0")},
		{"N.md", open("status: alive")}, {"N.md", open("tags: [secretary, dmitri]")}, {"N.md", open("keeper: Oda")},
		{"N.md", open("permission: read")}, {"N.md", open("dg-publish: 1")},
		// Tags and fields in the text.
		{"N.md", "1. d`Arc #gm SECRET\n2. d`Or"}, {"N.md", "- [ ] hidden:: true\n1. SECRET"}, {"N.md", "`a #gm b` SEEN"},
		{"N.md", "SECRET #gm-only"}, {"N.md", "#secret/plot SECRET"}, {"N.md", "hidden:: true\nSECRET"},
		{"N.md", "SECRET [publish:: false]"}, {"N.md", "SEEN `#gm-only` and https://x/#gm"}, {"N.md", "# GM-free\nSEEN"[8:]},
		// Callouts.
		{"N.md", "SEEN\n> [!secret]- Title SECRET\n> SECRET\n\nSEEN"}, {"N.md", "> [!gm-note]\n> SECRET"},
		{"N.md", "> [!Spielleiter]+\n> SECRET"}, {"N.md", "> [!note] SEEN\n> SEEN\n> > [!DM]\n> > SECRET"},
		{"N.md", "> [!info]- DM only SECRET\n> SECRET"}, {"N.md", "> [!note|gm]\n> SECRET"}, {"N.md", ">[!spoiler]\n>SECRET"},
		{"N.md", "> [!tip] SEEN\n> SEEN"},
		// Comments, elements, blocks.
		{"N.md", "SEEN %%a SECRET%% SEEN"}, {"N.md", "SEEN\n%%\nSECRET"}, {"N.md", "SEEN <!-- SECRET"},
		{"N.md", "SEEN\n\n[//]: # (a SECRET)\n\nSEEN"},
		{"N.md", "<div class='x gm'>SECRET</div>SEEN"}, {"N.md", "<span hidden>SECRET</span>SEEN"},
		{"N.md", "<p style=\"display: none\">SECRET</p>SEEN"},
		{"N.md", "<details><summary>GM notes</summary>SECRET</details>SEEN"},
		{"N.md", "```ad-secret\ntitle: x\nSECRET\n```\nSEEN"}, {"N.md", "::: secret\nSECRET\n:::\nSEEN"},
		{"N.md", "```yaml\n# GM notes\nSEEN\n```\nSEEN"},
		// Headings and labels.
		{"N.md", "SEEN\n## GM Notes\nSECRET\n### More\nSECRET\n## Next\nSEEN"},
		{"N.md", "## For the GM\nSECRET\n# Next\nSEEN"}, {"N.md", "SEEN\n\nSecrets\n-------\nSECRET\n\nNext\n----\nSEEN"},
		{"N.md", "SEEN\n### Hidden Elements ###\nSECRET"},
		{"N.md", "## Notes MJ\nSECRET\n```\n## no heading SECRET\n```\nSECRET\n## Lieux\nSEEN"},
		{"N.md", "> ## DM Notes\n> SECRET\n\nSEEN"},
		{"N.md", "- SEEN\n- **Secret:** SECRET\n  SECRET\n- SEEN"}, {"N.md", "**GM note:** SECRET\nSECRET\n\nSEEN"},
		{"N.md", "## Secretaries\nSEEN"}, {"N.md", "The hidden valley: SEEN"},
		// Front matter in JSON, fields for the GM alone, names.
		{"N.md", "{\n\t\"publish\": false\n}\nSECRET"}, {"N.md", "{ \"publish\": false }\n\nSECRET"},
		{"N.md", "{\"publish\": true}\nSEEN"}, {"N.md", "{ \"publish\": false \nSECRET"}, {"N.md", "{{SEEN}} SEEN"[9:]},
		{"N.md", open("gm: Karsten von Ahl")}, {"N.md", open("dm: Ann")}, {"N.md", meta("gm: the duke did it")},
		{"N.md", meta("gm: Secret")},
		{"N.md", open("secrets:\n  - he did it SECRET\n  - and SECRET")},
		{"N.md", open("dm-notes: |\n  one SECRET\n  two\nrace: elf SEEN")},
		{"N.md", open("GM Secrets: {who: SECRET, why: [SECRET]}")}, {"N.md", meta("secrets: true")},
		{"N.md", "SEEN [gm:: he serves [[SECRET]] SECRET] SEEN"}, {"N.md", "SEEN (dm notes:: he (SECRET) SECRET) SEEN"},
		{"N.md", "SEEN [born:: SEEN] (keeper:: SEEN)"}, {"N.md", "`[gm:: SEEN]`"}, {"N.md", "SEEN [secret:: SECRET\nSEEN"},
		// Objects in lists and fields.
		{"N.md", open("npcs: [{name: X, secret: true, note: SECRET}]")}, {"N.md", meta("plan: {hidden: true}")},
		{"N.md", open("l: [{visibility: gm, text: SECRET}]")}, {"N.md", open("l: [[{level: gm, text: SECRET}]]")},
		{"N.md", open("l: [{a: {b: [{players: false, text: SECRET}]}}]")},
		{"N.md", open("l: [{tags: [dm/plot], text: SECRET}]")}, {"N.md", open("l: [{secret plan: SECRET}]")},
		{"N.md", open("l: [{name: SEEN, secret: false, visibility: all, players: true}]")},
		// Dataview fields, labels of other languages.
		{"N.md", "SEEN\n\nSecret motive:: SECRET"}, {"N.md", "- SEEN\n- gm truth:: SECRET\n- SEEN"},
		{"N.md", "SEEN\n\nSecret du MJ : SECRET\n\nSEEN"}, {"N.md", "Nur für SL: SECRET"}, {"N.md", "Segreto: SECRET"},
		{"N.md", "**Secret du MJ :** SECRET"}, {"N.md", "secret door:: no\n\nSEEN:: SEEN"},
		// Comments as brackets.
		{"N.md", "SEEN <!-- gm -->SECRET<!-- /gm --> SEEN"}, {"N.md", "SEEN %% gm %%SECRET%% /gm %% SEEN"},
		{"N.md", "SEEN\n\n<!-- secret:start -->\n\nSECRET\n\n## Deep\n\nSECRET\n\n<!-- secret:end -->\n\nSEEN"},
		{"N.md", "SEEN\n\n[//]: # (gm)\n\nSECRET\n\n[//]: # (/gm)\n\nSEEN"},
		{"N.md", "## SEEN\n\n%% GM only %%\n\nSECRET\n\n### SECRET\n\n## Next\n\nSEEN"},
		{"N.md", "SEEN\n\nSEEN <!-- gm --> SECRET\nSECRET\n\nSEEN"}, {"N.md", "<!-- gm --> SECRET\nSECRET\n\nSEEN"},
		{"N.md", "%% the secret is out %% SEEN <!-- see the GM notes --> SEEN"}, {"N.md", "`<!-- gm -->` SEEN"},
		// Marks of other programs.
		{"N.md", "<details><summary><b>GM</b> <i>notes</i></summary>SECRET</details>SEEN"},
		{"N.md", "<details><summary><b>SEEN</b></summary>SEEN</details>SEEN"},
		{"N.md", "SEEN [spoiler]SECRET[/spoiler] SEEN"},
		{"N.md", "SEEN\n[SECRET=x]SECRET\n\n[secret]SECRET[/secret] SECRET\n[/Secret] SEEN"},
		{"N.md", "[GM] SEEN, [hidden](http://x.org) SEEN"},
		{"N.md", "SEEN >!SECRET\nSECRET!< SEEN"}, {"N.md", "SEEN\n\n>! SECRET\n\nSEEN"}, {"N.md", "<b>!SEEN!</b> a>!b SEEN"},
		{"N.md", "`>!SEEN!<`"},
		{"N.md", "SEEN\n\n!!! secret \"SECRET\"\n    SECRET\n\n    SECRET\n\nSEEN"},
		{"N.md", "??? note \"GM notes\"\n\tSECRET\nSEEN"}, {"N.md", "???+ gm inline\n    SECRET\n\nSEEN"},
		{"N.md", "!!! note \"SEEN\"\n    SEEN\n\nReally!!! secret SEEN"},
		{"N.md", "SEEN\n## What the players don't know\nSECRET\n# Next\nSEEN"}, {"N.md", "## Unknown to the players\nSECRET"},
		{"N.md", "## What our party must never learn\nSECRET"}, {"N.md", "## Was die Spieler nicht wissen\nSECRET"},
		{"N.md", "## Ce que les joueurs ignorent\nSECRET"}, {"N.md", "## Lo que los jugadores no saben\nSECRET"},
		{"N.md", "## What players know\nSEEN"}, {"Secrete gland.md", "SEEN"},
	} {
		t.Run(fmt.Sprintf("%d %s", i, tc.path), func(t *testing.T) {
			s := newScene(t)
			s.importAs("admin", map[string]string{tc.path: tc.text}, Options{Folders: FolderNone})
			players, all := strings.Join(s.Listing("user"), "\n"), strings.Join(s.Listing("admin"), "\n")
			for _, text := range []string{"SEEN", "SECRET"} {
				if !strings.Contains(all, text) && strings.Contains(tc.text, text) {
					t.Errorf("%q in %s: %s is lost", tc.text, tc.path, text)
				}
			}
			if strings.Contains(players, "SECRET") || strings.Count(players, "SEEN") < strings.Count(tc.text, "SEEN") {
				t.Errorf("%q in %s: players read %s", tc.text, tc.path, players)
			}
		})
	}
}

func secretFactions() map[string]string {
	v := map[string]string{"Town/Inn.md": "An inn.", "Town/Secret Door.md": "SECRET"}
	for i := range 120 {
		v[fmt.Sprintf("01b/03b Secret Factions/F%d.md", i)] = "SECRET"
	}
	return v
}

func TestSuspicionsNeedConfirmation(t *testing.T) {
	s := newScene(t)
	sum := s.importAs("admin", secretFactions(), Options{})
	if text := sum.String(); !strings.Contains(text, "Hidden, please confirm") ||
		!strings.Contains(text, `folder "01b/03b Secret Factions": 120 notes`) ||
		!strings.Contains(text, `name "secret": 1 notes and files (Town/Secret Door.md)`) ||
		sum.Levels[access.LevelUser] != 1 {
		t.Errorf("%s", text)
	}
	s = newScene(t)
	sum = s.importAs("admin", secretFactions(), Options{Open: []string{"03b Secret Factions"},
		Confirm: []string{"Town/Secret Door"}})
	if text := sum.String(); strings.Contains(text, "please confirm") ||
		s.See("user", "F7") != "Faction user SECRET" || s.See("user", "Secret Door") != "-" {
		t.Errorf("%s", text)
	}
	// A choice to confirm wins over one to open, and may name a folder that no rule suspects.
	s = newScene(t)
	s.importAs("admin", secretFactions(), Options{Open: []string{"folder"},
		Confirm: []string{"01b/03b Secret Factions", "Town"}})
	if s.See("user", "F7") != "-" || s.See("user", "Inn") != "-" {
		t.Error("what was opened and confirmed is open")
	}
}

func TestUnmatchedSettingStopsImport(t *testing.T) {
	for field, o := range map[string]Options{
		"import.gm_folders": {GMFolders: []string{"Town", "Secret Faction"}}, "open": {Open: []string{"Nonesuch"}},
		"confirm":          {Confirm: []string{"Nonesuch"}},
		"types":            {Types: map[string]string{"Nonesuch": "Location"}},
		"starter-location": {Options: exchange.Options{Starter: "No Such Place"}},
		"open: ":           {Open: []string{"Town/Inn"}},
	} {
		s := newScene(t)
		_, err := Import(t.Context(), s.Canon, s.As("admin"), exchangetest.Files(secretFactions()), o)
		if fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), field) || len(s.Listing("admin")) > 0 {
			t.Errorf("%s: %v, %d things came in", field, err, len(s.Listing("admin")))
		}
	}
	s := newScene(t)
	_, err := Import(t.Context(), s.Canon, s.As("admin"),
		exchangetest.Files(map[string]string{"N.md": "---\npublish: false\n---\n"}), Options{Open: []string{"publish"}})
	if err == nil || !strings.Contains(err.Error(), "no suspicion") {
		t.Errorf("an exact mark was opened: %v", err)
	}
	if _, err := Import(t.Context(), s.Canon, s.As("admin"), exchangetest.Files(map[string]string{"N.txt": "x"}),
		Options{}); fault.KindOf(err) != fault.Invalid {
		t.Errorf("a folder without notes: %v", err)
	}
}

func TestMentionsOfHiddenCards(t *testing.T) {
	v := map[string]string{"GM/The Pale Baker.md": "---\naliases: [Ninefingers]\n---\nx", "GM/Plot.md": "x",
		"Inn.md":  "---\nkeeper: '[[Ninefingers]]'\n---\nSee [[The Pale Baker|him]], ![[Plot]] and [map](GM/Plot.md).",
		"Mill.md": "They say the pale bakers, no: the *pale* baker did it.", "Quay.md": "A plot of land. `[[x]]`"}
	s := newScene(t)
	sum := s.importAs("admin", v, Options{Folders: FolderNone})
	got := fmt.Sprint(sum.Mentions)
	for _, want := range []string{"{Inn.md The Pale Baker true}", "{Inn.md Plot true}", "{Mill.md The Pale Baker false}",
		"{Quay.md Plot false}"} {
		if !strings.Contains(got, want) {
			t.Errorf("%s lacks %s", got, want)
		}
	}
	s = newScene(t)
	s.importAs("admin", v, Options{Folders: FolderNone, HideLinks: true})
	if got := s.See("user", "Inn"); got != "RichText user See him, Plot and map." {
		t.Error(got)
	}
	c, _, _ := s.Content("user", "Inn")
	if strings.Contains(string(c.Fields), "[[") {
		t.Errorf("a field links: %s", c.Fields)
	}
}

func TestTypesAndStarter(t *testing.T) {
	v := map[string]string{"02 Characters/NPCs/Oda.md": "[[Quay]]", "03 Locations/Quay.md": "x",
		"03 Locations/Inn.md": "[[Quay]]", "03 Locations/03 Locations.md": "list",
		"Bell.md": "---\ntype: item\n---\n", "Guild.md": "#Faction/Trade", "Klont Town/Ann.md": "x", "Town/Bo.md": "x",
		"2 Towns Of Oskana/Klont.md": "x", "Magic Items/Sword.md": "x", "Höfe/Hof.md": "x",
		"GM/Locations/Crypt.md": "[[Quay]] [[Quay]]"}
	s := newScene(t)
	sum := s.importAs("admin", v, Options{Folders: FolderNone,
		Types: map[string]string{"Höfe": "Location", "Magic Items": "Artifact"}})
	for name, typ := range map[string]string{"Oda": "Character", "Quay": "Location", "Inn": "Location",
		"03 Locations": "RichText", "Bell": "Item", "Guild": "Faction", "Ann": "RichText", "Bo": "RichText",
		"Klont": "Location", "Sword": "Artifact", "Hof": "Location", "Crypt": "Location"} {
		if got, _, _ := strings.Cut(s.See("gm", name), " "); got != typ {
			t.Errorf("%s is of type %s, want %s", name, got, typ)
		}
	}
	if sum.Starter != "Quay" || !strings.Contains(sum.String(), `Players begin at "Quay"`) ||
		!strings.Contains(sum.String(), "folder 03 Locations: 2 Location") {
		t.Errorf("%s", sum)
	}
	if got := s.starter(); got != "Quay" {
		t.Errorf("players begin at %q", got)
	}
	// An existing starter stays unless the import names another.
	s.importAs("admin", map[string]string{"Locations/Tower.md": "x"}, Options{})
	s.importAs("admin", v, Options{Options: exchange.Options{Starter: "inn"}, Folders: FolderNone})
	if got := s.starter(); got != "inn" {
		t.Errorf("players begin at %q", got)
	}
	if _, err := Import(t.Context(), s.Canon, s.As("admin"), exchangetest.Files(v),
		Options{Options: exchange.Options{Starter: "Crypt"}}); fault.KindOf(err) != fault.Invalid {
		t.Errorf("players begin where they see nothing: %v", err)
	}
}

func (s *scene) starter() (name string) {
	s.T.Helper()
	err := s.Canon.Read(s.T.Context(), s.As("admin"), func(l *canon.Snapshot) error {
		name = l.World().Settings.Starter
		return nil
	})
	if err != nil {
		s.T.Fatal(err)
	}
	return name
}

func TestNamesThatChangedAreReported(t *testing.T) {
	s := newScene(t)
	sum := s.importAs("admin", map[string]string{"a+b.md": "1", "[x]|{y}.md": "2", "Good  one.md": "3",
		strings.Repeat("x", 150) + ".md": "4", "A/Inn.md": "5", "B/inn.md": "6"}, Options{Folders: FolderNone})
	text := sum.String()
	for _, want := range []string{`"a+b" is not a valid card name; the card is called "a b"`,
		`the card is called "x y"`, "xxx.md: ", `this card is called "B+inn"`} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing from %s", want, text)
		}
	}
	if strings.Contains(text, "Good") {
		t.Errorf("a name that fits is reported: %s", text)
	}
}

// TestAFileWithMarksIsTheGMs attaches texts with marks to a note that players read.
func TestAFileWithMarksIsTheGMs(t *testing.T) {
	s := newScene(t)
	s.importAs("admin", map[string]string{
		"Note.md":       "![[Open.canvas]] ![[Hidden.canvas]] ![[Called.canvas]] ![[List.base]] ![[Plan.txt]] ![[Talk.txt]]",
		"Open.canvas":   `{"nodes": [{"type": "text", "text": "50%% of the town"}]}`,
		"Hidden.canvas": `{"nodes": [{"type": "text", "text": "Seen. %%HID%% Seen."}]}`,
		"Called.canvas": `{"nodes": [{"type": "text", "text": "> [!secret]\n> HID"}]}`,
		"List.base":     "filters:\n  and:\n    - type == \"x\"\n",
		"Plan.txt":      "Seen. <p hidden>HID</p>", "Talk.txt": "Nothing.",
	}, Options{})
	for file, want := range map[string]string{"Open.canvas": "-", "Hidden.canvas": "-", "Called.canvas": "-", "List.base": "seen",
		"Plan.txt": "-", "Talk.txt": "seen"} {
		_, _, player := s.Content("user", file)
		if _, _, gm := s.Content("gm", file); player != (want == "seen") || !gm {
			t.Errorf("%s: a player sees it: %t, the GM: %t", file, player, gm)
		}
	}
}
