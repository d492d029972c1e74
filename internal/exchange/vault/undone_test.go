package vault

import (
	"path"
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/exchange"
	"loregate/internal/exchange/exchangetest"
	"loregate/internal/exchange/native"
)

// step imports files as one step of the world, which can be undone.
func (s *scene) step(call string, files map[string]string, o Options) (sum exchange.Summary) {
	s.T.Helper()
	g := s.calling(call, "import")
	step := canon.Step{Kind: canon.KindImport, Source: "v"}
	err := s.Canon.MakeStep(s.T.Context(), g, step, o.Level, func() (err error) {
		sum, err = Import(s.T.Context(), s.Canon, g, exchangetest.Files(files), o)
		return err
	})
	if err != nil {
		s.T.Fatal(err)
	}
	return sum
}

// undo undoes the latest import that was not undone.
func (s *scene) undo(call string) {
	s.T.Helper()
	var last canon.Step
	err := s.Canon.Read(s.T.Context(), s.As("admin"), func(l *canon.Snapshot) error {
		all, err := l.Steps(s.T.Context())
		for _, step := range all {
			if step.Kind == canon.KindImport && step.UndoneBy == [16]byte{} && step.First > last.First {
				last = step
			}
		}
		return err
	})
	if err == nil {
		_, err = s.Canon.UndoStep(s.T.Context(), s.calling(call, canon.OpUndoImport), last.ID,
			canon.StepUndo{Last: native.IsSourceCard})
	}
	if err != nil {
		s.T.Fatal(err)
	}
}

func (s *scene) calling(call, operation string) access.Grant {
	s.T.Helper()
	a, err := s.Guard.Admit(s.T.Context(), access.Caller{Subject: "admin", EveryRole: access.RoleAdmin},
		access.Request{Operation: operation, Correlation: call, Effect: access.Destroy, World: s.World})
	if err != nil {
		s.T.Fatal(err)
	}
	return a.Grant
}

// TestAnUndoneImportKeepsEdits undoes an import except for a card that was edited since. Imported again, that card
// stays, and one that got its former text back comes in.
func TestAnUndoneImportKeepsEdits(t *testing.T) {
	o := Options{Options: exchange.Options{Label: "v"}}
	for name, next := range map[string]string{"as before": "It turns.\n", "changed": "It stands.\n"} {
		s := newScene(t)
		s.Create(canon.NewCard{Name: "Mill", Format: canon.FormatMarkdown, Content: "Old."})
		notes := map[string]string{"Mill.md": "It turns.\n", "Inn.md": "An inn.\n"}
		s.step("1", notes, o)
		text := "My inn."
		s.Edit("Inn", func(p *canon.Plan, c canon.Card) error {
			_, err := p.Update(c, canon.Edit{Content: &text})
			return err
		})
		s.undo("2")
		s.WantSees(map[string]string{"user Mill": "RichText user Old.", "user Inn": "RichText user My inn."})
		notes["Mill.md"] = next
		sum := s.step("3", notes, o)
		s.WantSees(map[string]string{"user Mill": "RichText user " + next, "user Inn": "RichText user My inn."})
		if strings.Contains(sum.String(), "changed here") {
			t.Errorf("%s: %s", name, sum)
		}
	}
}

// TestAnUndoneImportComesInAgain undoes the last import and imports the vault again: its notes come in as they are, and
// none counts as changed here.
func TestAnUndoneImportComesInAgain(t *testing.T) {
	o := Options{Options: exchange.Options{Label: "v"}}
	first := map[string]string{"Inn.md": "An inn.\n", "Quay.md": "A quay. %%deep%%\n", "Mill.md": "It turns.\n",
		"Weir.md": "---\nbuilt: 1204\n---\nA weir.\n", "GM/Plot.md": "The duke.\n"}
	next := map[string]string{"Inn.md": "An inn.\n\n> [!secret]\n> The keeper lies.\n", "Quay.md": "A quay.\n",
		"Mill.md": "It turns.\n", "Weir.md": "---\nbuilt: 1205\ngm notes: it falls\n---\nA weir.\n",
		"GM/Plot.md": "The duke! %%Or not.%%\n"}
	for name, before := range map[string]func(*scene){
		"the only import": func(s *scene) { s.step("1", next, o) },
		"a card was there": func(s *scene) {
			s.Create(canon.NewCard{Name: "Mill", Content: "Old."})
			s.step("1", next, o)
		},
		"the second": func(s *scene) { s.step("1", first, o); s.step("2", next, o) },
	} {
		t.Run(name, func(t *testing.T) {
			s, fresh := newScene(t), newScene(t)
			before(s)
			s.undo("undo")
			sum := s.step("again", next, o)
			fresh.step("1", next, o)
			for name := range next {
				name = strings.TrimSuffix(path.Base(name), ".md")
				for _, who := range []string{"user ", "gm "} {
					s.WantSees(map[string]string{who + name: fresh.See(strings.TrimSpace(who), name)})
				}
			}
			if later := s.step("later", next, o); strings.Contains(sum.String()+later.String(), "changed here") ||
				later.Updated+later.Created > 0 {
				t.Error(sum, later)
			}
		})
	}
}
