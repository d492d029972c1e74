package app

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/identity"
)

// copyBatch is the number of commits that a copy writes in one transaction.
const copyBatch = 200

// WholeWorlds in the list of worlds of Copy stands for all worlds whose chains are whole.
const WholeWorlds = "whole"

// Copy copies one store to another and proves that both hold the same chains, tables and access
// records. Each address is a data folder or postgres://…; c holds all other settings. A target that
// holds the beginning of the same chains is brought up to date; a target that holds anything else
// is refused. Copy leaves out the keys that sign tokens, idempotency keys, unfinished jobs, and
// files, which stay in the data folder.
//
// If worlds are named, only these are copied, with their ledgers and those of no world. The source may then
// be damaged: only its streams and contents are compared, not its tables. Streams that are not whole are
// left out and named in out. The error names those of the worlds that could not be copied.
func Copy(ctx context.Context, c Config, from, to string, worlds []string, out io.Writer) (err error) {
	if from == to {
		return fault.New(fault.Invalid, "--from and --to name the same store; name another one with --to")
	}
	for flag, address := range map[string]string{"--from": from, "--to": to} {
		if strings.Contains(address, "://") && !isDatabase(address) {
			return fault.New(fault.Invalid, "%s: name a data folder, or a database as postgres://user@host:5432/name", flag)
		}
	}
	src, err := openStore(ctx, c.withAddress(from), Options{Command: true, Existing: true, Damaged: len(worlds) > 0})
	if err != nil {
		return fmt.Errorf("--from: %w", err)
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	dst, err := openStore(ctx, c.withAddress(to), Options{Command: true})
	if err != nil {
		return fmt.Errorf("--to: %w", err)
	}
	defer func() { err = errors.Join(err, dst.Close()) }()
	k := storeCopier{src: src, dst: dst, out: out, named: worlds}
	steps := []func(context.Context) error{k.noteStaleWorlds, k.copyStreams, k.rebuildTables,
		k.copyKeysAndInvitations, k.copyAccessRecords, k.proveEqual}
	if len(worlds) > 0 {
		steps = []func(context.Context) error{k.chooseWorlds, k.copyStreams, k.rebuildTables,
			k.unlessDamaged("the keys", k.copyKeysAndInvitations),
			k.unlessDamaged("the access records", k.copyAccessRecords), k.proveWorlds}
	}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return err
		}
	}
	if len(k.failed) > 0 {
		return fault.New(fault.Unavailable, "these worlds could not be copied: %s; all else was",
			strings.Join(k.failed, ", "))
	}
	return nil
}

// isBroken reports whether err is a broken link of a commit chain or segment chain.
func isBroken(err error) bool {
	var commit *canon.Broken
	var segment *access.BrokenSegment
	return errors.As(err, &commit) || errors.As(err, &segment)
}

// withAddress returns the configuration for the store at an address.
func (c Config) withAddress(address string) Config {
	if address != c.Database {
		c.Direct, c.Databases, c.DirectTo, c.Worlds = "", nil, nil, nil
	}
	if c.Database = ""; isDatabase(address) {
		c.Database = address
	} else {
		c.Data = address
	}
	return c
}

// storeCopier is one run of Copy.
type storeCopier struct {
	src, dst store
	out      io.Writer
	behind   []access.WorldID // worlds whose tables at the target must be rebuilt from their streams
	stale    []access.WorldID // worlds whose tables at the source do not match their streams
	slugs    map[access.WorldID]string
	// unfinished are the streams of worlds whose fork is not complete at the source, because it is
	// still running or because its process was killed. They are not copied.
	unfinished []canon.StreamID

	named  []string         // worlds to copy; nil for the whole store
	chosen []canon.StreamID // streams to copy, if worlds are named
	failed []string         // named worlds that could not be copied
}

// noteStaleWorlds records the worlds whose tables an upgrade left to be rebuilt. The source is only
// read: its stale tables stay, and the target's tables are rebuilt from the copied streams.
func (k *storeCopier) noteStaleWorlds(ctx context.Context) (err error) {
	if k.stale, err = canon.New(canon.Config{Store: k.src}).Stale(ctx); err != nil {
		return err
	}
	k.behind, err = canon.New(canon.Config{Store: k.dst}).Stale(ctx)
	return err
}

