package app

import (
	"fmt"
	"regexp"
	"strings"

	"loregate/internal/embed"
	"loregate/internal/world/lore"
)

// Lore configures which cards are lore, and the model for semantic search.
type Lore struct {
	Types          []string `yaml:"types" doc:"Further card types whose cards with a codename are facts, as Cardtype=fact_type."`
	EmbeddingURL   string   `yaml:"embedding_url" doc:"Base address of an OpenAI-compatible embedding endpoint for semantic-search-lore, such as http://127.0.0.1:11434/v1. Facts of every level are sent to it. Empty: none."`
	EmbeddingModel string   `yaml:"embedding_model" doc:"Model of the embedding endpoint."`
	EmbeddingKey   string   `yaml:"embedding_key" doc:"Key of the embedding endpoint. Set it with the variable rather than in a file."`
}

var factTypeForm = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)

// toConfig converts the settings to a lore.Config without its parts.
func (c Lore) toConfig() (lore.Config, error) {
	out := lore.Config{Types: map[string]string{}}
	for _, t := range c.Types {
		card, fact, ok := strings.Cut(t, "=")
		card, fact = strings.TrimSpace(card), strings.TrimSpace(fact)
		if !ok || card == "" || !factTypeForm.MatchString(fact) {
			return out, fmt.Errorf("lore.types: %q does not have the form Cardtype=fact_type; write it as in Recipe=recipe", t)
		}
		out.Types[card] = fact
	}
	if c.EmbeddingURL == "" {
		if c.EmbeddingModel != "" || c.EmbeddingKey != "" {
			return out, fmt.Errorf("lore.embedding_url: is missing, although embedding_model or embedding_key is set; set " +
				"it too")
		}
		return out, nil
	}
	client, err := embed.New(embed.Config{URL: c.EmbeddingURL, Model: c.EmbeddingModel, Key: c.EmbeddingKey})
	if err != nil {
		return out, fmt.Errorf("lore.embedding_url and lore.embedding_model: %w", err)
	}
	out.Embedder = client
	return out, nil
}
