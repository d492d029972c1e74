package studio

import (
	"cmp"
	"context"
	"encoding/json"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/op"
)

const toolLimit = time.Hour + time.Minute

type targetsOut struct {
	Targets []targetOut `json:"targets"`
}

// targetOut is a target with its readiness.
type targetOut struct {
	Name    string   `json:"name"`
	Kind    string   `json:"kind" jsonschema:"blender, godot, unreal or protocol-double."`
	Version string   `json:"version,omitzero"`
	Ready   bool     `json:"ready"`
	Missing string   `json:"missing,omitzero" jsonschema:"How to make it available."`
	Waiting int      `json:"waiting" jsonschema:"Runs in its queue here, including the current one."`
	Tools   []string `json:"tools"`
}

type runsIn struct {
	Tool   string `json:"tool,omitzero" maxlen:"60" jsonschema:"Only runs of this tool."`
	Status string `json:"status,omitzero" enum:"queued,running,ok,error" jsonschema:"Only runs in this state."`
	Card   string `json:"card,omitzero" maxlen:"255" jsonschema:"Only runs built from a card of this name."`
	Limit  int    `json:"limit,omitzero" default:"20" min:"1" max:"200" jsonschema:"Most runs."`
	Offset int    `json:"offset,omitzero" min:"0" jsonschema:"Entries to skip."`
}

// runRow is one run in a list.
type runRow struct {
	ID        string    `json:"run_id"`
	Tool      string    `json:"tool_name"`
	Status    string    `json:"status"`
	Actor     string    `json:"actor"`
	Started   time.Time `json:"started_at"`
	Ended     time.Time `json:"ended_at,omitzero"`
	Sources   []Source  `json:"sources"`
	Artifacts int       `json:"artifacts"`
	Error     string    `json:"error,omitzero"`
	UndoneBy  string    `json:"undone_by,omitzero"`
	Progress  *progress `json:"progress,omitzero" jsonschema:"How far a run under way is, if it has told."`
}

type runsOut struct {
	Runs  []runRow `json:"runs" jsonschema:"Latest first."`
	Total int      `json:"total"`
}

type runIn struct {
	Run string `json:"run_id" maxlen:"60" jsonschema:"The run."`
}

type runOut struct {
	Run      json.RawMessage `json:"run" jsonschema:"Manifest of the run: inputs, versions, hashes, steps, artifacts, sources."`
	UndoneBy string          `json:"undone_by,omitzero"`
}

type artifactIn struct {
	ID       string `json:"artifact_id" maxlen:"80" jsonschema:"The artifact."`
	MaxBytes int    `json:"max_bytes,omitzero" default:"65536" min:"0" max:"4194304" jsonschema:"Return the bytes only if the file is at most this large; pictures are also shown."`
}

type artifactOut struct {
	Artifact
	Data []byte `json:"content_base64,omitempty" jsonschema:"The bytes, if the file is small enough."`
	Note string `json:"note,omitzero"`
}

type undoIn struct {
	Run       string `json:"run_id" maxlen:"60" jsonschema:"Id of the run to undo: the latest on its targets."`
	DryRun    bool   `json:"dry_run,omitzero" jsonschema:"Only check whether it can be undone."`
	RequestID string `json:"request_id,omitzero" maxlen:"120" jsonschema:"A text of your choice: the same text with the same input returns the first run."`
}

type undoOut struct {
	Undone string `json:"undone"`
}

type cancelOut struct {
	Run       string `json:"run_id"`
	Cancelled bool   `json:"cancelled" jsonschema:"false if it had already ended."`
}

type staleOut struct {
	Stale []Stale `json:"stale"`
}

