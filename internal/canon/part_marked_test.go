package canon_test

import (
	"slices"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
)

// writeAsBefore writes a card as it was written before marks hid.
func (a actor) writeAsBefore(name, content, fields string) {
	a.s.t.Helper()
	a.must(func(p *canon.Plan) error {
		c, ok, err := p.Has(name)
		switch {
		case err != nil:
		case ok:
			_, err = p.Update(c, canon.Edit{Content: &content, Fields: []byte(fields), Undivided: true})
		default:
			_, err = p.Create(canon.NewCard{Name: name, Content: content, Format: canon.FormatMarkdown, Undivided: true,
				Fields: []byte(fields)})
		}
		return err
	})
}

// findMarked returns the marked texts of a card.
func (a actor) findMarked(name string) (m canon.MarkedText) {
	a.s.t.Helper()
	err := a.read(func(l *canon.Snapshot) error {
		c, err := l.Find(a.s.t.Context(), name)
		if err != nil {
			return err
		}
		f, err := l.FindMarked(a.s.t.Context())
		if err == nil {
			m, err = f.In(a.s.t.Context(), c)
		}
		return err
	})
	if err != nil {
		a.s.t.Fatal(err)
	}
	return m
}

// adminFor returns an admin who calls an operation.
func (s *scene) adminFor(operation string) actor {
	return s.admit(access.Caller{Subject: "admin", EveryRole: access.RoleAdmin},
		access.Request{Operation: operation, Effect: access.Write, World: s.world})
}

func (a actor) hideMarked(name string) canon.Receipt {
	a.s.t.Helper()
	a = a.s.adminFor(canon.OpHideMarked)
	m := a.findMarked(name)
	return a.must(func(p *canon.Plan) error {
		c, _, err := p.Has(name)
		if err == nil {
			_, err = p.HideMarked(c, m)
		}
		return err
	})
}

// TestMarkedTextsOfBefore hides the marks that a game master wrote before marks hid, and those only.
func TestMarkedTextsOfBefore(t *testing.T) {
	s := newScene(t)
	admin, gm, ada := s.as("admin"), s.as("gm"), s.as("ada")
	gm.writeAsBefore("Quay", "# Quay\n\nBusy.\n\n%%The mayor drinks.%%\n", "")
	ada.writeAsBefore("Quay", "# Quay\n\nVery busy.\n\n%%The mayor drinks.%%\n\n%%mine%%\n", "")
	gm.writeAsBefore("Quay", "# Quay\n\nVery busy.\n\n%%The mayor drinks a lot.%%\n\n%%mine%%\n\nFish.\n",
		`{"gm_notes": "he pays", "age": 4}`)
	m := admin.findMarked("Quay")
	if len(m.Marks) != 1 || !slices.Equal(m.Fields, []string{"gm_notes"}) || len(m.Plain) != 1 {
		t.Fatalf("found %+v", m)
	}
	_, before, _ := admin.card("Quay")
	admin.hideMarked("Quay")
	ada.wantContent("Quay", "# Quay\n\nVery busy.\n\n%%mine%%\n\nFish.\n")
	gm.wantContent("Quay", before)
	if n := len(ada.history("Quay")); n != 1 {
		t.Errorf("a player still reads %d versions", n)
	}
	if c, _, _ := ada.card("Quay"); string(c.Fields) != `{"age":4}` {
		t.Errorf("a player reads the fields %s", c.Fields)
	}
	if m := admin.findMarked("Quay"); !m.IsEmpty() || len(m.Plain) != 1 {
		t.Errorf("after that it finds %+v", m)
	}
	s.wantRebuilt()
}

