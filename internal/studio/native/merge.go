package native

import (
	"context"
	"slices"

	"loregate/internal/studio"
	"loregate/internal/studio/build"
	"loregate/internal/studio/gltf"
	"loregate/internal/studio/spec"
)

// mergeScenes reads a file that was changed by hand as a new base, and merges its changes into a plan.
func (t *target) mergeScenes(ctx context.Context, w *studio.Work, in studio.MergeIn) (any, error) {
	base, err := w.Scene(ctx, in.Base)
	if err != nil {
		return nil, err
	}
	plan := base
	if in.Spec != "" {
		if plan, err = w.Scene(ctx, in.Spec); err != nil {
			return nil, err
		}
	}
	own, err := w.OwnModel(ctx, studio.ImportIn{Manifest: in.Manifest, Path: in.Path})
	if err != nil {
		return nil, err
	}
	data := own.GLB
	places, err := gltf.Places(data)
	if err != nil {
		return nil, studio.Fail(studio.Validation, "path: the file is no valid GLB file: %v", err)
	}
	hand, err := build.ReadHand(base, places, t.meshes)
	if err != nil {
		return nil, err
	}
	out := studio.MergeOut{Digest: own.Digest, Added: hand.Added}
	if out.Kept, err = spec.Diff(base, hand.Scene); err != nil {
		return nil, err
	}
	var merged *spec.Scene
	if merged, out.Conflicts, err = spec.Merge(base, hand.Scene, plan, in.Prefer); err != nil {
		return nil, err
	}
	out.Merged = len(out.Conflicts) == 0 || in.Prefer == "hand" || in.Prefer == "plan"
	if !out.Merged {
		merged = hand.Scene
	}
	if out.SpecOut, _, err = t.buildScene(merged, w); err != nil {
		return nil, err
	}
	if out.Hand, err = keepScene(ctx, w, hand.Scene); err != nil {
		return nil, err
	}
	if out.Merged {
		if out.Spec, err = keepScene(ctx, w, merged); err != nil {
			return nil, err
		}
	}
	if len(hand.Added) == 0 {
		return out, nil
	}
	added, err := gltf.KeepNodes(data, func(name string) bool { return slices.Contains(hand.Added, name) })
	if err != nil {
		return nil, err
	}
	out.Additions, err = w.Keep(ctx, studio.OutputFile{Kind: "export", Name: base.Name + "-added.glb",
		Media: "model/gltf-binary"}, added)
	return out, err
}
