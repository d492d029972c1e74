package blender

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// entry is what one run did to a scene. A journal is a file of them, one JSON object a
// line; an entry that undoes takes the one before it off.
type entry struct {
	Run    string `json:"run"`
	Reset  bool   `json:"reset,omitempty"` // the scene was emptied first
	Ops    []raw  `json:"ops,omitempty"`
	Undoes string `json:"undoes,omitempty"`
}

// journal is all that a scene is made of.
type journal struct {
	file    string
	all     []entry // as they are in the file
	entries []entry // those in force
}

// load reads the file and drops the entries that known refuses: runs that never came to
// be recorded.
func (j *journal) load(known func(string) bool) error {
	b, err := os.ReadFile(j.file)
	if errors.Is(err, fs.ErrNotExist) {
		j.all, j.entries = nil, nil
		return nil
	}
	if err != nil {
		return err
	}
	j.all = j.all[:0]
	kept := 0
	for line := range bytes.Lines(b) {
		var e entry
		if json.Unmarshal(line, &e) != nil || !known(e.Run) {
			break // written half, or by a run that was not recorded: nothing after it counts
		}
		j.all = append(j.all, e)
		kept += len(line)
	}
	if kept < len(b) {
		if err := os.Truncate(j.file, int64(kept)); err != nil {
			return err
		}
	}
	j.fold()
	return nil
}

// fold finds the entries in force.
func (j *journal) fold() {
	j.entries = nil
	for _, e := range j.all {
		if e.Undoes == "" {
			j.entries = append(j.entries, e)
			continue
		}
		j.without(e.Undoes)
	}
}

// without leaves the last entry in force out, where it is a run's.
func (j *journal) without(run string) {
	if n := len(j.entries); n > 0 && j.entries[n-1].Run == run {
		j.entries = slices.Clone(j.entries[:n-1])
	}
}

// rejoin puts back what without left out.
func (j *journal) rejoin() { j.fold() }

// append adds an entry, durably.
func (j *journal) append(e entry) error {
	line, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("blender: journal: %w", err)
	}
	f, err := os.OpenFile(j.file, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	if _, err = f.Write(append(line, '\n')); err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	j.all = append(j.all, e)
	j.fold()
	return nil
}

// identity names the state that the entries in force make.
func (j *journal) identity() string { return identityOf(j.entries) }

func identityOf(entries []entry) string {
	h := sha256.New()
	for _, e := range entries {
		fmt.Fprintln(h, e.Run)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// checkpointOps is after how many operations a scene is saved: replaying takes about
// 0.2 ms for each, opening a saved scene some 100 ms.
const checkpointOps = 1500

// point is a saved scene, and which entries are in it.
type point struct {
	Entries  int    `json:"entries"`
	Identity string `json:"identity"`
	file     string
	entries  int
}

func (j *journal) pointFile() string { return filepath.Join(filepath.Dir(j.file), "checkpoint.json") }

// checkpoint finds the saved scene, where it is a state on the way to the present one.
func (j *journal) checkpoint() (p point, ok bool) {
	b, err := os.ReadFile(j.pointFile())
	if err != nil || json.Unmarshal(b, &p) != nil || p.Entries > len(j.entries) || p.Entries == 0 {
		return p, false
	}
	p.entries, p.file = p.Entries, filepath.Join(filepath.Dir(j.file), "checkpoint.blend")
	if _, err := os.Stat(p.file); err != nil {
		return p, false
	}
	return p, identityOf(j.entries[:p.Entries]) == p.Identity
}

// since counts the operations that a restore would replay.
func (j *journal) since() int {
	entries := j.entries
	if p, ok := j.checkpoint(); ok {
		entries = entries[p.entries:]
	}
	n := 0
	for _, e := range entries {
		if e.Reset {
			n = 0
		}
		n += len(e.Ops)
	}
	return n
}

// saved adopts a scene that was saved as file.part. What is between its steps is no
// checkpoint: the identity would not fit.
func (j *journal) saved(file string) {
	_ = os.Remove(j.pointFile()) // it may not be there
	b, err := json.Marshal(point{Entries: len(j.entries), Identity: j.identity()})
	if err == nil && os.Rename(file+".part", file) == nil {
		_ = os.WriteFile(j.pointFile(), b, 0o600) // without it there is no checkpoint, no more
	}
}
