package vector_test

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/store/sqlite/sqlitetest"
	"loregate/internal/vector"
)

// topics is a model that knows some topics: a text's vector has a component for each word of a topic.
type topics struct {
	texts []string
	fails error
	hangs bool
	left  time.Duration // until the time of the last call was up
}

var topicWords = [][]string{{"lamp", "gleam", "light"}, {"boat", "ship", "sail"}, {"bread", "loaf", "bake"}}

func (m *topics) Embed(ctx context.Context, texts []string) (out [][]float32, err error) {
	if end, ok := ctx.Deadline(); ok {
		m.left = time.Until(end)
	}
	if m.hangs {
		ctx, cancel := context.WithTimeout(ctx, time.Millisecond) // the test does not wait for the keeper's own limit
		defer cancel()
		<-ctx.Done()
		return nil, ctx.Err()
	}
	m.texts = append(m.texts, texts...)
	for _, t := range texts {
		v := []float32{0, 0, 0, 1}
		for i, words := range topicWords {
			for _, w := range words {
				if strings.Contains(strings.ToLower(t), w) {
					v[i] = 3
				}
			}
		}
		out = append(out, v)
	}
	return out, m.fails
}

// scene is a world with vectors.
type scene struct {
	t      *testing.T
	canon  *canon.Canon
	guard  *access.Guard
	keeper *vector.Keeper
	world  access.WorldID
}

var store = map[*testing.T]canon.Store{}

