package vault

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/exchange"
	"loregate/internal/exchange/exchangetest"
	"loregate/internal/exchange/native"
	"loregate/internal/fault"
)

func (s *scene) export(who, dir string) exchange.Summary {
	s.T.Helper()
	sum, err := native.Export(s.T.Context(), s.Canon, s.As(who), dir, nil)
	if err != nil {
		s.T.Fatal(err)
	}
	return sum
}

func wantSame(t testing.TB, got, want []string) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%d lines, want %d", len(got), len(want))
	}
	for _, line := range want {
		if _, ok := slices.BinarySearch(got, line); !ok {
			t.Errorf("lost:  %.600s", line)
		}
	}
	for _, line := range got {
		if _, ok := slices.BinarySearch(want, line); !ok {
			t.Errorf("added: %.600s", line)
		}
	}
}

// wantRoundTrip exports a world as admin and imports it into a fresh one. It checks that nothing
// was lost or added, and that a second export gives the same bytes.
func wantRoundTrip(t *testing.T, s *scene) {
	t.Helper()
	dir := t.TempDir()
	sum := s.export("admin", dir)
	for _, p := range sum.Problems {
		t.Errorf("export: %s", p)
	}
	bytes := exchangetest.FolderText(t, dir)
	s.export("admin", dir)
	if again := exchangetest.FolderText(t, dir); again != bytes {
		t.Errorf("a second export differs")
	}
	fresh := newScene(t)
	for _, p := range fresh.importDir("admin", dir, Options{}).Problems {
		t.Errorf("import: %s", p)
	}
	wantSame(t, fresh.Listing("admin"), s.Listing("admin"))
	if again := fresh.importDir("admin", dir, Options{}); again.Created+again.Updated+again.Links > 0 {
		t.Errorf("importing again: %s", exchangetest.FirstLine(again))
	}
	other := t.TempDir()
	fresh.export("admin", other)
	wantSame(t, sortedLines(exchangetest.FolderText(t, other)), sortedLines(bytes))
}

func sortedLines(s string) []string {
	lines := strings.Split(s, "\n")
	slices.Sort(lines)
	return lines
}

func TestTheSampleWorldSurvivesARoundTrip(t *testing.T) {
	s := newScene(t)
	s.importSample()
	wantRoundTrip(t, s)
}

// seeds is the number of random worlds to test.
const seeds = uint64(20)

func TestRandomWorldsSurviveARoundTrip(t *testing.T) {
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			s := newScene(t)
			r := rand.New(rand.NewPCG(seed, 2))
			for range 80 {
				_, err := s.Canon.Update(t.Context(), s.As("admin"), func(p *canon.Plan) error { return randomStep(r, p) })
				if err != nil && fault.KindOf(err) == fault.Internal {
					t.Fatal(err)
				}
			}
			wantRoundTrip(t, s)
		})
	}
}

// randomTexts are contents that are hard to preserve.
var randomTexts = []string{
	"", "<p>plain</p>", "<p>100%% sure %% of it</p>", "a\r\nb", "---\nname: x\n---\n", "\n\nx\n\n",
	"<p>a &amp; b <em>c</em></p>",
	"> [!secret] no\n> secret", "# Title\n\n*a*", "<script>x</script>", "[[Ash|the ash]] {{Birch}} \\[[x",
	"  indented\n\ttab\n", "{\"a\": 1}",
	"<table><tr><td>1</td></tr></table>", "é ☃ 😀 \u202e", "`code %%x%%`", "<!-- c -->", "<ul><li>a<li>b</ul>",
	"[[a]]\n[[b]]", "[[a]]\n[[#b]]",
}

var randomFields = []string{`{}`, `{"a":1}`, `{"aliases":["x","y"],"n":1.50}`, `{"aliases":"x"}`,
	`{"aliases":["a, b"]}`, `{"big":1e400,"deep":{"a":[null,true,{"b":"no"}]}}`,
	`{"s":"yes","t":"0x10","u":"\u0000\n x ","~":"<<"}`, `{"<<":"x"}`,
	`{"+child":"x","loregate":2,"name":"n","d":"2026-01-02"}`, `{"tags":["a"],"exits":{"up":"Ash"}}`}

