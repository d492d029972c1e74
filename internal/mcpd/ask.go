package mcpd

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	stdjson "encoding/json"
	"errors"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"loregate/internal/fault"
	"loregate/internal/op"
)

// A handler's question is sent as an elicitation, to clients that declare it. In the older era the
// call waits while the server asks on the call's own stream. In the modern one the call ends with
// resultType input_required, and the client repeats it with the answer. The answers of earlier
// rounds come back in requestState, which is
//
//	base64url of nonce | AES-256-GCM(JSON of asked)
//
// with the caller's account, the tool, the world and the hash of the arguments as additional data:
// nobody can answer a question that was not asked, or in another caller's name.

// maxRounds bounds the questions of one call in the modern era, where each answer is a call.
const maxRounds = 8

// asked is the record of the questions that a call of the modern era has asked so far.
type asked struct {
	Expires int64                  `json:"expires"` // Unix seconds
	Done    map[string]op.Reaction `json:"done,omitempty"`
	Open    string                 `json:"open"` // key of the form that waits for its answer
}

// asker asks the person behind one tool call.
type asker struct {
	s     *Server
	call  *call
	req   *mcp.CallToolRequest
	state asked
}

// newAsker makes the asker of a call. It fails if the call's state was not made for this call.
func (s *Server) newAsker(c *call, req *mcp.CallToolRequest) (*asker, error) {
	a := &asker{s: s, call: c, req: req}
	if !c.modern || req.Params.RequestState == "" {
		return a, nil
	}
	plain, ok := s.seal.openBox(req.Params.RequestState, a.bindingData())
	if !ok || stdjson.Unmarshal(plain, &a.state) != nil {
		return nil, fault.BadField("requestState", "does not belong to this call; call again without it")
	}
	if s.cfg.Now().Unix() > a.state.Expires {
		return nil, fault.BadField("requestState", "has expired; call again without it")
	}
	return a, nil
}

// bindingData returns the data that a state is bound to.
func (a *asker) bindingData() []byte {
	p := a.req.Params
	arguments := jsontext.Value(bytes.Clone(p.Arguments))
	_ = arguments.Canonicalize() // arguments without a canonical form are bound unchanged
	sum := sha256.Sum256(arguments)
	b, err := stdjson.Marshal([]string{"asked", a.call.caller.Account(), a.call.scope.key, a.call.world, p.Name,
		hex.EncodeToString(sum[:])})
	if err != nil {
		panic("mcpd: " + err.Error()) // texts always have a JSON form
	}
	return b
}

// Asked reports whether a form was put in an earlier round.
func (a *asker) Asked(key string) bool {
	_, done := a.state.Done[key]
	return done || a.state.Open == key
}

// Ask asks in the manner of the call's era.
func (a *asker) Ask(ctx context.Context, f op.Form) (op.Reaction, error) {
	if !takesForms(a.req.ClientCapabilities()) {
		return op.Reaction{}, nil
	}
	if a.call.modern {
		return a.askInRounds(f)
	}
	return a.askAndWait(ctx, f)
}

// takesForms reports whether a client shows forms. A client that declares elicitation without
// details does: forms were once the only kind.
func takesForms(c *mcp.ClientCapabilities) bool {
	return c != nil && c.Elicitation != nil && (c.Elicitation.Form != nil || c.Elicitation.URL == nil)
}

// askInRounds returns the answer of this round or an earlier one, or ends the call to ask.
func (a *asker) askInRounds(f op.Form) (op.Reaction, error) {
	if r, ok := a.state.Done[f.Key]; ok {
		return r, nil
	}
	given, came := a.req.Params.InputResponses[f.Key]
	if a.state.Open != f.Key || !came {
		if len(a.state.Done) >= maxRounds {
			return op.Reaction{Outcome: op.Unanswered}, nil
		}
		return op.Reaction{}, &op.Asking{Form: f}
	}
	result, ok := given.(*mcp.ElicitResult)
	if !ok || result == nil {
		return op.Reaction{}, fault.BadField("inputResponses."+f.Key,
			"must be the result of an elicitation; answer the question")
	}
	r, err := reactionFrom(f, result)
	if err != nil {
		return r, err
	}
	if a.state.Done == nil {
		a.state.Done = map[string]op.Reaction{}
	}
	a.state.Done[f.Key], a.state.Open = r, ""
	return r, nil
}

type formKey struct{}

// askAndWait asks on the call's stream. The form's schema is passed in the context (see
// sendNotices): the SDK would check a schema itself, with errors that quote the answer.
func (a *asker) askAndWait(ctx context.Context, f op.Form) (op.Reaction, error) {
	if a.call.ss == nil {
		return op.Reaction{}, nil
	}
	inTime, cancel := context.WithTimeout(context.WithValue(ctx, formKey{}, f), a.s.cfg.AskWait)
	defer cancel()
	result, err := a.call.ss.Elicit(inTime, &mcp.ElicitParams{Message: f.Message})
	var refused *jsonrpc.Error
	switch {
	case err == nil:
		return reactionFrom(f, result)
	case ctx.Err() != nil:
		return op.Reaction{}, ctx.Err()
	case inTime.Err() != nil, errors.As(err, &refused):
		return op.Reaction{Outcome: op.Unanswered}, nil
	}
	return op.Reaction{}, fault.New(fault.Unavailable, "the question did not reach the client; call again").Because(err)
}

// reactionFrom reads a client's answer to a form.
func reactionFrom(f op.Form, r *mcp.ElicitResult) (op.Reaction, error) {
	switch r.Action {
	case "accept":
		values, err := f.Read(r.Content)
		return op.Reaction{Outcome: op.Answered, Values: values}, err
	case "decline":
		return op.Reaction{Outcome: op.Declined}, nil
	case "cancel":
		return op.Reaction{Outcome: op.Dismissed}, nil
	}
	return op.Reaction{}, fault.BadField("action", "must be accept, decline or cancel")
}

// askResult returns the result that asks for a form, in the modern era.
func (a *asker) askResult(f *op.Form) (*result, error) {
	a.state.Open, a.state.Expires = f.Key, a.s.cfg.Now().Add(cursorLife).Unix()
	state, err := stdjson.Marshal(a.state)
	if err != nil {
		return nil, err
	}
	requests, err := stdjson.Marshal(mcp.InputRequestMap{f.Key: &mcp.ElicitParams{Message: f.Message,
		RequestedSchema: f.Schema()}})
	if err != nil {
		return nil, err
	}
	b := append([]byte(`{"inputRequests":`), requests...)
	b = appendQuoted(append(b, `,"requestState":`...), a.s.seal.sealBox(state, a.bindingData()))
	return &result{raw: append(append(b, a.s.askingTail...), '}')}, nil
}

// defaultAskWait is longer than a person who is present needs, and shorter than most would wait for
// one who is absent.
const defaultAskWait = 2 * time.Minute
