package canon_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/markup"
	"loregate/internal/secrecy"
)

// undoWays are the ways in which a change is undone.
var undoWays = map[string]func(s *scene, change uuid.UUID) error{
	"undo": func(s *scene, change uuid.UUID) error {
		_, err := s.as("gm").do(func(p *canon.Plan) error { return p.Undo(change) })
		return err
	},
	"undo of a step": func(s *scene, _ uuid.UUID) error {
		_, _, err := s.undoStep(access.RoleGM, s.steps()[0].ID, canon.StepUndo{})
		return err
	},
}

// changeInStep makes a change that is a step too.
func (s *scene) changeInStep(plan func(*canon.Plan) error) uuid.UUID {
	s.t.Helper()
	var change uuid.UUID
	s.step(access.RoleGM, plan)
	err := s.as("gm").read(func(l *canon.Snapshot) error {
		list, _, err := l.Feed(s.t.Context(), canon.FeedQuery{Page: canon.Page{Limit: 1}})
		change = list[0].Change
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return change
}

// TestUndoBringsPartsBackAsTheyWere undoes changes of hidden parts that have no mark, and of hidden fields.
func TestUndoBringsPartsBackAsTheyWere(t *testing.T) {
	const whole = "An inn.\n\nThe cook is a spy.\n\nIt is cheap.\n"
	secret := strings.Index(whole, "The cook")
	for way, undo := range undoWays {
		for name, change := range map[string]func(p *canon.Plan, c canon.Card) error{
			"the part goes": func(p *canon.Plan, c canon.Card) error {
				text := "An inn.\n\nIt is cheap.\n"
				_, err := p.Update(c, canon.Edit{Content: &text})
				return err
			},
			"the part and the text change": func(p *canon.Plan, c canon.Card) error {
				text := "An old inn.\n\nIt is dear.\n"
				_, err := p.Update(c, canon.Edit{Content: &text})
				return err
			},
			"a hidden field changes": func(p *canon.Plan, c canon.Card) error {
				_, err := p.Update(c, canon.Edit{Fields: json.RawMessage(`{"gm notes": "she is no spy"}`)})
				return err
			},
			"a hidden field goes": func(p *canon.Plan, c canon.Card) error {
				_, err := p.Update(c, canon.Edit{Fields: json.RawMessage(`{"gm notes": null, "beds": 4}`)})
				return err
			},
		} {
			s := newScene(t)
			gm, ada := s.as("gm"), s.as("ada")
			gm.must(func(p *canon.Plan) error {
				_, err := p.Create(canon.NewCard{Name: "Inn", Format: canon.FormatMarkdown, Content: whole, AsWritten: true,
					HideFields: []string{"gm notes"},
					Fields:     json.RawMessage(`{"beds": 3, "gm notes": "she spies"}`),
					Hide:       []secrecy.Range{{Span: markup.Span{From: secret, To: secret + len("The cook is a spy.\n\n")}}}})
				return err
			})
			done := s.changeInStep(func(p *canon.Plan) error { return change(p, mustFind(p, "Inn")) })
			if err := undo(s, done); err != nil {
				t.Errorf("%s, %s: %v", way, name, err)
				continue
			}
			if _, text, _ := gm.card("Inn"); text != whole {
				t.Errorf("%s, %s: the game master reads %q, want %q", way, name, text, whole)
			}
			if _, text, _ := ada.card("Inn"); text != "An inn.\n\nIt is cheap.\n" {
				t.Errorf("%s, %s: a player reads %q", way, name, text)
			}
			if got, want := gm.fieldsOf("Inn"), `{"beds":3,"gm notes":"she spies"}`; got != want {
				t.Errorf("%s, %s: the game master reads the fields %s, want %s", way, name, got, want)
			}
			if got, want := ada.fieldsOf("Inn"), `{"beds":3}`; got != want {
				t.Errorf("%s, %s: a player reads the fields %s, want %s", way, name, got, want)
			}
			s.wantRebuilt()
		}
	}
}

// TestUndoOfAPartKeepsWhatOthersWrote undoes a change of a hidden part, after a player has changed the open text.
func TestUndoOfAPartKeepsWhatOthersWrote(t *testing.T) {
	s := newScene(t)
	gm, ada := s.as("gm"), s.as("ada")
	gm.writeMarkdown("Inn", "An inn.\n\n%%The cook spies.%%\n\nIt is cheap.\n")
	done := gm.writeMarkdown("Inn", "An inn.\n\n%%The cook no longer spies.%%\n\nIt is cheap.\n")
	ada.writeMarkdown("Inn", "An inn.\n\nIt is cheap and loud.\n")
	gm.must(func(p *canon.Plan) error { return p.Undo(done.Change) })
	gm.wantContent("Inn", "An inn.\n\n%%The cook spies.%%\n\nIt is cheap and loud.\n")
	ada.wantContent("Inn", "An inn.\n\nIt is cheap and loud.\n")
	s.wantRebuilt()
}

// TestPartsOfACardWithReaders writes hidden parts with labels of several readers into a card that itself only some
// readers see: those whose label is the same there are kept in one card.
func TestPartsOfACardWithReaders(t *testing.T) {
	s := newScene(t)
	gm := s.as("gm")
	label := access.NewLabel(access.LevelGM, "ada", "bob")
	gm.must(func(p *canon.Plan) error {
		_, err := p.Create(canon.NewCard{Name: "Letter", Format: canon.FormatMarkdown, Label: &label,
			Content: "Dear both.\n\n%%ONE%%\n\n%%TWO%%\n\n%%THREE%%\n\n%%FOUR%%\n\n%%FIVE%%\n\nYours.\n"})
		return err
	})
	tell := func(p *canon.Plan, c canon.Card, word string, readers ...access.Subject) canon.Card {
		t.Helper()
		parts, err := p.HiddenParts(c)
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(parts, func(x secrecy.Passage) bool { return strings.Contains(x.Text, word) })
		c, err = p.LabelParts(c, []string{parts[i].ID}, access.NewLabel(access.LevelGM, readers...))
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	rows := []struct {
		word    string
		readers []access.Subject
	}{{"ONE", []access.Subject{"ada"}}, {"TWO", []access.Subject{"ada", "cid"}}, {"THREE", []access.Subject{"cid"}},
		{"FOUR", []access.Subject{"ada", "bob"}}}
	for _, row := range rows {
		gm.must(func(p *canon.Plan) error {
			tell(p, mustFind(p, "Letter"), row.word, row.readers...)
			return nil
		})
	}
	reads := func() {
		t.Helper()
		gm.wantContent("Letter", "Dear both.\n\n%%ONE%%\n\n%%TWO%%\n\n%%THREE%%\n\n%%FOUR%%\n\n%%FIVE%%\n\nYours.\n")
		s.as("ada").wantContent("Letter", "Dear both.\n\nONE\n\nTWO\n\nFOUR\n\nYours.\n")
		s.as("bob").wantContent("Letter", "Dear both.\n\nFOUR\n\nYours.\n")
		s.as("cid").wantAbsent("Letter")
		s.wantRebuilt()
	}
	reads()
	gm.labelParts("Letter", access.LevelGM)
	s.as("ada").wantContent("Letter", "Dear both.\n\nYours.\n")
	gm.must(func(p *canon.Plan) error { // all in one change
		c := mustFind(p, "Letter")
		for _, row := range rows {
			c = tell(p, c, row.word, row.readers...)
		}
		return nil
	})
	reads()
}

// TestAPartHiddenFromItsReaders hides a part, or a field, that a reader was told: the reader sees no card that held
// it, and no former version with it.
func TestAPartHiddenFromItsReaders(t *testing.T) {
	for what, keep := range map[string]bool{"hidden": false, "hidden, and its history kept": true} {
		s := newScene(t)
		gm, ada := s.as("gm"), s.as("ada")
		gm.must(func(p *canon.Plan) error {
			_, err := p.Create(canon.NewCard{Name: "Inn", Format: canon.FormatMarkdown, Content: "An inn.\n\n%%ONE%%\n\n%%TWO%%\n",
				Fields: json.RawMessage(`{"secrets": "THREE"}`)})
			return err
		})
		ids := func(p *canon.Plan, c canon.Card, words ...string) (all []string) {
			parts, err := p.HiddenParts(c)
			if err != nil {
				t.Fatal(err)
			}
			for _, x := range parts {
				if slices.ContainsFunc(words, func(w string) bool { return strings.Contains(x.Text, w) }) {
					all = append(all, x.ID)
				}
			}
			return append(all, "field:secrets")
		}
		gm.must(func(p *canon.Plan) error {
			c := mustFind(p, "Inn")
			_, err := p.LabelParts(c, ids(p, c, "ONE", "TWO"), access.NewLabel(access.LevelGM, "ada"))
			return err
		})
		ada.wantContent("Inn", "An inn.\n\nONE\n\nTWO\n")
		holder, _, _ := ada.card("Inn+Told by the GM")
		for _, words := range [][]string{{"ONE"}, {"TWO"}} {
			gm.must(func(p *canon.Plan) error {
				c := mustFind(p, "Inn")
				id := ids(p, c, words...)
				if words[0] == "TWO" {
					id = id[:1]
				}
				_, err := p.HideParts(c, id, keep)
				return err
			})
		}
		ada.wantContent("Inn", "An inn.\n\n")
		if !keep {
			ada.wantAbsent("Inn+Told by the GM")
		}
		gm.wantContent("Inn", "An inn.\n\n%%ONE%%\n\n%%TWO%%\n")
		if got, want := gm.fieldsOf("Inn"), `{"secrets":"THREE"}`; got != want {
			t.Errorf("%s: the game master reads the fields %s", what, got)
		}
		found := map[string]bool{}
		if err := ada.read(func(l *canon.Snapshot) error {
			for _, id := range []canon.CardID{holder.ID, mustSee(t, l, "Inn").ID} {
				for v, err := range l.AllVersions(t.Context(), id) {
					if err != nil {
						return err
					}
					text, err := l.ContentAt(t.Context(), mustSee(t, l, "Inn"), v, v.From)
					if err != nil {
						return err
					}
					body, err := l.Body(t.Context(), v.Content)
					if err != nil {
						return err
					}
					all := text + body + string(v.Fields)
					for _, word := range []string{"ONE", "TWO", "THREE"} {
						found[word] = found[word] || strings.Contains(all, word)
					}
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		for _, word := range []string{"ONE", "TWO", "THREE"} {
			if found[word] != keep {
				t.Errorf("%s: the reader finds %s in a former version: %t", what, word, found[word])
			}
		}
		gm.must(func(p *canon.Plan) error {
			c := mustFind(p, "Inn")
			_, err := p.LabelParts(c, ids(p, c, "ONE"), access.NewLabel(access.LevelGM, "ada"))
			return err
		})
		ada.wantContent("Inn", "An inn.\n\nONE\n\n")
		ada.wantContent("Inn+Told by the GM", "%%ONE%%\n\n")
		s.wantRebuilt()
	}
}

func mustSee(t *testing.T, l *canon.Snapshot, name string) canon.Card {
	t.Helper()
	c, err := l.Find(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestUndoOfTelling undoes that a part and a field were told to a reader.
func TestUndoOfTelling(t *testing.T) {
	for way, undo := range undoWays {
		for name, label := range map[string]access.Label{"told": access.NewLabel(access.LevelGM, "ada"),
			"revealed": access.NewLabel(access.LevelUser)} {
			s := newScene(t)
			gm, ada := s.as("gm"), s.as("ada")
			gm.must(func(p *canon.Plan) error {
				_, err := p.Create(canon.NewCard{Name: "Inn", Format: canon.FormatMarkdown, Content: "An inn.\n\n%%ONE%%\n\nOld.\n",
					Fields: json.RawMessage(`{"secrets": "THREE"}`)})
				return err
			})
			done := s.changeInStep(func(p *canon.Plan) error {
				c := mustFind(p, "Inn")
				parts, err := p.HiddenParts(c)
				if err == nil {
					_, err = p.LabelParts(c, []string{parts[0].ID, "field:secrets"}, label)
				}
				return err
			})
			ada.wantContent("Inn", "An inn.\n\nONE\n\nOld.\n")
			gm.wantContent("Inn", map[string]string{"told": "An inn.\n\n%%ONE%%\n\nOld.\n",
				"revealed": "An inn.\n\nONE\n\nOld.\n"}[name])
			if err := undo(s, done); err != nil {
				t.Errorf("%s, %s: %v", way, name, err)
				continue
			}
			ada.wantContent("Inn", "An inn.\n\nOld.\n")
			gm.wantContent("Inn", "An inn.\n\n%%ONE%%\n\nOld.\n")
			if got := ada.fieldsOf("Inn"); strings.Contains(got, "THREE") {
				t.Errorf("%s, %s: a player reads the fields %s", way, name, got)
			}
			if got := gm.fieldsOf("Inn"); !strings.Contains(got, "THREE") {
				t.Errorf("%s, %s: the game master reads the fields %s", way, name, got)
			}
			s.wantRebuilt()
		}
	}
}
