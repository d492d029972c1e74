package app

import (
	"context"

	"loregate/internal/access"
	"loregate/internal/agent"
	"loregate/internal/studio"
)

// planTemplate is the prompt template for plans.
const planTemplate = "studio-plan"

// studioModel returns the model that proposes plans; nil if the model is not configured for that.
func (a *App) studioModel() studio.Model {
	if !a.modelFor(useForPlans) {
		return nil
	}
	return planModel{a}
}

// planModel asks the model for plans, and charges their world.
type planModel struct{ app *App }

func (m planModel) Name() string { return m.app.model.ModelFor("planning") }

func (m planModel) Plan(ctx context.Context, w access.WorldID, a studio.ModelAsk) (string, error) {
	values := map[string]string{"wanted": a.Wanted, "tools": a.Tools}
	most, err := m.maxAnswerTokens(values, a.Budget)
	if err != nil {
		return "", err
	}
	return m.app.Agents.Ask(ctx, agent.Question{World: w, Purpose: "planning", Template: planTemplate, Values: values,
		MaxTokens: most, Trial: true, Accept: a.Accept})
}

// minPlanTokens is the length of the shortest useful plan, in tokens.
const minPlanTokens = 128

// maxAnswerTokens returns the number of tokens that an answer may have so that prompt and answer
// together stay within the plan's budget.
func (m planModel) maxAnswerTokens(values map[string]string, b studio.Budget) (int, error) {
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
	if most < minPlanTokens {
		return 0, studio.ErrOverBudget
	}
	return most, nil
}
