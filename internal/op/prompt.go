package op

import (
	"context"
	"maps"
	"slices"
	"strings"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/markup"
)

// PromptRequest asks for a prompt's text.
type PromptRequest struct {
	Ask
	Name string
	Args map[string]string
}

// PromptText is a rendered prompt: one message of the user.
type PromptText struct{ Doc, Text string }

// CompleteRequest asks for values of a variable. One of Prompt and Template is set.
type CompleteRequest struct {
	Ask
	Prompt   string // name of a prompt
	Template string // URI template of a resource, as listed
	Variable string
	Prefix   string
}

// maxCompletions is the maximum number of values in MCP's completion/complete.
const maxCompletions = 100

// GetPrompt renders a prompt. A prompt that the caller may not use does not exist for it.
func (l *Local) GetPrompt(ctx context.Context, c access.Caller, r PromptRequest) (text PromptText, err error) {
	p := l.findPrompt(c, r.Surface, r.Name)
	none := fault.New(fault.NotFound, "there is no prompt %q; list the prompts to find one", markup.Shorten(r.Name, 64))
	if p == nil {
		return text, l.refuseAbsent(ctx, c, r.Ask, "prompts/get", access.ClassCall, none)
	}
	item := guardedItem{p.Name, p.Surfaces, p.MinRole, p.NoWorld, access.ClassCall, "", false}
	err = l.runGuarded(ctx, c, r.Ask, item, func(ctx context.Context, call *Call) (int, error) {
		if err := checkArgs(p, r.Args); err != nil {
			return 0, err
		}
		text.Doc = p.Doc
		text.Text, err = p.Render(ctx, call, r.Args)
		return len(text.Text), err
	})
	return text, hideDenied(err, none)
}

func (l *Local) findPrompt(c access.Caller, surface, name string) *Prompt {
	for _, p := range l.Prompts(c, surface) {
		if p.Name == name {
			return p
		}
	}
	return nil
}

func checkArgs(p *Prompt, args map[string]string) error {
	var f faults
	known := make([]string, len(p.Args))
	for i, a := range p.Args {
		known[i] = a.Name
		if a.Required && args[a.Name] == "" {
			f.add(&fieldPath{name: a.Name, index: -1}, "is required")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(args)) {
		if !slices.Contains(known, name) {
			f.add(&fieldPath{name: name, index: -1}, "%s", unknownFieldText(name, known))
		}
	}
	return f.err()
}

// Complete returns at most 100 values of a variable that begin with a text; none if there is
// nothing to complete. Its errors are those of the prompt or resource.
func (l *Local) Complete(ctx context.Context, c access.Caller, r CompleteRequest) (values []string, err error) {
	item, complete := l.findCompleter(c, r)
	if complete == nil {
		none := fault.New(fault.NotFound,
			"no prompt or template has this name; list the prompts and templates to find one")
		return nil, l.refuseAbsent(ctx, c, r.Ask, "completion/complete", access.ClassResource, none)
	}
	err = l.runGuarded(ctx, c, r.Ask, item, func(ctx context.Context, call *Call) (int, error) {
		values, err = complete(ctx, call, r.Variable, r.Prefix)
		return len(strings.Join(values, "")), err
	})
	return values[:min(len(values), maxCompletions)], err
}

type completion func(ctx context.Context, c *Call, variable, prefix string) ([]string, error)

func completeNothing(context.Context, *Call, string, string) ([]string, error) { return nil, nil }

// findCompleter finds the function that completes; nil if the caller may not use the prompt or
// resource.
func (l *Local) findCompleter(c access.Caller, r CompleteRequest) (guardedItem, completion) {
	if r.Prompt != "" {
		p := l.findPrompt(c, r.Surface, r.Prompt)
		if p == nil {
			return guardedItem{}, nil
		}
		item := guardedItem{p.Name, p.Surfaces, p.MinRole, p.NoWorld, access.ClassResource, "", false}
		if p.Complete == nil {
			return item, completeNothing
		}
		return item, p.Complete
	}
	for _, res := range l.Resources(c, r.Surface) {
		if res.Template != r.Template {
			continue
		}
		item := guardedItem{res.Name, res.Surfaces, res.MinRole, res.NoWorld, access.ClassResource, "", false}
		if res.Complete == nil {
			return item, completeNothing
		}
		return item, res.Complete
	}
	return guardedItem{}, nil
}
