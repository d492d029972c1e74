package native

import (
	"context"

	"loregate/internal/studio"
	"loregate/internal/studio/build"
	"loregate/internal/studio/gltf"
	"loregate/internal/studio/godot4"
	"loregate/internal/studio/spec"
)

// toolMethods maps the tools to their methods.
var toolMethods = map[string]func(t *target, ctx context.Context, w *studio.Work) (any, error){
	"scene_spec":     studio.With((*target).putScene),
	"scene_edit":     studio.With((*target).editScene),
	"scene_diff":     studio.With((*target).compareScenes),
	"scene_describe": studio.With((*target).describeScene),
	"scene_check":    studio.With((*target).checkScene),
	"scene_merge":    studio.With((*target).mergeScenes),
}

// Do carries out a call.
func (t *target) Do(ctx context.Context, w *studio.Work) (any, error) {
	m, ok := toolMethods[w.Tool]
	if !ok {
		return nil, studio.Fail(studio.NotSupported, "native does not support %s: it needs a program", w.Tool)
	}
	return m(t, ctx, w)
}

// putScene checks a scene; unless it is only to be validated, it stores it.
func (t *target) putScene(ctx context.Context, w *studio.Work, in studio.SpecIn) (any, error) {
	s, words, err := readScene(ctx, w, in)
	if err != nil {
		return nil, err
	}
	out, m, err := t.buildScene(s, w)
	out.WordsOut = words
	if err != nil || in.Action == "validate" {
		return out, err
	}
	if out.Spec, err = keepScene(ctx, w, s); err != nil || in.Action != "build" {
		return out, err
	}
	err = t.keepFiles(ctx, w, in.For, m, &out)
	return out, err
}

// keepFiles stores the GLB file of a scene, and its project for an engine.
func (t *target) keepFiles(ctx context.Context, w *studio.Work, use string, m *build.Model, out *studio.SpecOut) error {
	encode := m.GLB
	if use == "game" {
		encode = m.GameGLB
	}
	glb, err := encode(t.paints)
	if err != nil {
		return err
	}
	if _, err := gltf.ParseGLB(glb); err != nil {
		return studio.Fail(studio.ExecFailed, "the GLB file is not valid").Because(err)
	}
	out.GLB, err = w.Keep(ctx, studio.OutputFile{Kind: "export", Name: m.Name + ".glb", Media: "model/gltf-binary"}, glb)
	if err != nil || use != "godot4" {
		return err
	}
	files, err := godot4.Files(m, glb)
	if err != nil {
		return err
	}
	zip, err := godot4.Zip(files)
	if err != nil {
		return err
	}
	out.Project, err = w.Keep(ctx, studio.OutputFile{Kind: "export", Name: m.Name + "-godot4.zip",
		Media: "application/zip"}, zip)
	return err
}

// readScene returns the scene of an input, and how its words were read.
func readScene(
	ctx context.Context,
	w *studio.Work,
	in studio.SpecIn,
) (s *spec.Scene, words studio.WordsOut, err error) {
	given := 0
	for _, ok := range []bool{in.Spec != nil, in.Text != "", in.From != "", in.Words != ""} {
		if ok {
			given++
		}
	}
	switch {
	case given > 1 || given == 0 && in.Card == "":
		return nil, words, studio.Fail(studio.Validation, "spec: give exactly one of spec, text, from and words, or a card")
	case in.Spec != nil:
		return in.Spec, words, in.Spec.Check()
	case in.Text != "":
		s, err = spec.Parse([]byte(in.Text))
	case in.From != "":
		s, err = w.Scene(ctx, in.From)
	default:
		return w.SceneFromWords("words", in.Words, "")
	}
	return s, words, err
}

// buildScene builds a scene and reports what it has.
func (t *target) buildScene(s *spec.Scene, w *studio.Work) (studio.SpecOut, *build.Model, error) {
	m, err := build.Build(s, t.meshes)
	if err != nil {
		return studio.SpecOut{}, nil, err
	}
	for _, text := range m.Warnings {
		w.Warn(text)
	}
	return studio.SpecOut{Name: m.Name, Counts: m.Counts(), Bodies: len(m.Nodes), Triangles: m.Triangles(),
		Cameras:  m.CameraNames(),
		Findings: len(m.Check())}, m, nil
}

func keepScene(ctx context.Context, w *studio.Work, s *spec.Scene) (string, error) {
	b, err := s.Encode()
	if err != nil {
		return "", err
	}
	return w.Keep(ctx, studio.OutputFile{Kind: studio.SpecKind, Name: s.Name + ".json", Media: "application/json"}, b)
}

func (t *target) editScene(ctx context.Context, w *studio.Work, in studio.EditIn) (any, error) {
	before, err := w.Scene(ctx, in.Spec)
	if err != nil {
		return nil, err
	}
	after, err := before.Apply(in.Edits)
	if err != nil {
		return nil, err
	}
	out := studio.EditOut{}
	if out.SpecOut, _, err = t.buildScene(after, w); err != nil {
		return nil, err
	}
	if out.Changes, err = spec.Diff(before, after); err != nil {
		return nil, err
	}
	out.Spec, err = keepScene(ctx, w, after)
	return out, err
}

func (t *target) compareScenes(ctx context.Context, w *studio.Work, in studio.SpecDiffIn) (any, error) {
	from, err := w.Scene(ctx, in.From)
	if err != nil {
		return nil, err
	}
	to, err := w.Scene(ctx, in.To)
	if err != nil {
		return nil, err
	}
	changes, err := spec.Diff(from, to)
	return studio.SpecDiffOut{Changes: changes}, err
}

// loadModel builds a stored scene.
func (t *target) loadModel(ctx context.Context, w *studio.Work, id string) (*build.Model, error) {
	s, err := w.Scene(ctx, id)
	if err != nil {
		return nil, err
	}
	return build.Build(s, t.meshes)
}

func (t *target) describeScene(ctx context.Context, w *studio.Work, in studio.DescribeIn) (any, error) {
	m, err := t.loadModel(ctx, w, in.Spec)
	if err != nil {
		return nil, err
	}
	return m.Describe(in.Limit), nil
}

func (t *target) checkScene(ctx context.Context, w *studio.Work, in studio.CheckIn) (any, error) {
	m, err := t.loadModel(ctx, w, in.Spec)
	if err != nil {
		return nil, err
	}
	findings := m.Check()
	return studio.CheckOut{OK: len(findings) == 0, Findings: findings}, nil
}
