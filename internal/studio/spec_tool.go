package studio

import (
	"context"
	"errors"
	"strings"

	"loregate/internal/markup"
	"loregate/internal/studio/build"
	"loregate/internal/studio/sentence"
	"loregate/internal/studio/spec"
)

// The inputs and results of the tools for scenes in the language of package spec.
type (
	// SpecIn stores, checks or builds a scene.
	SpecIn struct {
		common
		Spec   *spec.Scene `json:"spec,omitzero" jsonschema:"The scene. Required unless text or from is given."`
		Text   string      `json:"text,omitzero" maxlen:"2000000" jsonschema:"The same as YAML or JSON text."`
		From   string      `json:"from,omitzero" maxlen:"80" jsonschema:"Id of a stored scene, to build it."`
		Action string      `json:"action,omitzero" enum:"put,validate,build" default:"put" jsonschema:"build also makes a GLB file."`
		Words  string      `json:"words,omitzero" maxlen:"4000" jsonschema:"A description in words, in place of spec; with card, the card's text is read first."`
		Card   string      `json:"card,omitzero" maxlen:"255" jsonschema:"Location card that it is made for; without spec, text and from, it is made from the card's words."`
		For    string      `json:"for,omitzero" enum:"viewer,game,godot4" default:"viewer" jsonschema:"With build: game adds collision bodies, simpler plants for a distance and instancing to the GLB file; godot4 makes a project for Godot 4, too."`
	}
	// SpecOut is a scene that was checked.
	SpecOut struct {
		Spec      string         `json:"spec,omitzero" jsonschema:"Id of the stored scene."`
		GLB       string         `json:"glb,omitzero" jsonschema:"Id of the GLB file."`
		Project   string         `json:"project,omitzero" jsonschema:"Id of the zip file with the project for an engine. No Godot 4 has opened it: it was checked against the grammar of its files."`
		Name      string         `json:"name"`
		Counts    map[string]int `json:"counts" jsonschema:"Things by noun."`
		Bodies    int            `json:"bodies"`
		Triangles int            `json:"triangles"`
		Cameras   []string       `json:"cameras" jsonschema:"Names for render_preview, the main one first."`
		Findings  int            `json:"findings" jsonschema:"Faults that scene_check lists."`
		WordsOut
	}
	// WordsOut tells how words were read; it is empty if there were none.
	WordsOut struct {
		Place         string            `json:"place,omitzero" jsonschema:"Kind of place that the words name."`
		Phrases       []sentence.Phrase `json:"phrases,omitzero" jsonschema:"For each phrase, its part of the scene, and assumptions."`
		NotUnderstood []string          `json:"not_understood,omitzero" jsonschema:"Words of the caller that became nothing."`
		Unread        []string          `json:"unread,omitzero" jsonschema:"Words of the card that became nothing."`
	}
	// EditIn changes a stored scene.
	EditIn struct {
		common
		Spec  string      `json:"spec" maxlen:"80" jsonschema:"Id of the stored scene; it stays as it is."`
		Edits []spec.Edit `json:"edits" minitems:"1" maxitems:"200" jsonschema:"Changes, done in their order: all or none."`
	}
	// EditOut is the changed scene.
	EditOut struct {
		SpecOut
		Changes []spec.Change `json:"changes"`
	}
	// SpecDiffIn asks for the differences between two stored scenes.
	SpecDiffIn struct {
		common
		From string `json:"from" maxlen:"80" jsonschema:"Id of the older scene."`
		To   string `json:"to" maxlen:"80" jsonschema:"Id of the newer scene."`
	}
	// SpecDiffOut lists the differences.
	SpecDiffOut struct {
		Changes []spec.Change `json:"changes"`
	}
	// MergeIn merges changes that were made by hand outside into a new plan of a scene.
	MergeIn struct {
		common
		Base     string `json:"base" maxlen:"80" jsonschema:"Id of the stored scene from which the file was made."`
		Manifest string `json:"manifest,omitzero" maxlen:"80" jsonschema:"Id of a GLB or .blend artifact, or of an export's manifest. Required unless path is given."`
		Path     string `json:"path,omitzero" maxlen:"400" jsonschema:"The file that was changed by hand: GLB or .blend below an allowed file root, such as models/keep.blend."`
		Spec     string `json:"spec,omitzero" maxlen:"80" jsonschema:"Id of the stored scene that is the new plan; default base, which only imports the changes."`
		Prefer   string `json:"prefer,omitzero" enum:"none,hand,plan" default:"none" jsonschema:"Side whose values are taken for conflicts; with none, nothing is merged if there is one."`
	}
	// MergeOut is the merged scene, or the conflicts.
	MergeOut struct {
		SpecOut
		Merged    bool            `json:"merged" jsonschema:"False: there are conflicts, and no merged scene was stored."`
		Hand      string          `json:"hand" jsonschema:"Id of the new base: the stored scene as the file has it."`
		Digest    string          `json:"digest" jsonschema:"SHA-256 of the file."`
		Kept      []spec.Change   `json:"kept" jsonschema:"Changes by hand: parts that were moved, turned or deleted."`
		Conflicts []spec.Conflict `json:"conflicts" jsonschema:"Fields that differ by hand and in the plan."`
		Added     []string        `json:"added" jsonschema:"Objects that were added by hand."`
		Additions string          `json:"additions,omitzero" jsonschema:"Id of a GLB file with those objects, for import_asset."`
	}
	// DescribeIn asks for a description of a stored scene.
	DescribeIn struct {
		common
		Spec  string `json:"spec" maxlen:"80" jsonschema:"Id of the stored scene."`
		Limit int    `json:"limit,omitzero" default:"60" min:"1" max:"1000" jsonschema:"Most things."`
	}
	// CheckIn asks for the faults of a stored scene.
	CheckIn struct {
		common
		Spec string `json:"spec" maxlen:"80" jsonschema:"Id of the stored scene."`
	}
	// CheckOut lists the faults.
	CheckOut struct {
		OK       bool            `json:"ok" jsonschema:"There is no fault."`
		Findings []build.Finding `json:"findings"`
	}
)

