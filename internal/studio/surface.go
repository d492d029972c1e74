package studio

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"loregate/internal/access"
	"loregate/internal/op"
)

// Surface is the surface's name.
const Surface = "studio"

// Surface makes the surface of the studio.
func (s *Studio) Surface() op.Surface {
	ops := slices.Concat(s.toolOps(), s.planOps(), s.runOps(), s.helpOps())
	return op.Surface{
		Name: Surface, Title: "Studio",
		Doc:        "From lore to scenes: build places in Blender, take them into engines, and keep the record of what was built from which card.",
		Operations: ops,
		Feeds:      []*op.Feed{s.runFeed()},
	}
}

// tooled declares the operation of a tool: In is its input, Out its result.
func tooled[In interface{ of() common }, Out any](s *Studio, name string) *op.Operation {
	t, _ := toolNamed(name)
	o := op.Define(s.spec(t), func(ctx context.Context, c *op.Call, in In) (Envelope[Out], error) {
		return called[Out](ctx, s, c, t, in, in.of())
	})
	s.ops[name] = o
	return o
}

// spec is what transports are told of a tool.
func (s *Studio) spec(t *Tool) op.Spec {
	spec := op.Spec{Name: t.Name, Title: t.Title, Doc: t.Doc + " " + s.where(t), Surfaces: []string{Surface}, Version: t.Version,
		Effect: access.Write, MinRole: t.least(), Route: "POST /api/studio/tools/" + t.Name, Timeout: toolLimit, Interactive: true}
	if t.Destroys([]byte(`{"overwrite":true}`)) {
		spec.Effect = access.Destroy
	}
	for _, e := range t.Examples {
		spec.Examples = append(spec.Examples, op.Example{Title: e.Title, Input: e.Input})
	}
	return spec
}

// where says which adapters carry a tool out.
func (s *Studio) where(t *Tool) string {
	text := "Carried out by"
	for i, a := range s.doers(t) {
		if i > 0 {
			text += ","
		}
		text += " " + a
	}
	return text + "."
}

func (s *Studio) doers(t *Tool) []string {
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
		tooled[SceneIn, SceneOut](s, "generate_scene"), tooled[ObjectIn, ObjectOut](s, "add_object"),
		tooled[TerrainIn, TerrainOut](s, "generate_terrain"), tooled[TextureIn, TextureOut](s, "generate_texture"),
		tooled[PopulateIn, PopulateOut](s, "populate_level"), tooled[ExportIn, ExportOut](s, "export_asset"),
		tooled[ImportIn, ImportOut](s, "import_asset"), tooled[BlueprintIn, BlueprintOut](s, "generate_blueprint"),
		tooled[ProfileIn, ProfileOut](s, "profile_performance"), tooled[RenderIn, RenderOut](s, "render_preview"),
		tooled[ListIn, ListOut](s, "list_objects"),
	}
}

// called runs one call of a tool and shapes its envelope.
func called[Out any](ctx context.Context, s *Studio, c *op.Call, t *Tool, in any, how common) (e Envelope[Out], err error) {
	input, err := json.Marshal(in)
	if err != nil {
		return e, err
	}
	req, err := s.one(t, input, how)
	if err != nil {
		return e, failureOf(err).fault(nil)
	}
	run, err := s.execute(ctx, c.Grant, req, c.Progress)
	if run == nil {
		return e, plainly(err)
	}
	e.Head = run.head()
	c.Reply.Meta = map[string]any{metaKey: e.Head}
	if err := cmp.Or(err, ended(run)); err != nil {
		return e, err
	}
	if err := json.Unmarshal(run.Steps[len(run.Steps)-1].Result, &e.Result); err != nil {
		return e, err
	}
	s.picture(c, run)
	return e, nil
}

// metaKey names the envelope in the _meta of MCP results.
const metaKey = "loregate/envelope"

// ended is the error of a run that did not end well.
func ended(run *Run) error {
	if run.Error == nil {
		return nil
	}
	h := run.head()
	h.Error = nil // it is what the envelope travels in
	return run.Error.fault(&h)
}

// plainly says an error from before there was a run.
func plainly(err error) error {
	if f, ok := err.(*Failure); ok {
		return f.fault(nil)
	}
	return err
}

// maxPicture bounds what a client is shown of a preview.
const maxPicture = 4 << 20

// picture shows a run's last preview to clients that show pictures.
func (s *Studio) picture(c *op.Call, run *Run) {
	for _, a := range slices.Backward(run.Artifacts) {
		if a.Kind != "preview" || a.Bytes > maxPicture {
			continue
		}
		if data, err := s.blobs.Bytes(a.SHA256); err == nil {
			c.Reply.Images = []op.File{{Name: a.Name, Type: a.Media, Data: data}}
		}
		return
	}
}
