package blender

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"loregate/internal/lazyregexp"
	"loregate/internal/sandbox"
	"loregate/internal/studio"
	"loregate/internal/studio/spec"
)

type raw = json.RawMessage

// target is a scene and, while it is in use, the session that has it loaded.
type target struct {
	adapter      *Adapter
	at           studio.Place
	journal      *journal
	session      *session
	sessionState string          // identity of the journal state that the session has loaded; "" if unknown
	digest       string          // of the current scene; "" if unknown
	interrupted  bool            // a request was cancelled halfway: its undo log may be incomplete
	folder       *sandbox.Folder // all that the session sees; nil before the first one
}

// Begin starts a transaction: it loads the recorded journal and brings the session to that state.
func (t *target) Begin(ctx context.Context, known func(string) bool) (studio.Txn, error) {
	if err := t.journal.Load(known); err != nil {
		return nil, studio.Fail(studio.IOFailed, "the scene's journal cannot be read").Because(err)
	}
	if t.session != nil && !t.session.isAlive() {
		t.dropSession()
	}
	if err := t.ensureReady(ctx); err != nil {
		return nil, err
	}
	return &txn{target: t, info: studio.TargetInfo{Kind: "blender", Name: t.at.Name, Version: t.session.version}}, nil
}

// ensureReady starts a session if there is none and brings it to the journal's state.
func (t *target) ensureReady(ctx context.Context) error {
	if t.session == nil {
		if err := t.startSession(ctx); err != nil {
			return err
		}
	}
	if t.sessionState == t.journal.stateIdentity() {
		_, err := t.session.doOps(ctx, []raw{raw(`{"op":"begin"}`)})
		return t.toFailure(ctx, err)
	}
	return t.restoreState(ctx)
}

func (t *target) startSession(ctx context.Context) error {
	binary, err := t.adapter.findBinary()
	if err != nil {
		return err
	}
	if t.folder == nil {
		dir, err := os.MkdirTemp("", "loregate-blender-")
		if err == nil {
			t.folder, err = sandbox.OpenFolder(dir)
		}
		if err != nil {
			return studio.Fail(studio.IOFailed, "no temporary folder can be created").Because(err)
		}
	}
	t.session, err = t.adapter.startSession(ctx, binary, t.folder)
	if err != nil {
		t.session = nil
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return studio.Fail(studio.TargetGone, "Blender did not start; try the command %s --background --version",
			binary).Because(err)
	}
	t.sessionState = ""
	return nil
}

// dropSession ends a session that died or whose state is uncertain.
func (t *target) dropSession() {
	if t.session != nil {
		t.session.close()
	}
	t.session, t.sessionState, t.digest = nil, "", ""
}

// restoreState brings the session to the journal's state, starting from the checkpoint if it is
// valid, else from an empty scene.
func (t *target) restoreState(ctx context.Context) error {
	ops := []raw{raw(`{"op":"new"}`)}
	entries := t.journal.Active()
	if c, ok := t.journal.findCheckpoint(); ok {
		const name = "checkpoint.blend"
		if err := t.folder.CopyIn(name, c.file); err != nil {
			return studio.Fail(studio.IOFailed, "the saved scene cannot be read").Because(err)
		}
		defer func() { _ = t.folder.Remove(name) }() // the folder is removed with the target
		ops = []raw{mustJSON(map[string]string{"op": "open", "file": t.folder.Path(name)})}
		entries = entries[c.entries:]
	}
	t.sessionState, t.interrupted = "", false
	for _, e := range entries {
		if e.Reset {
			ops = []raw{raw(`{"op":"new"}`)}
		}
		ops = append(ops, e.Ops...)
	}
	ops = append(ops, raw(`{"op":"begin"}`))
	if _, err := t.sendOps(ctx, ops, nil); err != nil {
		return err
	}
	t.sessionState = t.journal.stateIdentity()
	return nil
}

// batchSize is the number of operations per request: large enough that round trips do not matter,
// small enough for frequent progress and quick cancellation.
const batchSize = 64

// sendOps carries out operations. The stored bytes that they refer to are in the session's folder meanwhile.
func (t *target) sendOps(ctx context.Context, ops []raw, progress func(done int)) (results []raw, err error) {
	for from := 0; from < len(ops); from += batchSize {
		part := make([]raw, 0, batchSize)
		for _, o := range ops[from:min(from+batchSize, len(ops))] {
			if !readOnlyOps.Match(o) {
				t.digest = ""
			}
			if o, err = locateBlob(o, t.copyBlob); err != nil {
				return nil, err
			}
			part = append(part, o)
		}
		r, err := t.session.doOps(ctx, part)
		_ = t.folder.Remove(blobDir) // the folder is removed with the target
		if err != nil {
			return nil, t.toFailure(ctx, err)
		}
		results = append(results, r...)
		if progress != nil {
			progress(from + len(part))
		}
	}
	return results, nil
}

// blobDir is the part of the session's folder that has copies of stored bytes.
const blobDir = "blobs"

