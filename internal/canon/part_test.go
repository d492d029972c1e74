package canon_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/secrecy"
)

// writeMarkdown creates a card with a Markdown text, or writes it to the card that is there.
func (a actor) writeMarkdown(name, content string) canon.Receipt {
	a.s.t.Helper()
	return a.must(func(p *canon.Plan) error {
		format := canon.FormatMarkdown
		c, ok, err := p.Has(name)
		switch {
		case err != nil:
		case ok:
			_, err = p.Update(c, canon.Edit{Content: &content, Format: &format})
		default:
			_, err = p.Create(canon.NewCard{Name: name, Content: content, Format: format})
		}
		return err
	})
}

// finds reports whether a search for a word finds a card.
func (a actor) finds(word string) (names []string) {
	a.s.t.Helper()
	err := a.read(func(snap *canon.Snapshot) error {
		got, err := snap.Search(a.s.t.Context(), canon.SearchQuery{Q: word}, canon.Page{Limit: 10})
		for _, h := range got.Hits {
			names = append(names, h.Card.Name)
		}
		return err
	})
	if err != nil {
		a.s.t.Fatal(err)
	}
	return names
}

func (a actor) version(name string) uint32 {
	a.s.t.Helper()
	c, _, _ := a.card(name)
	return c.Version(a.grant.View())
}

// labelParts gives all hidden parts of a card a label.
func (a actor) labelParts(name string, level access.Level, readers ...access.Subject) {
	a.s.t.Helper()
	err := a.on(name, func(p *canon.Plan, c canon.Card) error {
		parts, _, err := p.Parts(a.s.t.Context(), c)
		if err != nil {
			return err
		}
		var ids []string
		for _, part := range parts {
			ids = append(ids, part.ID)
		}
		_, err = p.LabelParts(c, ids, access.NewLabel(level, readers...))
		return err
	})
	if err != nil {
		a.s.t.Fatal(err)
	}
}

// TestAHiddenPart follows a hidden part through the edits of its game master and of players.
func TestAHiddenPart(t *testing.T) {
	s := newScene(t)
	gm, ada, admin := s.as("gm"), s.as("ada"), s.as("admin")
	gm.writeMarkdown("Harbour", "# Harbour\n\nIt is busy.\n\n%%The mayor is a vampire.%%\n\nFish is sold here.\n")
	gm.wantContent("Harbour", "# Harbour\n\nIt is busy.\n\n%%The mayor is a vampire.%%\n\nFish is sold here.\n")
	ada.wantContent("Harbour", "# Harbour\n\nIt is busy.\n\nFish is sold here.\n")
	gm.wantContent("Harbour+GM", "%%The mayor is a vampire.%%\n\n")
	ada.wantAbsent("Harbour+GM")
	if got := ada.finds("vampire"); len(got) > 0 {
		t.Errorf("a player finds %q", got)
	}
	if got := gm.finds("vampire"); !slices.Equal(got, []string{"Harbour+GM"}) {
		t.Errorf("the game master finds %q", got)
	}

	versions := ada.version("Harbour")
	gmVersions := gm.version("Harbour")
	gm.writeMarkdown("Harbour", "# Harbour\n\nIt is busy.\n\n%%The mayor is an old vampire.%%\n\nFish is sold here.\n")
	if ada.version("Harbour") != versions || gm.version("Harbour") <= gmVersions {
		t.Errorf("after a hidden edit a player sees version %d of %d, the game master %d of %d", ada.version("Harbour"),
			versions, gm.version("Harbour"), gmVersions)
	}

	ada.writeMarkdown("Harbour", "# Harbour\n\nIt is busy by day.\n\nFish is sold here.\n\nSo is salt.\n")
	gm.wantContent("Harbour", "# Harbour\n\nIt is busy by day.\n\n"+
		"%%The mayor is an old vampire.%%\n\nFish is sold here.\n\nSo is salt.\n")
	ada.writeMarkdown("Harbour", "Burned down.\n")
	if _, text, _ := gm.card("Harbour"); !strings.Contains(text, "%%The mayor is an old vampire.%%") {
		t.Errorf("after a player rewrote the text, it is %q", text)
	}
	ada.wantContent("Harbour", "Burned down.\n")

	gm.writeMarkdown("Harbour", "Burned down.\n\nThe mayor is an old vampire.\n")
	ada.wantContent("Harbour", "Burned down.\n")
	gm.wantContent("Harbour", "Burned down.\n\n%%The mayor is an old vampire.%%\n")
	admin.wantContent("Harbour", "Burned down.\n\n%%The mayor is an old vampire.%%\n")
	s.wantRebuilt()
}

