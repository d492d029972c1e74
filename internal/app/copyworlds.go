package app

import (
	"context"
	"fmt"
	"slices"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
)

// discardRows is the number of rows that each step of leaveOut removes.
const discardRows = 10_000

// chooseWorlds verifies the source and chooses the streams to copy: those of the named worlds, their ledgers,
// and the ledgers of no world. It names the streams that are not whole.
func (k *storeCopier) chooseWorlds(ctx context.Context) error {
	whole, err := canon.VerifyStreams(ctx, k.src)
	broken := canon.BrokenIn(err)
	if err != nil && len(broken) == 0 {
		return err
	}
	k.slugs = worldSlugs(ctx, k.src)
	known := map[string]access.WorldID{}
	note := func(s canon.StreamID) {
		if w, ok := canon.StreamWorld(s); ok {
			known[w.String()], known[worldName(w, k.slugs)] = w, w
		}
	}
	for _, v := range whole {
		note(v.Stream)
	}
	lost := map[access.WorldID]*canon.Broken{}
	for _, b := range broken {
		note(b.Stream)
		if w, ok := canon.StreamWorld(b.Stream); ok {
			lost[w] = b
		}
		fmt.Fprintf(k.out, "not copied: %s: %s: %s\n", streamName(b.Stream, k.slugs), b.Lost(), b.Why)
	}
	wanted := map[access.WorldID]bool{}
	for _, name := range k.named {
		w, ok := known[name]
		switch {
		case name == WholeWorlds:
			for _, v := range whole {
				if w, ok := canon.StreamWorld(v.Stream); ok {
					wanted[w] = true
				}
			}
		case !ok:
			return fault.New(fault.NotFound, "--worlds: there is no world %q in the source; name its worlds by slug or UUID, or %s",
				name, WholeWorlds)
		case lost[w] != nil:
			k.failed = append(k.failed, worldName(w, k.slugs))
		default:
			wanted[w] = true
		}
	}
	for _, v := range whole {
		w, ok := canon.StreamWorld(v.Stream)
		if !ok {
			w = ledgerWorld(v.Stream)
		}
		if (wanted[w] || w.IsZero()) && !(canon.World{Slug: k.slugs[w]}).Unfinished() {
			k.chosen = append(k.chosen, v.Stream)
		}
	}
	k.behind, err = canon.New(canon.Config{Store: k.dst}).Stale(ctx)
	return err
}

// leaveOut removes from the target a world whose contents cannot be read from the source.
func (k *storeCopier) leaveOut(ctx context.Context, s canon.StreamID, why error) error {
	w, ok := canon.StreamWorld(s)
	if !ok {
		return why
	}
	fmt.Fprintf(k.out, "not copied: %s: its texts cannot be read: %v\n", streamName(s, k.slugs), why)
	k.chosen = slices.DeleteFunc(k.chosen, func(c canon.StreamID) bool { return c == s || ledgerWorld(c) == w })
	k.failed = append(k.failed, worldName(w, k.slugs))
	write := k.dst.Write
	if p, ok := k.dst.(canon.Placer); ok {
		write = func(ctx context.Context, f func(canon.Tx) error) error { return p.WriteTo(ctx, w, f) }
	}
	for left := true; left; {
		if err := write(ctx, func(tx canon.Tx) (err error) {
			left, err = tx.Discard(ctx, w, discardRows)
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}

// unlessDamaged runs a step, and only notes if the source is damaged where the step reads.
func (k *storeCopier) unlessDamaged(what string, step func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		err := step(ctx)
		if isDamage(err) {
			fmt.Fprintf(k.out, "not copied: some of %s: %v\n", what, err)
			err = nil
		}
		return err
	}
}

// proveWorlds verifies the chains at the target and compares them, and the contents that they name, with the
// source.
func (k *storeCopier) proveWorlds(ctx context.Context) error {
	copied, err := canon.VerifyStreams(ctx, k.dst)
	if err != nil {
		return err
	}
	heads := map[canon.StreamID]canon.Hash{}
	for _, v := range copied {
		heads[v.Stream] = v.Head
	}
	contents := 0
	for _, s := range k.chosen {
		var head canon.Head
		var sums [2]canon.Digested
		w, isWorld := canon.StreamWorld(s)
		for i, in := range []store{k.src, k.dst} {
			if err := in.Read(ctx, func(r canon.Reader) (err error) {
				if i == 0 {
					if head, err = r.Head(ctx, s); err != nil {
						return err
					}
				}
				if isWorld {
					sums[i], err = canon.DigestContents(ctx, r, w)
				}
				return err
			}); err != nil {
				return err
			}
		}
		if head.Hash != heads[s] || sums[0] != sums[1] {
			return fault.New(fault.Conflict, "%s differs because the source was written to during the copy; stop its processes and "+
				"copy again", streamName(s, k.slugs))
		}
		contents += sums[0].Rows
	}
	fmt.Fprintf(k.out, "verified as equal: %d chains with %d commits, %d texts\n", len(k.chosen), commitsOf(copied),
		contents)
	return nil
}
