package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/disk"
	"loregate/internal/fault"
	"loregate/internal/store/sqlite"
)

// A repair works in a folder of its own in the data folder, and can be ended at any moment:
//
//	repair/damaged   copies of the damaged files, to read from
//	repair/new       the new store
//	repair/ready     the new store is proved; names the folder that keeps the damaged files
//	repair/moved     the damaged files are there
//
// Before ready nothing is changed and the next run begins again; from ready on it goes on,
// and no other command opens the store until it has.
const (
	repairFolder = "repair"
	repairReady  = "ready"
	repairMoved  = "moved"
)

// storeFiles are the names that a store has in its folder.
var storeFiles = []string{StoreFile, StoreFile + "-wal", StoreFile + "-shm", recordsFile, recordsFile + "-wal", recordsFile + "-shm"}

const recordsFile = StoreFile + "-access"

// repairRoom is how many times the size of a store its repair needs beside it: for the copy
// that is read, the new store, and the log of that.
const repairRoom = 3

// Repair makes the damaged store of a data folder anew from what can be read of it, proves
// the new one, and puts it in its place; the damaged files are kept. Where something cannot
// be recovered it says what, and changes nothing, unless acceptLoss is set. It refuses while
// another process has the store open.
func Repair(ctx context.Context, c Config, acceptLoss bool, out io.Writer) (err error) {
	if c.Database != "" {
		return fault.New(fault.Rule, "the store is in PostgreSQL, whose own tools repair it: restore a backup with pg_restore, then run loregate audit verify and loregate rebuild")
	}
	r := repairing{ctx: ctx, config: c, work: filepath.Join(c.Data, repairFolder), out: out}
	defer func() { err = disk.Explain(c.Data, err) }()
	if exists(filepath.Join(r.work, repairReady)) {
		fmt.Fprintln(out, "going on with a repair that was cut off")
		return r.swap()
	}
	held, err := r.hold()
	if err != nil {
		return err
	}
	defer func() {
		for _, f := range held {
			err = errors.Join(err, f.Close())
		}
	}()
	if err := os.RemoveAll(r.work); err != nil {
		return err
	}
	if err := r.make(held, acceptLoss); err != nil {
		return errors.Join(err, os.RemoveAll(r.work))
	}
	return r.swap()
}

type repairing struct {
	ctx    context.Context // of the one Repair it lives for
	config Config
	work   string
	out    io.Writer
	lost   []sqlite.Loss
}

// hold keeps others from opening the store until the files are closed.
func (r *repairing) hold() (held []*os.File, err error) {
	for _, name := range []string{StoreFile, recordsFile} {
		f, err := hold(filepath.Join(r.config.Data, name))
		switch {
		case errors.Is(err, os.ErrNotExist) && name != StoreFile:
			continue
		case errors.Is(err, os.ErrNotExist):
			err = fault.New(fault.NotFound, "there is no store in %s; name its folder with --data", r.config.Data)
		case errors.Is(err, errHeld):
			err = fault.New(fault.Conflict, "another process has the store open: stop the server and every client that runs loregate mcp on %s, then repair again", r.config.Data)
		}
		if err != nil {
			for _, f := range held {
				err = errors.Join(err, f.Close())
			}
			return nil, err
		}
		held = append(held, f)
	}
	return held, nil
}

// make makes the new store and proves it.
func (r *repairing) make(held []*os.File, acceptLoss bool) error {
	if err := r.room(); err != nil {
		return err
	}
	from, to := filepath.Join(r.work, "damaged"), filepath.Join(r.work, "new")
	if err := os.MkdirAll(from, 0o700); err != nil {
		return err
	}
	for _, name := range storeFiles {
		if strings.HasSuffix(name, "-shm") {
			continue // made anew
		}
		if err := r.copyFile(held, name, filepath.Join(from, name)); err != nil {
			return err
		}
	}
	lost, err := sqlite.Salvage(r.ctx, filepath.Join(from, StoreFile), filepath.Join(to, StoreFile))
	if err != nil {
		return nothingChanged(err)
	}
	r.lost = lost
	failed := r.rebuild(to)
	r.tell()
	if failed != nil {
		return nothingChanged(failed)
	}
	return r.judge(acceptLoss)
}