// TestHidingHidesThePast hides a text that was open: its earlier versions go with it.
func TestHidingHidesThePast(t *testing.T) {
	s := newScene(t)
	gm, ada := s.as("gm"), s.as("ada")
	gm.writeMarkdown("Inn", "An inn. The cook is a spy.\n")
	gm.writeMarkdown("Inn", "An old inn. The cook is a spy.\n")
	gm.writeMarkdown("Inn", "An old inn. %%The cook is a spy.%%\n")
	ada.wantContent("Inn", "An old inn.\n")
	if got := ada.history("Inn"); len(got) != 1 || strings.Contains(got[0], "spy") {
		t.Errorf("a player sees the versions %q", got)
	}
	if got := gm.history("Inn"); len(got) != 3 {
		t.Errorf("the game master sees the versions %q", got)
	}
	s.wantRebuilt()
}

// TestAPartWithReaders shows a hidden part to a player by name, who edits it.
func TestAPartWithReaders(t *testing.T) {
	s := newScene(t)
	gm, ada, bob := s.as("gm"), s.as("ada"), s.as("bob")
	gm.writeMarkdown("Inn", "An inn.\n\n%%The cook is a spy.%%\n\nIt is cheap.\n")
	gm.labelParts("Inn", access.LevelGM, "ada")
	ada.wantContent("Inn", "An inn.\n\nThe cook is a spy.\n\nIt is cheap.\n")
	bob.wantContent("Inn", "An inn.\n\nIt is cheap.\n")
	ada.writeMarkdown("Inn", "An inn.\n\nThe cook is a good spy.\n\nIt is very cheap.\n")
	bob.wantContent("Inn", "An inn.\n\nIt is very cheap.\n")
	gm.wantContent("Inn", "An inn.\n\n%%The cook is a good spy.%%\n\nIt is very cheap.\n")
	ada.wantContent("Inn+Told by the GM", "%%The cook is a good spy.%%\n\n")
	bob.wantAbsent("Inn+Told by the GM")
	gm.labelParts("Inn", access.LevelGM)
	ada.wantContent("Inn", "An inn.\n\nIt is very cheap.\n")
	gm.labelParts("Inn", access.LevelUser)
	bob.wantContent("Inn", "An inn.\n\nThe cook is a good spy.\n\nIt is very cheap.\n")
	gm.writeMarkdown("Inn", "An inn.\n\nThe cook is a good spy.\n\nIt is cheap.\n")
	bob.wantContent("Inn", "An inn.\n\nThe cook is a good spy.\n\nIt is cheap.\n")
	s.wantRebuilt()
}

// TestOpeningACardKeepsItsParts opens a hidden card: the marked parts of its text stay hidden, also when it opens
// with the card above it.
func TestOpeningACardKeepsItsParts(t *testing.T) {
	s := newScene(t)
	gm, ada := s.as("gm"), s.as("ada")
	gm.createAt(access.LevelGM, "Plot", "x")
	gm.writeMarkdown("Plot+Spy", "A cook. %%She poisons the duke.%%\n")
	gm.label("Plot", access.LevelUser)
	ada.wantContent("Plot+Spy", "A cook.\n")
	gm.wantContent("Plot+Spy", "A cook. %%She poisons the duke.%%\n")
	s.wantRebuilt()
}

