package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
)

// mending restarts the streams of worlds that lack commits.
type mending struct {
	worlds []string // that may be restarted, by slug or UUID
	cut    bool     // ledgers that lack commits may be cut off
	out    io.Writer
}

// repairDatabase mends the streams of a database in place. Its tables show the worlds as they were.
func repairDatabase(ctx context.Context, c Config, m mending) (err error) {
	s, err := openStore(ctx, c, Options{Command: true, Existing: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := m.mendStreams(ctx, s, func() (store, error) { return s, nil }); err != nil {
		return err
	}
	streams, err := canon.VerifyStreams(ctx, s)
	if err == nil {
		fmt.Fprintf(m.out, "verified: %d chains with %d commits\n", len(streams), commitsOf(streams))
	}
	return err
}

// mendStreams restarts the streams of a store that lack commits, if they may be. tables opens the store whose
// tables show the worlds as they were; it may be s itself.
func (m mending) mendStreams(ctx context.Context, s store, tables func() (store, error)) error {
	_, err := canon.VerifyStreams(ctx, s)
	broken := canon.BrokenIn(err)
	if err != nil && len(broken) == 0 {
		return err
	}
	var old store
	if len(broken) > 0 || len(m.worlds) > 0 {
		if old, err = tables(); err != nil {
			return err
		}
		if old != s {
			defer func() { _ = old.Close() }() // it was only read
		}
	}
	slugs := map[access.WorldID]string{}
	if old != nil {
		slugs = worldSlugs(ctx, old)
	}
	if err := m.checkNames(broken, slugs); err != nil {
		return err
	}
	c := canon.New(canon.Config{Store: s})
	return withOperatorGrant(ctx, func(g access.Grant) error {
		for _, b := range broken {
			if err := m.mendStream(ctx, c, g, b, old, slugs); err != nil {
				return fmt.Errorf("%s: %w", streamName(b.Stream, slugs), err)
			}
		}
		return nil
	})
}

// checkNames refuses to begin if a stream that lacks commits may not be restarted, or a named world is whole.
func (m mending) checkNames(broken []*canon.Broken, slugs map[access.WorldID]string) error {
	named := func(w access.WorldID) bool {
		return slices.Contains(m.worlds, w.String()) || slices.Contains(m.worlds, worldName(w, slugs))
	}
	for _, b := range broken {
		fmt.Fprintf(m.out, "lost: %s of %s: %s\n", b.Lost(), streamName(b.Stream, slugs), b.Why)
	}
	for _, b := range broken {
		w, ok := canon.StreamWorld(b.Stream)
		if ok && !named(w) || !ok && !m.cut {
			return fault.New(fault.Rule, "%s lacks %s: %s", streamName(b.Stream, slugs), b.Lost(), lostAdvice(broken, slugs))
		}
	}
	for _, name := range m.worlds {
		if !slices.ContainsFunc(broken, func(b *canon.Broken) bool {
			w, ok := canon.StreamWorld(b.Stream)
			return ok && (name == w.String() || name == worldName(w, slugs))
		}) {
			return fault.New(fault.Invalid, "--world: no world %q lacks commits; loregate audit verify names those that do", name)
		}
	}
	return nil
}

func (m mending) mendStream(ctx context.Context, c *canon.Canon, g access.Grant, b *canon.Broken, old store,
	slugs map[access.WorldID]string) error {
	w, ok := canon.StreamWorld(b.Stream)
	if !ok {
		if err := c.CutLedger(ctx, g, b, ledgerWorld(b.Stream)); err != nil {
			return err
		}
		fmt.Fprintf(m.out, "cut off: %s ends after commit %d\n", streamName(b.Stream, slugs), b.Before.Seq)
		return nil
	}
	var state *canon.MendedState
	err := old.Read(ctx, func(r canon.Reader) (err error) {
		state, err = canon.ReadState(ctx, r, w)
		return err
	})
	if isDamage(err) {
		fmt.Fprintf(m.out, "lost: the tables of the world %s, which show its latest state: it is as it was at commit %d\n",
			worldName(w, slugs), b.Before.Seq)
		state, err = nil, nil
	}
	if err != nil {
		return err
	}
	done, err := c.Mend(ctx, g, b, state)
	if err != nil {
		return err
	}
	fmt.Fprintf(m.out, "begun anew: the world %s; its history from commit %d to %d is lost, commit %d records that and keeps "+
		"the cards as they were\n", worldName(w, slugs), done.Gap.From, done.Gap.To, done.Seq)
	return nil
}
