package conformance

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"loregate/internal/mcpd"
)

// The resources of the suite.
const (
	staticText   = "test://static-text"
	staticBinary = "test://static-binary"
	watched      = "test://watched-resource"
	template     = "test://template/{id}/data"
	templateHead = "test://template/"
)

// fixture is a tool with its handler.
type fixture struct {
	name, doc string
	schema    string // of the input; "" is any object
	handle    mcp.ToolHandler
}

// Fixtures returns the features that the suite requires.
func Fixtures() *mcpd.Fixtures {
	f := &mcpd.Fixtures{
		Resources: []*mcp.Resource{
			{URI: staticText, Name: "static-text", Description: "A text that stays the same", MIMEType: "text/plain"},
			{URI: staticBinary, Name: "static-binary", Description: "An image that stays the same", MIMEType: "image/png"},
			{URI: watched, Name: "watched-resource", Description: "A text to subscribe to", MIMEType: "text/plain"},
		},
		Templates: []*mcp.ResourceTemplate{
			{URITemplate: template, Name: "template", Description: "A text made of a variable", MIMEType: "application/json"},
		},
		Prompts: listPrompts(),
		Reads: func(uri string) bool {
			return slices.Contains([]string{staticText, staticBinary, watched, template}, uri) ||
				strings.HasPrefix(uri, templateHead)
		},
	}
	all := slices.Concat(contentTools(), clientTools(), roundTools())
	for _, t := range all {
		f.Tools = append(f.Tools, t.newTool())
	}
	f.Register = func(s *mcp.Server) {
		for _, t := range all {
			s.AddTool(t.newTool(), t.handle)
		}
		for _, t := range changeTools(s) {
			s.AddTool(t.newTool(), t.handle)
		}
		for _, r := range f.Resources {
			s.AddResource(r, readFixture)
		}
		for _, t := range f.Templates {
			s.AddResourceTemplate(t, readFixture)
		}
		for _, p := range f.Prompts {
			s.AddPrompt(p, answerPrompt)
		}
	}
	for _, t := range changeTools(nil) {
		f.Tools = append(f.Tools, t.newTool())
	}
	return f
}

func (t fixture) newTool() *mcp.Tool {
	schema := cmp.Or(t.schema, `{"type":"object"}`)
	return &mcp.Tool{Name: t.name, Description: t.doc, InputSchema: json.RawMessage(schema)}
}

func readFixture(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	c := &mcp.ResourceContents{URI: req.Params.URI, MIMEType: "text/plain"}
	id, isTemplate := strings.CutPrefix(req.Params.URI, templateHead)
	switch {
	case isTemplate:
		id = strings.TrimSuffix(id, "/data")
		text, err := json.Marshal(map[string]any{"id": id, "templateTest": true, "data": "Data for ID: " + id})
		if err != nil {
			return nil, err
		}
		c.MIMEType, c.Text = "application/json", string(text)
	case req.Params.URI == staticBinary:
		c.MIMEType, c.Blob = "image/png", image
	case req.Params.URI == watched:
		c.Text = "Watched resource content"
	default:
		c.Text = "This is the content of the static text resource."
	}
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{c}}, nil
}

func listPrompts() []*mcp.Prompt {
	arg := func(name string) *mcp.PromptArgument {
		return &mcp.PromptArgument{Name: name, Description: "An argument", Required: true}
	}
	return []*mcp.Prompt{
		{Name: "test_simple_prompt", Title: "Simple", Description: "A prompt without arguments"},
		{Name: "test_prompt_with_arguments", Title: "With arguments", Description: "A prompt with two arguments",
			Arguments: []*mcp.PromptArgument{arg("arg1"), arg("arg2")}},
		{Name: "test_prompt_with_embedded_resource", Title: "With a resource", Description: "A prompt that embeds a resource",
			Arguments: []*mcp.PromptArgument{arg("resourceUri")}},
		{Name: "test_prompt_with_image", Title: "With an image", Description: "A prompt that holds an image"},
		{Name: "test_input_required_result_prompt", Title: "Asks back", Description: "A prompt that asks for its context"},
	}
}

func answerPrompt(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	p := req.Params
	switch p.Name {
	case "test_prompt_with_arguments":
		return promptResult(&mcp.TextContent{Text: "Prompt with arguments: arg1='" + p.Arguments["arg1"] + "', arg2='" +
			p.Arguments["arg2"] + "'"}), nil
	case "test_prompt_with_embedded_resource":
		return promptResult(embeddedResource(p.Arguments["resourceUri"], "Embedded resource content for testing."),
			&mcp.TextContent{Text: "Please process the embedded resource above."}), nil
	case "test_prompt_with_image":
		return promptResult(&mcp.ImageContent{Data: image, MIMEType: "image/png"},
			&mcp.TextContent{Text: "Please analyze the image above."}), nil
	case "test_input_required_result_prompt":
		if text, ok := acceptedContent(p.InputResponses, "user_context")["context"].(string); ok {
			return promptResult(&mcp.TextContent{Text: "Context: " + text}), nil
		}
		return &mcp.GetPromptResult{InputRequests: mcp.InputRequestMap{"user_context": newForm("Please provide context for the prompt", "context", "string")}}, nil
	}
	return promptResult(&mcp.TextContent{Text: "This is a simple prompt for testing."}), nil
}

func promptResult(parts ...mcp.Content) *mcp.GetPromptResult {
	r := &mcp.GetPromptResult{Description: "A prompt of the conformance suite"}
	for _, p := range parts {
		r.Messages = append(r.Messages, &mcp.PromptMessage{Role: "user", Content: p})
	}
	return r
}

func embeddedResource(uri, text string) *mcp.EmbeddedResource {
	return &mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: uri, MIMEType: "text/plain", Text: text}}
}

// A red pixel as PNG, and silence as WAV.
var (
	image = mustDecode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==")
	sound = mustDecode("UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=")
)

func mustDecode(s string) []byte {
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		panic("conformance: " + err.Error())
	}
	return b
}
