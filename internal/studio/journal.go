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
)

// Entry is what one run left in a target, in its adapter's words.
type Entry interface {
	// RunIDs names the run, and the run that it took back: "" for none.
	RunIDs() (run, undoes string)
}

// Journal is all that a target is made of: a file of entries, one JSON object a line, in
// the order of their runs. An entry that undoes takes the last one in force off. It is used
// under the target's lock.
type Journal[E Entry] struct {
	File   string
	all    []E   // as they are in the file
	active []E   // those in force
	read   int64 // bytes of the file that all was read from
}

// Load reads on in the file. Where it comes to an entry that is written half, or that known
// refuses, it cuts that and all after it off: what such a run left was never recorded.
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

// readNew gives what is in the file after what was read; all of it where it became shorter.
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

// Exclude leaves a run out that is the last in force, until Rejoin.
func (j *Journal[E]) Exclude(run string) {
	if n := len(j.active); n > 0 && entryRun(j.active[n-1]) == run {
		j.active = slices.Clone(j.active[:n-1])
	}
}

// IncludeAll puts back what Without left out.
func (j *Journal[E]) IncludeAll() { j.foldEntries() }

// Active are the entries in force, first the oldest. They are not to be changed.
func (j *Journal[E]) Active() []E { return j.active }

// Runs are the runs in force.
func (j *Journal[E]) Runs() []string {
	runs := make([]string, len(j.active))
	for i, e := range j.active {
		runs[i] = entryRun(e)
	}
	return runs
}

// Append adds an entry, durably.
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

// Copy appends to another journal what the first runs left: those that keep names.
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

// Undo leaves the last run in force out. A run that left the target as it found it needs no
// undoing: that is false. One that later runs rest on, or that is undone, is refused.
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
		return false, Fail(Validation, "run %s left nothing in %s that is there now", run, target)
	}
	later := j.Runs()[i+1:]
	slices.Reverse(later)
	return false, Fail(Validation, "later runs rest on it; take these back first, in this order: %s", strings.Join(later, ", "))
}
