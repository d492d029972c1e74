package studio

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"loregate/internal/access"
	"loregate/internal/op"
	"loregate/internal/studio/build"
	"loregate/internal/studio/spec"
)

// Surface is the name of the studio's surface.
const Surface = "studio"

// Surface makes the surface of the studio.
func (s *Studio) Surface() op.Surface {
	ops := slices.Concat(s.toolOps(), s.planOps(), s.runOps(), s.helpOps())
	return op.Surface{
		Name: Surface, Title: "Studio",
		Doc:        "From lore to scenes: build places in Blender, import them into engines, and record which card each scene was built from.",
		Operations: ops,
		Resources:  []*op.Resource{sceneSchema()},
		Feeds:      []*op.Feed{s.runFeed(), s.runsFeed()},
	}
}

// schemaURI is the address of the schema of scenes.
const schemaURI = "studio://scene-schema"

// sceneSchema is the JSON Schema of the language of scenes, which lists of tools only name.
func sceneSchema() *op.Resource {
	return &op.Resource{
		Template: schemaURI, Name: "scene_schema", Title: "Schema of scenes", MIME: "application/schema+json",
		Doc:      "The JSON Schema of the scenes that scene_spec takes: every field with its bounds.",
		Surfaces: []string{Surface}, MinRole: access.RoleNone, NoWorld: true,
		Read: func(context.Context, *op.Call, map[string]string) (op.Content, error) {
			schema, err := spec.Schema()
			if err != nil {
				return op.Content{}, err
			}
			b, err := json.Marshal(schema)
			return op.Content{Text: string(b)}, err
		},
	}
}

// briefScene describes the scene of scene_spec in lists of tools.
func briefScene() map[string]string {
	words, err := spec.Brief()
	if err != nil {
		panic("studio: " + err.Error())
	}
	return map[string]string{"spec": "The scene, required unless text or from is given: " + words +
		" Angles, points and all other fields: resource " + schemaURI + "; errors name the field."}
}

// newToolOp declares the operation of a tool: In is its input, Out its result.
func newToolOp[In interface{ commonFields() common }, Out any](s *Studio, name string) *op.Operation {
	t, _ := toolNamed(name)
	o := op.Define(s.toolSpec(t), func(ctx context.Context, c *op.Call, in In) (Envelope[Out], error) {
		return callTool[Out](ctx, s, c, t, in, in.commonFields())
	})
	s.ops[name] = o
	return o
}

// toolSpec returns the operation spec of a tool.
func (s *Studio) toolSpec(t *Tool) op.Spec {
	o := op.Spec{Name: t.Name, Title: t.Title, Doc: t.Doc + " " + s.describeAdapters(t), Asked: t.Asked,
		Surfaces: []string{Surface},
		Version:  t.Version,
		Effect:   access.Write, MinRole: t.minRole(), Route: "POST /api/studio/tools/" + t.Name, Timeout: toolLimit,
		Interactive: true, Waits: true, Destroys: t.Destroys,
		Envelope: []string{"request_id", "timeout_s", "protocol_version"}}
	if t.Destroys([]byte(`{"overwrite":true}`)) {
		o.Effect = access.Destroy
	}
	if t.Name == "scene_spec" {
		o.Brief = briefScene
	}
	for _, e := range t.Examples {
		o.Examples = append(o.Examples, op.Example{Title: e.Title, Input: e.Input})
	}
	return o
}

// describeAdapters returns a sentence that names the adapters that support a tool.
func (s *Studio) describeAdapters(t *Tool) string {
	text := "Carried out by"
	for i, a := range s.adaptersFor(t) {
		if i > 0 {
			text += ","
		}
		text += " " + a
	}
	return text + "."
}

func (s *Studio) adaptersFor(t *Tool) []string {
	var names []string
	for _, a := range s.adapters {
		if a.Tools()[t.Name].Does {
			names = append(names, a.Kind())
		}
	}
	return names
}

func (s *Studio) toolOps() []*op.Operation {
	return []*op.Operation{
		newToolOp[SceneIn, SceneOut](s, "generate_scene"), newToolOp[ObjectIn, ObjectOut](s, "add_object"),
		newToolOp[TerrainIn, TerrainOut](s, "generate_terrain"), newToolOp[TextureIn, TextureOut](s,
			"generate_texture"),
		newToolOp[PopulateIn, PopulateOut](s, "populate_level"), newToolOp[ExportIn, ExportOut](s, "export_asset"),
		newToolOp[ImportIn, ImportOut](s, "import_asset"), newToolOp[BlueprintIn, BlueprintOut](s,
			"generate_blueprint"),
		newToolOp[ProfileIn, ProfileOut](s, "profile_performance"), newToolOp[RenderIn, RenderOut](s,
			"render_preview"),
		newToolOp[ListIn, ListOut](s, "list_objects"),
		newToolOp[SpecIn, SpecOut](s, "scene_spec"), newToolOp[EditIn, EditOut](s, "scene_edit"),
		newToolOp[SpecDiffIn, SpecDiffOut](s, "scene_diff"), newToolOp[DescribeIn, build.Description](s,
			"scene_describe"),
		newToolOp[CheckIn, CheckOut](s, "scene_check"), newToolOp[MergeIn, MergeOut](s, "scene_merge"),
	}
}

// callTool runs one call of a tool and fills in its envelope.
func callTool[Out any](ctx context.Context, s *Studio, c *op.Call, t *Tool, in any,
	how common) (e Envelope[Out], err error) {
	input, err := json.Marshal(in)
	if err != nil {
		return e, err
	}
	req, err := s.requestFromCall(t, input, how)
	if err != nil {
		return e, failureOf(err).toFault(nil)
	}
	run, err := s.executeRequest(ctx, c.Grant, req, c.Progress)
	if run == nil {
		return e, faultWithoutRun(err)
	}
	e.Head = run.head()
	c.Reply.Meta = map[string]any{metaKey: e.Head}
	if err := cmp.Or(err, runError(run)); err != nil {
		return e, err
	}
	if err := json.Unmarshal(run.Steps[len(run.Steps)-1].Result, &e.Result); err != nil {
		return e, err
	}
	s.attachPreview(ctx, c, run)
	return e, nil
}

// metaKey is the key of the envelope in the _meta of MCP results.
const metaKey = "loregate/envelope"

// runError returns the error of a failed run, or nil.
func runError(run *Run) error {
	if run.Error == nil {
		return nil
	}
	h := run.head()
	h.Error = nil // the envelope is itself part of this error
	return run.Error.toFault(&h)
}

// faultWithoutRun converts an error that occurred before the run began.
func faultWithoutRun(err error) error {
	if f, ok := err.(*Failure); ok {
		return f.toFault(nil)
	}
	return err
}

// maxPicture bounds the size of a preview that is attached to a reply, in bytes.
const maxPicture = 4 << 20

// attachPreview attaches a run's last preview to the reply, for clients that show images.
func (s *Studio) attachPreview(ctx context.Context, c *op.Call, run *Run) {
	for _, a := range slices.Backward(run.Artifacts) {
		if a.Kind != "preview" || a.Bytes > maxPicture {
			continue
		}
		if data, err := s.blobs.Bytes(ctx, a.SHA256); err == nil {
			c.Reply.Images = []op.File{{Name: a.Name, Type: a.Media, Data: data}}
		}
		return
	}
}
