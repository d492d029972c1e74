package bundle

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/exchange"
	"loregate/internal/exchange/exchangetest"
	"loregate/internal/exchange/unpack"
	"loregate/internal/fault"
	"loregate/internal/store/memory"
	"loregate/internal/store/postgres"
	"loregate/internal/store/postgres/pgtest"
	"loregate/internal/store/sqlite/sqlitetest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// secrets are texts that players must not find in a bundle.
var secrets = []string{"Cult", "bell", "Ann Secret", "hidden way", "old plan", "sekrit", "ann", "Trashed"}

// fillWorld writes a world with everything that a stream can hold.
func fillWorld(t *testing.T, s *exchangetest.Scene) {
	t.Helper()
	gm := access.NewLabel(access.LevelGM)
	s.Create(canon.NewCard{Name: "Weir", Content: "Deep. See [[Mira]].", Type: "Location", Codename: "weir"})
	s.Create(canon.NewCard{Name: "Weir+GM", Content: "The bell."})
	s.Create(canon.NewCard{Name: "Mira", Content: "old plan", Label: &gm})
	s.Create(canon.NewCard{Name: "Cult", Content: "Rings.", Label: &gm})
	ann := access.NewLabel(access.LevelGM, "ann")
	s.Create(canon.NewCard{Name: "Ann Secret", Content: "For ann.", Label: &ann})
	s.Create(canon.NewCard{Name: "Chart", Type: canon.TypeImage, File: []byte("drawn in words")})
	s.Create(canon.NewCard{Name: "Trashed", Content: "Gone."})
	s.Create(canon.NewCard{Name: "Lost", Content: "sekrit"})
	s.Edit("Trashed", func(p *canon.Plan, c canon.Card) error { return p.Trash(c) })
	s.Edit("Mira", func(p *canon.Plan, c canon.Card) error {
		text, f := "Rows.\n\n- *one*", canon.FormatMarkdown
		c, err := p.Update(c, canon.Edit{Content: &text, Format: &f})
		if err == nil {
			_, err = p.SetLabel(c, access.NewLabel(access.LevelUser))
		}
		return err
	})
	s.Edit("Lost", func(p *canon.Plan, c canon.Card) error {
		text := "found"
		_, err := p.Update(c, canon.Edit{Content: &text})
		return err
	})
	s.Edit("Weir", func(p *canon.Plan, weir canon.Card) error {
		mira, err := p.Card("Mira")
		if err != nil {
			return err
		}
		for kind, l := range map[string]access.Label{"hidden way": gm, "exit": access.NewLabel(access.LevelUser)} {
			if _, err := p.Link(canon.Link{Kind: kind, From: weir.ID, To: mira.ID, Label: l,
				Attrs: json.RawMessage(`{"direction":"up"}`)}); err != nil {
				return err
			}
			if _, err := p.Layer(canon.Layer{Card: weir.ID, Kind: "base", Text: kind, Label: l}); err != nil {
				return err
			}
		}
		for _, text := range []string{"sekrit words", "kept words"} {
			h, err := p.StoreText(text, gm)
			if err == nil && text == "sekrit words" {
				err = p.EraseText(canon.TextRef{Content: h, Label: gm})
			}
			if err != nil {
				return err
			}
		}
		return p.SetMember(canon.MemberImage{Subject: "ann", Role: access.RoleGM})
	})
	purge(t, s, "Lost", "sekrit")
}

