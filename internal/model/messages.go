package model

import (
	"encoding/json"
	"strings"

	"loregate/internal/agent"
)

// messages implements Anthropic's messages, POST {base}/messages:
// https://docs.anthropic.com/en/api/messages.
type messages struct{}

// messagesVersion is the version of the API.
const messagesVersion = "2023-06-01"

func (messages) baseURL() string      { return "https://api.anthropic.com/v1" }
func (messages) endpointPath() string { return "messages" }

func (messages) headers(key string) map[string]string {
	h := map[string]string{"Anthropic-Version": messagesVersion}
	if key != "" {
		h["X-Api-Key"] = key
	}
	return h
}

func (messages) buildRequest(name string, r agent.Request) ([]byte, error) {
	body := map[string]any{"model": name, "max_tokens": r.MaxTokens,
		"messages": []map[string]string{{"role": "user", "content": r.Prompt}}}
	if r.Schema != nil {
		body["output_config"] = map[string]any{"format": map[string]any{"type": "json_schema", "schema": r.Schema}}
	}
	return json.Marshal(body)
}

func (messages) parseAnswer(body []byte) (reply, error) {
	var a struct {
		Type    string `json:"type"`
		Content []struct {
			Type string `json:"type"`
			Text string `json:"text"`
		} `json:"content"`
		Stop  string `json:"stop_reason"`
		Usage struct {
			Input       int `json:"input_tokens"`
			CacheWrites int `json:"cache_creation_input_tokens"`
			CacheReads  int `json:"cache_read_input_tokens"`
			Output      int `json:"output_tokens"`
		} `json:"usage"`
	}
	if json.Unmarshal(body, &a) != nil || a.Type != "message" {
		return reply{received: true}, errNoJSON
	}
	var text strings.Builder
	for _, c := range a.Content {
		if c.Type == "text" {
			text.WriteString(c.Text)
		}
	}
	r := reply{received: true, text: text.String(), promptTokens: a.Usage.Input + a.Usage.CacheWrites + a.Usage.CacheReads,
		completionTokens: a.Usage.Output}
	switch {
	case a.Stop == "refusal":
		return r, errRefused
	case a.Stop == "max_tokens" || a.Stop == "model_context_window_exceeded" || a.Stop == "pause_turn":
		return r, errCutOff
	case len(r.text) > maxText:
		return r, errTooLong
	}
	return r, nil
}

func (messages) errorCodes(body []byte) []string {
	var a struct {
		Error struct {
			Type string `json:"type"`
		} `json:"error"`
	}
	if json.Unmarshal(body, &a) != nil {
		return nil
	}
	return []string{a.Error.Type}
}