// TestMarksOfPlayersHideNothing writes marks as somebody who may hide nothing.
func TestMarksOfPlayersHideNothing(t *testing.T) {
	s := newScene(t)
	gm, ada := s.as("gm"), s.as("ada")
	ada.writeMarkdown("Diary", "Dear diary %%nobody reads this%%\n")
	gm.wantContent("Diary", "Dear diary %%nobody reads this%%\n")
	gm.wantAbsent("Diary+GM")
	gm.writeMarkdown("Diary", "Dear diary %%nobody reads this%%\n\nMore.\n")
	s.as("bob").wantContent("Diary", "Dear diary %%nobody reads this%%\n\nMore.\n")
}

// TestUndoAndRestoreShowNothing takes changes back that hid a text.
func TestUndoAndRestoreShowNothing(t *testing.T) {
	s := newScene(t)
	gm, ada := s.as("gm"), s.as("ada")
	gm.writeMarkdown("Inn", "An inn. The cook is a spy.\n")
	hidden := gm.writeMarkdown("Inn", "An inn. %%The cook is a spy.%%\n")
	if _, err := gm.do(func(p *canon.Plan) error { return p.Undo(hidden.Change) }); err == nil {
		t.Error("the hiding of a part is undone, which would open it")
	}
	ada.wantContent("Inn", "An inn.\n")
	if err := gm.on("Inn", func(p *canon.Plan, c canon.Card) error {
		v, err := p.VersionOf(t.Context(), c, 1)
		if err == nil {
			_, err = p.RevertTo(c, v)
		}
		return err
	}); err == nil {
		t.Error("a version comes back that was hidden with a part of it")
	}
	ada.wantContent("Inn", "An inn.\n")
	gm.writeMarkdown("Ship", "A ship. %%It leaks badly.%%\n")
	grown := gm.writeMarkdown("Ship", "A ship. %%It leaks very badly.%%\n")
	gm.must(func(p *canon.Plan) error { return p.Undo(grown.Change) })
	gm.wantContent("Ship", "A ship. %%It leaks badly.%%\n")
	s.wantRebuilt()
}

// TestNotesBesideParts writes notes into the card that holds the parts of a text.
func TestNotesBesideParts(t *testing.T) {
	s := newScene(t)
	gm, ada := s.as("gm"), s.as("ada")
	gm.writeMarkdown("Inn", "An inn.\n")
	gm.writeMarkdown("Inn+GM", "Ask Tom about the inn.\n")
	gm.writeMarkdown("Inn", "An inn. %%The cook is a spy.%%\n\nCheap.\n")
	gm.wantContent("Inn+GM", "Ask Tom about the inn.\n %%The cook is a spy.%%")
	gm.writeMarkdown("Inn+GM", "Ask Tom about the inn.\n %%The cook is a good spy.%%\nAnd about fish.")
	gm.wantContent("Inn", "An inn. %%The cook is a good spy.%%\n\nCheap.\n")
	gm.writeMarkdown("Inn", "An inn. %%The cook is a good spy.%%\n\nNot cheap.\n")
	gm.wantContent("Inn+GM", "Ask Tom about the inn.\n %%The cook is a good spy.%%\nAnd about fish.")
	gm.writeMarkdown("Inn+GM", "Ask Tom about the inn.\nThe cook is a good spy.\nAnd about fish.")
	gm.wantContent("Inn", "An inn.\n\nNot cheap.\n")
	ada.wantContent("Inn", "An inn.\n\nNot cheap.\n")
	s.wantRebuilt()
}

