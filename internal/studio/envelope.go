package studio

import (
	"time"

	"github.com/google/uuid"

	"loregate/internal/blob"
	"loregate/internal/studio/spec"
)

// Protocol is the version of the envelope. A request of another major version is refused.
const Protocol = "1.0.0"

// Head is the envelope of a call without its result: the tool, the status, and the ids of its run
// and trace.
type Head struct {
	ProtocolVersion string     `json:"protocol_version"`
	ToolName        string     `json:"tool_name"`
	ToolVersion     string     `json:"tool_version"`
	RequestID       string     `json:"request_id"`
	RunID           string     `json:"run_id,omitzero" jsonschema:"Id of the run, for get_run; a dry run has none."`
	TraceID         string     `json:"trace_id"`
	SpanID          string     `json:"span_id"`
	Status          string     `json:"status" enum:"ok,error"`
	DryRun          bool       `json:"dry_run,omitzero"`
	Cached          bool       `json:"cached,omitzero" jsonschema:"The artifacts are those of an earlier run; nothing was done."`
	Artifacts       []Artifact `json:"artifacts"`
	Warnings        []string   `json:"warnings"`
	Error           *Failure   `json:"error,omitzero"`
	Target          TargetInfo `json:"target"`
	Diff            *Diff      `json:"diff,omitzero" jsonschema:"Of a dry run: the changes."`
}

// Envelope is the reply of every tool.
type Envelope[R any] struct {
	Head
	Result R `json:"result"`
}

// Artifact is a file that a run made.
type Artifact struct {
	ID      string    `json:"id" jsonschema:"For get_artifact."`
	Name    string    `json:"name" jsonschema:"File name."`
	Kind    string    `json:"kind" jsonschema:"export, texture, heightmap, placements, preview, manifest, report, level, script, spec."`
	Path    string    `json:"path" jsonschema:"Its path below the data folder."`
	SHA256  blob.Sum  `json:"sha256"`
	Content *blob.Sum `json:"content_sha256,omitzero" jsonschema:"Of a picture: hash of its pixels."`
	Bytes   int64     `json:"bytes"`
	Media   string    `json:"media_type"`
}

// TargetInfo identifies the target that a call was carried out on.
type TargetInfo struct {
	Kind    string `json:"kind" jsonschema:"blender, godot, unreal, native (no program), or protocol-double, which is not an engine."`
	Name    string `json:"name"`
	Version string `json:"version"`
}

// Diff is the result of a dry run.
type Diff struct {
	Before  string   `json:"digest_before" jsonschema:"Hash of the target's whole content."`
	Would   string   `json:"digest_then" jsonschema:"Hash after the changes."`
	After   string   `json:"digest_after" jsonschema:"Hash after the dry run: the same as before."`
	Added   []string `json:"added" jsonschema:"Names that would be added, the first hundred."`
	Removed []string `json:"removed" jsonschema:"Names that would be removed, the first hundred."`
	// Parts compares a scene with the one that replaces it.
	Parts []spec.Change `json:"parts,omitzero" jsonschema:"Parts that would differ if a scene is replaced, the first hundred."`
}

// Run is one execution of a tool or of a plan. Its record never changes.
type Run struct {
	ID        uuid.UUID  `json:"run_id"`
	Protocol  string     `json:"protocol_version"`
	Tool      string     `json:"tool_name"`
	Version   string     `json:"tool_version"`
	Plan      string     `json:"plan_id,omitempty"`
	RequestID string     `json:"request_id"`
	InputHash blob.Sum   `json:"input_hash"`
	TraceID   string     `json:"trace_id"`
	SpanID    string     `json:"span_id"`
	Actor     string     `json:"actor"`
	Audience  string     `json:"audience"` // who may see it: user, gm, admin
	Status    string     `json:"status"`   // queued, running, ok, error
	Started   time.Time  `json:"started_at"`
	Ended     time.Time  `json:"ended_at,omitzero"`
	Seed      int64      `json:"seed"`
	Config    string     `json:"configuration_hash"`
	Steps     []Step     `json:"steps"`
	Artifacts []Artifact `json:"artifacts"`
	Warnings  []string   `json:"warnings"`
	Error     *Failure   `json:"error,omitempty"`
	Sources   []Source   `json:"sources"`
	Undoes    string     `json:"undoes,omitempty"`
	Cached    string     `json:"cached_from,omitempty"` // the earlier run that made the artifacts
	dry       bool
	held      []heldFile // scenes of a dry run
	diff      *Diff
}

// Step is one call of a tool within a run.
type Step struct {
	Tool    string     `json:"tool_name"`
	Version string     `json:"tool_version"`
	Target  TargetInfo `json:"target"`
	Input   raw        `json:"inputs"`
	Result  raw        `json:"result,omitempty"`
	Before  string     `json:"digest_before"`
	After   string     `json:"digest_after,omitempty"`
	From    int        `json:"-"` // index of its first artifact among the run's
	Made    []string   `json:"artifacts"`
}

// Source is a card that a run was built from, at the version that the run's audience could read.
type Source struct {
	Card    string `json:"card_id"`
	Name    string `json:"name"`
	Version uint32 `json:"version"`
}

// Done reports whether the run has ended.
func (r *Run) Done() bool { return r.Status == "ok" || r.Status == "error" }

// head returns the run's envelope.
func (r *Run) head() Head {
	h := Head{ProtocolVersion: r.Protocol, ToolName: r.Tool, ToolVersion: r.Version, RequestID: r.RequestID,
		RunID:   r.ID.String(),
		TraceID: r.TraceID, SpanID: r.SpanID, Status: "ok", DryRun: r.dry, Cached: r.Cached != "",
		Artifacts: r.Artifacts,
		Warnings:  r.Warnings, Error: r.Error, Diff: r.diff}
	if r.Error != nil {
		h.Status = "error"
	}
	if r.dry {
		h.RunID = ""
	}
	if len(r.Steps) > 0 {
		h.Target = r.Steps[len(r.Steps)-1].Target
	}
	return h
}
