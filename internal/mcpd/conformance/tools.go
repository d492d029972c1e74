//lint:file-ignore SA1019 the suite asks for sampling, roots and logging, which the modern era leaves out

package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// step is the pause between two reports of a tool, so that each is sent as a message of its own.
const step = 50 * time.Millisecond

// contentTools answer with each kind of content.
func contentTools() []fixture {
	image := func() mcp.Content { return &mcp.ImageContent{Data: image, MIMEType: "image/png"} }
	return []fixture{
		{name: "test_simple_text", doc: "Answers with text",
			handle: answerWith(&mcp.TextContent{Text: "This is a simple text response for testing."})},
		{name: "test_image_content", doc: "Answers with an image", handle: answerWith(image())},
		{name: "test_audio_content", doc: "Answers with sound",
			handle: answerWith(&mcp.AudioContent{Data: sound, MIMEType: "audio/wav"})},
		{name: "test_embedded_resource", doc: "Answers with a resource",
			handle: answerWith(embeddedResource("test://embedded-resource", "This is an embedded resource"))},
		{name: "test_multiple_content_types", doc: "Answers with text, an image and a resource",
			handle: answerWith(&mcp.TextContent{Text: "This is text content"}, image(),
				embeddedResource("test://embedded-in-multiple", "This is an embedded resource"))},
		{name: "test_error_handling", doc: "Fails",
			handle: func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				r := textResult("this tool intentionally returns an error for testing")
				r.IsError = true
				return r, nil
			}},
		{name: "json_schema_2020_12_tool", doc: "Has a schema of JSON Schema 2020-12", schema: schema2020,
			handle: func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				return textResult("JSON Schema 2020-12 tool called with: " + string(req.Params.Arguments)), nil
			}},
		{name: "test_x_mcp_header", doc: "Has an argument that is a header too", schema: schemaHeader,
			handle: answerWith(&mcp.TextContent{Text: "the header agrees"})},
		{name: "test_streaming_elicitation", doc: "Answers on a stream without asking anything",
			handle: answerWith(&mcp.TextContent{Text: "result frames only"})},
	}
}

const schema2020 = `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",
"$defs":{"address":{"$anchor":"addressDef","type":"object","properties":{"street":{"type":"string"},"city":{"type":"string"}}}},
"properties":{"name":{"type":"string"},"address":{"$ref":"#/$defs/address"},"contactMethod":{"type":"string","enum":["phone","email"]},
"phone":{"type":"string"},"email":{"type":"string"}},
"allOf":[{"anyOf":[{"required":["phone"]},{"required":["email"]}]}],
"if":{"properties":{"contactMethod":{"const":"phone"}},"required":["contactMethod"]},
"then":{"required":["phone"]},"else":{"required":["email"]},"additionalProperties":false}`

const schemaHeader = `{"type":"object","properties":{
"region":{"type":"string","description":"mirrored in Mcp-Param-Region","x-mcp-header":"Region"},
"level":{"type":"integer","description":"not mirrored"}}}`

func answerWith(parts ...mcp.Content) mcp.ToolHandler {
	return func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: parts}, nil
	}
}

func textResult(s string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: s}}}
}

// clientTools exchange messages with the client while they run.
func clientTools() []fixture {
	return []fixture{
		{name: "test_tool_with_logging", doc: "Logs while it runs", handle: logSteps},
		{name: "test_logging_tool", doc: "Logs once",
			handle: func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				return textResult("logged, where the client asked for it"), sendLog(ctx, req, "test_logging_tool executed")
			}},
		{name: "test_tool_with_progress", doc: "Reports progress", handle: reportProgress},
		{name: "test_sampling", doc: "Asks the client's model", handle: sampleModel},
		{name: "test_elicitation", doc: "Asks the user",
			handle: askUser(func(message string) *mcp.ElicitParams { return newForm(message, "username", "string") })},
		{name: "test_elicitation_sep1034_defaults", doc: "Asks the user, with defaults",
			handle: askUser(func(string) *mcp.ElicitParams {
				return &mcp.ElicitParams{Message: "Test defaults for primitives", RequestedSchema: json.RawMessage(schemaDefaults)}
			})},
		{name: "test_elicitation_sep1330_enums", doc: "Asks the user to choose",
			handle: askUser(func(string) *mcp.ElicitParams {
				return &mcp.ElicitParams{Message: "Test enum schemas", RequestedSchema: json.RawMessage(schemaEnums)}
			})},
		{name: "test_missing_capability", doc: "Needs a client with sampling", handle: needsSampling},
		{name: "test_reconnection", doc: "Closes its stream before it answers", handle: closeStream},
	}
}