// TestAPartInAPart opens parts in which others lie.
func TestAPartInAPart(t *testing.T) {
	for _, tc := range []struct{ whole, ada, open, left string }{
		{"An inn. %%The cook <!-- a vampire --> spies.%%\n", "An inn. The cook spies.\n",
			"An inn. The cook spies.\n", "An inn. The cook <!-- a vampire --> spies.\n"},
		{"An inn.\n\n> [!secret] The cook\n> She spies %%for the duke%% here.\n\nCheap.\n",
			"An inn.\n\n> [!secret] The cook\n> She spies here.\n\nCheap.\n",
			"An inn.\n\n> [!note] The cook\n> She spies here.\n\nCheap.\n",
			"An inn.\n\n> [!note] The cook\n> She spies %%for the duke%% here.\n\nCheap.\n"},
		{"An inn.\n\n## GM notes\n\nShe spies.\n\n%%For the duke.%%\n\n## Rooms\n", "",
			"An inn.\n\n## GM notes\n\nShe spies.\n\n## Rooms\n",
			"An inn.\n\n## GM notes\n\nShe spies.\n\n%%For the duke.%%\n\n## Rooms\n"},
	} {
		s := newScene(t)
		gm, ada, bob := s.as("gm"), s.as("ada"), s.as("bob")
		gm.writeMarkdown("Inn", tc.whole)
		gm.writeMarkdown("Bar", tc.whole)
		if tc.ada != "" {
			gm.labelParts("Inn", access.LevelGM, "ada")
			ada.wantContent("Inn", tc.ada)
			s.wantRebuilt()
		}
		gm.labelParts("Bar", access.LevelUser)
		bob.wantContent("Bar", tc.open)
		gm.wantContent("Bar", tc.left)
		gm.writeMarkdown("Bar", tc.left+"\nMore.\n")
		if _, text, _ := bob.card("Bar"); strings.Contains(text, "duke") || strings.Contains(text, "vampire") ||
			!strings.Contains(text, "More.") || !strings.Contains(text, "spies") {
			t.Errorf("after an edit of %q players read %q", tc.left, text)
		}
	}
}