func newScene(t *testing.T, model *topics, folder string) *scene {
	t.Helper()
	if store[t] == nil {
		store[t] = sqlitetest.Open(t)
		t.Cleanup(func() { delete(store, t) })
	}
	keeper, err := vector.New(vector.Config{Embedder: model, Model: "topics", Folder: folder,
		Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	s := &scene{t: t, canon: canon.New(canon.Config{Store: store[t], Nearness: keeper}),
		guard: access.NewGuard(access.Config{}), keeper: keeper}
	all, err := s.canon.Worlds(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(all) > 0 {
		s.world = all[0].ID
		return s
	}
	s.as(access.RoleAdmin, access.Write, func(g access.Grant) error {
		w, err := s.canon.CreateWorld(t.Context(), g, canon.NewWorld{Slug: "main", Title: "Main"})
		s.world = w.ID
		return err
	})
	return s
}

func (s *scene) as(role access.Role, effect access.Effect, f func(access.Grant) error) {
	s.t.Helper()
	ad, err := s.guard.Admit(s.t.Context(), access.Caller{Subject: "ada", EveryRole: role, Unlimited: true,
		Operator: true}, access.Request{Operation: "test", Effect: effect, World: s.world, Operator: s.world == access.WorldID{},
		IdempotencyKey: uuid.NewString()})
	if err == nil {
		err = f(ad.Grant)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *scene) edit(f func(p *canon.Plan) error) {
	s.t.Helper()
	s.as(access.RoleAdmin, access.Write, func(g access.Grant) error {
		_, err := s.canon.Update(s.t.Context(), g, f)
		return err
	})
}

func (s *scene) write(name, text string, level access.Level) {
	s.t.Helper()
	s.edit(func(p *canon.Plan) error {
		l := access.NewLabel(level)
		_, err := p.Create(canon.NewCard{Name: name, Type: "Lore", Content: "<p>" + text + "</p>", Label: &l})
		return err
	})
}

// fill writes cards about nothing, so that others stand out.
func (s *scene) fill() {
	for _, name := range strings.Fields("Ash Birch Cedar Elm Fir Gorse Hazel Ivy Juniper Larch Maple Oak") {
		s.write(name, "A tree on the hill.", access.LevelUser)
	}
}

func (s *scene) update() {
	s.t.Helper()
	if _, err := vector.Update(s.keeper, s.t.Context(), source{s}); err != nil {
		s.t.Fatal(err)
	}
}

func (s *scene) search(role access.Role, query string) (names []string, unready bool) {
	s.t.Helper()
	s.as(role, access.Read, func(g access.Grant) error {
		return s.canon.Read(s.t.Context(), g, func(snap *canon.Snapshot) error {
			r, err := snap.Search(s.t.Context(), canon.SearchQuery{Q: query, Mode: canon.MatchRelevance}, canon.Page{Limit: 20})
			for _, h := range r.Hits {
				names = append(names, h.Card.Name)
			}
			unready = r.Unready
			return err
		})
	})
	return names, unready
}

// source implements vector.Source.
type source struct{ *scene }

func (s source) Changed() <-chan struct{} { return s.canon.Changed() }
func (s source) Worlds(context.Context) ([]access.WorldID, error) {
	return []access.WorldID{s.world}, nil
}
func (s source) Read(ctx context.Context, _ access.WorldID, f func(*canon.Snapshot) error) error {
	s.as(access.RoleAdmin, access.Read, func(g access.Grant) error { return s.canon.Read(ctx, g, f) })
	return nil
}

func TestSearchFindsByMeaning(t *testing.T) {
	model := &topics{}
	s := newScene(t, model, t.TempDir())
	s.fill()
	s.write("Wick", "A lamp on the marsh.", access.LevelUser)
	if got, unready := s.search(access.RoleUser, "a gleam"); len(got) > 0 || !unready {
		t.Errorf("before there are vectors: %v, unready: %t", got, unready)
	}
	s.update()
	if got, unready := s.search(access.RoleUser, "a gleam"); !reflect.DeepEqual(got, []string{"Wick"}) || unready {
		t.Errorf("with vectors: %v, unready: %t", got, unready)
	}
	s.edit(func(p *canon.Plan) error {
		c, _, err := p.Has("Wick")
		if err == nil {
			_, err = p.Update(c, canon.Edit{Content: new("<p>A boat on the marsh.</p>")})
		}
		return err
	})
	asked := len(model.texts)
	s.update()
	if n := len(model.texts) - asked; n != 1 {
		t.Errorf("%d texts were embedded after one edit", n)
	}
	if got, _ := s.search(access.RoleUser, "ship"); !reflect.DeepEqual(got, []string{"Wick"}) {
		t.Errorf("after an edit: %v", got)
	}
}

// A reader's answer is the same with and without vectors of cards that the reader does not see, and while they are
// made.
func TestHiddenCardsChangeNoNearness(t *testing.T) {
	s := newScene(t, &topics{}, "")
	s.fill()
	s.write("Wick", "A lamp on the marsh.", access.LevelUser)
	s.update()
	near := func(level access.Level) canon.NearResult {
		r := s.keeper.Near(t.Context(), s.world, level, "a gleam")
		r.At = 0
		return r
	}
	before := near(access.LevelUser)
	s.write("Vault", "The lamp of the hidden king, and a light.", access.LevelGM)
	s.update()
	if after := near(access.LevelUser); !reflect.DeepEqual(before, after) || len(after.Cards) != 1 {
		t.Errorf("before %+v, after %+v", before, after)
	}
	if gm := near(access.LevelGM); len(gm.Cards) != 2 {
		t.Errorf("a game master: %+v", gm)
	}
	if got, _ := s.search(access.RoleUser, "gleam"); !reflect.DeepEqual(got, []string{"Wick"}) {
		t.Errorf("a player finds %v", got)
	}
}

// Vectors are found again by the next process, and those that no card needs are dropped. A broken file is made anew.
func TestVectorsAreKeptInFiles(t *testing.T) {
	folder := t.TempDir()
	s := newScene(t, &topics{}, folder)
	s.fill()
	s.write("Wick", "A lamp on the marsh.", access.LevelUser)
	s.update()
	file := ""
	if err := filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if !e.IsDir() {
			file = path
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	again := func(asked int) {
		t.Helper()
		model := &topics{}
		next := newScene(t, model, folder)
		next.update()
		if len(model.texts) != asked {
			t.Errorf("%d texts were embedded again, want %d", len(model.texts), asked)
		}
		if got, _ := next.search(access.RoleUser, "a gleam"); !reflect.DeepEqual(got, []string{"Wick"}) {
			t.Errorf("found %v", got)
		}
		if b, err := os.ReadFile(file); err != nil || len(b) != len(whole) {
			t.Errorf("the file has %d bytes, want %d: %v", len(b), len(whole), err)
		}
	}
	again(0)
	for _, broken := range [][]byte{whole[:len(whole)-1], nil, []byte("loregate vectors 9\n"),
		slices.Concat(whole[:len(whole)-6], []byte("x"), whole[len(whole)-5:])} {
		if err := os.WriteFile(file, broken, 0o600); err != nil {
			t.Fatal(err)
		}
		want := 13
		if len(broken) > 100 {
			want = 1
		}
		again(want)
	}
	s.edit(func(p *canon.Plan) error {
		c, _, err := p.Has("Oak")
		if err == nil {
			err = p.Trash(c)
		}
		return err
	})
	s.update()
	if b, _ := os.ReadFile(file); len(b) >= len(whole) {
		t.Errorf("the file has %d bytes after a card is gone, as %d before", len(b), len(whole))
	}
}

// A model that fails or hangs is asked three times, and searches answer by words.
func TestSearchWithoutItsModel(t *testing.T) {
	newScene(t, &topics{}, "").fill()
	for name, model := range map[string]*topics{"fails": {fails: errors.New("down")}, "hangs": {hangs: true}} {
		s := newScene(t, model, "")
		for _, query := range []string{"oak", "oak tree", "tree", "the oak"} {
			model.left = 0
			if got, unready := s.search(access.RoleUser, query); len(got) == 0 || !unready {
				t.Errorf("%s: %q finds %v, unready: %t", name, query, got, unready)
			}
			if model.left > 2*time.Second {
				t.Errorf("%s: the model has %s for a query", name, model.left)
			}
		}
		if name == "fails" && len(model.texts) != 3 || model.left != 0 {
			t.Errorf("%s: the model was asked %d times, lastly with %s left", name, len(model.texts), model.left)
		}
	}
}