// TestRevealedTextsStayOpen finds no mark that was revealed, nor those of cards that only game masters read.
func TestRevealedTextsStayOpen(t *testing.T) {
	s := newScene(t)
	admin, gm, ada := s.as("admin"), s.as("gm"), s.as("ada")
	gm.writeMarkdown("Quay", "Busy.\n\n> [!secret] Mayor\n> He drinks.\n\nFish.\n")
	gm.labelParts("Quay", access.LevelUser)
	ada.wantContent("Quay", "Busy.\n\n> [!note] Mayor\n> He drinks.\n\nFish.\n")
	gm.writeMarkdown("Quay", "Busy.\n\n> [!note] Mayor\n> He drinks, it is said.\n\nFish.\n")
	if m := admin.findMarked("Quay"); !m.IsEmpty() {
		t.Errorf("of a revealed part it finds %+v", m)
	}
	gm.writeAsBefore("Den", "Dark.\n\n%%Deep.%%\n", "")
	gm.label("Den", access.LevelGM)
	if m := admin.findMarked("Den"); !m.IsEmpty() {
		t.Errorf("of a hidden card it finds %+v", m)
	}
	gm.writeAsBefore("Open", "100 %% sure, and not more.\n", "")
	if m := admin.findMarked("Open"); !m.IsEmpty() {
		t.Errorf("of a sign without its end it finds %+v", m)
	}
}

// TestHideMarkedIsUndone takes the commit back. What was taken back stays open.
func TestHideMarkedIsUndone(t *testing.T) {
	s := newScene(t)
	admin, gm, ada := s.as("admin"), s.as("gm"), s.as("ada")
	gm.writeAsBefore("Quay", "Busy.\n\n%%The mayor drinks.%%\n\nFish.\n", `{"gm_notes": "he pays"}`)
	r := admin.hideMarked("Quay")
	if _, err := gm.do(func(p *canon.Plan) error { return p.Undo(r.Change) }); err == nil {
		t.Error("a game master takes it back")
	}
	undone := s.adminFor(canon.OpUndo).must(func(p *canon.Plan) error { return p.Undo(r.Change) })
	if len(undone.Opened) != 1 || undone.Opened[0].To.Level != access.LevelUser {
		t.Errorf("it opens %+v", undone.Opened)
	}
	ada.wantContent("Quay", "Busy.\n\n%%The mayor drinks.%%\n\nFish.\n")
	if c, _, _ := ada.card("Quay"); string(c.Fields) != `{"gm_notes":"he pays"}` {
		t.Errorf("a player reads the fields %s", c.Fields)
	}
	admin.wantAbsent("Quay+GM")
	if m := admin.findMarked("Quay"); !m.IsEmpty() {
		t.Errorf("after it was taken back it finds %+v", m)
	}
	s.wantRebuilt()
}

// TestNamedFieldsAreHidden hides the fields that a write names, also if the marks of its text are text.
func TestNamedFieldsAreHidden(t *testing.T) {
	s := newScene(t)
	gm, ada := s.as("gm"), s.as("ada")
	gm.must(func(p *canon.Plan) error {
		_, err := p.Create(canon.NewCard{Name: "Quay", Fields: []byte(`{"plot": "deep", "age": 4}`), HideFields: []string{"plot"},
			Undivided: true, AsWritten: true})
		return err
	})
	if c, _, _ := ada.card("Quay"); string(c.Fields) != `{"age":4}` {
		t.Errorf("a player reads the fields %s", c.Fields)
	}
	ada.must(func(p *canon.Plan) error {
		_, err := p.Create(canon.NewCard{Name: "Diary", Fields: []byte(`{"plot": "mine"}`), HideFields: []string{"plot"}})
		return err
	})
	if c, _, _ := s.as("bob").card("Diary"); string(c.Fields) != `{"plot":"mine"}` {
		t.Errorf("a player hid a field: %s", c.Fields)
	}
}

// TestToldFieldsAreNoMarks finds no secret in the fields of a card that its readers were told.
func TestToldFieldsAreNoMarks(t *testing.T) {
	s := newScene(t)
	gm := s.as("gm")
	gm.writeAsBefore("Knife", "A knife.", `{"secrets": "it is cursed"}`)
	if m := s.as("admin").findMarked("Knife"); len(m.Fields) != 1 {
		t.Errorf("of an open card it finds %+v", m)
	}
	gm.label("Knife", access.LevelGM, "ada")
	if m := s.as("admin").findMarked("Knife"); !m.IsEmpty() {
		t.Errorf("of a told card it finds %+v", m)
	}
}