// TestHideText hides passages of an open text, and the past with them.
func TestHideText(t *testing.T) {
	s := newScene(t)
	gm, ada := s.as("gm"), s.as("ada")
	gm.writeMarkdown("Inn", "An inn. The cook is a spy. Cheap.\n")
	if err := gm.on("Inn", func(p *canon.Plan, c canon.Card) error {
		_, err := p.HideText(c, []string{"The cook is a spy."}, false)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	ada.wantContent("Inn", "An inn. Cheap.\n")
	gm.wantContent("Inn", "An inn. %%The cook is a spy.%% Cheap.\n")
	if got := ada.history("Inn"); len(got) != 1 {
		t.Errorf("a player sees the versions %q", got)
	}
	s.wantRebuilt()
}

// TestHiddenFields writes hidden fields.
func TestHiddenFields(t *testing.T) {
	s := newScene(t)
	gm, ada := s.as("gm"), s.as("ada")
	fields := func(who actor) string {
		t.Helper()
		var got string
		if err := who.read(func(snap *canon.Snapshot) error {
			c, err := snap.Find(t.Context(), "Inn")
			if err != nil {
				return err
			}
			b, err := snap.Fields(t.Context(), c)
			got = string(b)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		return got
	}
	set := func(who actor, patch string, hide ...string) {
		t.Helper()
		if err := who.on("Inn", func(p *canon.Plan, c canon.Card) error {
			_, err := p.Update(c, canon.Edit{Fields: json.RawMessage(patch), HideFields: hide})
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	gm.must(func(p *canon.Plan) error {
		_, err := p.Create(canon.NewCard{Name: "Inn", Fields: json.RawMessage(`{"beds": 3, "gm notes": "the cook spies"}`),
			HideFields: []string{"gm notes"}})
		return err
	})
	for _, step := range []struct {
		who            actor
		patch, gm, ada string
	}{
		{gm, `{"beds": 4}`, `{"beds":4,"gm notes":"the cook spies"}`, `{"beds":4}`},
		{ada, `{"beds": 5}`, `{"beds":5,"gm notes":"the cook spies"}`, `{"beds":5}`},
		{gm, `{"gm notes": "the cook spies well"}`, `{"beds":5,"gm notes":"the cook spies well"}`, `{"beds":5}`},
		{gm, `{"gm notes": null, "secrets": "a cellar"}`, `{"beds":5,"secrets":"a cellar"}`, `{"beds":5}`},
	} {
		set(step.who, step.patch, "secrets")
		if got := fields(gm); got != step.gm {
			t.Errorf("after %s the game master reads %s, want %s", step.patch, got, step.gm)
		}
		if got := fields(ada); got != step.ada {
			t.Errorf("after %s a player reads %s, want %s", step.patch, got, step.ada)
		}
	}
	s.wantRebuilt()
}

// TestFieldsOfTheTable writes fields that the table of marks names, and values with marks, in each way in which a
// card gets fields: players read none of them until one is revealed by its id.
func TestFieldsOfTheTable(t *testing.T) {
	var named []string
	for _, r := range secrecy.Rules() {
		if before, _, ok := strings.Cut(r.Exact, " … with a text, and gm with a name"); ok {
			named = strings.Split(before[strings.LastIndex(before, "; ")+2:], ", ")
		}
	}
	if len(named) < 3 {
		t.Fatalf("the table names the fields %q", named)
	}
	values := map[string]any{"trade": "fish %%and poison%%", "exits": []any{"north", "> [!secret]\n> down"},
		"keeper": map[string]any{"note": `a <span class="secret">spy</span>`}}
	for _, name := range named {
		values[name] = "the cook poisons"
	}
	patch, err := json.Marshal(values)
	if err != nil {
		t.Fatal(err)
	}
	s := newScene(t)
	gm, ada := s.as("gm"), s.as("ada")
	ways := map[string]func(p *canon.Plan, name string) error{
		"create": func(p *canon.Plan, name string) error {
			_, err := p.Create(canon.NewCard{Name: name, Fields: patch})
			return err
		},
		"update": func(p *canon.Plan, name string) error {
			c, err := p.Create(canon.NewCard{Name: name, Fields: json.RawMessage(`{"beds": 3}`)})
			if err == nil {
				_, err = p.Update(c, canon.Edit{Fields: patch})
			}
			return err
		},
		"open": func(p *canon.Plan, name string) error {
			label := access.NewLabel(access.LevelGM)
			c, err := p.Create(canon.NewCard{Name: name, Fields: patch, Label: &label})
			if err == nil {
				_, err = p.SetLabel(c, access.NewLabel(access.LevelUser))
			}
			return err
		},
	}
	fields := func(who actor, name string) (got string) {
		t.Helper()
		if err := who.read(func(snap *canon.Snapshot) error {
			c, err := snap.Find(t.Context(), name)
			if err != nil {
				return err
			}
			b, err := snap.Fields(t.Context(), c)
			got = string(b)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		return got
	}
	for way, write := range ways {
		gm.must(func(p *canon.Plan) error { return write(p, "Inn "+way) })
		seen, all := fields(ada, "Inn "+way), fields(gm, "Inn "+way)
		for _, word := range []string{"poison", "down", "spy"} {
			if strings.Contains(seen, word) || !strings.Contains(all, word) {
				t.Errorf("%s: players read %s, the game master %s", way, seen, all)
			}
		}
		if err := gm.on("Inn "+way, func(p *canon.Plan, c canon.Card) error {
			_, err := p.LabelParts(c, []string{"field:" + named[0]}, access.NewLabel(access.LevelUser))
			return err
		}); err != nil {
			t.Fatal(err)
		}
		gm.must(func(p *canon.Plan) error {
			c, err := p.Card("Inn " + way)
			if err == nil {
				_, err = p.Update(c, canon.Edit{Fields: json.RawMessage(`{"` + named[0] + `": "the cook poisons well"}`)})
			}
			return err
		})
		if seen := fields(ada, "Inn "+way); !strings.Contains(seen, "poisons well") || strings.Contains(seen, "spy") ||
			strings.Count(seen, "poison") != 1 {
			t.Errorf("%s: after one field was revealed, players read %s", way, seen)
		}
	}
	s.wantRebuilt()
}
