package agent

import (
	"context"
	"encoding/json"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/proposal"
)

// ReadDoubt implements [proposal.DoubtReader] with the model, after it has passed its trial.
func (a *Agents) ReadDoubt(ctx context.Context, w access.WorldID, d proposal.Doubt) (proposal.Opinion, error) {
	number := map[string]any{"type": "integer"}
	reading := secondReading[proposal.Opinion]{template: "claim",
		data:    map[string]any{"said": d.Said, "by": d.By, "at": d.At, "claims": d.Claims, "canon": d.Canon},
		members: map[string]any{"denied": number, "because": number},
		accepts: func(o proposal.Opinion) bool {
			return o.Denied >= 0 && o.Denied <= len(d.Claims) && o.Because >= 0 && o.Because <= len(d.Canon) &&
				(o.Denied > 0) == (o.Because > 0)
		}}
	opinion, err := reading.askModel(ctx, a, w)
	opinion.By = modelFor(a.cfg.Answers, "classification") + "/" + reading.template
	return opinion, err
}

// ReadRepeats implements [proposal.RepeatReader] with the model, after it has passed its trial.
func (a *Agents) ReadRepeats(ctx context.Context, w access.WorldID, d proposal.RepeatDoubt) ([]int, error) {
	type answer struct {
		Same []int `json:"same"`
	}
	numbers := map[string]any{"type": "array", "items": map[string]any{"type": "integer"}}
	got, err := secondReading[answer]{template: "repeat", data: map[string]any{"proposed": d.Proposed, "known": d.Known},
		members: map[string]any{"same": numbers},
		accepts: func(v answer) bool {
			for _, n := range v.Same {
				if n < 1 || n > len(d.Known) {
					return false
				}
			}
			return v.Same != nil
		}}.askModel(ctx, a, w)
	return got.Same, err
}

// secondReading is a question to the model about texts that the rules cannot settle. T is the form of its answer.
type secondReading[T any] struct {
	template string
	data     map[string]any // the texts
	members  map[string]any // the schemas of the answer's members
	accepts  func(T) bool   // whether an answer names only texts that there are
}

func (r secondReading[T]) askModel(ctx context.Context, a *Agents, w access.WorldID) (answer T, err error) {
	data, err := marshalData(r.data)
	if err != nil {
		return answer, err
	}
	schema, err := json.Marshal(objectSchema(r.members))
	if err != nil {
		return answer, err
	}
	text, err := a.Ask(ctx, Question{World: w, Purpose: "classification", Template: r.template, MaxTokens: 512,
		Schema: schema, Trial: true, Values: map[string]string{"data": data}, Accept: func(text string) (string, error) {
			var v T
			if json.Unmarshal([]byte(text), &v) != nil || !r.accepts(v) {
				return "", errNoReading
			}
			return text, nil
		}})
	if err == nil {
		err = json.Unmarshal([]byte(text), &answer)
	}
	return answer, err
}

var errNoReading = fault.New(fault.Rule, "the model named a claim or a text that is not there")
