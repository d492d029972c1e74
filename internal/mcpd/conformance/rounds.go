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

// roundTools ask for input by ending, and are called again with it.
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

func required(state string, requests mcp.InputRequestMap) (*mcp.CallToolResult, error) {
	return &mcp.CallToolResult{InputRequests: requests, RequestState: state}, nil
}

func form(message, field, kind string) *mcp.ElicitParams {
	schema := fmt.Sprintf(`{"type":"object","properties":{%q:{"type":%q,"description":"Your answer"}},"required":[%q]}`, field, kind, field)
	return &mcp.ElicitParams{Message: message, RequestedSchema: json.RawMessage(schema)}
}

// accepted is what the user answered; nil where there is no answer or a refusal.
func accepted(given mcp.InputResponseMap, key string) map[string]any {
	r, ok := given[key].(*mcp.ElicitResult)
	if !ok || r == nil || r.Action != "accept" {
		return nil
	}
	return r.Content
}

func word(content map[string]any, field string) string {
	s, _ := content[field].(string)
	return s
}

func askName() *mcp.ElicitParams { return form("What is your name?", "name", "string") }

func askModel(question string) *mcp.CreateMessageParams {
	return &mcp.CreateMessageParams{MaxTokens: 100,
		Messages: []*mcp.SamplingMessage{{Role: "user", Content: &mcp.TextContent{Text: question}}}}
}

func asksName(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if name := word(accepted(req.Params.InputResponses, "user_name"), "name"); name != "" {
		return text("Hello, " + name + "!"), nil
	}
	return required("", mcp.InputRequestMap{"user_name": askName()})
}

func asksModel(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if said, ok := modelSaid(req.Params.InputResponses, "capital_question"); ok {
		return text("Sampling response: " + said), nil
	}
	return required("", mcp.InputRequestMap{"capital_question": askModel("What is the capital of France?")})
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
	if n, ok := roots(req.Params.InputResponses); ok {
		return text(fmt.Sprintf("Client exposed %d root(s)", n)), nil
	}
	return required("", mcp.InputRequestMap{"client_roots": &mcp.ListRootsParams{}})
}

func roots(given mcp.InputResponseMap) (int, bool) {
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
		if given == state && accepted(req.Params.InputResponses, "confirm") != nil {
			return text("state-ok: requestState received and confirmation accepted"), nil
		}
		return required(state, mcp.InputRequestMap{"confirm": form("Please confirm", "ok", "boolean")})
	}
}

func asksAll(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	given := req.Params.InputResponses
	name := word(accepted(given, "user_name"), "name")
	greeting, greeted := modelSaid(given, "greeting")
	n, rooted := roots(given)
	if name != "" && greeted && rooted {
		return text(fmt.Sprintf("%s %s, %d root(s) visible", greeting, name, n)), nil
	}
	return required("multiple_inputs", mcp.InputRequestMap{"user_name": askName(),
		"greeting": askModel("Generate a greeting"), "client_roots": &mcp.ListRootsParams{}})
}

// asksTwice keeps the round, and the name of the first, in the state.
func asksTwice(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	given := req.Params.InputResponses
	switch state := req.Params.RequestState; state {
	case "":
		return required("round=1", mcp.InputRequestMap{"step1": form("Step 1: What is your name?", "name", "string")})
	case "round=1":
		return required("round=2;name="+word(accepted(given, "step1"), "name"),
			mcp.InputRequestMap{"step2": form("Step 2: What is your favorite color?", "color", "string")})
	default:
		name := strings.TrimPrefix(state, "round=2;name=")
		return text("Multi-round complete: " + name + " likes " + word(accepted(given, "step2"), "color")), nil
	}
}

func asksCapable(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if len(req.Params.InputResponses) > 0 {
		return text("what was asked for came"), nil
	}
	requests := mcp.InputRequestMap{}
	if c := req.ClientCapabilities(); c != nil {
		if c.Elicitation != nil {
			requests["user_name"] = askName()
		}
		if c.Sampling != nil {
			requests["greeting"] = askModel("Generate a short greeting")
		}
		if c.RootsV2 != nil {
			requests["client_roots"] = &mcp.ListRootsParams{}
		}
	}
	if len(requests) == 0 {
		return text("the client can be asked nothing"), nil
	}
	return required("", requests)
}
