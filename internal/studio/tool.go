package studio

import (
	"loregate/internal/access"
)

// Tool declares a named capability: its descriptions for people and programs, and its default
// policy. The types of its input and result are in this file, too.
type Tool struct {
	Name    string
	Version string // version of the schema and behaviour; part of the cache key of results
	Title   string
	Doc     string
	Asked   []string // as op.Spec's
	Mutates bool     // changes its target; otherwise it only reads it or makes artifacts
	Files   bool     // touches files beyond artifacts
	// Destroys reports whether an input would overwrite or delete existing data: such calls need
	// allow_destructive in the policy, confirm in the call, and an admin.
	Destroys func(input raw) bool
	Examples []Example
}

// Example is an example call.
type Example struct{ Title, Input string }

// common has the fields that every tool's input has.
type common struct {
	Target    string `json:"target,omitzero" maxlen:"60" jsonschema:"Target from list_targets, such as blender or blender:tavern; may be omitted if exactly one is possible."`
	Seed      int64  `json:"seed,omitzero" min:"0" max:"9007199254740991" jsonschema:"Seed of all random choices: the same seed gives the same result."`
	DryRun    bool   `json:"dry_run,omitzero" jsonschema:"Check everything and return the changes; change nothing."`
	RequestID string `json:"request_id,omitzero" maxlen:"120" jsonschema:"A text of your choice: the same text with the same input returns the first run."`
	Timeout   int    `json:"timeout_s,omitzero" default:"300" min:"1" max:"3600" jsonschema:"Seconds after which the run is stopped and its target left unchanged."`
	Protocol  string `json:"protocol_version,omitzero" pattern:"^[0-9]+\\.[0-9]+\\.[0-9]+$" jsonschema:"Version of the envelope that you use; another major version is refused."`
	Audience  string `json:"audience,omitzero" enum:"user,gm" default:"gm" jsonschema:"Lowest role that may see the run; cards are read with its rights. Players can see a run for user."`
	Confirm   bool   `json:"confirm,omitzero" jsonschema:"Confirm that existing content may be overwritten or replaced."`
}

func (c common) commonFields() common { return c }

