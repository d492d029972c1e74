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

// A repair works in its own folder in the data folder, and can be interrupted at any moment:
//
//	repair/damaged   copies of the damaged files, to read from
//	repair/new       the new store
//	repair/ready     the new store is proved; holds the name of the folder for the damaged files
//	repair/moved     the damaged files have been moved to that folder
//
// Before ready exists nothing is changed, and the next run starts again. After that the next run
// continues, and no other command opens the store until the repair is complete.
const (
	repairFolder = "repair"
	repairReady  = "ready"
	repairMoved  = "moved"
)

// storeFiles are the names of the files that make up a store.
var storeFiles = []string{StoreFile, StoreFile + "-wal", StoreFile + "-shm", recordsFile, recordsFile + "-wal",
	recordsFile + "-shm"}

const recordsFile = StoreFile + "-access"

// repairRoom is the free space that a repair needs, as a multiple of the store's size: for the copy
// that is read, the new store, and the new store's log.
const repairRoom = 3

// Repair builds a new store from the readable parts of the damaged store in a data folder, proves
// it, and puts it in place of the damaged files, which are kept. If something cannot be recovered,
// Repair names it and changes nothing, unless acceptLoss is set. It refuses to run while another
// process has the store open.
//
// The streams of the named worlds may lack commits: each is begun anew after its last whole commit, by a commit
// that records the gap and keeps the cards as the tables have them. With acceptLoss ledgers that lack commits
// are cut off. In a database Repair does only that, in place.
func Repair(ctx context.Context, c Config, worlds []string, acceptLoss bool, out io.Writer) (err error) {
	if c.Database != "" {
		if len(worlds) > 0 {
			return repairDatabase(ctx, c, mending{worlds: worlds, cut: acceptLoss, out: out})
		}
		return fault.New(fault.Rule,
			"the store is in PostgreSQL and is repaired with its own tools: restore a backup with pg_restore, then run "+
				"loregate audit verify and loregate rebuild; for a world that lacks commits name it with --world")
	}
	r := repairRun{ctx: ctx, config: c, work: filepath.Join(c.Data, repairFolder), out: out,
		mending: mending{worlds: worlds, cut: acceptLoss, out: out}}
	defer func() { err = disk.Explain(c.Data, err) }()
	if fileExists(filepath.Join(r.work, repairReady)) {
		fmt.Fprintln(out, "continuing an interrupted repair")
		return r.swapFiles()
	}
	held, err := r.lockStoreFiles()
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
	if err := r.buildNewStore(held, acceptLoss); err != nil {
		return errors.Join(err, os.RemoveAll(r.work))
	}
	return r.swapFiles()
}

// repairRun is one run of Repair.
type repairRun struct {
	ctx    context.Context // context of the one Repair call
	config Config
	work   string
	out    io.Writer
	lost   []sqlite.Loss
	mending
}

