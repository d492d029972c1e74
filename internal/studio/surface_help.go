package studio

import (
	"context"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/markup"
	"loregate/internal/op"
)

type commandsOut struct {
	Commands []command `json:"commands"`
}

// command is a tool in the list of commands.
type command struct {
	Name        string           `json:"name"`
	Version     string           `json:"version"`
	Title       string           `json:"title"`
	Destructive bool             `json:"destructive" jsonschema:"Some inputs overwrite existing content: they need confirm."`
	Mutates     bool             `json:"mutates" jsonschema:"It changes its target; undo_run reverts the change."`
	Adapters    []adapterSupport `json:"adapters"`
}

// adapterSupport describes how well an adapter carries a tool out.
type adapterSupport struct {
	Adapter string `json:"adapter"`
	Does    bool   `json:"does"`
	Note    string `json:"note" jsonschema:"How it is supported, or the reason why not."`
}

type helpIn struct {
	Command string `json:"command_name" maxlen:"60" jsonschema:"Name of a tool, from mcp.list_commands."`
}

type helpOut struct {
	command
	Description string             `json:"description"`
	MinRole     string             `json:"least_role"`
	Input       *jsonschema.Schema `json:"input_schema"`
	Output      *jsonschema.Schema `json:"output_schema"`
	Examples    []exampleOut       `json:"examples"`
}

type exampleOut struct {
	Title string `json:"title"`
	Input string `json:"input"`
}

// helpOps returns the help operations, under names with dots and again without, because some
// clients refuse dots.
func (s *Studio) helpOps() []*op.Operation {
	list := op.Spec{Name: "mcp.list_commands", Title: "List commands",
		Asked: []string{
			"the studio do", "tools for modelling", "capabilities per program", "be modelled with",
			"abilities of the studio", "list of modelling commands",
		},
		Doc:      "List the studio's tools, their versions, and the programs that support each.",
		Surfaces: []string{Surface}, Effect: access.Read, MinRole: access.RoleUser, Route: "GET /api/studio/tools",
		Examples: []op.Example{{Title: "All", Input: `{}`}}}
	help := op.Spec{Name: "mcp.help", Title: "Explain a command",
		Asked: []string{
			"how is a studio tool used", "parameters of a modelling tool", "manual for a command",
			"how do I use a modelling command", "explain a studio tool",
		},
		Doc:      "Get a tool's definition: schemas, examples, policy, and its support in each program.",
		Surfaces: []string{Surface}, Effect: access.Read, MinRole: access.RoleUser,
		Route: "GET /api/studio/tools/{command_name}", Target: "command_name",
		Examples: []op.Example{{Title: "A tool", Input: `{"command_name": "generate_scene"}`}}}
	plainList, plainHelp := list, help
	plainList.Name, plainList.Route, plainList.AliasOf = "mcp_list_commands", "", list.Name
	plainHelp.Name, plainHelp.Route, plainHelp.AliasOf = "mcp_help", "", help.Name
	return []*op.Operation{op.Define(list, s.listCommands), op.Define(help, s.explainCommand),
		op.Define(plainList, s.listCommands), op.Define(plainHelp, s.explainCommand)}
}

func (s *Studio) listCommands(context.Context, *op.Call, struct{}) (commandsOut, error) {
	out := commandsOut{Commands: []command{}}
	for i := range tools {
		out.Commands = append(out.Commands, s.newCommand(&tools[i]))
	}
	return out, nil
}

func (s *Studio) newCommand(t *Tool) command {
	c := command{Name: t.Name, Version: t.Version, Title: t.Title, Mutates: t.Mutates,
		Destructive: t.Destroys([]byte(`{"overwrite":true}`)), Adapters: []adapterSupport{}}
	for _, a := range s.adapters {
		sup := a.Tools()[t.Name]
		c.Adapters = append(c.Adapters, adapterSupport{a.Kind(), sup.Does, sup.Note})
	}
	return c
}

func (s *Studio) explainCommand(_ context.Context, _ *op.Call, in helpIn) (helpOut, error) {
	t, ok := toolNamed(in.Command)
	if !ok {
		e := fault.New(fault.NotFound, "there is no tool %q; the tools are %s", markup.Shorten(in.Command, 60),
			strings.Join(slices.Sorted(slices.Values(toolNames())), ", "))
		e.Code = string(ToolNotFound)
		return helpOut{}, e
	}
	o := s.ops[t.Name].(*op.Operation)
	out := helpOut{command: s.newCommand(t), Description: o.Doc, MinRole: o.MinRole.String(), Input: o.InputSchema(),
		Output: o.OutputSchema(), Examples: []exampleOut{}}
	for _, e := range t.Examples {
		out.Examples = append(out.Examples, exampleOut(e))
	}
	return out, nil
}
