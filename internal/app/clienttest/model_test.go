package clienttest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"

	"loregate/internal/app/tasktest"
)

// talk is the part of a conversation that a client has shown its model: the names of the tools
// that it may call, their definitions, and the text of each tool result, in order.
type talk struct {
	tools       []string
	definitions []tasktest.Tool
	results     []string
	searches    int // answered searches for deferred tools; -1 if the client defers none
}

// define adds a tool that the client shows.
func (t *talk) define(name, description string, schema json.RawMessage) {
	t.tools = append(t.tools, name)
	t.definitions = append(t.definitions, tasktest.Tool{Name: name, Description: description, Schema: schema,
		Reads: tasktest.ReadsByWords(description)})
}

// step is the model's next action: a call of a tool, or its last words if tool is "".
type step struct {
	tool string // the server's name of the tool
	args map[string]any
	say  string
}

// script decides on the next step from the talk so far.
type script func(t talk) step

// model serves the model interfaces of the three clients, and plays a script.
type model struct {
	*httptest.Server
	play script

	mu    sync.Mutex
	talks []talk   // of requests that offered tools. Guarded by mu
	odd   []string // requests that it did not understand. Guarded by mu
}

func newModel(t testing.TB, play script) *model {
	m := &model{play: play}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/messages", m.anthropic)
	mux.HandleFunc("POST /v1/messages/count_tokens",
		func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"input_tokens":1}`) })
	mux.HandleFunc("POST /v1/responses", m.openAI)
	mux.HandleFunc("POST /v1beta/models/{call}", m.gemini)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		m.note(r.Method + " " + r.URL.Path)
		http.Error(w, "{}", http.StatusNotFound)
	})
	m.Server = httptest.NewServer(mux)
	t.Cleanup(m.Close)
	return m
}

func (m *model) note(what string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.odd = append(m.odd, what)
}

// next returns the script's next step. For a request that offers none of the server's tools it
// only says a word: clients also ask their model for titles and the like.
func (m *model) next(t talk) step {
	if len(t.tools) == 0 && t.searches < 0 {
		return step{say: "ok"}
	}
	m.mu.Lock()
	m.talks = append(m.talks, t)
	m.mu.Unlock()
	s := m.play(t)
	s.tool = t.offered(s.tool)
	return s
}

// last returns the last talk, and the number of talks.
func (m *model) last() (t talk, asked int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.talks) == 0 {
		return talk{}, 0
	}
	return m.talks[len(m.talks)-1], len(m.talks)
}

// serverName returns the server's name of a tool from the client's name, or "" for a tool of
// the client.
func serverName(name string) string {
	for _, prefix := range []string{"mcp__loregate__", "mcp_loregate_", "loregate__"} {
		if own, ok := strings.CutPrefix(name, prefix); ok {
			return own
		}
	}
	return ""
}

// read decodes a request's body into v. If the body is not valid, it answers 400 and returns
// false.
func (m *model) read(w http.ResponseWriter, r *http.Request, v any) bool {
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(body, v)
	}
	if err != nil {
		m.note(fmt.Sprintf("%s: %v: %.300s", r.URL.Path, err, body))
		http.Error(w, "{}", http.StatusBadRequest)
	}
	return err == nil
}

// texts returns the text of a content that is a string or a list of blocks with text.
func texts(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var blocks []struct{ Text string }
	_ = json.Unmarshal(raw, &blocks) // anything else has no text
	var b strings.Builder
	for _, block := range blocks {
		b.WriteString(block.Text)
	}
	return b.String()
}

// frames match the marks that Codex and Gemini CLI put around an answer.
var frames = regexp.MustCompile(`^Wall time: .*\nOutput:\s*|</?untrusted_context>\n?`)

// withoutFrame returns the server's part of an answer as a client shows it. A model reads an empty answer as one in its
// frame, too.
func withoutFrame(shown string) string { return frames.ReplaceAllString(shown, "") }

func mustJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

type object = map[string]any

// searchTool is the tool by which Claude Code loads the tools that it defers; searchType is Codex's type of
// such a tool.
const (
	searchTool = "ToolSearch"
	searchType = "tool_search"
)

// anthropic serves the messages interface, which Claude Code uses.
func (m *model) anthropic(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Stream bool
		Tools  []struct {
			Name, Description string
			Schema            json.RawMessage `json:"input_schema"`
		}
		Messages []struct{ Content json.RawMessage }
	}
	if !m.read(w, r, &in) {
		return
	}
	t := talk{searches: -1}
	for _, tool := range in.Tools {
		if tool.Name == searchTool {
			t.searches = 0
		}
		if name := serverName(tool.Name); name != "" {
			t.define(name, tool.Description, tool.Schema)
		}
	}
	for _, message := range in.Messages {
		var blocks []struct {
			Type    string
			ID      string `json:"tool_use_id"`
			Content json.RawMessage
		}
		_ = json.Unmarshal(message.Content, &blocks) // a plain text has no result
		for _, block := range blocks {
			switch {
			case block.Type != "tool_result":
			case strings.HasPrefix(block.ID, searchTool):
				t.searches++
			default:
				t.results = append(t.results, texts(block.Content))
			}
		}
	}
	s := m.next(t)
	block, why := object{"type": "text", "text": s.say}, "end_turn"
	delta := object{"type": "text_delta", "text": s.say}
	if s.tool != "" {
		why = "tool_use"
		block = object{"type": "tool_use", "id": fmt.Sprintf("toolu_%d", len(t.results)), "name": "mcp__loregate__" + s.tool,
			"input": object{}}
		if s.tool == searchTool {
			block["id"], block["name"] = fmt.Sprintf("%s_%d", searchTool, t.searches), searchTool
		}
		delta = object{"type": "input_json_delta", "partial_json": mustJSON(s.args)}
	}
	message := object{"type": "message", "id": "msg_1", "role": "assistant", "model": "scripted", "content": []any{},
		"stop_reason": nil, "stop_sequence": nil, "usage": object{"input_tokens": 1, "output_tokens": 1}}
	if !in.Stream {
		message["content"], message["stop_reason"] = []any{block}, why
		fmt.Fprint(w, mustJSON(message))
		return
	}
	empty := object{}
	for k, v := range block {
		empty[k] = v
	}
	if s.tool == "" {
		empty["text"] = ""
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, event := range []object{
		{"type": "message_start", "message": message},
		{"type": "content_block_start", "index": 0, "content_block": empty},
		{"type": "content_block_delta", "index": 0, "delta": delta},
		{"type": "content_block_stop", "index": 0},
		{"type": "message_delta", "delta": object{"stop_reason": why, "stop_sequence": nil},
			"usage": object{"output_tokens": 1}},
		{"type": "message_stop"},
	} {
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", event["type"], mustJSON(event))
	}
}

// gemini serves the interface of Gemini's models.
func (m *model) gemini(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Contents []struct {
			Parts []struct {
				FunctionResponse *struct{ Response json.RawMessage }
			}
		}
		Tools []struct {
			FunctionDeclarations []struct {
				Name, Description string
				Schema            json.RawMessage `json:"parametersJsonSchema"`
			}
		}
	}
	if !m.read(w, r, &in) {
		return
	}
	t := talk{searches: -1}
	for _, group := range in.Tools {
		for _, tool := range group.FunctionDeclarations {
			if name := serverName(tool.Name); name != "" {
				t.define(name, tool.Description, tool.Schema)
			}
		}
	}
	for _, content := range in.Contents {
		for _, part := range content.Parts {
			if part.FunctionResponse == nil {
				continue
			}
			var response struct {
				Output string
				Error  json.RawMessage
			}
			_ = json.Unmarshal(part.FunctionResponse.Response, &response)
			if response.Output == "" {
				response.Output = string(part.FunctionResponse.Response)
			}
			t.results = append(t.results, withoutFrame(response.Output))
		}
	}
	s := m.next(t)
	part := object{"text": s.say}
	if s.tool != "" {
		part = object{"functionCall": object{"name": "mcp_loregate_" + s.tool, "args": s.args}}
	}
	if strings.HasSuffix(r.URL.Path, ":countTokens") {
		fmt.Fprint(w, `{"totalTokens":1}`)
		return
	}
	answer := mustJSON(object{"candidates": []any{object{"content": object{"role": "model", "parts": []any{part}},
		"finishReason": "STOP", "index": 0}},
		"usageMetadata": object{"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}})
	if strings.HasSuffix(r.URL.Path, ":streamGenerateContent") {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "data: %s\n\n", answer)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprint(w, answer)
}

// openAI serves the responses interface, which Codex uses.
func (m *model) openAI(w http.ResponseWriter, r *http.Request) {
	type function struct {
		Name, Description string
		Parameters        json.RawMessage
	}
	type group struct {
		Type string
		function
		Tools []function
	}
	var in struct {
		Tools []group
		Input json.RawMessage
	}
	if !m.read(w, r, &in) {
		return
	}
	t, space := talk{searches: -1}, ""
	var input []struct {
		Type   string
		Output json.RawMessage
		Tools  []group
	}
	_ = json.Unmarshal(in.Input, &input) // a plain text has no result
	for _, item := range input {
		switch item.Type {
		case "function_call_output":
			t.results = append(t.results, withoutFrame(texts(item.Output)))
		case searchType + "_output":
			t.searches++
			in.Tools = append(in.Tools, item.Tools...)
		}
	}
	for _, tool := range in.Tools {
		if tool.Type == searchType {
			t.searches++
		}
		if name := serverName(tool.Name); name != "" {
			t.define(name, tool.Description, tool.Parameters)
		}
		if strings.Contains(tool.Name, "loregate") && len(tool.Tools) > 0 {
			space = tool.Name
			for _, inner := range tool.Tools {
				t.define(inner.Name, inner.Description, inner.Parameters)
			}
		}
	}
	s := m.next(t)
	id := fmt.Sprintf("call_%d", len(t.results))
	item := object{"type": "message", "role": "assistant", "id": "msg_1",
		"content": []any{object{"type": "output_text", "text": s.say}}}
	if s.tool != "" {
		item = object{"type": "function_call", "id": "fc_" + id, "call_id": id, "arguments": mustJSON(s.args),
			"name": "mcp__loregate__" + s.tool}
		if space != "" {
			item["namespace"], item["name"] = space, s.tool
		}
	}
	if s.tool == searchTool {
		item = object{"type": searchType + "_call", "id": "ts_" + id, "call_id": fmt.Sprintf("search_%d", t.searches),
			"execution": "client", "status": "completed",
			"arguments": object{"query": s.args["query"], "limit": s.args["max_results"]}}
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, event := range []object{
		{"type": "response.created", "response": object{"id": "resp_1"}},
		{"type": "response.output_item.done", "output_index": 0, "item": item},
		{"type": "response.completed", "response": object{"id": "resp_1",
			"usage": object{"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}}},
	} {
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", event["type"], mustJSON(event))
	}
}
