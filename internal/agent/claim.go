package agent

import (
	"context"
	"encoding/json"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/proposal"
)

// claimTemplate is the prompt template for doubts about claims.
const claimTemplate = "claim"

// ReadDoubt implements [proposal.DoubtReader] with the model, after it has passed its trial.
func (a *Agents) ReadDoubt(ctx context.Context, w access.WorldID, d proposal.Doubt) (r proposal.Opinion, err error) {
	data, err := marshalData(map[string]any{"said": d.Said, "by": d.By, "at": d.At, "claims": d.Claims, "canon": d.Canon})
	if err != nil {
		return r, err
	}
	number := map[string]any{"type": "integer"}
	schema, err := json.Marshal(objectSchema(map[string]any{"denied": number, "because": number}))
	if err != nil {
		return r, err
	}
	answer, err := a.Ask(ctx, Question{World: w, Purpose: "classification", Template: claimTemplate, MaxTokens: 512,
		Schema: schema, Trial: true, Values: map[string]string{"data": data}, Accept: func(text string) (string, error) {
			var v proposal.Opinion
			if json.Unmarshal([]byte(text), &v) != nil || v.Denied < 0 || v.Denied > len(d.Claims) || v.Because < 0 ||
				v.Because > len(d.Canon) || (v.Denied > 0) != (v.Because > 0) {
				return "", errNoReading
			}
			return text, nil
		}})
	if err == nil {
		err = json.Unmarshal([]byte(answer), &r)
	}
	r.By = modelFor(a.cfg.Answers, "classification") + "/" + claimTemplate
	return r, err
}

var errNoReading = fault.New(fault.Rule, "the model named a claim or a sentence of the canon that is not there")
