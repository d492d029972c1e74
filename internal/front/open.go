package front

import (
	"context"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/op"
)

type openIn struct {
	Set string `json:"set" minlen:"2" maxlen:"64" jsonschema:"archive, world, lore, campaign, rules, alignment or studio."`
}

type openOut struct {
	Opened string   `json:"opened,omitzero"`
	Tools  []string `json:"tools"`
	Note   string   `json:"note,omitzero"`
}

func (f *Front) openOp() *op.Operation {
	return op.Define(op.Spec{
		Name: openTool, Title: "Add a surface's tools", Surfaces: []string{Surface}, Effect: access.Read, NoWorld: true,
		TextOnly: true, NeedsList: true,
		Doc: "Add all tools of a set, such as archive or studio, to this session's list, also those that delete. Only if your client " +
			"reloads " +
			"a changed list; otherwise use find_operation.",
		Examples: []op.Example{{Title: "The studio", Input: `{"set": "studio"}`}},
	}, f.open)
}

func (f *Front) open(_ context.Context, c *op.Call, in openIn) (out openOut, err error) {
	caller := c.Grant.Caller()
	out = openOut{Tools: []string{}}
	var sets []string
	for _, s := range f.engine.Surfaces() {
		tools := f.engine.Operations(caller, s.Name)
		if s.Name == Surface || len(tools) == 0 {
			continue
		}
		sets = append(sets, s.Name)
		if s.Name != in.Set {
			continue
		}
		for _, o := range tools {
			if !o.NoTool && !o.Unlisted {
				out.Tools = append(out.Tools, o.Name)
			}
		}
	}
	switch {
	case len(out.Tools) == 0:
		return out, fault.BadField("set", "is not a surface with tools for you; there are %s", joinWords(sets))
	case c.KeepsList:
		out.Opened, c.Reply.Opens = in.Set, in.Set
	default:
		out.Note = "This connection keeps no list of tools: connect to /mcp/" + Surface + "+" + in.Set + ", or use " +
			"" + findTool + "."
	}
	return out, nil
}
