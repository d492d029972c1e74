// Package studio turns intent and lore into scenes: it makes operations that authoring
// programs execute, and remembers what was done.
//
// Its invariant: a run either happened whole, is recorded and can be repeated, or left its
// target as it was; and a result is what was found on the thing itself, never a program's
// say-so. What a program can do is its adapter's matter, below this package; nothing that
// a caller or a model wrote is ever run as code.
package studio

import (
	"context"
	"encoding/json"
	"io"

	"loregate/internal/access"
)

type raw = json.RawMessage

// Adapter is one kind of authoring program.
type Adapter interface {
	// Kind is "blender", "godot" or "unreal".
	Kind() string
	// Tools are the tools it carries out; for others it says why not.
	Tools() map[string]Support
	// Probe says which version is there. Its error is a *Failure: Missing, with what to
	// install, or TargetGone. It is quick and starts nothing that stays.
	Probe(ctx context.Context) (TargetInfo, error)
	// Open opens a target: a session, a project. Nothing is started before it is used.
	Open(at Place) (Target, error)
}

// Support is how far an adapter carries a tool out.
type Support struct {
	Does bool
	Note string // how, or why not
}

// Place says where a target keeps what it must remember.
type Place struct {
	World access.WorldID
	Name  string
	Dir   string // the target's own folder
	Files Files
}

// Files keeps what runs make, by hash.
type Files interface {
	// Put keeps bytes and gives their hash.
	Put(ctx context.Context, r io.Reader) (sum string, size int64, err error)
	// Path is where kept bytes lie, for programs that read files.
	Path(sum string) (string, error)
}

// Target is one session or project. The studio calls it from one goroutine at a time,
// between Begin and the end of the transaction.
type Target interface {
	// Begin starts a transaction on the state that is recorded: runs that known refuses
	// were not, and what they left is dropped.
	Begin(ctx context.Context, known func(run string) bool) (Txn, error)
	// Fork gives a target of its own in a folder, in the state that this one had after the
	// runs that keep names, which are the first ones.
	Fork(ctx context.Context, at Place, keep func(run string) bool) (Target, error)
	// Close stops what runs. The target may be used again.
	Close()
}

// Txn is a transaction on a target. It ends with Commit or Rollback.
type Txn interface {
	Info() TargetInfo
	// Digest is a hash of all that the target holds: equal for equal states, in every
	// process.
	Digest(ctx context.Context) (string, error)
	// Names lists what the target holds, for diffs.
	Names(ctx context.Context) ([]string, error)
	// Do carries out one call. Where it fails the transaction can only be rolled back.
	Do(ctx context.Context, w *Work) (result any, err error)
	// Undo takes the latest run back; the transaction holds the state before it.
	Undo(ctx context.Context, run string) error
	// Commit makes the state last, as what a run left. It lasts for others once the run is
	// recorded.
	Commit(ctx context.Context, run string) error
	// Rollback leaves the target as it was.
	Rollback(ctx context.Context) error
}

// Work is one call of a tool, as an adapter gets it.
type Work struct {
	Tool  string
	Input raw // complete with defaults, checked against the tool's schema
	Seed  uint64
	Dry   bool   // nothing is kept: artifacts need not be made
	Dir   string // folder for what passes by; taken away afterwards
	Card  *Card  // the card that was asked for; nil for none
	run   *Run
	files *fileKeeper
	// Progress reports how far the call is. Never nil.
	Progress func(done, total float64, message string)
}

// Card is a card of the canon, as the run's audience reads it.
type Card struct {
	ID      string
	Name    string
	Type    string
	Text    string // plain
	Terrain string
	Tags    []string
	Version uint32
}

// Warn adds a warning to the run.
func (w *Work) Warn(text string) { w.run.Warnings = append(w.run.Warnings, text) }

// Read gives the call's input in its own type.
func Read[T any](w *Work) (v T, err error) {
	if err = json.Unmarshal(w.Input, &v); err != nil {
		err = Fail(Validation, "%s: the input does not fit: %v", w.Tool, err)
	}
	return v, err
}
