package rules

import (
	"context"
	"encoding/json"
	"strings"
	"unicode"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/op"
)

// maxRuleText is the number of bytes of a rule's text in an answer.
const maxRuleText = 6000

type lookupIn struct {
	Name string `json:"name" minlen:"1" maxlen:"255" jsonschema:"Name of the rule, as Fireball, Goblin or Frightened."`
	Kind string `json:"kind,omitzero" enum:"monster,spell,equipment,magic-item,condition,class,feature,race,skill,rule-section" jsonschema:"Kind of rule, where several have the name."`
}

type lookupOut struct {
	Name     string          `json:"name"`
	ID       string          `json:"id"`
	Codename string          `json:"codename,omitzero"`
	Text     string          `json:"text"`
	Cut      bool            `json:"cut,omitzero" jsonschema:"The text goes on; fetch the card for all of it."`
	Record   json.RawMessage `json:"record,omitzero" jsonschema:"The numbers, as the rules reference has them."`
}

func (s *Service) lookUp() *op.Operation {
	return define(op.Spec{
		Name: "rules_lookup", Title: "Look up a rule", Route: "GET /api/rules/lookup", Effect: access.Read,
		Asked: []string{
			"text of an incantation", "stat block of a creature", "how does being blinded work",
			"effects of a status", "how does a rule work", "details of a monster or spell",
			"effect of a condition", "numbers of a beast", "explain an incantation",
		},
		Doc: "Get a rule with its numbers from the world's cards: a monster, spell, item, condition, class or " +
			"feature. " +
			"The import srd brings those of the fifth edition (SRD 5.1, CC BY 4.0).",
		Examples: []op.Example{{Title: "A creature", Input: `{"name":"Ledger Crab"}`}},
	}, func(ctx context.Context, c *op.Call, in lookupIn) (out lookupOut, err error) {
		err = s.cfg.Canon.Read(ctx, c.Grant, func(l *canon.Snapshot) error {
			card, record, err := findRecord(ctx, l, in.Kind, in.Name)
			if err != nil {
				return err
			}
			if record == nil {
				return fault.New(fault.NotFound, "the card %q has no rules; the import srd brings those of the "+
					"fifth edition", card.Name)
			}
			out, err = showRule(ctx, l, card, record)
			return err
		})
		return out, err
	})
}

func showRule(ctx context.Context, l *canon.Snapshot, card canon.Card, record []byte) (out lookupOut, err error) {
	text, err := ruleText(ctx, l, card)
	out = lookupOut{Name: card.Name, ID: card.ID.String(), Codename: card.Codename, Text: text, Record: record}
	if len(text) > maxRuleText {
		out.Text, out.Cut = strings.ToValidUTF8(text[:maxRuleText], ""), true
	}
	return out, err
}

func ruleText(ctx context.Context, l *canon.Snapshot, card canon.Card) (string, error) {
	body, err := l.Content(ctx, card)
	if err != nil {
		return "", err
	}
	return canon.PlainText(canon.KindOf(card.Type, card.Format), body), nil
}

// codenameOf returns the codename that the import srd gives to a record: its index is the name in
// small letters, with hyphens and without apostrophes.
func codenameOf(kind, name string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(strings.TrimSpace(name)) {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			b.WriteRune(r)
		case r != '\'' && r != '’':
			b.WriteByte('-')
		}
	}
	return ":srd-" + kind + "-" + b.String()
}

// recordOf returns the record of the rules in a card's fields; nil if there is none.
func recordOf(card canon.Card) []byte {
	var fields struct {
		SRD json.RawMessage `json:"srd"`
	}
	if card.Fields == nil || json.Unmarshal(card.Fields, &fields) != nil {
		return nil
	}
	return fields.SRD
}

// findRecord returns a card and its record of the rules, by name, or by kind and name as the import
// gives codenames. record is nil if the card has none.
func findRecord(ctx context.Context, l *canon.Snapshot, kind, name string) (card canon.Card, record []byte, err error) {
	if kind != "" {
		card, ok, err := l.Exists(ctx, codenameOf(kind, name))
		if err != nil {
			return canon.Card{}, nil, err
		}
		if ok {
			return card, recordOf(card), nil
		}
	}
	card, err = l.Find(ctx, name)
	return card, recordOf(card), err
}
