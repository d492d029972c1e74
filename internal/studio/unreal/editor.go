package unreal

import (
	"cmp"
	"context"
	"math"
	"net/http"
	"slices"
	"strings"

	"loregate/internal/studio"
)

// editor is a route into an Unreal editor.
type editor interface {
	// probe returns the version of the route, and whether a double answers.
	probe(ctx context.Context) (version string, double bool, err error)
	// searchAssets lists the assets below /Game/Loregate.
	searchAssets(ctx context.Context) (assetList, error)
	// spawn places an asset and returns the path of the actor.
	spawn(ctx context.Context, asset string, p studio.Placement) (actor string, err error)
	destroy(ctx context.Context, actor string) error
}

// asset is an asset of the project.
type asset struct{ Name, Class, Path string }

// assetList is the reply to a search for assets.
type assetList struct{ Assets []asset }

// root is the folder of the project that this package works in.
const root = "/Game/Loregate"

// inCentimetres converts a length: Unreal's units are centimetres. Its coordinates are left-handed: its Y axis is our
// negative Y axis.
func inCentimetres(m float64) float64 { return math.Round(m*1e4) / 100 }

// yawOf returns the turn of a placement in Unreal's degrees.
func yawOf(p studio.Placement) float64 { return -math.Round(p.Turn*180/math.Pi*100) / 100 }

// remoteControl is the route over the Remote Control interface.
type remoteControl struct {
	*client
	double bool
}

// requiredRoutes are the routes that every tool needs.
var requiredRoutes = []string{"/remote/object/call", "/remote/search/assets"}

func (r *remoteControl) probe(ctx context.Context) (version string, double bool, err error) {
	var i info
	if err := r.sendRequest(ctx, http.MethodGet, "/remote/info", nil, &i); err != nil {
		return "", r.double, err
	}
	for _, path := range requiredRoutes {
		if !slices.ContainsFunc(i.Routes, func(r route) bool { return strings.EqualFold(r.Path, path) }) {
			return "", r.double, studio.Fail(studio.Missing,
				"the Unreal editor does not serve %s; enable the Remote Control API plugin", path)
		}
	}
	return "remote control", r.double, nil
}

func (r *remoteControl) searchAssets(ctx context.Context) (f assetList, err error) {
	err = r.sendRequest(ctx, http.MethodPut, "/remote/search/assets", map[string]any{"Query": "",
		"Filter": map[string]any{"PackagePaths": []string{root}, "RecursivePaths": true}}, &f)
	return f, err
}

// actorSubsystem is the editor's subsystem for actors.
const actorSubsystem = "/Script/UnrealEd.Default__EditorActorSubsystem"

func (r *remoteControl) spawn(ctx context.Context, asset string, p studio.Placement) (string, error) {
	var said struct {
		Actor string `json:"ReturnValue"`
	}
	err := r.sendRequest(ctx, http.MethodPut, "/remote/object/call",
		objectCall{Object: actorSubsystem, Function: "SpawnActorFromObject", Transaction: true, Parameters: map[string]any{
			"ObjectToUse": asset,
			"Location": map[string]float64{"X": inCentimetres(p.Location[0]), "Y": -inCentimetres(p.Location[1]),
				"Z": inCentimetres(p.Location[2])},
			"Rotation": map[string]float64{"Pitch": 0, "Yaw": yawOf(p), "Roll": 0},
		}}, &said)
	return said.Actor, err
}

func (r *remoteControl) destroy(ctx context.Context, actor string) error {
	return r.sendRequest(ctx, http.MethodPut, "/remote/object/call",
		objectCall{Object: actorSubsystem, Function: "DestroyActor",
			Parameters: map[string]any{"ActorToDestroy": actor}, Transaction: true}, nil)
}

// nameOfAsset returns the name of an asset from its path.
func nameOfAsset(path string) string {
	_, name, _ := strings.Cut(path[strings.LastIndexByte(path, '/')+1:], ".")
	return cmp.Or(name, path[strings.LastIndexByte(path, '/')+1:])
}
