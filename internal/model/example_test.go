package model_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"loregate/internal/agent"
	"loregate/internal/model"
)

// Any endpoint that implements OpenAI's chat completions can answer a prompt.
func Example() {
	endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"choices":[{"finish_reason":"stop","message":{"role":"assistant","content":"Rain."}}],
			"usage":{"prompt_tokens":9,"completion_tokens":2}}`)
	}))
	defer endpoint.Close()
	c, err := model.New(model.Config{Provider: model.Compatible, URL: endpoint.URL + "/v1", Name: "llama3.2"})
	if err != nil {
		fmt.Println(err)
		return
	}
	answer, err := c.Complete(context.Background(), agent.Request{Purpose: "ambience", Prompt: "How is the weather?",
		MaxTokens: 20})
	fmt.Println(answer.Text, answer.TokensPrompt, answer.TokensCompletion, err)
	// Output: Rain. 9 2 <nil>
}
