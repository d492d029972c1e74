package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"loregate/internal/agent"
	"loregate/internal/fault"
	"loregate/internal/model"
	"loregate/internal/usage"
)

// CheapModel configures a second, smaller model for purposes that need little.
type CheapModel struct {
	Name     string   `yaml:"name" doc:"Name of a smaller model for some purposes. Empty: one model does all. If either model does not answer, the other one is asked."`
	Provider string   `yaml:"provider" doc:"Its provider. Empty: that of model."`
	URL      string   `yaml:"url" doc:"Its endpoint. Empty: that of model, with the same key."`
	KeyEnv   string   `yaml:"key_env" doc:"Name of the environment variable that contains the key of its own endpoint."`
	Purposes []string `yaml:"purposes" default:"classification,npc_dialogue" doc:"Purposes that the smaller model serves: classification (commands, intents, moderation, claims, repeats, gate), npc_dialogue (players, npcs), ambience, narration, planning (places, plans), quest_seed."`
}

// tiered are the models of the two tiers. It implements [agent.Provider]. Without a cheap model the rich one does all.
type tiered struct {
	rich, cheap *model.Client // cheap is nil if none is configured
	purposes    []string      // of the cheap one
}

// Model returns the name of the rich model.
func (t *tiered) Model() string { return t.rich.Model() }

// ModelFor returns the name of the model that serves a purpose.
func (t *tiered) ModelFor(purpose string) string {
	first, _ := t.orderModels(purpose)
	return first.Model()
}

// orderModels returns the model that serves a purpose, and the one that is asked if it does not answer; nil for none.
func (t *tiered) orderModels(purpose string) (first, second *model.Client) {
	if t.cheap == nil {
		return t.rich, nil
	}
	if slices.Contains(t.purposes, purpose) {
		return t.cheap, t.rich
	}
	return t.rich, t.cheap
}

// TierOf returns the tier whose budget pays for a purpose.
func (t *tiered) TierOf(purpose string) agent.Tier {
	if t.cheap != nil && slices.Contains(t.purposes, purpose) {
		return agent.Cheap
	}
	return agent.Rich
}

// Complete asks the model that serves the purpose, and if it does not answer, the other one.
func (t *tiered) Complete(ctx context.Context, r agent.Request) (agent.Completion, error) {
	first, second := t.orderModels(r.Purpose)
	done, err := first.Complete(ctx, r)
	done.Model = first.Model()
	if fault.KindOf(err) != fault.Unavailable || second == nil || ctx.Err() != nil {
		return done, err
	}
	other, err := second.Complete(ctx, r)
	other.Model = second.Model()
	other.TokensPrompt += done.TokensPrompt
	other.TokensCompletion += done.TokensCompletion
	other.CostMicroUSD += done.CostMicroUSD
	other.Retries += done.Retries + 1
	return other, err
}

// cheapConfig returns the configuration of the cheap model: that of the rich one with another name and, perhaps, endpoint.
func (c Model) cheapConfig() Model {
	of := c
	of.Name = c.Cheap.Name
	if c.Cheap.URL != "" || c.Cheap.Provider != "" {
		of.URL, of.KeyEnv, of.KeyFile = c.Cheap.URL, c.Cheap.KeyEnv, "" // a key is sent to its own endpoint only
	}
	if c.Cheap.Provider != "" {
		of.Provider = c.Cheap.Provider
	}
	return of
}

// validateCheap returns an error for settings of the cheap model with invalid values.
func (c Model) validateCheap() error {
	if c.Cheap.Name == "" {
		if c.Cheap.URL+c.Cheap.Provider+c.Cheap.KeyEnv != "" {
			return errors.New("model.cheap.name: is missing, although another setting of model.cheap is set; set it too")
		}
		return nil
	}
	for _, p := range c.Cheap.Purposes {
		if !slices.Contains(usage.Purposes(), p) {
			return fmt.Errorf("model.cheap.purposes: %q is not a purpose; name some of %s", p,
				strings.Join(usage.Purposes(), ", "))
		}
	}
	if _, err := c.cheapConfig().newClient(""); err != nil {
		return fmt.Errorf("model.cheap: %w", err)
	}
	return nil
}

// openModel creates the clients of the configured models; a.model stays nil if none is configured.
func (a *App) openModel() error {
	c := a.Config.Model
	rich, err := c.openClient()
	if err != nil || rich == nil {
		return err
	}
	a.model = &tiered{rich: rich, purposes: c.Cheap.Purposes}
	if c.Cheap.Name != "" {
		if a.model.cheap, err = c.cheapConfig().openClient(); err != nil {
			return fmt.Errorf("model.cheap: %w", err)
		}
	}
	return nil
}

// openClient creates the client of a model with its key; nil if no provider is configured.
func (c Model) openClient() (*model.Client, error) {
	key, err := readSecret(secretSource{c.KeyEnv, c.KeyFile, "model.key_env", "model.key_file"})
	if err != nil {
		return nil, err
	}
	return c.newClient(key)
}