func (s *Studio) runOps() []*op.Operation {
	read := func(name, title, doc, route, example string, asked ...string) op.Spec {
		return op.Spec{Name: name, Title: title, Doc: doc, Surfaces: []string{Surface}, Effect: access.Read,
			MinRole: access.RoleUser, Route: route,
			Timeout: 30 * time.Second, Waits: true, Asked: asked, Examples: []op.Example{{Title: "As it is used", Input: example}}}
	}
	const id = "0190d0a0-0000-7000-8000-000000000000"
	targets := read("list_targets", "List targets",
		"List the authoring programs that can be used here, their tools, and the software to install for the others.",
		"GET /api/studio/targets", `{}`,
		"which 3D programs can be driven", "which 3D programs are there", "is Blender or Godot installed",
		"connected software", "available engines",
		"programs for modelling that are ready", "can I use Blender here", "engines at hand")
	cancel := read("cancel_run", "Cancel a run",
		"Stop a run in progress; its target is restored.",
		"POST /api/studio/runs/{run_id}/cancel", `{"run_id": "`+id+`"}`,
		"stop the build", "abort a job that takes too long",
		"halt a build", "it takes too long, stop")
	cancel.Effect, cancel.MinRole, cancel.Idempotent = access.Write, access.RoleGM, true
	undo := read("undo_run", "Undo a run",
		"Undo the changes of a run to its target, the latest run first. Its artifacts and its record are kept.",
		"POST /api/studio/runs/{run_id}/undo", `{"run_id": "`+id+`"}`,
		"take a build back", "scene as before the last build",
		"revert a build", "remove the last made")
	undo.Effect, undo.MinRole, undo.Timeout, undo.Interactive = access.Write, access.RoleGM, toolLimit, true
	verify := read(
		"verify_run",
		"Repeat and compare a run",
		"Repeat a run on a copy of its target's initial state, and compare results and artifact hashes.",
		"POST /api/studio/runs/{run_id}/verify",
		`{"run_id": "`+id+`"}`,
		"does it come out the same again",
		"repeat a build and compare",
		"reproducible",
		"same result twice",
		"check that a build repeats",
	)
	verify.MinRole, verify.Timeout, verify.Interactive = access.RoleGM, toolLimit, true
	return []*op.Operation{
		op.Define(targets, s.listTargets),
		op.Define(read(
			"list_runs",
			"List runs",
			"Find runs: of a tool, in a state, or built from a card.",
			"GET /api/studio/runs",
			`{"status": "ok", "limit": 5}`,
			"builds so far",
			"have we built so far",
			"earlier builds and whether they worked",
			"jobs of the studio",
			"failed builds",
			"former builds",
			"works of the studio",
			"did the builds succeed",
			"history of modelling",
			"made so far in 3D",
		), s.listRuns),
		op.Define(read("get_run", "Show a run", "Get the full record of a run, or its progress.",
			"GET /api/studio/runs/{run_id}", `{"run_id": "`+id+`"}`,
			"how did a build go", "how far is the build", "progress of a job", "log of one build",
			"result of one build", "why did the build fail", "details of a job"), s.getRun),
		op.Define(withRESTFile(read("get_artifact", "Get an artifact",
			"Get a file that a run made. Over REST the answer is the file.",
			"GET /api/studio/artifacts/{artifact_id}",
			`{"artifact_id": "`+id+`.1"}`,
			"get the file that was made", "download the finished model or picture",
			"fetch the rendered picture", "the finished file")), s.getArtifact),
		op.Define(cancel, s.cancelRun), op.Define(undo, s.undoRun), op.Define(verify, s.verifyRun),
		op.Define(read("list_stale", "List outdated runs",
			"List the runs that were built from a card that has changed since.", "GET /api/studio/stale", `{}`,
			"models that no longer match their page", "models to build again", "outdated builds",
			"models whose page has changed", "old models", "which builds need renewal"),
			s.listStale),
	}
}

// probeWait bounds the time for asking a program for its version.
const probeWait = 10 * time.Second

func (s *Studio) listTargets(ctx context.Context, c *op.Call, _ struct{}) (targetsOut, error) {
	out := targetsOut{Targets: []targetOut{}}
	names := s.Kinds()
	if c.Grant.Role() >= access.RoleGM {
		names = s.worldTargets(c.Grant.World()) // scene names may reveal secrets
	}
	for _, name := range names {
		kind, _, _ := strings.Cut(name, ":")
		i := slices.IndexFunc(s.adapters, func(a Adapter) bool { return a.Kind() == kind })
		if i < 0 {
			continue
		}
		a := s.adapters[i]
		ctx, cancel := context.WithTimeout(ctx, probeWait)
		info, err := a.Probe(ctx)
		cancel()
		t := targetOut{Name: name, Kind: a.Kind(), Version: info.Version, Ready: err == nil, Tools: []string{}}
		t.Kind = cmp.Or(info.Kind, t.Kind)
		switch {
		case err != nil && s.handsOver():
			t.Missing = "it is not in this process; workers execute its runs: loregate studio worker --target " + a.Kind()
		case err != nil:
			t.Missing = failureOf(err).Message
		}
		for _, tool := range tools {
			if a.Tools()[tool.Name].Does {
				t.Tools = append(t.Tools, tool.Name)
			}
		}
		if c.Grant.Role() >= access.RoleGM { // players cannot see most runs, so they do not get the count
			t.Waiting = s.countWaiting(c.Grant.World(), name)
		}
		out.Targets = append(out.Targets, t)
	}
	return out, nil
}

