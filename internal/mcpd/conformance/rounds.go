//lint:file-ignore SA1019 the suite asks for sampling, roots and logging, which the modern era leaves out

package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// roundTools are tools that end by asking for input, and are called again with it.
func roundTools() []fixture {
	name := func(n string) string { return "test_input_required_result_" + n }
	return []fixture{
		{name: name("elicitation"), doc: "Asks for a name", handle: asksName},
		{name: name("sampling"), doc: "Asks the client's model", handle: asksModel},
		{name: name("list_roots"), doc: "Asks for the roots", handle: asksRoots},
		{name: name("request_state"), doc: "Hands out state to bring back", handle: keepsState("request_state")},
		{name: name("tampered_state"), doc: "Refuses state that was changed", handle: keepsState("tampered_state")},
		{name: name("multiple_inputs"), doc: "Asks for three things at once", handle: asksAll},
		{name: name("multi_round"), doc: "Asks twice", handle: asksTwice},
		{name: name("capabilities"), doc: "Asks only for what the client can", handle: asksCapable},
	}
}

func requireInput(state string, requests mcp.InputRequestMap) (*mcp.CallToolResult, error) {
	return &mcp.CallToolResult{InputRequests: requests, RequestState: state}, nil
}

func newForm(message, field, kind string) *mcp.ElicitParams {
	schema := fmt.Sprintf(`{"type":"object","properties":{%q:{"type":%q,"description":"Your answer"}},"required":[%q]}`,
		field, kind, field)
	return &mcp.ElicitParams{Message: message, RequestedSchema: json.RawMessage(schema)}
}

// acceptedContent returns the user's answer; nil if there is no answer or a refusal.
func acceptedContent(given mcp.InputResponseMap, key string) map[string]any {
	r, ok := given[key].(*mcp.ElicitResult)
	if !ok || r == nil || r.Action != "accept" {
		return nil
	}
	return r.Content
}

func stringField(content map[string]any, field string) string {
	s, _ := content[field].(string)
	return s
}

func nameForm() *mcp.ElicitParams { return newForm("What is your name?", "name", "string") }

func modelRequest(question string) *mcp.CreateMessageParams {
	return &mcp.CreateMessageParams{MaxTokens: 100,
		Messages: []*mcp.SamplingMessage{{Role: "user", Content: &mcp.TextContent{Text: question}}}}
}

func asksName(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if name := stringField(acceptedContent(req.Params.InputResponses, "user_name"), "name"); name != "" {
		return textResult("Hello, " + name + "!"), nil
	}
	return requireInput("", mcp.InputRequestMap{"user_name": nameForm()})
}

func asksModel(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if said, ok := modelSaid(req.Params.InputResponses, "capital_question"); ok {
		return textResult("Sampling response: " + said), nil
	}
	return requireInput("", mcp.InputRequestMap{"capital_question": modelRequest("What is the capital of France?")})
}

func modelSaid(given mcp.InputResponseMap, key string) (string, bool) {
	r, ok := given[key].(*mcp.CreateMessageWithToolsResult)
	if !ok || r == nil {
		return "", false
	}
	for _, c := range r.Content {
		if t, ok := c.(*mcp.TextContent); ok {
			return t.Text, true
		}
	}
	return "(no text)", true
}

func asksRoots(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if n, ok := countRoots(req.Params.InputResponses); ok {
		return textResult(fmt.Sprintf("Client exposed %d root(s)", n)), nil
	}
	return requireInput("", mcp.InputRequestMap{"client_roots": &mcp.ListRootsParams{}})
}

func countRoots(given mcp.InputResponseMap) (int, bool) {
	r, ok := given["client_roots"].(*mcp.ListRootsResult)
	if !ok || r == nil {
		return 0, false
	}
	return len(r.Roots), true
}

// keepsState refuses state that it did not hand out. The product's own cursors are sealed.
func keepsState(state string) mcp.ToolHandler {
	return func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		given := req.Params.RequestState
		if given != "" && given != state {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "invalid requestState"}
		}
		if given == state && acceptedContent(req.Params.InputResponses, "confirm") != nil {
			return textResult("state-ok: requestState received and confirmation accepted"), nil
		}
		return requireInput(state, mcp.InputRequestMap{"confirm": newForm("Please confirm", "ok", "boolean")})
	}
}

func asksAll(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	given := req.Params.InputResponses
	name := stringField(acceptedContent(given, "user_name"), "name")
	greeting, greeted := modelSaid(given, "greeting")
	n, rooted := countRoots(given)
	if name != "" && greeted && rooted {
		return textResult(fmt.Sprintf("%s %s, %d root(s) visible", greeting, name, n)), nil
	}
	return requireInput("multiple_inputs", mcp.InputRequestMap{"user_name": nameForm(),
		"greeting": modelRequest("Generate a greeting"), "client_roots": &mcp.ListRootsParams{}})
}

// asksTwice keeps the round, and the name of the first, in the state.
func asksTwice(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	given := req.Params.InputResponses
	switch state := req.Params.RequestState; state {
	case "":
		return requireInput("round=1", mcp.InputRequestMap{"step1": newForm("Step 1: What is your name?", "name", "string")})
	case "round=1":
		return requireInput("round=2;name="+stringField(acceptedContent(given, "step1"), "name"),
			mcp.InputRequestMap{"step2": newForm("Step 2: What is your favorite color?", "color", "string")})
	default:
		name := strings.TrimPrefix(state, "round=2;name=")
		return textResult("Multi-round complete: " + name + " likes " +
			stringField(acceptedContent(given, "step2"), "color")), nil
	}
}

func asksCapable(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if len(req.Params.InputResponses) > 0 {
		return textResult("what was asked for came"), nil
	}
	requests := mcp.InputRequestMap{}
	if c := req.ClientCapabilities(); c != nil {
		if c.Elicitation != nil {
			requests["user_name"] = nameForm()
		}
		if c.Sampling != nil {
			requests["greeting"] = modelRequest("Generate a short greeting")
		}
		if c.RootsV2 != nil {
			requests["client_roots"] = &mcp.ListRootsParams{}
		}
	}
	if len(requests) == 0 {
		return textResult("the client can be asked nothing"), nil
	}
	return requireInput("", requests)
}