// The inputs and results, one pair per tool.
type (
	// SceneIn asks for a scene.
	SceneIn struct {
		common
		Description string `json:"description,omitzero" maxlen:"4000" jsonschema:"Description of the place: an inn by the sea at dusk, ten barrels. Required unless card or spec is given; otherwise added to the card's text."`
		Card        string `json:"card,omitzero" maxlen:"255" jsonschema:"A Location card of the canon to build: by name, codename as :codename, or id as ~id."`
		Spec        string `json:"spec,omitzero" maxlen:"80" jsonschema:"Id of a scene from scene_spec or scene_edit, to build exactly that; description and style are not used."`
		Style       string `json:"style,omitzero" enum:"day,dusk,night,overcast" jsonschema:"The light; default from the words, otherwise day."`
		Replace     bool   `json:"replace,omitzero" jsonschema:"Start with an empty scene. If the target has one, that needs confirm; dry_run lists the parts that change, and undo_run restores the old scene."`
	}
	// SceneOut is a scene that was built.
	SceneOut struct {
		SceneID     string   `json:"scene_id" jsonschema:"Prefix of the names of all objects of the scene."`
		Objects     int      `json:"objects_created"`
		Collections int      `json:"collections_created"`
		PlanID      string   `json:"plan_id,omitzero"`
		Kind        string   `json:"kind" jsonschema:"Kind of place, or spec."`
		Features    []string `json:"features" jsonschema:"Its things, such as 10 barrel."`
		Triangles   int      `json:"triangles"`
		WordsOut
	}
	// ObjectIn asks for one object.
	ObjectIn struct {
		common
		Type     string     `json:"object_type" enum:"cube,sphere,cylinder,cone,plane,torus,text,light,camera,empty" jsonschema:"Object to add. Solids are 2 m across, with their center at location."`
		Name     string     `json:"name,omitzero" maxlen:"55" pattern:"^[A-Za-z0-9][A-Za-z0-9 _.-]*$" jsonschema:"Its name; a name in use is refused. Default the type and a number."`
		Location [3]float64 `json:"location" min:"-100000" max:"100000" jsonschema:"Metres: X, Y, Z, with Z up."`
		Rotation [3]float64 `json:"rotation,omitzero" min:"-36000" max:"36000" jsonschema:"Degrees about X, Y, Z."`
		Scale    [3]float64 `json:"scale,omitzero" min:"-10000" max:"10000" jsonschema:"Default 1, 1, 1."`
		Material string     `json:"material,omitzero" maxlen:"55" jsonschema:"A material of the scene."`
		Text     string     `json:"text,omitzero" maxlen:"200" jsonschema:"Words of a text object."`
	}
	// ObjectOut is an object that was added.
	ObjectOut struct {
		Name string `json:"object_name"`
		ID   string `json:"object_id"`
	}
	// TerrainIn asks for a terrain.
	TerrainIn struct {
		common
		Width     float64 `json:"width" min:"1" max:"20000" jsonschema:"Metres along X."`
		Height    float64 `json:"height" min:"1" max:"20000" jsonschema:"Metres along Y."`
		Detail    string  `json:"detail_level" enum:"low,medium,high" jsonschema:"Points along a side: 129, 257 or 513; for Unreal 505, 1009 or 2017."`
		Amplitude float64 `json:"amplitude,omitzero" default:"20" min:"0" max:"5000" jsonschema:"Maximum difference in height, in metres."`
		Name      string  `json:"name,omitzero" maxlen:"40" pattern:"^[A-Za-z0-9][A-Za-z0-9 _.-]*$" default:"Terrain" jsonschema:"Name of the terrain."`
	}
	// TerrainOut is a terrain that was made.
	TerrainOut struct {
		Asset      string         `json:"terrain_asset"`
		Parameters map[string]any `json:"parameters"`
		Heightmap  string         `json:"heightmap" jsonschema:"Id of the heightmap artifact: greyscale, 16 bits, north up."`
	}
	// TextureIn asks for a painted texture on an object.
	TextureIn struct {
		common
		Object string `json:"object_name" maxlen:"60" jsonschema:"Object to paint."`
		Type   string `json:"texture_type" enum:"stone,wood,grass,sand,metal,fabric" jsonschema:"Material of the surface."`
		Size   int    `json:"size,omitzero" default:"512" enum:"64,128,256,512,1024,2048" jsonschema:"Pixels along a side."`
	}
	// TextureOut is a texture that was painted and assigned.
	TextureOut struct {
		Material string   `json:"material_name"`
		Textures []string `json:"textures" jsonschema:"Ids of the artifacts: base colour, normal."`
	}
	// PopulateIn asks for many instances of one asset.
	PopulateIn struct {
		common
		Level   string     `json:"level,omitzero" maxlen:"60" pattern:"^[A-Za-z0-9_]+$" default:"main" jsonschema:"Level in an engine."`
		Asset   string     `json:"asset" maxlen:"200" jsonschema:"Object of the scene, or imported asset, to place."`
		Density float64    `json:"density" min:"0.000001" max:"100" jsonschema:"Instances per square metre."`
		Area    [4]float64 `json:"area,omitzero" min:"-20000" max:"20000" jsonschema:"Minimum X, minimum Y, maximum X, maximum Y in metres; default 20 m by 20 m around the origin."`
		Most    int        `json:"budget_max_instances,omitzero" default:"1000" min:"1" max:"20000" jsonschema:"Maximum number of instances; a warning counts those left out."`
		Ground  string     `json:"ground,omitzero" maxlen:"60" jsonschema:"Terrain of the scene to place them on; default the plane at height 0."`
	}
	// PopulateOut describes the instances that were placed.
	PopulateOut struct {
		Created    int    `json:"placements_created"`
		Placements string `json:"placements" jsonschema:"Id of the artifact with the position of each instance, as JSON."`
	}
	// ExportIn asks for a file.
	ExportIn struct {
		common
		Object    string `json:"object_name,omitzero" maxlen:"60" jsonschema:"One object, or a scene_id for the whole scene; default everything."`
		Format    string `json:"format" enum:"glb,gltf,obj,fbx,blend" jsonschema:"gltf and obj are returned as one zip of their files; blend is the whole scene as Blender saves it."`
		Path      string `json:"path,omitzero" maxlen:"400" jsonschema:"Also write a file below an allowed file root, such as exports/tavern.glb."`
		Textures  *bool  `json:"include_textures,omitzero" jsonschema:"Default true."`
		Overwrite bool   `json:"overwrite,omitzero" jsonschema:"Overwrite a file at path. That is destructive: it needs confirm, and the policy must allow it."`
	}
	// ExportOut describes an exported file, as read back from the file.
	ExportOut struct {
		Export    string   `json:"export" jsonschema:"Id of the artifact."`
		Manifest  string   `json:"manifest" jsonschema:"Id of the manifest artifact, for import_asset."`
		Format    string   `json:"format"`
		Unit      float64  `json:"unit_scale" jsonschema:"Metres per unit."`
		Up        string   `json:"up_axis"`
		Forward   string   `json:"forward_axis"`
		Materials []string `json:"materials"`
		Nodes     int      `json:"nodes"`
		Triangles int      `json:"triangles"`
		Written   string   `json:"written,omitzero" jsonschema:"The file at path."`
	}
	// ImportIn asks an engine to import an export.
	ImportIn struct {
		common
		Level     string `json:"level,omitzero" maxlen:"60" pattern:"^[A-Za-z0-9_]+$" default:"main" jsonschema:"The level that the asset is for."`
		Manifest  string `json:"manifest,omitzero" maxlen:"80" jsonschema:"Id of an export's manifest artifact, or of a GLB file that scene_spec made; in a plan, $last means the previous step. Required unless path is given."`
		Path      string `json:"path,omitzero" maxlen:"400" jsonschema:"For Blender: a GLB or .blend file of your own below an allowed file root, such as models/gate.glb."`
		Name      string `json:"name,omitzero" maxlen:"40" pattern:"^[A-Za-z0-9_]+$" jsonschema:"Name of the asset; default from the export."`
		Overwrite bool   `json:"overwrite,omitzero" jsonschema:"Replace an asset with this name. That is destructive: it needs confirm, and the policy must allow it."`
	}
	// ImportOut lists the assets that the engine imported.
	ImportOut struct {
		Assets  []string      `json:"imported_assets"`
		Summary ImportSummary `json:"import_summary"`
	}
	// ImportSummary has the engine's own counts of the import.
	ImportSummary struct {
		Nodes     int  `json:"nodes" jsonschema:"Without the root that the engine adds."`
		Triangles int  `json:"triangles"`
		Materials int  `json:"materials"`
		Matches   bool `json:"matches_manifest"`
	}
	// BlueprintIn asks for a script of an object's behaviour.
	BlueprintIn struct {
		common
		Name  string      `json:"name,omitzero" maxlen:"40" pattern:"^[A-Za-z][A-Za-z0-9_]*$" default:"Logic" jsonschema:"Name of the script."`
		Logic string      `json:"logic_description,omitzero" maxlen:"2000" jsonschema:"Sentences of: when it starts / is entered / is left / every N seconds, show / hide / toggle / say / rotate / move. Required unless graph is given."`
		Graph []LogicNode `json:"graph,omitzero" maxitems:"40" jsonschema:"The same as a graph of nodes."`
	}
	// LogicNode is one rule: an event and the action on it.
	LogicNode struct {
		On     string  `json:"on" enum:"ready,entered,left,timer" jsonschema:"What happens."`
		Every  float64 `json:"every_s,omitzero" min:"0.05" max:"86400" jsonschema:"For timer."`
		Do     string  `json:"do" enum:"show,hide,toggle,say,rotate,move" jsonschema:"What is done."`
		Target string  `json:"target,omitzero" maxlen:"60" pattern:"^[A-Za-z0-9 _.-]*$" jsonschema:"Name of a node below; default the script's own."`
		Text   string  `json:"text,omitzero" maxlen:"200" jsonschema:"For say."`
		By     float64 `json:"by,omitzero" min:"-100000" max:"100000" jsonschema:"For rotate degrees, for move metres upwards."`
	}
	// BlueprintOut is a script that was written.
	BlueprintOut struct {
		Files  []string `json:"files_modified"`
		Status string   `json:"compile_status" enum:"ok,error,unchecked" jsonschema:"ok only if the engine itself checked it."`
		Errors []string `json:"compile_errors"`
	}
	// ProfileIn asks for a measurement.
	ProfileIn struct {
		common
		Level  string `json:"level_name" maxlen:"60" pattern:"^[A-Za-z0-9_]+$" jsonschema:"The level to measure."`
		Frames int    `json:"frames,omitzero" default:"60" min:"1" max:"2000" jsonschema:"Frames to measure."`
	}
	// ProfileOut is a measurement. Values that could not be measured are absent.
	ProfileOut struct {
		Report   string             `json:"report" jsonschema:"Id of the artifact."`
		Measured map[string]float64 `json:"measured"`
		On       string             `json:"measured_on"`
	}
	// RenderIn asks for a picture.
	RenderIn struct {
		common
		Camera string `json:"camera,omitzero" maxlen:"60" jsonschema:"A camera of the scene; default its main one."`
		Spec   string `json:"spec,omitzero" maxlen:"80" jsonschema:"Id of a stored scene, which is shown alone; the target keeps its own scene."`
		// Cameras asks for one picture of several cameras.
		Cameras []string `json:"cameras,omitzero" maxitems:"9" maxlen:"60" jsonschema:"Several cameras: a contact sheet."`
		Width   int      `json:"width,omitzero" default:"960" min:"16" max:"3840" jsonschema:"Pixels."`
		Height  int      `json:"height,omitzero" default:"540" min:"16" max:"2160" jsonschema:"Pixels."`
		Samples int      `json:"samples,omitzero" default:"32" min:"1" max:"1024" jsonschema:"Light paths per pixel: more is smoother and slower."`
	}
	// RenderOut is a picture.
	RenderOut struct {
		Preview string `json:"preview" jsonschema:"Id of the PNG artifact."`
		Width   int    `json:"width"`
		Height  int    `json:"height"`
	}
	// ListIn asks for the objects of a target.
	ListIn struct {
		common
		Prefix string `json:"prefix,omitzero" maxlen:"60" jsonschema:"Only names with this prefix, such as a scene_id."`
		Limit  int    `json:"limit,omitzero" default:"100" min:"1" max:"1000" jsonschema:"Most objects."`
		Offset int    `json:"offset,omitzero" min:"0" jsonschema:"Entries to skip."`
	}
	// ListOut lists the objects of a target.
	ListOut struct {
		Objects []Object `json:"objects"`
		Total   int      `json:"total"`
		Digest  string   `json:"digest" jsonschema:"Hash of the target's whole content."`
	}
	// Object is an object in a scene or level.
	Object struct {
		Name       string     `json:"name"`
		Type       string     `json:"type"`
		Collection string     `json:"collection,omitzero"`
		Location   [3]float64 `json:"location"`
		Size       [3]float64 `json:"size"`
		Material   string     `json:"material,omitzero"`
	}
)