func (s *Studio) countWaiting(w access.WorldID, name string) int {
	s.mu.Lock()
	sl := s.slots[w.String()+"/"+name]
	s.mu.Unlock()
	if sl == nil {
		return 0
	}
	sl.mu.Lock()
	defer sl.mu.Unlock()
	return sl.waiting
}

func (s *Studio) listRuns(ctx context.Context, c *op.Call, in runsIn) (runsOut, error) {
	rows := s.liveRows(c.Grant)
	b, err := s.lockBook(ctx, c.Grant)
	if err != nil {
		return runsOut{}, err
	}
	rows = append(rows, s.queuedRows(c.Grant, b, rows)...)
	for _, id := range slices.Backward(b.order) {
		if e := b.runs[id]; e.audience <= c.Grant.View().Level {
			row := rowOf(e.run)
			row.UndoneBy = b.undone[id.String()]
			rows = append(rows, row)
		}
	}
	b.mu.Unlock()
	rows = slices.DeleteFunc(rows, func(r runRow) bool {
		return in.Tool != "" && r.Tool != in.Tool || in.Status != "" && r.Status != in.Status ||
			in.Card != "" && !slices.ContainsFunc(r.Sources, func(s Source) bool { return strings.EqualFold(s.Name, in.Card) })
	})
	out := runsOut{Runs: []runRow{}, Total: len(rows)}
	from := min(in.Offset, len(rows))
	out.Runs = append(out.Runs, rows[from:min(from+in.Limit, len(rows))]...)
	return out, nil
}

func rowOf(r Run) runRow {
	row := runRow{ID: r.ID.String(), Tool: r.Tool, Status: r.Status, Actor: r.Actor, Started: r.Started, Ended: r.Ended,
		Sources: r.Sources, Artifacts: len(r.Artifacts)}
	if row.Sources == nil {
		row.Sources = []Source{}
	}
	if r.Error != nil {
		row.Error = string(r.Error.Code)
	}
	return row
}

// liveRows returns the runs under way in this process that the grant may see, latest first.
func (s *Studio) liveRows(g access.Grant) []runRow {
	s.mu.Lock()
	defer s.mu.Unlock()
	rows := []runRow{}
	for _, l := range s.live {
		if level, _ := access.ParseLevel(l.run.Audience); l.world == g.World() && level <= g.View().Level && !l.run.dry {
			rows = append(rows, runRow{ID: l.run.ID.String(), Tool: l.run.Tool, Status: "running", Actor: l.run.Actor,
				Started: l.run.Started, Sources: []Source{}, Progress: l.progress()})
		}
	}
	slices.SortFunc(rows, func(a, b runRow) int { return cmp.Compare(b.ID, a.ID) })
	return rows
}

// queuedRows returns the runs that other processes requested and that wait for a worker or are at
// one. The caller holds b's lock.
func (s *Studio) queuedRows(g access.Grant, b *book, here []runRow) []runRow {
	var rows []runRow
	for id, t := range b.queue {
		text := id.String()
		if t.Act == actRun && g.View().Level >= access.LevelGM &&
			!slices.ContainsFunc(here, func(r runRow) bool { return r.ID == text }) {
			row := runRow{ID: text, Tool: t.Order.Tool, Status: "queued", Actor: string(t.Who.Subject), Started: t.Asked,
				Sources: []Source{}}
			if p, ok := s.readProgress(id); ok {
				row.Status, row.Progress = "running", &p.progress
			}
			rows = append(rows, row)
		}
	}
	slices.SortFunc(rows, func(a, b runRow) int { return cmp.Compare(b.ID, a.ID) })
	return rows
}

// stateOf returns "running" if a worker reports progress of the run, else "queued".
func (s *Studio) stateOf(id uuid.UUID) string {
	if _, ok := s.readProgress(id); ok {
		return "running"
	}
	return "queued"
}