// SpecKind is the kind of artifacts that are scenes.
const SpecKind = "spec"

// Scene reads a stored scene by the id of its artifact.
func (w *Work) Scene(ctx context.Context, id string) (*spec.Scene, error) {
	a, err := w.Artifact(ctx, id)
	if err != nil {
		return nil, err
	}
	if a.Kind != SpecKind {
		return nil, Fail(Validation, "spec: artifact %s has the kind %s; give the result of scene_spec or scene_edit",
			markup.Shorten(id, 60), a.Kind)
	}
	b, err := w.Bytes(ctx, a)
	if err != nil {
		return nil, err
	}
	return spec.Decode(b)
}

// SceneFromWords turns the text of the call's card, and words of the caller, into a scene. Field is the
// name of the words in the input, for errors.
func (w *Work) SceneFromWords(field, words, style string) (*spec.Scene, WordsOut, error) {
	b := sentence.Brief{Words: words, Style: style, Seed: w.Seed}
	if w.Card != nil {
		b.Title, b.Text, b.Terrain = w.Card.Name, w.Card.Text, w.Card.Terrain
	}
	if words == "" && w.Card == nil {
		return nil, WordsOut{}, Fail(Validation, "%s: give a description, a card or a spec to build from", field)
	}
	r, err := sentence.Read(b)
	if errors.Is(err, sentence.ErrNothing) {
		unknown := append(r.Unknown, r.Unread...)
		return nil, WordsOut{}, Fail(
			NotSupported,
			"%s: nothing is named that can be built (not understood: %s); name a place or things of docs/vocabulary.md, or give a spec",
			field,
			markup.Shorten(strings.Join(unknown, ", "), 300),
		)
	}
	if err != nil {
		return nil, WordsOut{}, err
	}
	return r.Scene, WordsOut{Place: r.Setting, Phrases: r.Phrases, NotUnderstood: r.Unknown, Unread: r.Unread}, nil
}

