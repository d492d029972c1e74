package crashtest

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/raceenabled"
	"loregate/internal/store/memory"
	"loregate/internal/store/postgres"
	"loregate/internal/store/postgres/pgtest"
	"loregate/internal/store/sqlite"
)

// failStore is a store in whose next write one call fails.
type failStore struct {
	canon.Store
	next *failpoint // nil: no call fails
}

func (s *failStore) Write(ctx context.Context, f func(canon.Tx) error) error {
	point := s.next
	s.next = nil
	if point == nil {
		return s.Store.Write(ctx, f)
	}
	return s.Store.Write(ctx, func(tx canon.Tx) error {
		if err := f(&failTx{tx, point}); err != nil {
			return err
		}
		if point.hit != "" {
			return fmt.Errorf("%s failed, and nobody took notice", point.hit)
		}
		return nil
	})
}

// onEachCanonStore runs a test on every kind of store.
func onEachCanonStore(t *testing.T, f func(*testing.T, canon.Store)) {
	t.Run("memory", func(t *testing.T) { f(t, memory.New()) })
	t.Run("sqlite", func(t *testing.T) {
		s, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(t.TempDir(), "canon.db")})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
		f(t, s)
	})
	t.Run("postgres", func(t *testing.T) {
		s, err := postgres.Open(t.Context(), postgres.Config{URL: pgtest.Empty(t)})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
		f(t, s)
	})
}

// keeper calls a canon as an operator.
type keeper struct {
	t     *testing.T
	store *failStore
	canon *canon.Canon
	guard *access.Guard
	world access.WorldID
}

func newKeeper(t *testing.T, store canon.Store) *keeper {
	t.Helper()
	k := &keeper{t: t, store: &failStore{Store: store}, guard: access.NewGuard(access.Config{})}
	k.canon = canon.New(canon.Config{Store: k.store})
	w, err := k.canon.CreateWorld(t.Context(), k.grant("", ""), canon.NewWorld{Slug: "main", Title: "Main"})
	if err != nil {
		t.Fatal(err)
	}
	k.world = w.ID
	return k
}

func (k *keeper) grant(operation, key string) access.Grant {
	k.t.Helper()
	a, err := k.guard.Admit(k.t.Context(), access.Caller{Subject: "keeper", EveryRole: access.RoleAdmin, Operator: true,
		Unlimited: true},
		access.Request{Operation: operation, Effect: access.Write, World: k.world, IdempotencyKey: key,
			Correlation: "correlation-" + key})
	if err != nil {
		k.t.Fatal(err)
	}
	return a.Grant
}

func (k *keeper) update(key string, plan func(*canon.Plan) error) (canon.Receipt, error) {
	return k.canon.Update(k.t.Context(), k.grant("test", key), plan)
}

func (k *keeper) must(key string, plan func(*canon.Plan) error) {
	k.t.Helper()
	if _, err := k.update(key, plan); err != nil {
		k.t.Fatal(err)
	}
}

// dumpStore returns all the data of the store as one text.
func (k *keeper) dumpStore(keys ...string) string {
	k.t.Helper()
	var b strings.Builder
	err := k.store.Read(k.t.Context(), func(r canon.Reader) error {
		for _, table := range canon.Tables {
			for line, err := range r.Dump(k.t.Context(), k.world, table) {
				if err != nil {
					return err
				}
				fmt.Fprintln(&b, table, line)
			}
		}
		for c, err := range r.Commits(k.t.Context(), canon.WorldStream(k.world), 1) {
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, "commit %d %s %s\n", c.Seq, c.Hash, c.Body)
		}
		for _, key := range keys {
			used, ok, err := r.Repeat(k.t.Context(), k.grant("", "").Caller().Account(), key)
			if err != nil {
				return err
			}
			fmt.Fprintln(&b, "key", key, ok, used)
		}
		return nil
	})
	if err != nil {
		k.t.Fatal(err)
	}
	return b.String()
}

// createFixture creates the cards that planEveryChange changes.
func (k *keeper) createFixture() {
	k.t.Helper()
	k.must("", func(p *canon.Plan) error {
		for _, c := range []canon.NewCard{
			{Name: "Quay", Content: "<p>see [[Vault]] and {{Vault+Lock}}</p>"},
			{Name: "Vault", Content: "<p>cold</p>"}, {Name: "Vault+Lock", Content: "<p>nine pins</p>"},
			{Name: "Vault+Lock+tags", Content: "[[iron]]"},
			{Name: "Mill", Content: "<p>turns by [[Quay]]</p>"}, {Name: "Mill+note", Content: "<p>old</p>"},
			{Name: "Lost", Content: "<p>gone</p>"}, {Name: "Lost+page", Content: "<p>torn</p>"},
			{Name: "Scroll", Content: "<p>a secret</p>"},
		} {
			if _, err := p.Create(c); err != nil {
				return fmt.Errorf("%s: %w", c.Name, err)
			}
		}
		return nil
	})
	k.must("", func(p *canon.Plan) error {
		scroll, err := p.Card("Scroll")
		if err != nil {
			return err
		}
		content := "<p>burned</p>"
		if _, err := p.Update(scroll, canon.Edit{Content: &content}); err != nil {
			return err
		}
		lost, err := p.Card("Lost")
		if err != nil {
			return err
		}
		return p.Trash(lost)
	})
}

