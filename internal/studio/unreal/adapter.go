package unreal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"loregate/internal/markup"
	"loregate/internal/studio"
)

// Config locates the editor. Exactly one of Address and Double is set.
type Config struct {
	Address string            // of the Remote Control interface, or of Epic's MCP server if it has a path, such as /mcp
	Project string            // folder of the project, into which exports are written; "" for none
	Record  io.Writer         // each exchange with the editor is written here; nil for none
	Double  http.RoundTripper // replays exchanges instead of an editor
}

// Adapter carries out tools in an Unreal editor.
type Adapter struct {
	config Config
	client *client // nil for Epic's MCP server
	editor editor
}

// New makes the adapter. It sends no request.
func New(c Config) (*Adapter, error) {
	a := &Adapter{config: c}
	if c.Double != nil {
		c.Address = "http://double.invalid"
	}
	transport := c.Double
	if transport == nil {
		transport = plainTransport()
		if c.Record != nil {
			transport = &Recorder{Next: transport, Out: c.Record}
		}
	}
	base, path, err := splitAddress(c.Address)
	if err != nil {
		return nil, err
	}
	if path != "" {
		a.editor = newEpic(base+path, transport)
		return a, nil
	}
	a.client = newClient(base, transport)
	a.editor = &remoteControl{a.client, c.Double != nil}
	return a, nil
}

// DoubleKind is the kind that results of a double are labelled with.
const DoubleKind = "protocol-double"

// Kind returns "unreal", the name used in requests; results of a double have DoubleKind as their
// kind.
func (a *Adapter) Kind() string { return "unreal" }

// Tools returns the tools that Unreal supports, and the reasons for the others.
func (a *Adapter) Tools() map[string]studio.Support {
	untried := "; by contract, no Unreal has run it"
	does := func(note string) studio.Support { return studio.Support{Does: true, Note: note + untried} }
	not := func(note string) studio.Support { return studio.Support{Note: "NOT_SUPPORTED: " + note} }
	missing := func(note string) studio.Support { return studio.Support{Note: "DEPENDENCY_MISSING: " + note} }
	blender := not("scenes are made in Blender, and imported")
	return studio.WithNativeTools(map[string]studio.Support{
		"populate_level":      does("SpawnActorFromObject of the editor's actor subsystem, or Epic's SceneTools"),
		"import_asset":        does("AssetImportTask, through the bridge script"),
		"profile_performance": does("time to load and actors, through the bridge script"),
		"list_objects":        does("assets below /Game/Loregate, also by Epic's MCP server"),
		"generate_blueprint": not(
			"event graphs cannot be written over Remote Control or from Python; use Godot, or make them by hand from the rules",
		),
		"generate_terrain": missing(
			"a landscape is imported by hand from the heightmap of the Blender target, made with a side of 505, 1009 or 2017",
		),
		"generate_scene": blender, "add_object": blender, "generate_texture": blender, "export_asset": blender,
		"render_preview": not("render in Blender"),
	})
}

// Probe asks the editor for its version.
func (a *Adapter) Probe(ctx context.Context) (studio.TargetInfo, error) {
	out := studio.TargetInfo{Kind: a.Kind(), Name: a.Kind()}
	version, double, err := a.editor.probe(ctx)
	if double {
		out.Kind = DoubleKind
	}
	if err != nil {
		return out, err
	}
	out.Version = version
	if a.client == nil {
		return out, nil
	}
	var said struct{ Bridge, Engine string }
	if err := a.callBridge(ctx, "version", struct{}{}, &said); err == nil {
		out.Version = said.Engine + ", bridge " + said.Bridge
	}
	return out, nil
}

// bridgeObject is the Remote Control path of the class that the bridge script defines.
const bridgeObject = "/Engine/PythonTypes.Default__LoregateBridge"

// bridgeOperations are the operations that may be requested from the bridge.
var bridgeOperations = []string{"version", "import_asset", "profile"}

// callBridge has the bridge script do an operation.
func (a *Adapter) callBridge(ctx context.Context, operation string, arguments, out any) error {
	if !slices.Contains(bridgeOperations, operation) {
		return studio.Fail(studio.PolicyDenied, "the bridge may not be asked for %s", operation)
	}
	if a.client == nil {
		return studio.Fail(studio.NotSupported, "Epic's MCP server does not reach the bridge script; set studio.unreal to "+
			"the address of Remote Control for %s", operation)
	}
	b, err := json.Marshal(arguments)
	if err != nil {
		return err
	}
	var said struct {
		Value string `json:"ReturnValue"`
	}
	err = a.client.sendRequest(ctx, http.MethodPut, "/remote/object/call",
		objectCall{Object: bridgeObject, Function: "perform",
			Parameters: map[string]any{"operation": operation, "arguments": string(b)}}, &said)
	var failed *studio.Failure
	if errors.As(err, &failed) && failed.Code == studio.ExecFailed {
		return studio.Fail(studio.Missing,
			"the project has no bridge script; copy loregate_bridge.py to its Content/Python folder").Because(err)
	}
	if err != nil {
		return err
	}
	var result struct {
		OK     bool            `json:"ok"`
		Result json.RawMessage `json:"result"`
		Error  string          `json:"error"`
	}
	if err := json.Unmarshal([]byte(said.Value), &result); err != nil {
		return studio.Fail(studio.ExecFailed, "the bridge script's answer does not follow the protocol").Because(err)
	}
	if !result.OK {
		return studio.Fail(studio.ExecFailed, "the bridge script failed at %s: %s", operation,
			markup.Clip(result.Error, 200))
	}
	return json.Unmarshal(result.Result, out)
}