// copyStreams copies all finished streams.
func (k *storeCopier) copyStreams(ctx context.Context) error {
	list := slices.Clone(k.chosen)
	if err := k.src.Read(ctx, func(r canon.Reader) error {
		if len(k.named) > 0 {
			return nil
		}
		worlds, err := r.Worlds(ctx, canon.WorldQuery{All: true})
		if err != nil {
			return err
		}
		k.slugs = make(map[access.WorldID]string, len(worlds))
		for _, w := range worlds {
			if k.slugs[w.ID] = w.Slug; w.Unfinished() {
				k.unfinished = append(k.unfinished, canon.WorldStream(w.ID))
			}
		}
		list, err = streamsOf(ctx, r)
		return err
	}); err != nil {
		return err
	}
	list = slices.DeleteFunc(list, func(s canon.StreamID) bool { return slices.Contains(k.unfinished, s) })
	if err := k.refuseForeignStreams(ctx, list); err != nil {
		return err
	}
	for _, s := range list {
		err := k.copyStream(ctx, s)
		if len(k.named) > 0 && isDamage(err) {
			err = k.leaveOut(ctx, s, err)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
	}
	return nil
}

func streamsOf(ctx context.Context, r canon.Reader) (list []canon.StreamID, err error) {
	heads, err := r.Streams(ctx, "")
	for _, s := range heads {
		list = append(list, s.Stream)
	}
	return list, err
}

// refuseForeignStreams returns an error if the target has a stream that the source does not have.
func (k *storeCopier) refuseForeignStreams(ctx context.Context, list []canon.StreamID) error {
	return k.dst.Read(ctx, func(r canon.Reader) error {
		held, err := streamsOf(ctx, r)
		for _, s := range held {
			if !slices.Contains(list, s) {
				return fault.New(fault.Conflict, "the target contains %s, which the source does not; copy into an empty store", s)
			}
		}
		return err
	})
}

// copyStream copies the commits of a stream that the target does not have.
func (k *storeCopier) copyStream(ctx context.Context, s canon.StreamID) error {
	var have canon.Head
	if err := k.dst.Read(ctx, func(r canon.Reader) (err error) {
		have, err = r.Head(ctx, s)
		return err
	}); err != nil {
		return err
	}
	w, isWorld := canon.StreamWorld(s)
	if p, ok := k.dst.(canon.Placer); ok && isWorld && have.Seq == 0 {
		if err := p.Place(ctx, w, k.slugs[w]); err != nil {
			return err
		}
	}
	next, n := max(have.Seq, 1), 0
	for {
		commits, bodies, err := k.readCommits(ctx, s, next)
		if err != nil {
			return err
		}
		if have.Seq > 0 && next == have.Seq {
			if len(commits) == 0 || commits[0].Hash != have.Hash {
				return fault.New(fault.Conflict, "the target contains another chain; copy into an empty store")
			}
			commits = commits[1:]
		}
		if len(commits) == 0 {
			break
		}
		if err := k.writeCommits(ctx, s, commits, bodies); err != nil {
			return err
		}
		n += len(commits)
		next = commits[len(commits)-1].Seq + 1
	}
	if n > 0 {
		if isWorld && !slices.Contains(k.behind, w) {
			k.behind = append(k.behind, w)
		}
		fmt.Fprintf(k.out, "%s: %d commits\n", s, n)
	}
	return nil
}

// readCommits reads up to copyBatch commits of a stream, beginning at from, and the bodies that
// they name. Erased bodies are left out.
func (k *storeCopier) readCommits(ctx context.Context, s canon.StreamID,
	from canon.Seq) (list []canon.StoredCommit, bodies map[canon.Hash][]byte, err error) {
	err = k.src.Read(ctx, func(r canon.Reader) error {
		list, bodies, err = canon.ReadCommits(ctx, r, s, from, copyBatch)
		return err
	})
	for h, b := range bodies {
		if err == nil && sha256.Sum256(b) != h {
			err = fmt.Errorf("the text %s does not have its hash: %w", h, canon.ErrDamaged)
		}
	}
	return list, bodies, err
}

func (k *storeCopier) writeCommits(ctx context.Context, s canon.StreamID, commits []canon.StoredCommit,
	bodies map[canon.Hash][]byte) error {
	write := k.dst.Write
	w, _ := canon.StreamWorld(s) // the zero id for a ledger
	if p, ok := k.dst.(canon.Placer); ok {
		write = func(ctx context.Context, f func(canon.Tx) error) error { return p.WriteTo(ctx, w, f) }
	}
	return write(ctx, func(tx canon.Tx) error {
		for h, b := range bodies {
			if err := tx.PutBody(ctx, w, h, b); err != nil {
				return err
			}
		}
		for _, c := range commits {
			if err := tx.Append(ctx, c); err != nil {
				return err
			}
		}
		return nil
	})
}

// rebuildTables rebuilds the target's tables from its streams.
func (k *storeCopier) rebuildTables(ctx context.Context) error {
	c := canon.New(canon.Config{Store: k.dst})
	for _, w := range k.behind {
		err := withOperatorGrant(ctx, func(g access.Grant) error {
			_, err := c.Rebuild(ctx, g, w, canon.KeepRebuilt)
			return err
		})
		if err != nil {
			return fmt.Errorf("tables of world %s: %w", w, err)
		}
	}
	return nil
}

// withOperatorGrant runs f with a grant of the local operator.
func withOperatorGrant(ctx context.Context, f func(access.Grant) error) error {
	guard := access.NewGuard(access.Config{})
	r := access.Request{Operation: "copy", Effect: access.Write, Operator: true}
	return runAdmitted(ctx, guard, Operator(), r, f)
}

// copyKeysAndInvitations copies keys and invitations. Entries that the target already has stay as
// they are, except that a key revoked at the source is revoked at the target too.
func (k *storeCopier) copyKeysAndInvitations(ctx context.Context) error {
	src, dst := k.src.Identity(), k.dst.Identity()
	n := 0
	for key, err := range src.Keys(ctx) {
		if err != nil {
			return err
		}
		if err = dst.AddKey(ctx, key); errors.Is(err, identity.ErrExists) {
			if err = nil; !key.Revoked.IsZero() {
				_, err = dst.RevokeKey(ctx, key.ID, key.Revoked)
			}
		}
		if err != nil {
			return fmt.Errorf("key %s: %w", key.ID, err)
		}
		n++
	}
	fmt.Fprintf(k.out, "%d keys\n", n)
	return k.src.Read(ctx, func(r canon.Reader) error {
		worlds, err := r.Worlds(ctx, canon.WorldQuery{All: true})
		if err != nil {
			return err
		}
		for _, w := range worlds {
			list, err := src.Invitations(ctx, w.ID)
			if err != nil {
				return err
			}
			for _, i := range list {
				if err := dst.AddInvitation(ctx, i); err != nil && !errors.Is(err, identity.ErrExists) {
					return fmt.Errorf("invitation %s: %w", i.ID, err)
				}
			}
		}
		return nil
	})
}

// copyAccessRecords copies the access records of all processes.
func (k *storeCopier) copyAccessRecords(ctx context.Context) error {
	processes, err := k.src.Processes(ctx)
	if err != nil {
		return err
	}
	n := 0
	for _, p := range processes {
		for segment, err := range k.src.Segments(ctx, p, 0) {
			if err != nil {
				return err
			}
			if err := k.dst.AppendSegment(ctx, segment); err != nil {
				return err
			}
			n += segment.Count
		}
	}
	fmt.Fprintf(k.out, "%d access records\n", n)
	return nil
}

// proveEqual verifies the chains of both stores and compares them, then compares each world's
// tables row by row.
func (k *storeCopier) proveEqual(ctx context.Context) error {
	var chains [2][]canon.Verified
	var segments [2]access.Verified
	for i, s := range []store{k.src, k.dst} {
		err := withOperatorGrant(ctx, func(g access.Grant) (err error) {
			chains[i], err = canon.New(canon.Config{Store: s}).Verify(ctx, g, nil)
			return err
		})
		if err != nil {
			return err
		}
		chains[i] = slices.DeleteFunc(chains[i],
			func(v canon.Verified) bool { return slices.Contains(k.unfinished, v.Stream) })
		v, err := access.VerifySegments(ctx, s, nil)
		if err != nil {
			return err
		}
		segments[i] = v
	}
	// The target may have access records of its own, of calls made to it earlier.
	if !slices.Equal(chains[0], chains[1]) || segments[1].Records < segments[0].Records {
		return fault.New(fault.Conflict,
			"the chains differ because the source was written to during the copy; stop its processes and copy again")
	}
	rows := 0
	for _, v := range chains[0] {
		w, ok := canon.StreamWorld(v.Stream)
		if !ok || slices.Contains(k.stale, w) {
			continue
		}
		n, err := k.sameTables(ctx, w)
		if err != nil {
			return err
		}
		rows += n
	}
	fmt.Fprintf(k.out, "verified as equal: %d chains with %d commits, %d rows\n", len(chains[0]), commitsOf(chains[0]),
		rows)
	return nil
}

func commitsOf(list []canon.Verified) (n int) {
	for _, v := range list {
		n += v.Commits
	}
	return n
}

// sameTables compares a world's tables and returns the number of their rows. Each store is read in
// a snapshot of its own, so neither waits for the other.
func (k *storeCopier) sameTables(ctx context.Context, w access.WorldID) (n int, err error) {
	for _, table := range canon.Tables {
		var sums [2]canon.Digested
		for i, s := range []store{k.src, k.dst} {
			if err := s.Read(ctx, func(r canon.Reader) (err error) {
				sums[i], err = canon.Digest(ctx, r, w, table)
				return err
			}); err != nil {
				return n, err
			}
		}
		if sums[0] != sums[1] {
			return n, fault.New(fault.Conflict, "the table %s of world %s differs; run loregate rebuild on both, and copy again",
				table, w)
		}
		n += sums[0].Rows
	}
	return n, nil
}
