package model

import (
	"encoding/json"

	"loregate/internal/agent"
)

// chat implements OpenAI's chat completions, POST {base}/chat/completions:
// https://platform.openai.com/docs/api-reference/chat/create.
type chat struct {
	address string
	// limit is the name of the member that bounds an answer. OpenAI's own models refuse the older
	// name; most other endpoints know only that one.
	limit string
}

func (c chat) baseURL() string    { return c.address }
func (chat) endpointPath() string { return "chat/completions" }

func (chat) headers(key string) map[string]string {
	if key == "" {
		return nil
	}
	return map[string]string{"Authorization": "Bearer " + key}
}

func (c chat) buildRequest(name string, r agent.Request) ([]byte, error) {
	body := map[string]any{"model": name, c.limit: r.MaxTokens, "stream": false,
		"messages": []map[string]string{{"role": "user", "content": r.Prompt}}}
	if r.Schema != nil {
		body["response_format"] = map[string]any{"type": "json_schema",
			"json_schema": map[string]any{"name": "answer", "strict": true, "schema": r.Schema}}
	}
	return json.Marshal(body)
}

func (chat) parseAnswer(body []byte) (reply, error) {
	var a struct {
		Choices []struct {
			Message struct {
				Content string `json:"content"`
				Refusal string `json:"refusal"`
			} `json:"message"`
			Finish string `json:"finish_reason"`
		} `json:"choices"`
		Usage struct {
			Prompt     int `json:"prompt_tokens"`
			Completion int `json:"completion_tokens"`
		} `json:"usage"`
	}
	if json.Unmarshal(body, &a) != nil {
		return reply{received: true}, errNoJSON
	}
	r := reply{received: true, promptTokens: a.Usage.Prompt, completionTokens: a.Usage.Completion}
	if len(a.Choices) == 0 {
		return r, errNothing
	}
	first := a.Choices[0]
	r.text = stripThinking(first.Message.Content)
	switch {
	case first.Message.Refusal != "" || first.Finish == "content_filter":
		return r, errRefused
	case first.Finish == "length":
		return r, errCutOff
	case len(r.text) > maxText:
		return r, errTooLong
	}
	return r, nil
}

func (chat) errorCodes(body []byte) []string {
	var a struct {
		Error struct {
			Type string `json:"type"`
			Code any    `json:"code"` // some endpoints send a number
		} `json:"error"`
	}
	if json.Unmarshal(body, &a) != nil {
		return nil
	}
	code, _ := a.Error.Code.(string)
	return []string{a.Error.Type, code}
}
