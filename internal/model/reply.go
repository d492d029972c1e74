package model

import (
	"encoding/json"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"loregate/internal/agent"
	"loregate/internal/fault"
)

// wire is the protocol of a provider.
type wire interface {
	// baseURL returns the provider's own base address; "" if it has none.
	baseURL() string
	// endpointPath returns the path of requests below the base address.
	endpointPath() string
	// headers returns the headers of a request with a key, "" for none.
	headers(key string) map[string]string
	// buildRequest returns the body of a request.
	buildRequest(name string, r agent.Request) ([]byte, error)
	// parseAnswer parses the body of a response with status 200.
	parseAnswer(body []byte) (reply, error)
	// errorCodes returns the error codes in the body of any other response.
	errorCodes(body []byte) []string
}

var wires = map[string]wire{
	OpenAI:     chat{address: "https://api.openai.com/v1", limit: "max_completion_tokens"},
	Compatible: chat{limit: "max_tokens"},
	Anthropic:  messages{},
}

// reply is a parsed answer.
type reply struct {
	received                       bool // the endpoint answered, and so charges for it
	text                           string
	promptTokens, completionTokens int
}

// The errors of unusable answers.
var (
	errCutOff  = fault.New(fault.Rule, "the model's answer was too long and was cut off; raise model.max_tokens")
	errRefused = fault.New(fault.Rule, "the model refuses to answer")
	errNoJSON  = fault.New(fault.Rule,
		"the endpoint's answer does not have the provider's format; check model.provider and model.url")
	errNothing    = fault.New(fault.Rule, "the endpoint answered without a message")
	errTooLong    = fault.New(fault.Rule, "the model's answer is too long")
	errUnfit      = fault.New(fault.Rule, "the model's answer does not have the requested form")
	errBadRequest = fault.New(fault.Rule,
		"the endpoint refuses the request (status 400); check that the model accepts chat messages and model.max_tokens")
	errDropped = fault.New(fault.Unavailable, "the endpoint interrupted its answer")
)

// newValidator returns a function that validates a text against a schema; nil accepts any text. The
// function first strips a code fence, which models put around JSON, and returns the JSON alone.
func newValidator(schema json.RawMessage) (func(text string) (string, error), error) {
	if schema == nil {
		return func(text string) (string, error) { return text, nil }, nil
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(schema, &s); err != nil {
		return nil, fault.New(fault.Internal, "model: schema: %v", err)
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		return nil, fault.New(fault.Internal, "model: schema: %v", err)
	}
	return func(text string) (string, error) {
		text = stripFence(text)
		var v any
		if json.Unmarshal([]byte(text), &v) != nil || resolved.Validate(v) != nil {
			return "", errUnfit // the validation error would contain parts of the answer
		}
		return text, nil
	}, nil
}

// stripFence removes the fence of a code block.
func stripFence(text string) string {
	text = strings.TrimSpace(text)
	rest, ok := strings.CutPrefix(text, "```")
	if !ok {
		return text
	}
	rest = strings.TrimPrefix(rest, "json")
	return strings.TrimSpace(strings.TrimSuffix(rest, "```"))
}

// stripThinking removes the thinking that some local models put before an answer.
func stripThinking(text string) string {
	if rest, ok := strings.CutPrefix(strings.TrimLeft(text, " \n\t"), "<think>"); ok {
		_, after, closed := strings.Cut(rest, "</think>")
		if !closed {
			return "" // the text ends before an answer
		}
		return after
	}
	return text
}
