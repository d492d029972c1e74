package studio

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/blob"
	"loregate/internal/canon"
	"loregate/internal/lazyregexp"
	"loregate/internal/markup"
	"loregate/internal/slicesx"
)

// Config configures a Studio. Canon, Dir and Blobs are required.
type Config struct {
	Canon    *canon.Canon
	Blobs    *blob.Store
	Dir      string // the studio's folder, below the data folder
	Adapters []Adapter
	Policy   Policy
	Model    Model              // proposes plans; nil: only the rules do
	Queue    *Queue             // hands runs to workers; nil: this process does all runs
	Ended    func(state string) // called with the final state of each run; may be nil
	Now      func() time.Time
	NewID    func() uuid.UUID
	Logger   *slog.Logger
}

// Studio is the control plane. It is safe for concurrent use, and several processes may share its
// folder. The caller closes it.
type Studio struct {
	canon    *canon.Canon
	blobs    *blob.Store
	dir      string
	adapters []Adapter
	policy   Policy
	model    Model
	queue    *Queue
	config   string // hash of the configuration that results depend on
	ended    func(string)
	now      func() time.Time
	newID    func() uuid.UUID
	logger   *slog.Logger
	ops      map[string]checker // the tools' operations, used to check inputs

	mu    sync.Mutex // guards the fields below
	books map[access.WorldID]*book
	slots map[string]*slot
	live  map[uuid.UUID]*liveRun

	liveChanged chan struct{} // closed, and made anew, when a run begins or ends in this process
}

// checker checks an input against a tool's schema and fills in defaults.
type checker interface {
	Check(input json.RawMessage) (json.RawMessage, error)
}

