package unreal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"loregate/internal/markup"
	"loregate/internal/studio"
)

// Config locates the editor. Exactly one of Address and Double is set.
type Config struct {
	Address string            // of the Remote Control interface
	Project string            // folder of the project, into which exports are written; "" for none
	Record  io.Writer         // each exchange with the editor is written here; nil for none
	Double  http.RoundTripper // replays exchanges instead of an editor
}

// Adapter carries out tools in an Unreal editor.
type Adapter struct {
	config Config
	client *client
	kind   string
}

// New makes the adapter. It sends no request.
func New(c Config) (*Adapter, error) {
	a := &Adapter{config: c, kind: "unreal"}
	if c.Double != nil {
		a.kind, c.Address = DoubleKind, "http://double.invalid"
	}
	transport := c.Double
	if transport == nil {
		transport = plainTransport()
		if c.Record != nil {
			transport = &Recorder{Next: transport, Out: c.Record}
		}
	}
	var err error
	a.client, err = newClient(c.Address, transport)
	return a, err
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
		"populate_level":      does("SpawnActorFromObject of the editor's actor subsystem"),
		"import_asset":        does("AssetImportTask, through the bridge script"),
		"profile_performance": does("time to load and actors, through the bridge script"),
		"list_objects":        does("assets below /Game/Loregate"),
		"generate_blueprint":  not("event graphs cannot be written over Remote Control or from Python; use Godot, or make them by hand from the rules"),
		"generate_terrain":    missing("a landscape is imported by hand from the heightmap of the Blender target, made with a side of 505, 1009 or 2017"),
		"generate_scene":      blender, "add_object": blender, "generate_texture": blender, "export_asset": blender,
		"render_preview": not("render in Blender"),
	})
}

// requiredRoutes are the routes that every tool needs.
var requiredRoutes = []string{"/remote/object/call", "/remote/search/assets"}

// Probe asks the editor for its routes and its version.
func (a *Adapter) Probe(ctx context.Context) (studio.TargetInfo, error) {
	out := studio.TargetInfo{Kind: a.kind, Name: a.Kind()}
	var i info
	if err := a.client.sendRequest(ctx, http.MethodGet, "/remote/info", nil, &i); err != nil {
		return out, err
	}
	for _, path := range requiredRoutes {
		if !slices.ContainsFunc(i.Routes, func(r route) bool { return strings.EqualFold(r.Path, path) }) {
			return out, studio.Fail(studio.Missing,
				"the Unreal editor does not serve %s; enable the Remote Control API plugin", path)
		}
	}
	out.Version = "remote control"
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
	return &target{Adapter: a, at: at}, nil
}

// target is the project that is open in the editor.
type target struct {
	*Adapter
	at studio.Place
}

// Begin probes the editor.
func (t *target) Begin(ctx context.Context, _ func(string) bool) (studio.Txn, error) {
	i, err := t.Probe(ctx)
	if err != nil {
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

// txn is a transaction on the editor's project. Rollback destroys spawned actors, but not imported
// assets.
type txn struct {
	*target
	info    studio.TargetInfo
	spawned []string
}

func (x *txn) Info() studio.TargetInfo { return x.info }

// assetList is the editor's reply to a search for assets.
type assetList struct {
	Assets []struct{ Name, Class, Path string }
}

func (x *txn) searchAssets(ctx context.Context) (f assetList, err error) {
	err = x.client.sendRequest(ctx, http.MethodPut, "/remote/search/assets", map[string]any{"Query": "",
		"Filter": map[string]any{"PackagePaths": []string{"/Game/Loregate"}, "RecursivePaths": true}}, &f)
	return f, err
}

// Digest returns a hash of the names of assets and of the spawned actors; the rest of the project
// is not read.
func (x *txn) Digest(ctx context.Context) (string, error) {
	names, err := x.Names(ctx)
	return studio.SumOf([]byte(strings.Join(names, "\n") + "\n" + strings.Join(x.spawned, "\n"))).String(), err
}

func (x *txn) Names(ctx context.Context) ([]string, error) {
	f, err := x.searchAssets(ctx)
	names := []string{}
	for _, a := range f.Assets {
		names = append(names, a.Path)
	}
	slices.Sort(names)
	return names, err
}

// Undo is not supported: the editor has its own undo history.
func (x *txn) Undo(context.Context, string) error {
	return studio.Fail(studio.NotSupported, "undo it in the editor")
}

// Commit does nothing: the editor has applied the changes already.
func (x *txn) Commit(context.Context, string) error { return nil }

// actorSubsystem is the editor's subsystem for actors.
const actorSubsystem = "/Script/UnrealEd.Default__EditorActorSubsystem"

// Rollback destroys the spawned actors.
func (x *txn) Rollback(ctx context.Context) error {
	var errs []error
	for _, path := range slices.Backward(x.spawned) {
		errs = append(errs, x.client.sendRequest(ctx, http.MethodPut, "/remote/object/call",
			objectCall{Object: actorSubsystem, Function: "DestroyActor",
				Parameters: map[string]any{"ActorToDestroy": path}, Transaction: true}, nil))
	}
	x.spawned = nil
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("unreal: taking spawned actors away: %w", err)
	}
	return nil
}