// lockStoreFiles keeps other processes from opening the store until the returned files are closed.
func (r *repairRun) lockStoreFiles() (held []*os.File, err error) {
	for _, name := range []string{StoreFile, recordsFile} {
		f, err := lockStoreFile(filepath.Join(r.config.Data, name))
		switch {
		case errors.Is(err, os.ErrNotExist) && name != StoreFile:
			continue
		case errors.Is(err, os.ErrNotExist):
			err = fault.New(fault.NotFound, "there is no store in %s; name its folder with --data", r.config.Data)
		case errors.Is(err, errHeld):
			err = fault.New(fault.Conflict,
				"another process has opened the store: stop the server and every client that runs loregate mcp on %s, then "+
					"repair again", r.config.Data)
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

// buildNewStore builds the new store and proves it.
func (r *repairRun) buildNewStore(held []*os.File, acceptLoss bool) error {
	if err := r.requireFreeSpace(); err != nil {
		return err
	}
	from, to := filepath.Join(r.work, "damaged"), filepath.Join(r.work, "new")
	if err := os.MkdirAll(from, 0o700); err != nil {
		return err
	}
	for _, name := range storeFiles {
		if strings.HasSuffix(name, "-shm") {
			continue // SQLite creates it again
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
	failed := r.rebuildAndProve(to)
	r.printLosses()
	if failed != nil {
		return nothingChanged(failed)
	}
	return r.checkLosses(acceptLoss)
}

// nothingChanged wraps the error of a failed repair: the store is unchanged, and the person should
// restore a backup.
func nothingChanged(err error) error {
	return (&fault.Error{Kind: fault.Unavailable,
		Message: "the store cannot be repaired: restore a backup (docs/operations.md). Nothing was changed"}).Because(err)
}

// requireFreeSpace returns an error if the disk has too little room for the repair.
func (r *repairRun) requireFreeSpace() error {
	var size uint64
	for _, name := range storeFiles {
		if info, err := os.Stat(filepath.Join(r.config.Data, name)); err == nil {
			size += uint64(info.Size())
		}
	}
	return disk.Need(r.config.Data, repairRoom*size, fmt.Sprintf("the repair, which takes %d times the store,",
		repairRoom))
}

// copyFile copies a file of the store. It reads a locked file through the handle in held, since
// closing a second handle would release the lock.
func (r *repairRun) copyFile(held []*os.File, name, to string) (err error) {
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
		defer func() { _ = from.Close() }() // the file was only read
	}
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, from)
	return errors.Join(err, f.Close())
}

// rebuildAndProve rebuilds the tables of a salvaged store from its streams, then verifies chains,
// contents, tables, and the files themselves.
func (r *repairRun) rebuildAndProve(folder string) (err error) {
	s, err := openStore(r.ctx, r.config.withAddress(folder), Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := r.mendStreams(r.ctx, s, r.openDamaged); err != nil {
		return err
	}
	streams, err := canon.VerifyStreams(r.ctx, s)
	if err != nil {
		return err
	}
	for i, l := range r.lost { // the chains are whole, or say what they lack
		r.lost[i].Dispensable = l.Dispensable || strings.HasPrefix(l.What, "commits: ")
	}
	c := canon.New(canon.Config{Store: s})
	for _, v := range streams {
		w, ok := canon.StreamWorld(v.Stream)
		if !ok {
			continue
		}
		if err := r.listMissingTexts(s, w); err != nil {
			return err
		}
		if err := withOperatorGrant(r.ctx, func(g access.Grant) error {
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
	v, err := access.VerifySegments(r.ctx, s, nil)
	if broken := (*access.BrokenSegment)(nil); errors.As(err, &broken) {
		r.lost = append(r.lost, sqlite.Loss{What: err.Error()})
	} else if err != nil {
		return err
	}
	fmt.Fprintf(r.out, "recovered and verified: %d chains with %d commits, %d access records\n", len(streams),
		commitsOf(streams), v.Records)
	return nil
}

// openDamaged opens the copy of the damaged files, whose tables show the worlds as they were.
func (r *repairRun) openDamaged() (store, error) {
	return openStore(r.ctx, r.config.withAddress(filepath.Join(r.work, "damaged")), Options{Existing: true, Damaged: true})
}

// maxListedLosses is the number of losses that are listed one by one.
const maxListedLosses = 50

// listMissingTexts adds to the losses the texts that commits name and the store does not have. It
// does so only if texts are known to be lost, and leaves out the texts that a purge erased.
func (r *repairRun) listMissingTexts(s store, w access.WorldID) error {
	known := false
	for _, l := range r.lost {
		known = known || strings.HasPrefix(l.What, "texts of cards")
	}
	if !known {
		return nil
	}
	var list []missingText
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
					list = append(list, missingText{rec.Seq, *ch.Card})
				}
			}
		}
		return nil
	})
	more := 0
	for _, n := range list {
		switch {
		case purged[n.card.Content]:
		case len(r.lost) > maxListedLosses:
			more++
		default:
			r.lost = append(r.lost, sqlite.Loss{What: fmt.Sprintf("the text that commit %d of world %s gave the card ~%s (%q)",
				n.at, w, n.card.ID, n.card.Part)})
		}
	}
	if more > 0 {
		r.lost = append(r.lost, sqlite.Loss{What: fmt.Sprintf("and %d more texts of world %s", more, w)})
	}
	return err
}

// missingText is a text that a commit names and the store does not have.
type missingText struct {
	at   canon.Seq
	card canon.CardImage
}

// printLosses prints the list of losses.
func (r *repairRun) printLosses() {
	for _, l := range r.lost {
		fmt.Fprintln(r.out, "lost:", l.What)
	}
	if len(r.lost) == 0 {
		fmt.Fprintln(r.out, "lost: nothing")
	}
}

// checkLosses returns an error for serious losses that are not accepted, and otherwise marks the
// new store as ready.
func (r *repairRun) checkLosses(acceptLoss bool) error {
	serious := slices.ContainsFunc(r.lost, func(l sqlite.Loss) bool { return !l.Dispensable })
	if serious && !acceptLoss {
		return fault.New(fault.Rule,
			"the data listed as lost cannot be recovered: restore a backup, or repair without this data with --accept-loss. "+
				"Nothing was changed")
	}
	keep := "damaged-" + time.Now().UTC().Format("20060102T150405Z")
	return r.writeMarker(repairReady, keep)
}

// writeMarker durably writes a marker file, which records how far the repair has come.
func (r *repairRun) writeMarker(name, text string) error {
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

// swapFiles moves the damaged files away and the new store into their place. It continues where an
// interrupted run stopped.
func (r *repairRun) swapFiles() error {
	b, err := os.ReadFile(filepath.Join(r.work, repairReady))
	if err != nil {
		return err
	}
	keep := filepath.Join(r.config.Data, filepath.Base(string(b)))
	if !fileExists(filepath.Join(r.work, repairMoved)) {
		if err := makeFolder(keep, syncFolder); err != nil {
			return err
		}
		if err := r.moveAll(r.config.Data, keep); err != nil {
			return err
		}
		if err := r.writeMarker(repairMoved, ""); err != nil {
			return err
		}
	}
	if err := r.moveAll(filepath.Join(r.work, "new"), r.config.Data); err != nil {
		return err
	}
	if err := os.RemoveAll(r.work); err != nil {
		return err
	}
	fmt.Fprintf(r.out, "the store in %s is repaired; the damaged files are kept in %s: remove them when you have "+
		"checked the store\n", r.config.Data, keep)
	return syncFolder(r.config.Data)
}

// moveAll moves the files of a store that exist from one folder to another.
func (r *repairRun) moveAll(from, to string) error {
	for _, name := range storeFiles {
		if err := os.Rename(filepath.Join(from, name), filepath.Join(to, name)); err != nil &&
			!errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return errors.Join(syncFolder(from), syncFolder(to))
}

func fileExists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// errRepairing returns an error if a repair of the data folder was interrupted while files were
// moved.
func errRepairing(dir string) error {
	if !fileExists(filepath.Join(dir, repairFolder, repairReady)) {
		return nil
	}
	return fault.New(fault.Unavailable,
		"a repair of the store in %s was interrupted: run loregate repair --data %s, which continues it", dir, dir)
}
