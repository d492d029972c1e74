package storetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/markup"
	"loregate/internal/store/memory"
)

// RunModel runs n random steps, half writes and half queries, on a store and on a memory store. It
// compares all results, and all rows at the end. The same seed repeats the same steps.
func RunModel(t *testing.T, open func(t *testing.T) canon.Store, seed uint64, n int) {
	m := &model{t: t, rng: rand.New(rand.NewPCG(seed, 0)), seed: seed, memory: memory.New(), store: open(t)}
	for w := 1; w <= modelWorlds; w++ {
		m.applyChanges("PutWorld", false, m.putWorld(w))
	}
	for m.step = 1; m.step <= n; m.step++ {
		if m.rng.IntN(2) == 0 {
			m.writeRandom()
		} else {
			m.askRandom()
		}
		if m.step%1000 == 0 || m.step == n {
			m.compareAll()
		}
	}
}

const (
	modelWorlds = 2
	modelCards  = 80 // with this many living cards in a world, no more are created
)

type model struct {
	t      *testing.T
	rng    *rand.Rand
	seed   uint64
	step   int
	memory canon.Store // the reference
	store  canon.Store // the store under test
	ids    int         // the last id used
	seq    canon.Seq   // the last commit's number in rows
}

// change is one operation of a write.
type change func(canon.Tx) error

func (m *model) fatalf(format string, args ...any) {
	m.t.Helper()
	m.t.Fatalf("seed %d, step %d: %s", m.seed, m.step, fmt.Sprintf(format, args...))
}

// applyChanges applies changes to both stores in one Write. If a change is refused, goOn decides
// whether the next ones are still applied. Both stores must refuse the same changes.
func (m *model) applyChanges(what string, goOn bool, changes ...change) {
	m.t.Helper()
	run := func(s canon.Store) (refused []string, err error) {
		err = s.Write(m.t.Context(), func(tx canon.Tx) error {
			refused = nil
			for i, c := range changes {
				if err := c(tx); err != nil {
					refused = append(refused, fmt.Sprint(i, errors.Is(err, canon.ErrTaken)))
					if !goOn {
						return err
					}
				}
			}
			return nil
		})
		return refused, err
	}
	want, werr := run(m.memory)
	got, gerr := run(m.store)
	if !slices.Equal(got, want) || (gerr == nil) != (werr == nil) {
		m.fatalf("%s: refuses the changes %v (%v), want %v (%v)", what, got, gerr, want, werr)
	}
}

// compareAnswers runs a query on both stores and compares the results as JSON.
func (m *model) compareAnswers(what string, ask func(canon.Reader) (any, error)) {
	m.t.Helper()
	want, got := m.askStore(m.memory, ask), m.askStore(m.store, ask)
	if want != got {
		m.fatalf("%s\n answers %s\n    want %s", what, got, want)
	}
}

func (m *model) askStore(s canon.Store, ask func(canon.Reader) (any, error)) string {
	m.t.Helper()
	var answer any
	err := s.Read(m.t.Context(), func(r canon.Reader) (err error) {
		answer, err = ask(r)
		return err
	})
	if err != nil {
		return "error " + err.Error()
	}
	b, err := json.Marshal(answer)
	if err != nil {
		m.fatalf("%v", err)
	}
	return string(b)
}

// nonNil turns a nil slice into an empty one, so that both are the same in JSON.
func nonNil[T any](all []T) []T { return append([]T{}, all...) }

// compareAll compares the complete contents of both stores.
func (m *model) compareAll() {
	m.t.Helper()
	for w := 1; w <= modelWorlds; w++ {
		for _, table := range canon.Tables {
			m.compareAnswers("Dump of "+string(table), func(r canon.Reader) (any, error) {
				lines := []string{}
				for line, err := range r.Dump(m.t.Context(), WorldID(w), table) {
					if err != nil {
						return nil, err
					}
					lines = append(lines, line)
				}
				return lines, nil
			})
		}
	}
	m.compareAnswers("streams", func(r canon.Reader) (any, error) {
		streams, err := r.Streams(m.t.Context(), "")
		all := []canon.StoredCommit{}
		for _, s := range streams {
			for c, err := range r.Commits(m.t.Context(), s.Stream, 0) {
				if err != nil {
					return nil, err
				}
				all = append(all, c)
			}
		}
		return all, err
	})
}