// nothingChanged says what a repair that failed has left, and what else there is to do.
func nothingChanged(err error) error {
	return (&fault.Error{Kind: fault.Unavailable, Message: "the store cannot be repaired: restore a backup (docs/operations.md). Nothing was changed"}).Because(err)
}

// room refuses a disk on which the repair would not fit.
func (r *repairing) room() error {
	var size uint64
	for _, name := range storeFiles {
		if info, err := os.Stat(filepath.Join(r.config.Data, name)); err == nil {
			size += uint64(info.Size())
		}
	}
	return disk.Need(r.config.Data, repairRoom*size, fmt.Sprintf("the repair, which takes %d times the store,", repairRoom))
}

// copyFile copies a file of the store, by the handle that it is held by where it is.
func (r *repairing) copyFile(held []*os.File, name, to string) (err error) {
	var from *os.File
	for _, f := range held {
		if filepath.Base(f.Name()) == name {
			from = f
		}
	}
	if from == nil {
		if from, err = os.Open(filepath.Join(r.config.Data, name)); errors.Is(err, os.ErrNotExist) {
			return nil
		} else if err != nil {
			return err
		}
		defer func() { _ = from.Close() }() // it was only read
	}
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, from)
	return errors.Join(err, f.Close())
}

// rebuild makes the tables of a salvaged store from its streams, and proves it: chains,
// contents, tables, and the files themselves.
func (r *repairing) rebuild(folder string) (err error) {
	s, err := openStore(r.ctx, r.config.at(folder))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	streams, err := canon.VerifyStreams(r.ctx, s)
	if err != nil {
		return err
	}
	c := canon.New(canon.Config{Store: s})
	for _, v := range streams {
		w, ok := worldOf(v.Stream)
		if !ok {
			continue
		}
		if err := r.missing(s, w); err != nil {
			return err
		}
		if err := operator(r.ctx, func(g access.Grant) error {
			_, err := c.Rebuild(r.ctx, g, w, canon.KeepRebuilt)
			return err
		}); err != nil {
			return fmt.Errorf("tables of world %s: %w", w, err)
		}
	}
	faults, err := s.Verify(r.ctx)
	if err == nil && len(faults) > 0 {
		err = errors.New(faults[0])
	}
	if err != nil {
		return err
	}
	v, err := access.VerifySegments(r.ctx, s)
	if broken := (*access.BrokenSegment)(nil); errors.As(err, &broken) {
		r.lost = append(r.lost, sqlite.Loss{What: err.Error()})
	} else if err != nil {
		return err
	}
	fmt.Fprintf(r.out, "recovered and proved: %d chains with %d commits, %d access records\n", len(streams), commitsOf(streams), v.Records)
	return nil
}

// maxNamed is how many losses are listed one by one.
const maxNamed = 50

