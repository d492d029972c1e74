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

// entry is the change that one run made to a scene.
type entry struct {
	Run    string   `json:"run"`
	Reset  bool     `json:"reset,omitempty"` // the run emptied the scene first
	Ops    []raw    `json:"ops,omitempty"`
	Undoes string   `json:"undoes,omitempty"`
	Scenes []string `json:"scenes,omitempty"` // hashes of the scenes that the run built
}

// RunIDs returns the run's id and the id of the run that it undid.
func (e entry) RunIDs() (run, undoes string) { return e.Run, e.Undoes }

// journal is the full description of a scene.
type journal struct{ studio.Journal[entry] }

// stateIdentity returns a hash that identifies the state after the active entries.
func (j *journal) stateIdentity() string { return identityOf(j.Active()) }

func identityOf(entries []entry) string {
	h := sha256.New()
	for _, e := range entries {
		fmt.Fprintln(h, e.Run)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// checkpointOps is the number of operations after which a scene is saved: replaying takes about 0.2
// ms per operation, opening a saved scene about 100 ms.
const checkpointOps = 1500

// checkpoint is a saved scene, with the number of entries that it includes.
type checkpoint struct {
	Entries  int    `json:"entries"`
	Identity string `json:"identity"`
	file     string
	entries  int
}

func (j *journal) pointFile() string { return filepath.Join(filepath.Dir(j.File), "checkpoint.json") }

// findCheckpoint returns the saved scene if the journal's active entries begin with those that it
// includes.
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

// adoptCheckpoint makes the scene saved as file.part the checkpoint. If it stops halfway there is
// no valid checkpoint, because the identity does not match.
func (j *journal) adoptCheckpoint(file string) {
	_ = os.Remove(j.pointFile()) // the file may not exist
	b, err := json.Marshal(checkpoint{Entries: len(j.Active()), Identity: j.stateIdentity()})
	if err == nil && os.Rename(file+".part", file) == nil {
		_ = os.WriteFile(j.pointFile(), b, 0o600) // if this fails, only the checkpoint is missing
	}
}