// copyBlob copies stored bytes into the session's folder and returns their path there.
func (t *target) copyBlob(sum string) (string, error) {
	from, err := t.at.Files.Path(sum)
	if err != nil {
		return "", err
	}
	name := blobDir + "/" + filepath.Base(from)
	if t.folder.Has(name) {
		return t.folder.Path(name), nil
	}
	return t.folder.Path(name), t.folder.CopyIn(name, from)
}

// takeOut moves a file or a folder that the session wrote to a path of the server.
func (t *target) takeOut(name, to string) error {
	err := t.folder.CopyOut(name, to)
	if err = errors.Join(err, t.folder.Remove(name)); err != nil {
		return studio.Fail(studio.ExecFailed, "the files that Blender wrote cannot be taken over").Because(err)
	}
	return nil
}

// saveScene saves the scene as a .blend file.
func (t *target) saveScene(ctx context.Context, to string) error {
	const name = "scene.blend"
	op := fmt.Appendf(nil, `{"op":"save","file":%s}`, mustJSON(t.folder.Path(name)))
	if _, err := t.sendOps(ctx, []raw{op}, nil); err != nil {
		return err
	}
	return t.takeOut(name, to)
}

// locateBlob replaces the hash of stored bytes in an operation by their path.
func locateBlob(o raw, path func(sum string) (string, error)) (raw, error) {
	if !bytes.Contains(o, []byte(`"blob":"`)) {
		return o, nil
	}
	var fields map[string]any
	if err := json.Unmarshal(o, &fields); err != nil {
		return nil, fmt.Errorf("blender: operation: %w", err)
	}
	sum, _ := fields["blob"].(string)
	file, err := path(sum)
	if err != nil {
		return nil, studio.Fail(studio.IOFailed, "bytes of the scene are missing").Because(err)
	}
	delete(fields, "blob")
	fields["file"] = file
	return json.Marshal(fields)
}

// toFailure converts an error of the session to a Failure. It drops a session that ended or was
// killed.
func (t *target) toFailure(ctx context.Context, err error) error {
	var refused *opError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errDied) || errors.Is(err, errKilled):
		said := t.session.output.String()
		t.dropSession()
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return studio.Fail(studio.TargetGone,
			"Blender ended during the call; its scene is unchanged, try again").
			Because(fmt.Errorf("%w; it said: %s", err, said))
	case ctx.Err() != nil:
		t.interrupted = true
		return context.Cause(ctx)
	case errors.As(err, &refused) && refused.Code == "REFUSED":
		return studio.Fail(studio.Validation, "%s", refused.Text).Because(err)
	case errors.As(err, &refused):
		return studio.Fail(studio.ExecFailed, "Blender failed to carry out the operation").Because(err)
	}
	return err
}

// Fork makes a target with the scene in the state after the leading runs that keep accepts.
func (t *target) Fork(_ context.Context, at studio.Place, keep func(run string) bool) (studio.Target, error) {
	f := t.adapter.newTarget(at)
	return f, t.journal.Copy(&f.journal.Journal, keep)
}

// Close ends the session.
func (t *target) Close() {
	t.dropSession()
	if t.folder != nil {
		_ = t.folder.Close()
		_ = os.RemoveAll(t.folder.Path(".")) // the folder is temporary; a leftover is harmless
		t.folder = nil
	}
}

// txn is a transaction on a scene.
type txn struct {
	*target
	info  studio.TargetInfo
	reset bool
	ops   []raw
	undid string
	built []string // hashes of the scenes that this transaction built
}

func (x *txn) Info() studio.TargetInfo { return x.info }

// Runs returns the runs whose changes the scene includes.
func (x *txn) Runs() []string {
	if x.reset {
		return nil
	}
	return x.journal.Runs()
}

// Scenes returns the scenes that were built in the target.
func (x *txn) Scenes(context.Context) ([]*spec.Scene, error) {
	var sums []string
	for _, e := range x.journal.Active() {
		if e.Reset {
			sums = nil
		}
		sums = append(sums, e.Scenes...)
	}
	if x.reset {
		sums = nil
	}
	var list []*spec.Scene
	for _, sum := range append(sums, x.built...) {
		var s *spec.Scene
		file, err := x.at.Files.Path(sum)
		if err == nil {
			s, err = readScene(file)
		}
		if err != nil {
			return nil, studio.Fail(studio.IOFailed, "a scene of %s cannot be read", x.at.Name).Because(err)
		}
		list = append(list, s)
	}
	return list, nil
}

func readScene(file string) (*spec.Scene, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return spec.Decode(b)
}

// queryScene does one read-only operation and decodes its result.
func queryScene[T any](ctx context.Context, t *target, op any) (v T, err error) {
	r, err := t.sendOps(ctx, []raw{mustJSON(op)}, nil)
	if err != nil {
		return v, err
	}
	if err := json.Unmarshal(r[0], &v); err != nil {
		return v, fmt.Errorf("blender: result: %w", err)
	}
	return v, nil
}