// missing names the texts that commits name and that are not there, where texts are known
// to be lost: others were erased by purge.
func (r *repairing) missing(s store, w access.WorldID) error {
	known := false
	for _, l := range r.lost {
		known = known || strings.HasPrefix(l.What, "texts of cards")
	}
	if !known {
		return nil
	}
	var list []named
	purged := map[canon.Hash]bool{}
	err := s.Read(r.ctx, func(rd canon.Reader) error {
		for commit, err := range rd.Commits(r.ctx, canon.WorldStream(w), 1) {
			if err != nil {
				return err
			}
			rec, err := commit.Record()
			if err != nil {
				return err
			}
			for _, ch := range rec.Changes {
				if ch.Purge != nil {
					purged[ch.Purge.Body] = true
				}
				if ch.Card == nil || ch.Card.Content == (canon.Hash{}) {
					continue
				}
				if _, there, err := rd.Body(r.ctx, w, ch.Card.Content); err != nil {
					return err
				} else if !there {
					list = append(list, named{rec.Seq, *ch.Card})
				}
			}
		}
		return nil
	})
	more := 0
	for _, n := range list {
		switch {
		case purged[n.card.Content]:
		case len(r.lost) > maxNamed:
			more++
		default:
			r.lost = append(r.lost, sqlite.Loss{What: fmt.Sprintf("the text that commit %d of world %s gave the card ~%s (%q)", n.at, w, n.card.ID, n.card.Part)})
		}
	}
	if more > 0 {
		r.lost = append(r.lost, sqlite.Loss{What: fmt.Sprintf("and %d more texts of world %s", more, w)})
	}
	return err
}

// named is a text that a commit names.
type named struct {
	at   canon.Seq
	card canon.CardImage
}

// tell prints what is lost.
func (r *repairing) tell() {
	for _, l := range r.lost {
		fmt.Fprintln(r.out, "lost:", l.What)
	}
	if len(r.lost) == 0 {
		fmt.Fprintln(r.out, "lost: nothing")
	}
}

// judge refuses a loss that is not accepted, and marks the new store as ready.
func (r *repairing) judge(acceptLoss bool) error {
	serious := slices.ContainsFunc(r.lost, func(l sqlite.Loss) bool { return !l.Dispensable })
	if serious && !acceptLoss {
		return fault.New(fault.Rule, "what is listed as lost cannot be recovered: restore a backup, or go on without it with --accept-loss. Nothing was changed")
	}
	keep := "damaged-" + time.Now().UTC().Format("20060102T150405Z")
	return r.mark(repairReady, keep)
}

// mark writes a file that says how far the repair is, for good.
func (r *repairing) mark(name, text string) error {
	for _, dir := range []string{filepath.Join(r.work, "new"), r.work} {
		if err := syncFolder(dir); err != nil {
			return err
		}
	}
	part := filepath.Join(r.work, name+".part")
	f, err := os.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(part, filepath.Join(r.work, name)); err != nil {
		return err
	}
	return syncFolder(r.work)
}

// swap moves the damaged files away and the new store into their place. It goes on where
// an earlier run was ended.
func (r *repairing) swap() error {
	b, err := os.ReadFile(filepath.Join(r.work, repairReady))
	if err != nil {
		return err
	}
	keep := filepath.Join(r.config.Data, filepath.Base(string(b)))
	if !exists(filepath.Join(r.work, repairMoved)) {
		if err := makeFolder(keep, syncFolder); err != nil {
			return err
		}
		if err := r.moveAll(r.config.Data, keep); err != nil {
			return err
		}
		if err := r.mark(repairMoved, ""); err != nil {
			return err
		}
	}
	if err := r.moveAll(filepath.Join(r.work, "new"), r.config.Data); err != nil {
		return err
	}
	if err := os.RemoveAll(r.work); err != nil {
		return err
	}
	fmt.Fprintf(r.out, "the store in %s is repaired; the damaged files are kept in %s: remove them when you have looked at the store\n", r.config.Data, keep)
	return syncFolder(r.config.Data)
}

// moveAll moves the files of a store that are there from one folder to another.
func (r *repairing) moveAll(from, to string) error {
	for _, name := range storeFiles {
		if err := os.Rename(filepath.Join(from, name), filepath.Join(to, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return errors.Join(syncFolder(from), syncFolder(to))
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// errRepairing refuses a data folder whose repair was cut off while the files were moved.
func errRepairing(dir string) error {
	if !exists(filepath.Join(dir, repairFolder, repairReady)) {
		return nil
	}
	return fault.New(fault.Unavailable, "a repair of the store in %s was cut off: run loregate repair --data %s, which goes on with it", dir, dir)
}