func randomName(r *rand.Rand) string {
	parts := []string{"Ash", "Birch", "c.d", "GM", "CON", "tags", "tags", "a: b?", "é", "É!", ".x", "x.md",
		strings.Repeat("long ", 20)}
	name := parts[r.IntN(len(parts))]
	for range r.IntN(3) {
		name += "+" + parts[r.IntN(len(parts))]
	}
	return name
}

func pick[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

func randomStep(r *rand.Rand, p *canon.Plan) error {
	if r.IntN(2) == 0 {
		label := access.NewLabel(access.Level(1+r.IntN(3)), pick(r, [][]access.Subject{nil, {"alice"}, {"alice", "bob"}})...)
		n := canon.NewCard{Name: randomName(r), Label: &label, Orphan: r.IntN(4) == 0, Content: pick(r, randomTexts),
			Type:   pick(r, []string{"RichText", "Markdown", "PlainText", "Pointer", "Pointer", "JSON", "Character", "Phrase"}),
			Fields: []byte(pick(r, randomFields))}
		if r.IntN(5) == 0 {
			n.Codename = fmt.Sprint("code-", r.IntN(5))
		}
		if r.IntN(8) == 0 {
			n.Type, n.Content, n.File = "Image", "", []byte{0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n', byte(r.IntN(256))}
		}
		if r.IntN(3) == 0 {
			n = canon.NewCard{Name: randomName(r) + "+tags", Type: "Pointer", Content: "[[a]]\n[[b c]]"}
		}
		_, err := p.Create(n)
		return err
	}
	c, err := p.Card(randomName(r))
	if err != nil {
		return err
	}
	switch r.IntN(6) {
	case 0:
		_, err = p.Rename(c, randomName(r))
	case 1:
		_, err = p.SetLabel(c, access.NewLabel(access.Level(1+r.IntN(3))))
	case 2:
		err = p.Trash(c)
	case 3:
		_, err = p.Layer(canon.Layer{Card: c.ID, Kind: pick(r, []string{"ambient", "weather"}), Text: pick(r, randomTexts),
			FromTick: int64(r.IntN(3)), ToTick: int64(r.IntN(2) * 10), Label: access.NewLabel(access.Level(1 + r.IntN(3)))})
	default:
		other, found, errHas := p.Has(randomName(r))
		if err = errHas; err == nil && found {
			_, err = p.Link(canon.Link{Kind: pick(r, []string{"exit", "within", "holds"}), From: c.ID, To: other.ID,
				Attrs: []byte(pick(r, []string{`{}`, `{"direction":"up"}`, `{"n":2.0,"t":"yes"}`})),
				Label: access.NewLabel(access.Level(1 + r.IntN(3)))})
		}
	}
	return err
}

func TestExportKeepsLevelsOfNameRules(t *testing.T) {
	s := newScene(t)
	s.Create(canon.NewCard{Name: "Town+GM+Plot", Content: "plot"})
	dir := t.TempDir()
	s.export("admin", dir)
	fresh := newScene(t)
	_, err := fresh.Canon.Update(t.Context(), fresh.As("admin"), func(p *canon.Plan) error {
		return p.Configure("open", canon.Settings{GMParts: []string{"other"}})
	})
	if err != nil {
		t.Fatal(err)
	}
	fresh.importDir("admin", dir, Options{})
	fresh.WantSees(map[string]string{"user Town+GM+Plot": "-", "gm Town+GM+Plot": "RichText gm plot", "user Town+GM": "-"})
}

func TestSymlinksAreNotFollowed(t *testing.T) {
	dir, out := t.TempDir(), t.TempDir()
	for _, err := range []error{
		os.WriteFile(filepath.Join(out, "secret.md"), []byte("outside"), 0o600),
		os.WriteFile(filepath.Join(out, "secret.png"), []byte("outside"), 0o600),
		os.WriteFile(filepath.Join(dir, "A.md"), []byte("![[s.png]] a"), 0o600),
		os.WriteFile(filepath.Join(dir, "N.md"), []byte("---\nloregate: 1\nname: N\ntype: File\nfile: s.png\n---\n"), 0o600),
		os.WriteFile(filepath.Join(dir, "M.md"),
			[]byte("---\nloregate: 1\nname: M\ntype: File\nfile: ../x/secret.png\n---\n"), 0o600),
		os.Symlink(filepath.Join(out, "secret.md"), filepath.Join(dir, "B.md")),
		os.Symlink(filepath.Join(out, "secret.png"), filepath.Join(dir, "s.png")),
		os.Symlink(out, filepath.Join(dir, "folder")),
	} {
		if err != nil {
			t.Skip(err)
		}
	}
	s := newScene(t)
	sum := s.importDir("admin", dir, Options{})
	for _, line := range s.Listing("admin") {
		if strings.Contains(line, "outside") {
			t.Errorf("came in: %s", line)
		}
	}
	if sum.Created != 1 {
		t.Errorf("%s", sum)
	}
}

// TestSharedCardsComeBackHidden exports a card that is shared with one person. Who imports the
// export elsewhere must not show it to everybody.
func TestSharedCardsComeBackHidden(t *testing.T) {
	s := newScene(t)
	alice := access.NewLabel(access.LevelGM, "alice")
	s.Create(canon.NewCard{Name: "Letter", Content: "for Alice", Label: &alice})
	dir := t.TempDir()
	s.export("alice", dir)
	fresh := newScene(t)
	fresh.importDir("admin", dir, Options{})
	fresh.WantSees(map[string]string{"user Letter": "-", "gm Letter": "RichText gm for Alice"})
}

// A folder's card that a game master has given hidden parts, a relation or a layer is written.
func TestAFoldersCardIsWrittenWithItsParts(t *testing.T) {
	for name, change := range map[string]func(p *canon.Plan, folder, note canon.Card) error{
		"a part": func(p *canon.Plan, folder, _ canon.Card) error {
			text := `<span class="secret">STORED</span>`
			_, err := p.Update(folder, canon.Edit{Content: &text})
			return err
		},
		"a field": func(p *canon.Plan, folder, _ canon.Card) error {
			_, err := p.Update(folder, canon.Edit{Fields: []byte(`{"gm notes": "STORED"}`)})
			return err
		},
		"a relation": func(p *canon.Plan, folder, note canon.Card) error {
			_, err := p.Link(canon.Link{ID: canon.LinkIDOf("t"), Kind: "ally", From: folder.ID, To: note.ID,
				Attrs: []byte(`{"note": "STORED"}`), Label: access.NewLabel(access.LevelUser)})
			return err
		},
		"a layer": func(p *canon.Plan, folder, _ canon.Card) error {
			_, err := p.Layer(canon.Layer{Card: folder.ID, Kind: "ambient", Text: "STORED",
				Label: access.NewLabel(access.LevelUser)})
			return err
		},
	} {
		s := newScene(t)
		s.importAs("gm", map[string]string{"Town/Old Mill.md": "It turns.\n"}, Options{Folders: FolderNames})
		dir := t.TempDir()
		s.export("admin", dir)
		if text := exchangetest.FolderText(t, dir); strings.Contains(text, "Town.md") {
			t.Errorf("%s: the card of a folder is written:\n%s", name, text)
		}
		_, err := s.Canon.Update(t.Context(), s.As("admin"), func(p *canon.Plan) error {
			folder, err := p.Card("Town")
			if err != nil {
				return err
			}
			note, err := p.Card("Town+Old Mill")
			if err != nil {
				return err
			}
			return change(p, folder, note)
		})
		if err != nil {
			t.Fatal(err)
		}
		s.export("admin", dir)
		if text := exchangetest.FolderText(t, dir); !strings.Contains(text, "STORED") {
			t.Errorf("%s is lost:\n%s", name, text)
		}
	}
}