// Digest asks Blender for the scene's digest; the value is cached until an operation changes the
// scene.
func (x *txn) Digest(ctx context.Context) (d string, err error) {
	if x.digest == "" {
		x.digest, err = queryScene[string](ctx, x.target, map[string]string{"op": "digest"})
	}
	return x.digest, err
}

// readOnlyOps matches operations that never change the scene.
var readOnlyOps = lazyregexp.New(`^\{"op":"(digest|names|list|counts|save)"`)

// listed is an object as the driver lists it: name, type, collection, location, dimensions,
// material.
type listed [6]raw

func (l listed) objectName() string {
	var s string
	_ = json.Unmarshal(l[0], &s) // the driver always lists a string
	return s
}

func (x *txn) Names(ctx context.Context) ([]string, error) {
	return queryScene[[]string](ctx, x.target, map[string]string{"op": "names"})
}

// clearScene empties the scene.
func (x *txn) clearScene(ctx context.Context) error {
	_, err := x.sendOps(ctx, []raw{raw(`{"op":"new"}`), raw(`{"op":"begin"}`)}, nil)
	x.reset, x.ops, x.built, x.sessionState = true, nil, nil, ""
	return err
}

// applyOps does operations that change the scene and adds them to the transaction's journal entry.
func (x *txn) applyOps(ctx context.Context, ops []raw, progress func(done int)) error {
	ops, err := x.storeLargeData(ctx, ops)
	if err != nil {
		return err
	}
	if _, err := x.sendOps(ctx, ops, progress); err != nil {
		return err
	}
	x.ops = append(x.ops, ops...)
	return nil
}

// maxInline is the largest operation, in bytes, that is stored in the journal itself; the data of
// larger ones goes to a file.
const maxInline = 64 << 10

// storeLargeData moves the data of large operations into files.
func (x *txn) storeLargeData(ctx context.Context, ops []raw) ([]raw, error) {
	out := slices.Clone(ops)
	for i, o := range out {
		if len(o) <= maxInline {
			continue
		}
		var fields map[string]raw
		if err := json.Unmarshal(o, &fields); err != nil {
			return nil, fmt.Errorf("blender: operation: %w", err)
		}
		data, err := base64.StdEncoding.AppendDecode(nil, bytes.Trim(fields["data"], `"`)) // base64 has no escapes
		if err != nil || len(data) == 0 {
			continue
		}
		sum, _, err := x.at.Files.Put(ctx, bytes.NewReader(data))
		if err != nil {
			return nil, studio.Fail(studio.IOFailed, "bytes of the scene cannot be stored").Because(err)
		}
		delete(fields, "data")
		fields["blob"] = mustJSON(sum)
		out[i] = mustJSON(fields)
	}
	return out, nil
}

// Undo reverts the latest run: it brings the session to the state of the journal without it.
func (x *txn) Undo(ctx context.Context, run string) error {
	there, err := x.journal.Undo(run, x.at.Name)
	if err != nil || !there {
		return err
	}
	x.undid = run
	return x.restoreState(ctx)
}

// Commit appends the transaction's operations to the journal and syncs it.
func (x *txn) Commit(ctx context.Context, run string) error {
	if x.undid == "" && !x.reset && len(x.ops) == 0 {
		return nil
	}
	if err := x.journal.Append(entry{Run: run, Reset: x.reset, Ops: x.ops, Undoes: x.undid, Scenes: x.built}); err != nil {
		return studio.Fail(studio.IOFailed, "the scene's journal cannot be written").Because(err)
	}
	if _, err := x.session.doOps(ctx, []raw{raw(`{"op":"commit"}`)}); err != nil {
		x.dropSession() // the journal is complete; the next transaction restores the state
		return nil
	}
	x.sessionState = x.journal.stateIdentity()
	x.saveCheckpoint(ctx)
	return nil
}

// saveCheckpoint saves the scene if replaying its journal would take long. A checkpoint is an
// optimisation: if saving fails nothing is lost.
func (x *txn) saveCheckpoint(ctx context.Context) {
	if x.journal.opsSinceCheckpoint() < checkpointOps {
		return
	}
	file := filepath.Join(x.at.Dir, "checkpoint.blend")
	if x.saveScene(ctx, file+".part") != nil {
		return
	}
	x.journal.adoptCheckpoint(file)
}

// Rollback reverts the transaction by Blender's undo log. If the scene was emptied, a request was
// cancelled or the session ended, it restores the state from the journal.
func (x *txn) Rollback(ctx context.Context) error {
	x.journal.IncludeAll()
	if x.undid != "" || x.interrupted {
		x.sessionState = ""
	}
	x.digest = ""
	if x.session != nil && x.session.isAlive() && x.undid == "" && !x.reset && !x.interrupted {
		if _, err := x.session.doOps(ctx, []raw{raw(`{"op":"rollback"}`)}); err == nil {
			return nil
		}
		x.sessionState = ""
	}
	x.ops, x.built, x.reset, x.undid = nil, nil, false, ""
	if x.session == nil || !x.session.isAlive() {
		x.dropSession()
	}
	return x.ensureReady(ctx)
}

// mustJSON encodes values that always have a JSON form.
func mustJSON(v any) raw {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}