// sceneTools are the tools for scenes, which need no program.
var sceneTools = []Tool{
	{Name: "scene_spec", Version: "1.1.0", Title: "Design a scene", Destroys: neverDestroys,
		Asked: []string{
			"design a scene part by part", "describe geometry exactly", "lay out walls, towers, roofs and rooms",
			"scene as a tree of named parts", "declare where each part stands", "write down a building exactly",
			"blueprint of walls and roofs", "house from measured parts", "set of rooms with doors and windows",
			"sketch geometry in words",
		},
		Doc: "Check and store a scene in the language of scenes: a tree of named parts with exact measures, " +
			"from boxes and walls with openings to houses, towers, bridges and things in rows, rings and scatters. " +
			"With words, the scene is made from a sentence, to be changed part by part with scene_edit. " +
			"Build it with generate_scene, or with action build as a GLB file. Metres, degrees, Z up, fronts towards -Y." +
			" Things for prop: altar, anchor, banner, barrel, basket, bed, bell, bench, board, boat, bookcase, " +
			"brazier, bucket, bush, cairn, candelabra, cart, chair, chandelier, chest, clockface, conifer, " +
			"crane, crate, fence, flag, grave, hearth, kettle, ladder, lamp, netrack, pew, piano, portrait, " +
			"post, reed, rock, sack, ship, signpost, stall, statue, stool, stump, table, tankard, tent, throne, " +
			"torch, torchstand, tree, well, woodpile. " +
			"Materials: bark, beacon, birch_bark, blade, blade2, blue, brass, brick, brine, canvas, cobbles, " +
			"dark, dead_bark, earth, far, fern, flame, grass, gravel, hay, iron, leaf, leaf2, leaf3, leaf_gold, " +
			"leaf_rust, lit, marble, metal, mosaic, mossy_stone, mud, needle, needle2, pane, petal_blue, " +
			"petal_heather, petal_red, petal_white, petal_yellow, pine_bark, planks, plaster, red, rock, rust, " +
			"salt, sand, slate, snow, stone, straw, thatch, tiles, timber, water, white.",
		Examples: []Example{{"A tower with barrels", `{"spec": {"version": 1, "name": "keep", "ground": {"material": "grass"},
 "parts": {"keep": {"tower": {"radius": 3.5, "height": 14, "door": true, "slits": 3}, "material": "stone"},
  "barrels": {"prop": {"kind": "barrel"}, "at": [6, -3], "repeat": {"row": {"count": 3, "step": [1.2, 0]}}}}}}`},
			{"From words", `{"words": "a street of eight thatched houses with a church at the end, a well and a cart"}`}}},
	{Name: "scene_edit", Version: "1.0.0", Title: "Change a designed scene", Destroys: neverDestroys,
		Asked: []string{
			"add, move, set or delete a part of the design", "change one part of a designed scene",
			"make the tower of the design higher", "move a wall of the design", "take a part out of the design",
			"make a designed part larger",
		},
		Doc: "Change a stored scene by the paths of its parts: add, move, set, delete, replace. " +
			"The result is a new stored scene with the list of changes.",
		Examples: []Example{{"Higher, with a well", `{"spec": "0190d0a0-0000-7000-8000-000000000000.1",
 "edits": [{"do": "set", "path": "keep", "value": {"tower": {"height": 18}}},
  {"do": "add", "path": "well", "value": {"prop": {"kind": "well"}, "at": [-6, -4]}}]}`}}},
	{Name: "scene_diff", Version: "1.0.0", Title: "Compare designed scenes", Destroys: neverDestroys,
		Asked: []string{
			"differences between two designs", "compare two versions of a designed scene",
			"changes between two designs", "which parts differ",
		},
		Doc: "List the parts that were added, removed and changed between two stored scenes.",
		Examples: []Example{{"Two versions", `{"from": "0190d0a0-0000-7000-8000-000000000000.1",
 "to": "0190d0a0-0000-7000-8000-000000000001.1"}`}}},
	{Name: "scene_merge", Version: "1.0.0", Title: "Keep changes made by hand", Destroys: neverDestroys,
		Asked: []string{
			"keep hand edits when a scene is rebuilt", "merge manual changes into a new design",
			"import a scene that was edited outside", "merge a changed file with the plan",
		},
		Doc: "Read a GLB or .blend file that was made from a stored scene and then changed by hand, as a new base, and merge its " +
			"changes into a new plan by the names of the parts: moved, turned, deleted and added parts stay so. A part " +
			"that both changed differently is a conflict; then nothing is merged unless prefer says which side wins.",
		Examples: []Example{{"Rebuild around a moved well", `{"base": "0190d0a0-0000-7000-8000-000000000000.1",
 "spec": "0190d0a0-0000-7000-8000-000000000001.1", "path": "models/keep.glb"}`}}},
	{Name: "scene_describe", Version: "1.0.0", Title: "Describe a designed scene", Destroys: neverDestroys,
		Asked: []string{
			"look at a design in words", "map of a designed scene from above", "what would each camera see",
			"count the parts of a design", "tell me about the design", "list parts of a stored scene",
			"what can be seen from a camera",
		},
		Doc: "Describe a stored scene: counts by noun, positions, sizes and neighbours of its things, " +
			"a map from above, and the things that each camera sees.",
		Examples: []Example{{"All", `{"spec": "0190d0a0-0000-7000-8000-000000000000.1"}`}}},
	{Name: "scene_check", Version: "1.0.0", Title: "Find faults of a designed scene", Destroys: neverDestroys,
		Asked: []string{
			"faults of a design", "do parts overlap or float", "is a door blocked",
			"can a marker be reached on foot", "does anything overlap", "mistakes in a design",
			"things that hover in the air", "is every marker of the design reachable on foot",
		},
		Doc: "Find faults of a stored scene: things that intersect, float, are below the ground, " +
			"block a door or stand in water, and markers that nobody can walk to.",
		Examples: []Example{{"All", `{"spec": "0190d0a0-0000-7000-8000-000000000000.1"}`}}},
}