// Open makes a Studio. It starts no program.
func Open(c Config) (*Studio, error) {
	if c.Canon == nil || c.Blobs == nil || c.Dir == "" {
		return nil, errors.New("studio: Canon, Blobs and Dir are needed")
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.NewID == nil {
		c.NewID = func() uuid.UUID { return uuid.Must(uuid.NewV7()) }
	}
	c.Logger = cmp.Or(c.Logger, slog.Default())
	if c.Ended == nil {
		c.Ended = func(string) {}
	}
	dir, err := filepath.Abs(c.Dir)
	if err != nil {
		return nil, fmt.Errorf("studio: %w", err)
	}
	s := &Studio{canon: c.Canon, blobs: c.Blobs, dir: dir, adapters: c.Adapters, policy: c.Policy, model: c.Model,
		queue: c.Queue, ended: c.Ended,
		now: c.Now, newID: c.NewID, logger: c.Logger, ops: map[string]checker{},
		books: map[access.WorldID]*book{}, slots: map[string]*slot{}, live: map[uuid.UUID]*liveRun{},
		liveChanged: make(chan struct{})}
	s.config = configHash(c)
	s.sweepScratch()
	return s, nil
}

// configHash returns a hash of the configuration that results can depend on: the tools with their
// versions, and the policy.
func configHash(c Config) string {
	type version struct{ Name, Version string }
	v := slicesx.Map(tools, func(t Tool) version { return version{t.Name, t.Version} })
	b, err := json.Marshal(struct {
		Protocol string
		Tools    []version
		Policy   struct {
			Destructive  bool
			Calls        int
			Tools, Kinds []string
		}
	}{Protocol: Protocol, Tools: v, Policy: struct {
		Destructive  bool
		Calls        int
		Tools, Kinds []string
	}{c.Policy.AllowDestructive, c.Policy.callLimit(), c.Policy.Tools, c.Policy.Targets}})
	if err != nil {
		return "" // this struct always has a JSON form
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// errClosing is the cause when runs stop because the process closes.
var errClosing = fmt.Errorf("studio: closing: %w", context.Canceled)

// handsOver reports whether runs are left to workers.
func (s *Studio) handsOver() bool { return s.queue != nil && s.queue.HandOver }

// Close cancels the runs under way, waits for them, and closes all targets.
func (s *Studio) Close() {
	s.mu.Lock()
	live := make([]*liveRun, 0, len(s.live))
	for _, l := range s.live {
		live = append(live, l)
	}
	s.mu.Unlock()
	for _, l := range live {
		l.cancel(errClosing)
		<-l.done
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, sl := range s.slots {
		sl.turn <- struct{}{}
		sl.target.Close()
		<-sl.turn
	}
}

// slot is a target with its lock and its queue.
type slot struct {
	name    string
	adapter Adapter
	target  Target
	dir     string
	turn    chan struct{} // full while the target is in use in this process
	mu      sync.Mutex    // guards waiting
	waiting int
}

// acquire waits until this process and all others that share the folder have released the target.
// It calls ahead with the number of runs before this one, if there are any.
func (sl *slot) acquire(ctx context.Context, ahead func(n int)) (release func(), err error) {
	sl.mu.Lock()
	n := sl.waiting
	sl.waiting++
	sl.mu.Unlock()
	leave := func() {
		sl.mu.Lock()
		sl.waiting--
		sl.mu.Unlock()
	}
	if n > 0 {
		ahead(n)
	}
	select {
	case sl.turn <- struct{}{}:
	case <-ctx.Done():
		leave()
		return nil, context.Cause(ctx)
	}
	unlock, err := lockFile(ctx, filepath.Join(sl.dir, "lock"))
	if err != nil {
		<-sl.turn
		leave()
		return nil, err
	}
	return func() {
		unlock()
		<-sl.turn
		leave()
	}, nil
}

var targetForm = lazyregexp.New(`^[a-z]+(:[A-Za-z0-9][A-Za-z0-9_-]{0,39})?$`)

// resolveTarget finds the target for a tool: the named one, or without a name the only kind that
// supports the tool.
func (s *Studio) resolveTarget(t *Tool, name string) (Adapter, string, error) {
	if name != "" {
		if !targetForm.MatchString(name) {
			return nil, "", Fail(Validation, "target: %q is not KIND or KIND:NAME; list_targets lists the kinds",
				markup.Shorten(name, 60))
		}
		kind, _, _ := strings.Cut(name, ":")
		for _, a := range s.adapters {
			if a.Kind() == kind {
				return a, name, checkSupport(a, t)
			}
		}
		return nil, "", Fail(Validation, "target: there is no %q here; there is %s", kind, strings.Join(s.Kinds(), ", "))
	}
	fit := slicesx.Filter(s.adapters, func(a Adapter) bool {
		support := a.Tools()[t.Name]
		return support.Does && !support.Named
	})
	switch len(fit) {
	case 0:
		return nil, "", Fail(NotSupported, "no target here supports %s", t.Name)
	case 1:
		return fit[0], fit[0].Kind(), nil
	}
	names := slicesx.Map(fit, Adapter.Kind)
	return nil, "", Fail(Validation, "target: several are possible; name one of %s", strings.Join(names, ", "))
}

func checkSupport(a Adapter, t *Tool) error {
	if sup := a.Tools()[t.Name]; !sup.Does {
		return Fail(NotSupported, "%s does not support %s: %s", a.Kind(), t.Name, sup.Note)
	}
	return nil
}

// Kinds returns the kinds of targets that are set up here.
func (s *Studio) Kinds() []string {
	return slicesx.Map(s.adapters, Adapter.Kind)
}

// openSlot returns the slot of a world's target, and opens the target at first use.
func (s *Studio) openSlot(w access.WorldID, a Adapter, name string) (*slot, error) {
	key := w.String() + "/" + name
	s.mu.Lock()
	defer s.mu.Unlock()
	if sl := s.slots[key]; sl != nil {
		return sl, nil
	}
	dir := filepath.Join(s.dir, "targets", w.String(), strings.ReplaceAll(name, ":", "_"))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, Fail(IOFailed, "the target's folder cannot be created").Because(err)
	}
	target, err := a.Open(Place{World: w, Name: name, Dir: dir, Files: s.newKeeper(nil)})
	if err != nil {
		return nil, err
	}
	sl := &slot{name: name, adapter: a, target: target, dir: dir, turn: make(chan struct{}, 1)}
	s.slots[key] = sl
	return sl, nil
}

func (s *Studio) newKeeper(find func(context.Context, string) (Artifact, error)) *fileKeeper {
	return &fileKeeper{Kept: Kept{s.blobs}, find: find, roots: s.policy}
}

// worldTargets lists the names of the targets that a world has used, and every kind.
func (s *Studio) worldTargets(w access.WorldID) []string {
	names := s.Kinds()
	dirs, err := os.ReadDir(filepath.Join(s.dir, "targets", w.String()))
	if err != nil {
		return names // no target was used yet
	}
	for _, d := range dirs {
		name := strings.Replace(d.Name(), "_", ":", 1)
		if targetForm.MatchString(name) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
