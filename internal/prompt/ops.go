package prompt

import (
	"context"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/op"
)

// Operations returns the operations that serve a registry over REST, on the given surface.
func Operations(r *Registry, surface string) []*op.Operation {
	spec := func(s op.Spec) op.Spec {
		s.Surfaces, s.Effect, s.NoWorld, s.NoTool = []string{surface}, access.Read, true, true
		return s
	}
	return []*op.Operation{
		op.Define(spec(op.Spec{
			Name: "list-prompts", Title: "List prompt templates", Route: "GET /api/prompts",
			Doc:      "List the prompt templates, optionally by tag, with their latest and earlier versions.",
			Examples: []op.Example{{Title: "Those for ambience", Input: `{"tag": "ambience"}`}},
		}), r.listPrompts),
		op.Define(spec(op.Spec{
			Name: "get-prompt", Title: "Read a prompt template", Route: "GET /api/prompts/{id}", Target: "id",
			Doc: "Read a prompt template: its latest version, or the one with a version number or hash. The hash is the " +
				"templateHash of a proposal, and the ETag.",
			Examples: []op.Example{{Title: "The latest", Input: `{"id": "ambience"}`},
				{Title: "One version", Input: `{"id": "ambience", "version": "1.0.0"}`}},
		}), r.getPrompt),
		op.Define(spec(op.Spec{
			Name: "render-prompt", Title: "Render a prompt template", Route: "POST /api/prompts/{id}/render", Target: "id",
			Doc:      "Get the exact text that a template gives for values of its variables.",
			Examples: []op.Example{{Title: "With its defaults", Input: `{"id": "ambience", "variables": {"context": "[]"}}`}},
		}), r.renderPrompt),
	}
}

type listIn struct {
	Tag string `json:"tag,omitzero" maxlen:"64" jsonschema:"Only templates with this tag."`
}

type listedPrompt struct {
	Metadata
	Hash     string   `json:"hash"`
	Versions []string `json:"versions" jsonschema:"All versions, latest first."`
}

type listOut struct {
	Prompts []listedPrompt `json:"prompts"`
}

func (r *Registry) listPrompts(_ context.Context, _ *op.Call, in listIn) (listOut, error) {
	out := listOut{}
	for _, t := range r.List(in.Tag) {
		out.Prompts = append(out.Prompts, listedPrompt{t.Metadata, t.hash, r.Versions(t.Metadata.ID)})
	}
	return out, nil
}

type templateRef struct {
	ID      string `json:"id" minlen:"1" maxlen:"64" jsonschema:"Id of the template."`
	Version string `json:"version,omitzero" maxlen:"20" jsonschema:"Version number; default the latest version."`
	Hash    string `json:"hash,omitzero" maxlen:"64" jsonschema:"Hash of a version; not together with version."`
}

func (r *Registry) pickVersion(w templateRef) (*Template, error) {
	switch {
	case w.Version != "" && w.Hash != "":
		return nil, fault.BadField("hash", "send a version or a hash, not both")
	case w.Hash != "":
		return r.ByHash(w.ID, w.Hash)
	}
	return r.Get(w.ID, w.Version)
}

type getOut struct {
	Metadata  Metadata   `json:"metadata"`
	Template  string     `json:"template"`
	Variables []Variable `json:"variables"`
	Examples  []Example  `json:"examples,omitempty"`
	Hash      string     `json:"hash"`
}

func (r *Registry) getPrompt(_ context.Context, c *op.Call, in templateRef) (getOut, error) {
	t, err := r.pickVersion(in)
	if err != nil {
		return getOut{}, err
	}
	c.Reply.ETag = t.hash
	return getOut{t.Metadata, t.Template, t.Variables, t.Examples, t.hash}, nil
}

type renderIn struct {
	templateRef
	Variables map[string]string `json:"variables,omitzero" jsonschema:"Values of the variables, by name."`
}

type renderOut struct {
	Text    string `json:"text"`
	ID      string `json:"id"`
	Version string `json:"version"`
	Hash    string `json:"hash"`
}

func (r *Registry) renderPrompt(_ context.Context, _ *op.Call, in renderIn) (renderOut, error) {
	t, err := r.pickVersion(in.templateRef)
	if err != nil {
		return renderOut{}, err
	}
	text, err := t.Render(in.Variables)
	return renderOut{text, t.Metadata.ID, t.Metadata.Version, t.hash}, err
}
