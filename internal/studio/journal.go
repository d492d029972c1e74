package studio

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"loregate/internal/slicesx"
)

// Entry is the change that one run made to a target, in its adapter's format.
type Entry interface {
	// RunIDs returns the run's id, and the id of the run that it undid, or "".
	RunIDs() (run, undoes string)
}

// Journal is the full description of a target: a file of entries, one JSON object per line, in the
// order of their runs. An entry that undoes a run excludes that run, which must be the last active
// one. The caller holds the target's lock.
type Journal[E Entry] struct {
	File   string
	all    []E   // all entries of the file
	active []E   // the entries that are not undone
	read   int64 // bytes of the file that were read into all
}

// Load reads new entries of the file. At the first entry that is incomplete, or for which known
// returns false, it truncates the file: the run was never recorded.
func (j *Journal[E]) Load(known func(run string) bool) error {
	if slices.ContainsFunc(j.all, func(e E) bool { return !known(entryRun(e)) }) {
		j.all, j.read = nil, 0
	}
	rest, err := j.readNew()
	if err != nil {
		return err
	}
	cut := false
	for line := range bytes.Lines(rest) {
		var e E
		if cut = json.Unmarshal(line, &e) != nil || !known(entryRun(e)); cut {
			break
		}
		j.all = append(j.all, e)
		j.read += int64(len(line))
	}
	j.foldEntries()
	if cut {
		return os.Truncate(j.File, j.read)
	}
	return nil
}

// readNew returns the bytes of the file after the last read; if the file became shorter, all of it.
func (j *Journal[E]) readNew() ([]byte, error) {
	f, err := os.Open(j.File)
	if errors.Is(err, fs.ErrNotExist) {
		j.all, j.read = nil, 0
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() < j.read {
		j.all, j.read = nil, 0
	}
	return io.ReadAll(io.NewSectionReader(f, j.read, info.Size()-j.read))
}

func (j *Journal[E]) foldEntries() {
	j.active = nil
	for _, e := range j.all {
		if _, undoes := e.RunIDs(); undoes == "" {
			j.active = append(j.active, e)
		} else {
			j.Exclude(undoes)
		}
	}
}

func entryRun[E Entry](e E) string {
	run, _ := e.RunIDs()
	return run
}

// Exclude leaves run out of the active entries until IncludeAll, if it is the last of them.
func (j *Journal[E]) Exclude(run string) {
	if n := len(j.active); n > 0 && entryRun(j.active[n-1]) == run {
		j.active = slices.Clone(j.active[:n-1])
	}
}

// IncludeAll puts back the entries that Exclude left out.
func (j *Journal[E]) IncludeAll() { j.foldEntries() }

// Active returns the entries that are not undone, oldest first. The caller must not change them.
func (j *Journal[E]) Active() []E { return j.active }

// Runs returns the ids of the active runs.
func (j *Journal[E]) Runs() []string {
	return slicesx.Map(j.active, entryRun)
}

// Append adds an entry and syncs the file to disk.
func (j *Journal[E]) Append(e E) error {
	line, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("studio: journal: %w", err)
	}
	f, err := os.OpenFile(j.File, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	if _, err = f.Write(append(line, '\n')); err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	j.all, j.read = append(j.all, e), j.read+int64(len(line))+1
	j.foldEntries()
	return nil
}

// Copy appends the leading entries to another journal, up to the first that keep rejects.
func (j *Journal[E]) Copy(to *Journal[E], keep func(run string) bool) error {
	if err := j.Load(func(string) bool { return true }); err != nil {
		return Fail(IOFailed, "the target's journal cannot be read").Because(err)
	}
	for _, e := range j.all {
		if !keep(entryRun(e)) {
			break
		}
		if err := to.Append(e); err != nil {
			return Fail(IOFailed, "the target cannot be copied").Because(err)
		}
	}
	return nil
}

// Undo excludes the last active run and returns true. It returns false for a run that left no
// entry, because it changed nothing. It refuses a run that is undone already or that later runs
// depend on.
func (j *Journal[E]) Undo(run, target string) (bool, error) {
	if n := len(j.active); n > 0 && entryRun(j.active[n-1]) == run {
		j.Exclude(run)
		return true, nil
	}
	is := func(e E) bool { return entryRun(e) == run }
	i := slices.IndexFunc(j.active, is)
	switch {
	case !slices.ContainsFunc(j.all, is):
		return false, nil
	case i < 0:
		return false, Fail(Validation, "nothing that run %s made in %s exists now", run, target)
	}
	later := j.Runs()[i+1:]
	slices.Reverse(later)
	return false, Fail(Validation, "later runs depend on it; undo these first, in this order: %s",
		strings.Join(later, ", "))
}
