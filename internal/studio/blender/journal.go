package blender

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"loregate/internal/studio"
)

// entry is what one run did to a scene.
type entry struct {
	Run    string `json:"run"`
	Reset  bool   `json:"reset,omitempty"` // the scene was emptied first
	Ops    []raw  `json:"ops,omitempty"`
	Undoes string `json:"undoes,omitempty"`
}

// RunIDs names the run, and what it took back.
func (e entry) RunIDs() (run, undoes string) { return e.Run, e.Undoes }

// journal is all that a scene is made of.
type journal struct{ studio.Journal[entry] }

// stateIdentity names the state that the entries in force make.
func (j *journal) stateIdentity() string { return identityOf(j.Active()) }

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

// checkpoint is a saved scene, and which entries are in it.
type checkpoint struct {
	Entries  int    `json:"entries"`
	Identity string `json:"identity"`
	file     string
	entries  int
}

func (j *journal) pointFile() string { return filepath.Join(filepath.Dir(j.File), "checkpoint.json") }

// findCheckpoint finds the saved scene, where it is a state on the way to the present one.
func (j *journal) findCheckpoint() (p checkpoint, ok bool) {
	b, err := os.ReadFile(j.pointFile())
	if err != nil || json.Unmarshal(b, &p) != nil || p.Entries > len(j.Active()) || p.Entries == 0 {
		return p, false
	}
	p.entries, p.file = p.Entries, filepath.Join(filepath.Dir(j.File), "checkpoint.blend")
	if _, err := os.Stat(p.file); err != nil {
		return p, false
	}
	return p, identityOf(j.Active()[:p.Entries]) == p.Identity
}

// opsSinceCheckpoint counts the operations that a restore would replay.
func (j *journal) opsSinceCheckpoint() int {
	entries := j.Active()
	if p, ok := j.findCheckpoint(); ok {
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

// adoptCheckpoint adopts a scene that was saved as file.part. What is between its steps is no
// checkpoint: the identity would not fit.
func (j *journal) adoptCheckpoint(file string) {
	_ = os.Remove(j.pointFile()) // it may not be there
	b, err := json.Marshal(checkpoint{Entries: len(j.Active()), Identity: j.stateIdentity()})
	if err == nil && os.Rename(file+".part", file) == nil {
		_ = os.WriteFile(j.pointFile(), b, 0o600) // without it there is no checkpoint, no more
	}
}