// purge erases a version of a card.
func purge(t *testing.T, s *exchangetest.Scene, name, text string) {
	t.Helper()
	_, err := s.Canon.Update(t.Context(), s.As("operator"), func(p *canon.Plan) error {
		c, err := p.Card(name)
		if err != nil {
			return err
		}
		list, _, err := p.Versions(t.Context(), c.ID, canon.Page{Limit: 10})
		for _, v := range list {
			if b, err := p.Body(t.Context(), v.Content); err != nil || b != text {
				continue
			}
			if err := p.Purge(c, v); err != nil {
				return err
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// export writes a bundle of a scene's world as a role sees it, and returns its path.
func export(t *testing.T, s *exchangetest.Scene, role string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "world.lore")
	if _, err := Export(t.Context(), s.Canon, s.As(role), name, ExportOptions{}); err != nil {
		t.Fatal(err)
	}
	return name
}

// importFile imports a bundle into the store of a scene.
func importFile(t *testing.T, s *exchangetest.Scene, name string) (sum exchange.Summary, err error) {
	t.Helper()
	src, err := unpack.Open(t.Context(), name, unpack.Limits{})
	if err != nil {
		return sum, err
	}
	defer src.Close()
	return Import(t.Context(), s.Canon, s.As("operator"), src.Files, ImportOptions{})
}

func readFile(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// enter makes the world of a bundle the scene's.
func enter(t *testing.T, s *exchangetest.Scene, name string) {
	t.Helper()
	src, err := unpack.Open(t.Context(), name, unpack.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	m, _, err := readManifest(src.Files)
	if err != nil {
		t.Fatal(err)
	}
	s.World = m.World
}

// digests returns the hashes of all tables of the scene's world.
func digests(t *testing.T, store canon.Store, w access.WorldID) (list []string) {
	t.Helper()
	err := store.Read(t.Context(), func(r canon.Reader) error {
		for _, table := range canon.Tables {
			d, err := canon.Digest(t.Context(), r, w, table)
			if err != nil {
				return err
			}
			list = append(list, fmt.Sprint(table, d.Rows, d.Sum))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// stores opens an empty store of each kind.
var stores = map[string]func(t *testing.T) canon.Store{
	"memory":   func(*testing.T) canon.Store { return memory.New() },
	"sqlite":   func(t *testing.T) canon.Store { return sqlitetest.Open(t) },
	"postgres": func(t *testing.T) canon.Store { return openPostgres(t) },
}

func openPostgres(t *testing.T) canon.Store {
	t.Helper()
	s, err := postgres.Open(t.Context(), postgres.Config{URL: pgtest.Empty(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// emptyScene returns a scene on a store whose only world has another slug than "main".
func emptyScene(t *testing.T, store canon.Store) *exchangetest.Scene {
	t.Helper()
	return exchangetest.NewNamed(t, store, "other")
}

func TestSameHashesInEveryStore(t *testing.T) {
	for from, open := range stores {
		for to, openTarget := range stores {
			t.Run(from+" to "+to, func(t *testing.T) {
				source := open(t)
				s := exchangetest.NewOn(t, source)
				fillWorld(t, s)
				name := export(t, s, "operator")
				target := openTarget(t)
				r := emptyScene(t, target)
				sum, err := importFile(t, r, name)
				if err != nil {
					t.Fatal(err)
				}
				enter(t, r, name)
				if r.World != s.World || !strings.Contains(sum.String(), "Member: ann as gm") {
					t.Errorf("%s: %s", r.World, sum)
				}
				if a, b := digests(t, source, s.World), digests(t, target, s.World); !slices.Equal(a, b) {
					t.Errorf("the tables are\n%v\nand\n%v", a, b)
				}
				if !bytes.Equal(readFile(t, name), readFile(t, export(t, r, "operator"))) {
					t.Error("the second export has other bytes")
				}
				if got := r.Versions("gm", "Mira"); len(got) != 3 || got[2] != "old plan" {
					t.Errorf("the history of Mira is %q", got)
				}
				for _, role := range []string{"user", "gm", "admin", "ann"} {
					if a, b := s.Listing(role), r.Listing(role); !slices.Equal(a, b) {
						t.Errorf("%s sees\n%v\nand\n%v", role, a, b)
					}
				}
			})
		}
	}
}

func TestViewHoldsNothingHidden(t *testing.T) {
	s := exchangetest.NewOn(t, sqlitetest.Open(t))
	fillWorld(t, s)
	before := export(t, s, "user")
	text := entries(t, before)
	for _, secret := range secrets {
		if strings.Contains(text, secret) {
			t.Errorf("%q is in the bundle", secret)
		}
	}
	gm := access.NewLabel(access.LevelGM)
	s.Create(canon.NewCard{Name: "Mira+Debt", Content: "900", Label: &gm})
	s.Edit("Cult", func(p *canon.Plan, c canon.Card) error {
		text := "Rings again."
		if _, err := p.Update(c, canon.Edit{Content: &text}); err != nil {
			return err
		}
		return p.SetMember(canon.MemberImage{Subject: "bob", Role: access.RoleUser})
	})
	if !bytes.Equal(readFile(t, before), readFile(t, export(t, s, "user"))) {
		t.Error("a hidden change changes the bundle")
	}
	for _, role := range []string{"user", "gm"} {
		name := export(t, s, role)
		r := exchangetest.NewOn(t, memory.New()) // holds a world main
		if _, err := importFile(t, r, name); err != nil {
			t.Fatal(err)
		}
		enter(t, r, name)
		want := viewOf(s.Listing(role))
		for _, reader := range []string{role, "admin"} {
			if got := viewOf(r.Listing(reader)); !slices.Equal(got, want) {
				t.Errorf("as %s, %s sees\n%s\nnot\n%s", role, reader, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		}
		if got := r.Versions("admin", "Mira"); len(got) != 1 {
			t.Errorf("the history came along: %q", got)
		}
		if again := export(t, r, "operator"); !strings.Contains(entries(t, again), commitsOf(t, name)) {
			t.Error("the world has other commits than its bundle")
		}
	}
}

// viewOf returns a listing in which the own labels of cards are left out: a view has the effective ones.
func viewOf(listing []string) (out []string) {
	for _, line := range listing {
		if rest, ok := strings.CutPrefix(line, "card "); ok {
			var v []json.RawMessage
			if json.Unmarshal([]byte(rest), &v) == nil {
				v[6] = nil
				line = fmt.Sprintf("card %s", v)
			}
		}
		out = append(out, line)
	}
	return out
}

// entries returns all entries of a bundle as one text.
func entries(t *testing.T, name string) string {
	t.Helper()
	z, err := zip.OpenReader(name)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	var b strings.Builder
	for _, e := range []string{manifestFile, commitsFile, contentsFile} {
		data, err := fs.ReadFile(z, e)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(data)
	}
	return b.String()
}

func commitsOf(t *testing.T, name string) string {
	t.Helper()
	z, err := zip.OpenReader(name)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	data, err := fs.ReadFile(z, commitsFile)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestImportAgainAndUpdate(t *testing.T) {
	s, r := exchangetest.NewOn(t, memory.New()), emptyScene(t, sqlitetest.Open(t))
	fillWorld(t, s)
	first := export(t, s, "operator")
	for i, want := range []string{": 14 of 14 commits added", ": 0 of 14 commits added"} {
		if sum, err := importFile(t, r, first); err != nil || !strings.Contains(sum.String(), want) {
			t.Errorf("import %d: %v %s", i+1, err, sum)
		}
	}
	s.Create(canon.NewCard{Name: "New", Content: "Later."})
	second := export(t, s, "operator")
	if sum, err := importFile(t, r, second); err != nil || !strings.Contains(sum.String(), ": 1 of 15 commits added") {
		t.Errorf("update: %v %s", err, sum)
	}
	if _, err := importFile(t, r, first); fault.KindOf(err) != fault.Conflict {
		t.Errorf("an older bundle: %v", err)
	}
	enter(t, r, first)
	r.WantSees(map[string]string{"user New": "RichText user Later.", "gm Weir+GM": "RichText gm The bell."})
	r.Create(canon.NewCard{Name: "Own"})
	s.Create(canon.NewCard{Name: "Other"})
	s.Create(canon.NewCard{Name: "Another"})
	if _, err := importFile(t, r, export(t, s, "operator")); fault.KindOf(err) != fault.Conflict {
		t.Errorf("another history: %v", err)
	}
	if _, err := importFile(t, exchangetest.NewNamed(t, memory.New(), "main"), first); fault.KindOf(
		err,
	) != fault.Conflict {
		t.Errorf("another world with the slug: %v", err)
	}
}
