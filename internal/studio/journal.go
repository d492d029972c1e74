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
	// Of names the run, and the run that it took back: "" for none.
	Of() (run, undoes string)
}

// Journal is all that a target is made of: a file of entries, one JSON object a line, in
// the order of their runs. An entry that undoes takes the last one in force off. It is used
// under the target's lock.
type Journal[E Entry] struct {
	File  string
	all   []E   // as they are in the file
	force []E   // those in force
	read  int64 // bytes of the file that all was read from
}

// Load reads on in the file. Where it comes to an entry that is written half, or that known
// refuses, it cuts that and all after it off: what such a run left was never recorded.
func (j *Journal[E]) Load(known func(run string) bool) error {
	if slices.ContainsFunc(j.all, func(e E) bool { return !known(runOf(e)) }) {
		j.all, j.read = nil, 0
	}
	rest, err := j.unread()
	if err != nil {
		return err
	}
	cut := false
	for line := range bytes.Lines(rest) {
		var e E
		if cut = json.Unmarshal(line, &e) != nil || !known(runOf(e)); cut {
			break
		}
		j.all = append(j.all, e)
		j.read += int64(len(line))
	}
	j.fold()
	if cut {
		return os.Truncate(j.File, j.read)
	}
	return nil
}

// unread gives what is in the file after what was read; all of it where it became shorter.
func (j *Journal[E]) unread() ([]byte, error) {
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

func (j *Journal[E]) fold() {
	j.force = nil
	for _, e := range j.all {
		if _, undoes := e.Of(); undoes == "" {
			j.force = append(j.force, e)
		} else {
			j.Without(undoes)
		}
	}
}

func runOf[E Entry](e E) string {
	run, _ := e.Of()
	return run
}

// Without leaves a run out that is the last in force, until Rejoin.
func (j *Journal[E]) Without(run string) {
	if n := len(j.force); n > 0 && runOf(j.force[n-1]) == run {
		j.force = slices.Clone(j.force[:n-1])
	}
}

// Rejoin puts back what Without left out.
func (j *Journal[E]) Rejoin() { j.fold() }

// Force are the entries in force, first the oldest. They are not to be changed.
func (j *Journal[E]) Force() []E { return j.force }

// Runs are the runs in force.
func (j *Journal[E]) Runs() []string {
	runs := make([]string, len(j.force))
	for i, e := range j.force {
		runs[i] = runOf(e)
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
	j.fold()
	return nil
}

// Copy appends to another journal what the first runs left: those that keep names.
func (j *Journal[E]) Copy(to *Journal[E], keep func(run string) bool) error {
	if err := j.Load(func(string) bool { return true }); err != nil {
		return Fail(IOFailed, "the target's journal cannot be read").Because(err)
	}
	for _, e := range j.all {
		if !keep(runOf(e)) {
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
	if n := len(j.force); n > 0 && runOf(j.force[n-1]) == run {
		j.Without(run)
		return true, nil
	}
	is := func(e E) bool { return runOf(e) == run }
	i := slices.IndexFunc(j.force, is)
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