// hasOverwrite reports whether the input sets overwrite; an input that cannot be decoded counts as
// destructive.
func hasOverwrite(input raw) bool {
	v, err := readRaw[struct {
		Overwrite bool `json:"overwrite"`
	}](input)
	return err != nil || v.Overwrite
}

func neverDestroys(raw) bool { return false }

// tools lists all tools in the order in which they are shown.
var tools = append([]Tool{
	{Name: "generate_scene", Version: "2.1.0", Title: "Build a scene", Mutates: true, Destroys: neverDestroys,
		Asked: []string{
			"model a place in 3D", "build a tavern with barrels", "construct a house, harbour or square",
			"make a three-dimensional set", "stand a place up in 3D now", "build a place in three dimensions",
			"make a model of a house or harbour", "set up a 3D world for a page", "construct the inn",
		},
		Doc: "Build a place from a Location card of the canon or from a description: buildings, ground, water, trees, lights and a camera that shows the whole place. " +
			"Things named in the words are built, in their numbers, materials and relations; the answer lists for each phrase its part of the scene, and the words that were not understood. Words that name nothing are refused. With a card, the run records its version, so that the scene is listed as stale after an edit.",
		Examples: []Example{{"From a card", `{"card": "The Dry Anchor", "seed": 7, "replace": true}`},
			{"From words", `{"description": "A lighthouse on a cliff at dusk with two boats", "seed": 3}`}}},
	{Name: "add_object", Version: "1.0.0", Title: "Add an object", Mutates: true, Destroys: neverDestroys,
		Asked: []string{
			"put a lamp, cube, sphere or camera into the scene", "place one more thing", "drop a crate there",
			"add lettering", "put a ball, cone or cylinder at some coordinates",
			"one more object into a 3D file", "set a light above the table", "insert a shape in the model",
			"place a solid at x, y, z", "put a cube, ball or lamp into a scene", "place a box",
			"add a light or a camera", "new solid in the model", "set a thing down at coordinates",
		},
		Doc:      "Add one object to a scene: a solid, a text, a light, a camera or an empty. A name in use is refused.",
		Examples: []Example{{"A cube", `{"object_type": "cube", "name": "Crate 1", "location": [2, 0, 1]}`}}},
	{Name: "generate_terrain", Version: "1.0.0", Title: "Make land", Mutates: true, Destroys: neverDestroys,
		Asked: []string{
			"hills, valley or mountains", "landscape", "ground with ridges", "make an island",
			"bare land to build on", "make a hilly ground", "raise mountains in 3D", "a landscape to build on",
			"hills and valleys", "ground for a landscape", "shape mountains", "island with cliffs",
		},
		Doc: "Generate land: hills and ridges as a mesh and a 16-bit heightmap, from a size, a detail and a seed.",
		Examples: []Example{{"Small hills",
			`{"width": 200, "height": 200, "detail_level": "low", "amplitude": 12, "seed": 4}`}}},
	{Name: "generate_texture", Version: "1.0.0", Title: "Paint a surface", Mutates: true, Destroys: neverDestroys,
		Asked: []string{
			"paint wood, stone or moss on it", "give it a look of brick", "material and colours",
			"surface pattern", "let it look like old wood", "paint an object of the model",
			"cover a wall with bricks", "paint a thing like wood or stone", "give it a surface",
			"cover with metal or fabric", "how a wall should look", "coat an object with grass",
		},
		Doc:      "Give an object a painted surface that tiles: base colour and normal map.",
		Examples: []Example{{"Stone", `{"object_name": "Crate 1", "texture_type": "stone", "size": 256}`}}},
	{Name: "populate_level", Version: "1.0.0", Title: "Place many instances", Mutates: true, Destroys: neverDestroys,
		Asked: []string{
			"scatter trees or rocks", "fill an area with copies", "plant a forest", "strew stones about",
			"many copies of a thing over an area", "sow a wood", "spread stones", "scatter trees and rocks",
			"strew things over the ground", "fill a level with barrels",
		},
		Doc: "Scatter instances of one asset over an area, apart from one another, from a density and a seed.",
		Examples: []Example{{"Barrels around a yard",
			`{"asset": "dry_anchor", "density": 0.01, "area": [-40, -40, 40, 40], "budget_max_instances": 50, "seed": 2}`}}},
	{Name: "export_asset", Version: "1.1.0", Title: "Export", Files: true, Destroys: hasOverwrite,
		Asked: []string{
			"save the model as a file", "write out glb, obj or fbx", "hand the model to another program",
			"download the model", "write the model to disk", "I need it as glb", "file for another 3D program",
			"save a model as a file", "glb for another program", "hand the model over",
			"write the scene to disk",
		},
		Doc:      "Export a scene or an object as GLB, glTF, OBJ, FBX or .blend, with a manifest of its units, axes, materials and hashes. The manifest is read back from the file.",
		Examples: []Example{{"Everything as GLB", `{"format": "glb"}`}}},
	{Name: "import_asset", Version: "1.0.0", Title: "Import a model", Mutates: true, Files: true,
		Asked: []string{
			"bring a model into the engine", "load the saved model into Godot",
			"load the model into the game engine", "take a saved model into the game", "bring a file into Godot",
		},
		Destroys: hasOverwrite,
		Doc:      "Import an export into an engine's project by its manifest, or a GLB file into Blender as a part with a name. The result is counted in the program and compared with the file.",
		Examples: []Example{{"The last export", `{"manifest": "0190d0a0-0000-7000-8000-000000000000.2"}`}}},
	{Name: "generate_blueprint", Version: "1.0.0", Title: "Write behaviour", Mutates: true, Destroys: neverDestroys,
		Asked: []string{
			"door opens when somebody comes near", "script behaviour of a level", "trigger, timer and messages",
			"interactive logic", "let the gate open when somebody walks near",
			"behaviour of things in the level", "make things react", "door that opens by itself",
			"logic for a trap or a gate", "if the hero enters, then",
		},
		Doc: "Write behaviour for a level from sentences or a graph: actions on start, on entering, on leaving or on a timer. The engine checks it; it is never run here.",
		Examples: []Example{{"A greeting",
			`{"name": "Greeter", "logic_description": "When it is entered, say Mind the step. Every 5 seconds, toggle Lamp."}`}}},
	{Name: "profile_performance", Version: "1.0.0", Title: "Measure a level", Destroys: neverDestroys,
		Asked: []string{
			"how fast does the level run", "frames per second", "is it too heavy", "loading time",
			"does the level run smoothly", "how heavy is it for the engine", "is the level slow",
			"measure memory and speed", "does it stutter", "weight of a level",
		},
		Doc:      "Measure a level in its engine: time to load, time per frame, nodes, memory; with the hardware that it was measured on.",
		Examples: []Example{{"Sixty frames", `{"level_name": "main"}`}}},
	{Name: "render_preview", Version: "1.1.0", Title: "Render a picture", Destroys: neverDestroys,
		Asked: []string{
			"show a picture of the model", "take a photo of the scene", "it look like", "image from a camera",
			"let me look at modelled", "picture of the scene", "snapshot from a camera",
			"see how the model looks", "photo of it",
		},
		Doc: "Render a scene through one of its cameras, as a PNG that clients can show. " +
			"With cameras, it is a contact sheet: the views side by side in rows, in the order of the list.",
		Examples: []Example{{"A small picture", `{"width": 320, "height": 180, "samples": 8}`}}},
	{Name: "list_objects", Version: "1.0.0", Title: "List a scene's objects", Destroys: neverDestroys,
		Asked: []string{
			"in the scene", "names and positions of the things modelled", "inventory of a level",
			"which things stand in the scene", "how many objects were modelled", "modelled in the file",
			"which objects are there and where", "things in a scene", "names and sizes of solids",
			"inventory of a model", "which items stand in the file",
		},
		Doc:      "List the objects of a scene or level: names, types, positions and sizes.",
		Examples: []Example{{"The first hundred", `{}`}}},
}, sceneTools...)

// minRole returns the lowest role that may call a tool: scenes may contain secrets of the GM.
// Destructive calls additionally need an admin, see Policy.
func (t *Tool) minRole() access.Role { return access.RoleGM }

// toolNamed finds a tool by name.
func toolNamed(name string) (*Tool, bool) {
	for i := range tools {
		if tools[i].Name == name {
			return &tools[i], true
		}
	}
	return nil, false
}

// toolOrEmpty finds a tool by name. For a name that no tool has, or has any more, it returns an
// empty tool, which every adapter refuses.
func toolOrEmpty(name string) *Tool {
	if t, ok := toolNamed(name); ok {
		return t
	}
	return &Tool{Name: name}
}