// Open returns the editor's project as a target.
func (a *Adapter) Open(at studio.Place) (studio.Target, error) {
	return &target{Adapter: a, at: at,
		history: studio.Journal[spawned]{File: filepath.Join(at.Dir, "history.ndjson")}}, nil
}

// target is the project that is open in the editor.
type target struct {
	*Adapter
	at      studio.Place
	history studio.Journal[spawned]
}

// spawned has the actors that a run placed, and the assets that it imported.
type spawned struct {
	Run    string   `json:"run"`
	Undoes string   `json:"undoes,omitempty"`
	Actors []string `json:"actors,omitempty"`
	Assets []string `json:"assets,omitempty"`
}

// RunIDs returns the entry's run and the run that it undoes.
func (s spawned) RunIDs() (run, undoes string) { return s.Run, s.Undoes }

// Begin probes the editor.
func (t *target) Begin(ctx context.Context, known func(string) bool) (studio.Txn, error) {
	i, err := t.Probe(ctx)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(t.at.Dir, 0o700); err != nil {
		return nil, studio.Fail(studio.IOFailed, "the folder of the target cannot be created").Because(err)
	}
	if err := t.history.Load(known); err != nil {
		return nil, err
	}
	i.Name = t.at.Name
	return &txn{target: t, info: i}, nil
}

// Fork is not supported: there is only one editor, and a person uses it.
func (t *target) Fork(context.Context, studio.Place, func(string) bool) (studio.Target, error) {
	return nil, studio.Fail(studio.NotSupported, "an Unreal project cannot be copied to repeat a run")
}

// Close does nothing: the studio did not start the editor.
func (t *target) Close() {}

// txn is a transaction on the editor's project. Rollback destroys the actors that it placed, but not imported assets.
type txn struct {
	*target
	info   studio.TargetInfo
	placed spawned
}

func (x *txn) Info() studio.TargetInfo { return x.info }

// Digest returns a hash of the names of assets and of the placed actors; the rest of the project is not read.
func (x *txn) Digest(ctx context.Context) (string, error) {
	names, err := x.Names(ctx)
	for _, e := range append(slices.Clone(x.history.Active()), x.placed) {
		names = append(names, e.Actors...)
	}
	return studio.SumOf([]byte(strings.Join(names, "\n"))).String(), err
}

func (x *txn) Names(ctx context.Context) ([]string, error) {
	f, err := x.editor.searchAssets(ctx)
	names := []string{}
	for _, a := range f.Assets {
		names = append(names, a.Path)
	}
	slices.Sort(names)
	return names, err
}

// Undo destroys the actors that the latest run placed. A run that imported assets is undone in the editor.
func (x *txn) Undo(ctx context.Context, run string) error {
	active := x.history.Active()
	if len(active) > 0 && active[len(active)-1].Run == run && len(active[len(active)-1].Assets) > 0 {
		return studio.Fail(studio.NotSupported, "the run imported assets; delete them in the editor")
	}
	there, err := x.history.Undo(run, x.at.Name)
	if err != nil || !there {
		return err
	}
	x.placed.Undoes = run
	return x.destroyAll(ctx, active[len(active)-1].Actors)
}

func (x *txn) destroyAll(ctx context.Context, actors []string) error {
	var errs []error
	for _, path := range slices.Backward(actors) {
		errs = append(errs, x.editor.destroy(ctx, path))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("unreal: taking placed actors away: %w", err)
	}
	return nil
}

// Commit records the actors: the editor has applied the changes already.
func (x *txn) Commit(_ context.Context, run string) error {
	if x.placed.Run = run; x.placed.Undoes == "" && len(x.placed.Actors)+len(x.placed.Assets) == 0 {
		return nil
	}
	return x.history.Append(x.placed)
}

// Rollback destroys the placed actors.
func (x *txn) Rollback(ctx context.Context) error {
	err := x.destroyAll(ctx, x.placed.Actors)
	if x.placed.Undoes != "" {
		x.history.IncludeAll()
	}
	x.placed = spawned{}
	return err
}
