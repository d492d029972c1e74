package app

import (
	"fmt"
	"strings"

	"loregate/internal/lazyregexp"
	"loregate/internal/world/lore"
)

// Lore configures which cards are lore.
type Lore struct {
	Types []string `yaml:"types" doc:"Further card types whose cards with a codename are facts, as Cardtype=fact_type."`
}

var factTypeForm = lazyregexp.New(`^[a-z][a-z0-9_]{0,63}$`)

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
	return out, nil
}
