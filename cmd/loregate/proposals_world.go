package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"loregate/internal/app"
	"loregate/internal/fault"
)

// callAnyWorld calls an operation on proposals. If there are several worlds and the flags name
// none, it looks for the proposal in each world, or merges the lists of all.
func (c proposalsCommon) callAnyWorld(ctx context.Context, a *app.App, operation string,
	input map[string]any) (json.RawMessage, error) {
	all, err := a.Canon.Worlds(ctx)
	if err != nil {
		return nil, err
	}
	if c.World != "" || len(all) < 2 {
		return c.callIn(ctx, a, c.World, operation, input)
	}
	slugs := make([]string, len(all))
	for i, w := range all {
		slugs[i] = w.Slug
	}
	id, ok := input["proposalId"]
	if !ok {
		return c.listAll(ctx, a, slugs, operation, input)
	}
	for _, world := range slugs {
		found, err := c.callIn(ctx, a, world, "get-proposal", map[string]any{"proposalId": id})
		switch {
		case errors.Is(err, fault.NotFound):
			continue
		case err != nil || operation == "get-proposal":
			return found, err
		}
		return c.callIn(ctx, a, world, operation, input)
	}
	return nil, fault.New(fault.NotFound, "there is no proposal %v in any world; loregate proposals list shows them", id)
}

// listAll merges the lists of several worlds, latest first.
func (c proposalsCommon) listAll(ctx context.Context, a *app.App, worlds []string, operation string,
	input map[string]any) (json.RawMessage, error) {
	if input["before"] != nil {
		return nil, fault.BadField("before", "continues the list of one world; name the world with --world")
	}
	rows := []map[string]any{}
	for _, world := range worlds {
		raw, err := c.callIn(ctx, a, world, operation, input)
		if err != nil {
			return nil, err
		}
		var list struct {
			Proposals []map[string]any `json:"proposals"`
		}
		if err := json.Unmarshal(raw, &list); err != nil {
			return nil, err
		}
		for _, p := range list.Proposals {
			p["world"] = world
			rows = append(rows, p)
		}
	}
	slices.SortStableFunc(rows, func(a, b map[string]any) int { return cmp.Compare(createdAt(b), createdAt(a)) })
	if most, ok := input["limit"].(int); ok {
		rows = rows[:min(len(rows), most)]
	}
	return json.Marshal(map[string]any{"proposals": rows})
}

// createdAt returns the creation time of a listed proposal, in nanoseconds.
func createdAt(p map[string]any) int64 {
	text, _ := p["createdUtc"].(string)
	at, _ := time.Parse(time.RFC3339Nano, text) // a proposal without a time comes last
	return at.UnixNano()
}