// findLive finds a run that is under way in this process and visible to the grant.
func (s *Studio) findLive(g access.Grant, id string) (*liveRun, bool) {
	key, err := uuid.Parse(id)
	if err != nil {
		return nil, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	l, ok := s.live[key]
	if !ok || l.world != g.World() {
		return nil, false
	}
	level, _ := access.ParseLevel(l.run.Audience)
	return l, level <= g.View().Level
}

func (s *Studio) getRun(ctx context.Context, c *op.Call, in runIn) (runOut, error) {
	if l, ok := s.findLive(c.Grant, in.Run); ok {
		b, err := json.Marshal(map[string]any{"run_id": l.run.ID, "tool_name": l.run.Tool, "status": "running",
			"started_at": l.run.Started, "audience": l.run.Audience})
		return runOut{Run: b}, err
	}
	if t, ok, err := s.findQueued(ctx, c.Grant, in.Run); ok || err != nil {
		b, _ := json.Marshal(map[string]any{"run_id": t.ID, "tool_name": t.Order.Tool, "status": s.stateOf(t.ID),
			"started_at": t.Asked, "audience": t.Order.How.Audience})
		return runOut{Run: b}, err
	}
	run, err := s.loadRun(ctx, c.Grant, in.Run)
	if err != nil {
		return runOut{}, err
	}
	b, err := s.lockBook(ctx, c.Grant)
	if err != nil {
		return runOut{}, err
	}
	undone := b.undone[run.ID.String()]
	b.mu.Unlock()
	text, err := json.Marshal(run)
	return runOut{Run: text, UndoneBy: undone}, err
}

func (s *Studio) getArtifact(ctx context.Context, c *op.Call, in artifactIn) (artifactOut, error) {
	a, err := s.findArtifact(ctx, c.Grant, in.ID)
	if err != nil {
		return artifactOut{}, err
	}
	out := artifactOut{Artifact: a}
	c.Reply.ETag = a.SHA256.String()
	picture := strings.HasPrefix(a.Media, "image/") && a.Bytes <= maxPicture
	if !c.SendsFile() && !picture && a.Bytes > int64(in.MaxBytes) {
		out.Note = "the file is larger than max_bytes; download it from " + c.BaseURL + "/api/studio/artifacts/" + a.ID
		return out, nil
	}
	data, err := s.blobs.Bytes(ctx, a.SHA256)
	if err != nil {
		return out, Fail(IOFailed, "artifact %s cannot be read", a.ID).Because(err).toFault(nil)
	}
	switch {
	case c.SendsFile():
		c.Reply.File = &op.File{Name: a.Name, Type: a.Media, Data: data}
	case picture:
		c.Reply.Images = []op.File{{Name: a.Name, Type: a.Media, Data: data}}
	}
	if !c.SendsFile() && len(data) <= in.MaxBytes && !picture {
		out.Data = data
	}
	return out, nil
}

func (s *Studio) cancelRun(ctx context.Context, c *op.Call, in runIn) (cancelOut, error) {
	if l, ok := s.findLive(c.Grant, in.Run); ok {
		l.cancel(errStopAsked)
		select {
		case <-l.done:
		case <-ctx.Done():
		}
		return cancelOut{in.Run, true}, nil
	}
	if t, ok, err := s.findQueued(ctx, c.Grant, in.Run); ok || err != nil {
		if err == nil {
			_, err = s.abandonTicket(ctx, c.Grant, t, errStopAsked)
		}
		return cancelOut{in.Run, true}, err
	}
	_, err := s.loadRun(ctx, c.Grant, in.Run)
	return cancelOut{in.Run, false}, err
}

func (s *Studio) undoRun(ctx context.Context, c *op.Call, in undoIn) (e Envelope[undoOut], err error) {
	run, err := s.loadRun(ctx, c.Grant, in.Run)
	if err != nil {
		return e, err
	}
	if run.Status != "ok" || run.Undoes != "" {
		return e, fault.New(fault.Rule, "run %s has nothing to undo: it is %s", in.Run,
			cmp.Or(run.Error.codeText(), "itself an undo"))
	}
	req := request{tool: "undo_run", version: "1.0.0", undoes: in.Run,
		common: common{DryRun: in.DryRun, RequestID: in.RequestID, Audience: run.Audience, Timeout: 300}}
	req.hash = parseSum(strings.Repeat("0", 64))
	for _, st := range run.Steps {
		kind := st.Target.Name
		if t, ok := toolNamed(st.Tool); ok && t.Mutates && !slices.Contains(req.targets, kind) {
			req.targets = append(req.targets, kind)
		}
	}
	if len(req.targets) == 0 {
		return e, fault.New(fault.Rule, "run %s changed no target; there is nothing to undo", in.Run)
	}
	done, err := s.executeRequest(ctx, c.Grant, req, c.Progress)
	if done == nil {
		return e, faultWithoutRun(err)
	}
	e.Head, e.Result.Undone = done.head(), in.Run
	c.Reply.Meta = map[string]any{metaKey: e.Head}
	return e, cmp.Or(err, runError(done))
}

// codeText returns the failure's code, or "" for a nil failure.
func (f *Failure) codeText() string {
	if f == nil {
		return ""
	}
	return string(f.Code)
}

func (s *Studio) listStale(ctx context.Context, c *op.Call, _ struct{}) (staleOut, error) {
	list, err := s.findStale(ctx, c.Grant)
	return staleOut{list}, err
}

// runFeed makes the feed that follows a run.
func (s *Studio) runFeed() *op.Feed {
	return &op.Feed{Name: "follow_run", Title: "Follow a run", Doc: "Progress and result of a run.",
		Surfaces: []string{Surface},
		MinRole:  access.RoleUser, Route: "GET /api/studio/runs/{run_id}/stream",
		Kinds: []op.FeedKind{{Event: "progress", Doc: "Progress: done, total, message."},
			{Event: "ended", Doc: "The run's status and error."}},
		Open: func(ctx context.Context, c *op.Call, vars map[string]string, after string) (iter.Seq2[op.Message, error], error) {
			if l, ok := s.findLive(c.Grant, vars["run_id"]); ok {
				n, _ := strconv.Atoi(after)
				return l.followAfter(ctx, n), nil
			}
			if t, ok, err := s.findQueued(ctx, c.Grant, vars["run_id"]); ok || err != nil {
				return s.followElsewhere(ctx, c.Grant, t), err
			}
			run, err := s.loadRun(ctx, c.Grant, vars["run_id"])
			if err != nil {
				return nil, err
			}
			return func(yield func(op.Message, error) bool) { yield(endMessage(&run), nil) }, nil
		}}
}

// runsFeed makes the feed that follows the list of runs.
func (s *Studio) runsFeed() *op.Feed {
	return &op.Feed{Name: "follow_runs", Title: "Follow all runs",
		Doc: "The latest 20 runs that you see, as list_runs lists them: first of all, and again whenever one begins, ends or tells " +
			"its progress.",
		Surfaces: []string{Surface}, MinRole: access.RoleUser, Route: "GET /api/studio/runs/stream",
		Kinds: []op.FeedKind{{Event: "runs", Doc: "runs and total, as in the answer of list_runs"}},
		Open: func(ctx context.Context, c *op.Call, _ map[string]string, after string) (iter.Seq2[op.Message, error], error) {
			underWay := false
			changed := func() <-chan struct{} { return s.runsChanged(ctx, underWay) }
			return op.FollowValue(ctx, "runs", after, changed, func(ctx context.Context) (runsOut, error) {
				out, err := s.listRuns(ctx, c, runsIn{Limit: followedRuns})
				underWay = slices.ContainsFunc(out.Runs, func(r runRow) bool { return r.Ended.IsZero() })
				return out, err
			}), nil
		}}
}

// followedRuns is the number of runs in a message of follow_runs.
const followedRuns = 20

// runsChanged returns a channel that is closed when the list of runs may have changed: after a commit, when a run begins
// or ends in this process, and, while one is under way, after pollInterval.
func (s *Studio) runsChanged(ctx context.Context, underWay bool) <-chan struct{} {
	s.mu.Lock()
	begun := s.liveChanged
	s.mu.Unlock()
	committed := s.canon.Changed()
	out := make(chan struct{})
	go func() { // ends with ctx, at the latest
		defer close(out)
		var poll <-chan time.Time
		if underWay {
			poll = time.After(pollInterval)
		}
		select {
		case <-ctx.Done():
		case <-committed:
		case <-begun:
		case <-poll:
		}
	}()
	return out
}

func endMessage(r *Run) op.Message {
	b, err := json.Marshal(map[string]any{"run_id": r.ID, "status": r.Status, "error": r.Error})
	if err != nil {
		b = []byte(`{}`) // details without a JSON form
	}
	return op.Message{Event: "ended", Data: b}
}

// withRESTFile returns a spec whose REST reply is a file.
func withRESTFile(o op.Spec) op.Spec {
	o.RESTBody, o.LoadsFile = op.RESTFile, true
	return o
}
