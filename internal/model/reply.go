package model

import (
	"encoding/json"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"loregate/internal/agent"
	"loregate/internal/fault"
)

// wire is a provider's language.
type wire interface {
	// home is the provider's own base address; "" where there is none.
	home() string
	// path is what is asked, below the base address.
	path() string
	// headers are those of a request that bears a key, "" for none.
	headers(key string) map[string]string
	// request is the body of a request.
	request(name string, r agent.Request) ([]byte, error)
	// answer reads the body of a good answer.
	answer(body []byte) (reply, error)
	// complaint reads the codes of the body of another.
	complaint(body []byte) []string
}

var wires = map[string]wire{
	OpenAI:     chat{address: "https://api.openai.com/v1", limit: "max_completion_tokens"},
	Compatible: chat{limit: "max_tokens"},
	Anthropic:  messages{},
}

// reply is an answer as it came.
type reply struct {
	came                           bool // something was answered, and so paid for
	text                           string
	promptTokens, completionTokens int
}

// Why an answer cannot be used.
var (
	errCutOff     = fault.New(fault.Rule, "the model's answer was cut off; raise model.max_tokens")
	errRefused    = fault.New(fault.Rule, "the model refuses to answer")
	errNoJSON     = fault.New(fault.Rule, "the endpoint's answer is not of its kind; look at model.provider and model.url")
	errNothing    = fault.New(fault.Rule, "the endpoint answered with no message")
	errTooLong    = fault.New(fault.Rule, "the model's answer is longer than is taken")
	errUnfit      = fault.New(fault.Rule, "the model's answer does not have the form that it was asked for")
	errBadRequest = fault.New(fault.Rule, "the endpoint refuses the request (status 400); does the model take chat messages, and so many tokens?")
	errDropped    = fault.New(fault.Unavailable, "the endpoint broke off its answer")
)

// validator gives what checks a text against a schema, nil for none, and takes what stands
// around it away: a model that was asked for JSON may fence it. What it gives is the JSON alone.
func validator(schema json.RawMessage) (func(text string) (string, error), error) {
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
		text = unfenced(text)
		var v any
		if json.Unmarshal([]byte(text), &v) != nil || resolved.Validate(v) != nil {
			return "", errUnfit // why would tell what it holds
		}
		return text, nil
	}, nil
}

// unfenced takes the fence of a code block away.
func unfenced(text string) string {
	text = strings.TrimSpace(text)
	rest, ok := strings.CutPrefix(text, "```")
	if !ok {
		return text
	}
	rest = strings.TrimPrefix(rest, "json")
	return strings.TrimSpace(strings.TrimSuffix(rest, "```"))
}

// thought takes away the thinking that some local models put before an answer.
func thought(text string) string {
	if rest, ok := strings.CutPrefix(strings.TrimLeft(text, " \n\t"), "<think>"); ok {
		_, after, closed := strings.Cut(rest, "</think>")
		if !closed {
			return "" // it never came to an answer
		}
		return after
	}
	return text
}