// pickOne returns a random element of of.
func pickOne[T any](m *model, of ...T) T { return of[m.rng.IntN(len(of))] }

func (m *model) chance(percent int) bool { return m.rng.IntN(100) < percent }

func (m *model) nextID() int {
	m.ids++
	return m.ids
}

func (m *model) pickWorld() access.WorldID { return WorldID(1 + m.rng.IntN(modelWorlds)) }

var modelLabels = []access.Label{Open, Open, Open, GM, GM, GMAlice, Admin, AdminBoth,
	access.NewLabel(access.LevelGM, "bob")}

func (m *model) pickLabel() access.Label { return pickOne(m, modelLabels...) }

func (m *model) pickVisibility() canon.Visibility {
	return canon.Visibility{World: m.pickWorld(), View: access.View{
		Level: pickOne(m, access.LevelNone, access.LevelUser, access.LevelUser, access.LevelGM, access.LevelGM,
			access.LevelAdmin, access.LevelAll),
		Subject: pickOne(m, access.Subject(""), "", "alice", "bob"),
		Ceiling: pickOne(m, access.LevelNone, access.LevelNone, access.LevelNone, access.LevelUser, access.LevelGM),
	}}
}

var modelParts = []string{
	"Hall", "halls", "Marsh Moot", "Été", "eternal", "GM", "tags", "tags", "日本", "Żółw", "O’Neill", "a_b", "x1",
	"Ferry-Road",
	"50% off", "Straße", "Bell", "the Bell", "notes", "*right",
}

var modelWords = []string{
	"lantern", "Lantern", "lanterns", "ferry", "road", "the", "the", "a", "NAÏVE", "naive", "well-kept", "kept", "foo_bar",
	"x1", "1802", "日本語", "Straße", "O’Neill’s", "[[Bell]]", "50%", "été", "bell;", "(moot)", "lan", "tern", "\"road\"",
}

func (m *model) randomText(most int) string {
	text := ""
	for range m.rng.IntN(most + 1) {
		text += pickOne(m, modelWords...) + " "
	}
	return text
}

// livingCards returns the living cards of a world, by key.
func (m *model) livingCards(w access.WorldID) (cards []canon.Card) {
	m.readModel(func(r canon.Reader) (err error) {
		cards, _, err = r.Cards(m.t.Context(), canon.Visibility{World: w, View: AsAll}, canon.Filter{}, everything)
		return err
	})
	return cards
}

// listBelow returns the living descendants of a card, parents first.
func (m *model) listBelow(c canon.Card) (cards []canon.Card) {
	m.readModel(func(r canon.Reader) (err error) {
		cards, _, err = r.Descendants(m.t.Context(), canon.Visibility{World: c.World, View: AsAll}, c.ID, 1<<20, everything)
		return err
	})
	return cards
}

// readModel reads from the memory store, to plan the next step.
func (m *model) readModel(f func(canon.Reader) error) {
	m.t.Helper()
	if err := m.memory.Read(m.t.Context(), f); err != nil {
		m.fatalf("the model: %v", err)
	}
}

// inheritFrom returns c with the name, key and label that follow from its parent.
func inheritFrom(c canon.Card, parent canon.Card) canon.Card {
	c.Name, c.Label = c.Part, c.Own
	if !parent.ID.IsZero() {
		c.Name = parent.Name + "+" + c.Part
		c.Label = c.Own.Meet(parent.Label)
	}
	c.Key = markup.KeyOf(c.Name)
	return c
}
