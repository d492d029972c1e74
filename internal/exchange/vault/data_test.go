package vault

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/exchange"
	"loregate/internal/exchange/exchangetest"
	"loregate/internal/markup"
	"loregate/internal/sample"
)

func (s *scene) importDir(who, dir string, o Options) exchange.Summary {
	s.T.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		s.T.Fatal(err)
	}
	defer root.Close()
	if o.Label == "" {
		o.Label = filepath.Base(dir)
	}
	sum, err := Import(s.T.Context(), s.Canon, s.As(who), root.FS(), o)
	if err != nil {
		s.T.Fatal(err)
	}
	return sum
}

func (s *scene) importSample() exchange.Summary {
	s.T.Helper()
	sum, err := Import(s.T.Context(), s.Canon, s.As("admin"), sample.Files(),
		Options{Options: exchange.Options{Label: "sample"}, Native: true})
	if err != nil {
		s.T.Fatal(err)
	}
	return sum
}

func TestRealVaults(t *testing.T) {
	for _, tc := range []struct {
		vault           string
		level           access.Level
		notes, problems int               // problems is an upper bound
		reads           map[string]string // text that a card must contain, by card name
		search, finds   string
	}{
		{"obsi-forge-apedia", access.LevelUser, 403, 8,
			map[string]string{"SF_CH2_Background Vow": "vow", "AST_Diplomat": ""}, "background vow", "SF_CH2_Background Vow"},
		{"cairn-srd", access.LevelUser, 262, 23,
			map[string]string{"tools": "", "localization-guide": ""}, "goblin", "goblin"},
		{"thellade-slice", access.LevelGM, 80, 1, nil, "", ""},
	} {
		t.Run(tc.vault, func(t *testing.T) {
			dir := exchangetest.RealData(t, tc.vault)
			s := newStoredScene(t)
			first := s.importDir("admin", dir, Options{Options: exchange.Options{Level: tc.level}})
			t.Log(first)
			again := s.importDir("admin", dir, Options{Options: exchange.Options{Level: tc.level}})
			if again.Created != 0 || again.Updated != 0 || again.Unchanged != first.Created {
				t.Errorf("importing again: %s", exchangetest.FirstLine(again))
			}
			if first.Files != tc.notes || first.Created < tc.notes || len(first.Problems) > tc.problems {
				t.Errorf("%s, %d problems", exchangetest.FirstLine(first), len(first.Problems))
			}
			for name, holds := range tc.reads {
				if _, text, ok := s.Content("gm", name); !ok || !strings.Contains(strings.ToLower(text), holds) {
					t.Errorf("%q reads %.200q", name, text)
				}
			}
			if tc.search != "" {
				s.wantFound("gm", tc.search, tc.finds)
			}
			if tc.level == access.LevelGM {
				if got := s.Listing("user"); len(got) > 0 {
					t.Errorf("a user sees %d things", len(got))
				}
			}
		})
	}
}

// wantFound checks that a card is among the first ten results of a search.
func (s *scene) wantFound(who, q, name string) {
	s.T.Helper()
	err := s.Canon.Read(s.T.Context(), s.As(who), func(l *canon.Snapshot) error {
		r, err := l.Search(s.T.Context(), canon.SearchQuery{Q: q, Mode: canon.MatchWord}, canon.Page{Limit: 10})
		for _, h := range r.Hits {
			if strings.EqualFold(h.Card.Name, name) {
				return err
			}
		}
		s.T.Errorf("%q finds %d cards, and not %q", q, len(r.Hits), name)
		return err
	})
	if err != nil {
		s.T.Fatal(err)
	}
}

func TestTheSampleWorldLoads(t *testing.T) {
	s := newStoredScene(t)
	sum := s.importSample()
	for _, p := range sum.Problems {
		t.Error(p)
	}
	t.Log(exchangetest.FirstLine(sum))
	again := s.importSample()
	if again.Created != 0 || again.Updated != 0 || again.Links != 0 {
		t.Errorf("importing again: %s", again)
	}
}

// sentences returns the parts of a text that are long enough to identify it.
func sentences(text string) []string {
	var out []string
	for _, line := range strings.FieldsFunc(markup.Text(text),
		func(r rune) bool { return strings.ContainsRune(".!?:;\n", r) }) {
		if line = strings.TrimSpace(line); len(line) > 25 {
			out = append(out, line)
		}
	}
	return out
}

func TestTheSampleWorldKeepsItsSecrets(t *testing.T) {
	s := newScene(t)
	s.importSample()
	var open strings.Builder
	for _, line := range s.Listing("user") {
		open.WriteString(line + "\n")
	}
	seen := map[canon.CardID]bool{}
	ctx := t.Context()
	checked := 0
	for _, who := range []string{"user", "admin"} {
		err := s.Canon.Read(ctx, s.As(who), func(l *canon.Snapshot) error {
			for c, err := range l.AllCards(ctx, canon.Filter{}) {
				if err != nil {
					return err
				}
				if who == "user" {
					seen[c.ID] = true
				}
				if seen[c.ID] {
					continue
				}
				text, err := l.Content(ctx, c)
				if err != nil {
					t.Fatal(err)
				}
				for _, sentence := range sentences(text) {
					if sentence == "came back with a lease and the lamp" {
						continue // the GM's card quotes the public one
					}
					checked++
					if strings.Contains(open.String(), sentence) {
						t.Errorf("of %q a user reads %q", c.Name, sentence)
					}
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if checked < 100 {
		t.Errorf("only %d sentences were checked", checked)
	}
}

// TestTheSampleWorldCanBeWalked follows the exits that a user sees from one place. They must lead
// to every place of the town that the user sees; only the GM reaches hidden places.
func TestTheSampleWorldCanBeWalked(t *testing.T) {
	s := newScene(t)
	s.importSample()
	user, gm := s.Walk("user", "Rent Quay"), s.Walk("gm", "Rent Quay")
	if user["The Bell Field"] || !gm["The Bell Field"] {
		t.Errorf("The Bell Field: user reaches it %t, gm %t", user["The Bell Field"], gm["The Bell Field"])
	}
	for _, c := range s.placesSeen("user") {
		if !user[c] {
			t.Errorf("no way leads a user to %q", c)
		}
	}
	for _, c := range s.placesSeen("gm") {
		if !gm[c] {
			t.Errorf("no way leads the gm to %q", c)
		}
	}
}

func (s *scene) placesSeen(who string) (names []string) {
	s.T.Helper()
	err := s.Canon.Read(s.T.Context(), s.As(who), func(l *canon.Snapshot) error {
		cards, _, err := l.Cards(s.T.Context(), canon.Filter{Type: "Location"}, canon.Page{Limit: 1000})
		for _, c := range cards {
			names = append(names, c.Name)
		}
		return err
	})
	if err != nil {
		s.T.Fatal(err)
	}
	return names
}
