package app

import (
	"context"

	"loregate/internal/access"
	"loregate/internal/agent"
	"loregate/internal/studio"
)

// planTemplate is what a model is asked for a plan with.
const planTemplate = "studio-plan"

// studioModel is the model as one that proposes plans; nil where it is not asked to.
func (a *App) studioModel() studio.Model {
	if !a.modelFor(useForPlans) {
		return nil
	}
	return planModel{a}
}

// planModel asks the model for plans, at the cost of their world.
type planModel struct{ app *App }

func (m planModel) Name() string { return m.app.model.Model() }

func (m planModel) Plan(ctx context.Context, w access.WorldID, a studio.ModelAsk) (string, error) {
	values := map[string]string{"wanted": a.Wanted, "tools": a.Tools}
	most, err := m.room(values, a.Budget)
	if err != nil {
		return "", err
	}
	return m.app.Agents.Ask(ctx, agent.Question{World: w, Purpose: "planning", Template: planTemplate, Values: values, MaxTokens: most, Accept: a.Accept})
}

// leastPlan is the shortest answer that a plan fits into, in tokens.
const leastPlan = 128

// room is how many tokens an answer may have, so that the question with it costs no more
// than a plan's budget allows.
func (m planModel) room(values map[string]string, b studio.Budget) (int, error) {
	c := m.app.Config.Model
	if b.Tokens == 0 && b.Money == 0 {
		return c.MaxTokens, nil
	}
	template, err := m.app.prompts.Get(planTemplate, "")
	if err != nil {
		return 0, err
	}
	text, err := template.Render(values)
	if err != nil {
		return 0, err
	}
	most, asking := c.MaxTokens, agent.TokensIn(text)+1
	if b.Tokens > 0 {
		most = min(most, b.Tokens-asking)
	}
	if left := b.Money*1e6 - float64(asking)*c.PromptPrice; b.Money > 0 && left < float64(most)*c.CompletionPrice {
		most = int(max(left, 0) / max(c.CompletionPrice, 1e-6)) // prices are micro-dollars for a token
	}
	if most < leastPlan {
		return 0, studio.ErrOverBudget
	}
	return most, nil
}