// planEveryChange plans one change of every kind.
func (k *keeper) planEveryChange(p *canon.Plan) error {
	ctx := k.t.Context()
	gm := access.NewLabel(access.LevelGM, "alice")
	find := func(name string) canon.Card {
		c, err := p.Card(name)
		if err != nil {
			k.t.Errorf("%s: %v", name, err)
		}
		return c
	}
	content, named := "<p>warm, see [[Quay]]</p>", "vault-of-kings"
	quay, mill, scroll := find("Quay"), find("Mill"), find("Scroll")
	trash, _, err := p.Snapshot.Trash(ctx, canon.Page{Limit: 1})
	if err != nil || len(trash) != 1 {
		return fmt.Errorf("trash: %v, %w", trash, err)
	}
	first, _, err := p.Snapshot.Versions(ctx, scroll.ID, canon.Page{Limit: 1, Offset: 1})
	if err != nil || len(first) != 1 {
		return fmt.Errorf("versions: %v, %w", first, err)
	}
	from := quay.ID
	for _, step := range []func() error{
		func() error {
			_, err := p.Create(canon.NewCard{Name: "Isle+Cave+Deep", Content: "<p>dark</p>", Label: &gm})
			return err
		},
		func() error {
			_, err := p.Update(find("Vault"), canon.Edit{Content: &content, Codename: &named})
			return err
		},
		func() error { _, err := p.Rename(find("Vault"), "Crypt"); return err },
		func() error { _, err := p.SetLabel(quay, gm); return err },
		func() error { return p.Trash(mill) },
		func() error { _, err := p.Restore(trash[0]); return err },
		func() error {
			_, err := p.Link(canon.Link{Kind: "exit", From: from, To: scroll.ID, Label: gm})
			return err
		},
		func() error {
			_, err := p.Layer(canon.Layer{Card: scroll.ID, Kind: "base", Text: "charred", Label: gm})
			return err
		},
		func() error { return p.SetMember(canon.MemberImage{Subject: "zoe", Role: access.RoleGM}) },
		func() error { return p.Configure("Main, again", canon.Settings{Description: "mended"}) },
		func() error { return p.Purge(scroll, first[0]) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	p.Target(quay.ID)
	return nil
}

// TestCrashEachStepOfACommitFails fails each call that a commit makes to its store, one call in
// each commit.
func TestCrashEachStepOfACommitFails(t *testing.T) {
	for _, after := range []bool{false, true} {
		t.Run(fmt.Sprintf("after=%v", after), func(t *testing.T) {
			onEachCanonStore(t, func(t *testing.T, store canon.Store) { testEachStep(t, newKeeper(t, store), after) })
		})
	}
}

func testEachStep(t *testing.T, k *keeper, after bool) {
	k.createFixture()
	before := k.dumpStore("rich")
	methods := map[string]int{}
	for n := 1; ; n += 100 / max(raceenabled.Share(100, 10), 2) {
		point := &failpoint{at: n, after: after}
		k.store.next = point
		r, err := k.update("rich", k.planEveryChange)
		if point.hit == "" {
			if err != nil || n < 50 {
				t.Errorf("a commit of %d calls that does not fail answers %+v, %v", n-1, r, err)
			}
			break
		}
		methods[point.hit]++
		k.wantNoEffect(before, point, r, err)
	}
	if k.dumpStore("rich") == before {
		t.Error("the commit that does not fail changes nothing")
	}
	rebuilt, err := k.canon.Rebuild(t.Context(), k.grant("", ""), k.world, canon.CompareOnly)
	if err != nil || len(rebuilt.Different) > 0 {
		t.Errorf("rebuild: %+v, %v", rebuilt, err)
	}
	if _, err := k.canon.Verify(t.Context(), k.grant("", ""), nil); err != nil {
		t.Error(err)
	}
	t.Logf("failed: %v", methods)
}

// wantNoEffect checks that a failed commit had no effect, and that its error shows a client no
// internal detail.
func (k *keeper) wantNoEffect(before string, point *failpoint, r canon.Receipt, err error) {
	k.t.Helper()
	at := fmt.Sprintf("call %d, %s (after it: %v)", point.at, point.hit, point.after)
	if !errors.Is(err, errFailpoint) || fault.KindOf(err) != fault.Internal {
		k.t.Errorf("%s: the commit answers %+v, %v", at, r, err)
	}
	if shown := fault.Show(err, "c").Error; strings.Contains(fmt.Sprint(shown), "failpoint") {
		k.t.Errorf("%s: a client is shown %+v", at, shown)
	}
	if now := k.dumpStore("rich"); now != before {
		k.t.Fatalf("%s: the store holds\n%s\nand held\n%s", at, now, before)
	}
}