const schemaDefaults = `{"type":"object","properties":{
"name":{"type":"string","description":"User name","default":"John Doe"},"age":{"type":"integer","description":"User age","default":30},
"score":{"type":"number","description":"User score","default":95.5},
"status":{"type":"string","description":"User status","enum":["active","inactive","pending"],"default":"active"},
"verified":{"type":"boolean","description":"Verification status","default":true}}}`

const schemaEnums = `{"type":"object","properties":{
"untitledSingle":{"type":"string","enum":["option1","option2","option3"]},
"titledSingle":{"type":"string","oneOf":[{"const":"value1","title":"First Option"},{"const":"value2","title":"Second Option"},{"const":"value3","title":"Third Option"}]},
"legacyEnum":{"type":"string","enum":["opt1","opt2","opt3"],"enumNames":["Option One","Option Two","Option Three"]},
"untitledMulti":{"type":"array","minItems":1,"maxItems":3,"items":{"type":"string","enum":["option1","option2","option3"]}},
"titledMulti":{"type":"array","minItems":1,"maxItems":3,"items":{"anyOf":[{"const":"value1","title":"First Option"},{"const":"value2","title":"Second Option"},{"const":"value3","title":"Third Option"}]}}}}`

func sendLog(ctx context.Context, req *mcp.CallToolRequest, what string) error {
	return req.Session.Log(ctx, &mcp.LoggingMessageParams{Level: "info", Data: what})
}

func logSteps(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	for _, what := range []string{"Tool execution started", "Tool processing data", "Tool execution completed"} {
		if err := sendLog(ctx, req, what); err != nil {
			return nil, err
		}
		<-time.After(step)
	}
	return textResult("Tool with logging executed successfully"), nil
}

func reportProgress(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	token := req.Params.GetProgressToken()
	for _, done := range []float64{0, 50, 100} {
		err := req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: done,
			Total:   100,
			Message: fmt.Sprintf("Completed step %.0f of 100", done)})
		if err != nil {
			return nil, err
		}
		<-time.After(step)
	}
	return textResult(fmt.Sprint(token)), nil
}

func sampleModel(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	var in struct{ Prompt string }
	if err := json.Unmarshal(req.Params.Arguments, &in); err != nil {
		return nil, err
	}
	res, err := req.Session.CreateMessage(ctx, &mcp.CreateMessageParams{
		Messages: []*mcp.SamplingMessage{{Role: "user", Content: &mcp.TextContent{Text: in.Prompt}}}, MaxTokens: 100})
	if err != nil {
		return nil, err
	}
	if t, ok := res.Content.(*mcp.TextContent); ok {
		return textResult("LLM response: " + t.Text), nil
	}
	return textResult("LLM response: (no text)"), nil
}

func askUser(what func(message string) *mcp.ElicitParams) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		var in struct{ Message string }
		if err := json.Unmarshal(req.Params.Arguments, &in); err != nil {
			return nil, err
		}
		res, err := req.Session.Elicit(ctx, what(in.Message))
		if err != nil {
			return nil, err
		}
		return textResult(fmt.Sprintf("Elicitation result: action=%s, content=%v", res.Action, res.Content)), nil
	}
}

func needsSampling(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if c := req.ClientCapabilities(); c != nil && c.Sampling != nil {
		return textResult("the client has sampling"), nil
	}
	return nil, &jsonrpc.Error{Code: mcp.CodeMissingRequiredClientCapabilities,
		Message: "sampling capability required but not declared by client",
		Data:    json.RawMessage(`{"requiredCapabilities":{"sampling":{}}}`)}
}

func closeStream(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if req.Extra != nil && req.Extra.CloseSSEStream != nil {
		req.Extra.CloseSSEStream(mcp.CloseSSEStreamArgs{RetryAfter: 10 * time.Millisecond})
	}
	<-time.After(2 * step)
	return textResult("Reconnection test completed successfully."), nil
}

// changeTools change a server's lists. With a nil server they only describe themselves.
func changeTools(s *mcp.Server) []fixture {
	return []fixture{
		{name: "test_trigger_tool_change", doc: "Changes the list of tools",
			handle: func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				t := fixture{name: "transient_tool", doc: "Comes while others listen"}
				s.AddTool(t.newTool(), answerWith())
				return textResult("the list of tools changed"), nil
			}},
		{name: "test_trigger_prompt_change", doc: "Changes the list of prompts",
			handle: func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				s.AddPrompt(&mcp.Prompt{Name: "transient_prompt"}, answerPrompt)
				return textResult("the list of prompts changed"), nil
			}},
	}
}
