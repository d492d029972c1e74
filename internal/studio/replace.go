package studio

import (
	"context"
	"slices"

	"loregate/internal/studio/spec"
)

// content is the state of a target before a step.
type content struct {
	names  []string      // of everything in the target, for a dry run or a step that replaces it
	scenes []*spec.Scene // those that a dry run would replace
}

// checkReplaced refuses a step that would replace the scene of its target without the caller's
// confirmation. It returns the content of the target.
func (x *executor) checkReplaced(ctx context.Context, c call, txn Txn) (was content, err error) {
	replaces := false
	if c.tool.Name == "generate_scene" {
		in, err := readRaw[SceneIn](c.input)
		if err != nil {
			return was, err
		}
		replaces = in.Replace
	}
	if !x.run.dry && (!replaces || c.confirm) {
		return was, nil
	}
	if was.names, err = txn.Names(ctx); err != nil || !replaces {
		return was, err
	}
	if !x.run.dry && len(was.names) > 0 {
		return was, Fail(Confirmation,
			"confirm: %s already has a scene, and replace would remove it; a dry run lists the parts that change; to replace it, repeat the call with confirm: true",
			c.target)
	}
	if holder, ok := txn.(SceneHolder); ok {
		was.scenes, err = holder.Scenes(ctx)
	}
	return was, err
}

// diffReplaced compares scenes with the one that replaced them. That one is compared part by part with
// the scene of its name, else with the latest.
func diffReplaced(ctx context.Context, txn Txn, was []*spec.Scene) ([]spec.Change, error) {
	now, err := txn.(SceneHolder).Scenes(ctx) // only such a Txn has scenes to compare
	if err != nil || len(now) == 0 {
		return nil, err
	}
	built := now[len(now)-1]
	at := slices.IndexFunc(was, func(s *spec.Scene) bool { return s.Name == built.Name })
	if at < 0 {
		at = len(was) - 1
	}
	list, err := spec.Diff(was[at], built)
	for i, s := range was {
		if i != at {
			list = append(list, spec.Change{Path: s.Name, Did: "removed"})
		}
	}
	return list, err
}
