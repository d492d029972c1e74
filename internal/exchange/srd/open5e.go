package srd

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/decoded"
	"loregate/internal/exchange"
	"loregate/internal/exchange/record"
)

// open5eModels lists the models of Open5e whose records become cards, without "api_v2.".
var open5eModels = map[string]recordKind{
	"background":     {"background", "Lore", "rule"},
	"characterclass": {"class", "Lore", "rule"},
	"creature":       {"monster", "Creature", ""},
	"feat":           {"feat", "Lore", "rule"},
	"item":           {"equipment", "Item", ""},
	"magicitem":      {"magic-item", "Artifact", ""},
	"race":           {"race", "Lore", "rule"},
	"rule":           {"rule-section", "Lore", "rule"},
	"ruleset":        {"rules", "Lore", "rule"},
	"service":        {"service", "Lore", "rule"},
	"species":        {"race", "Lore", "rule"},
	"spell":          {"spell", "Lore", "spell"},
	"weaponproperty": {"weapon-property", "Lore", "rule"},
}

// term is the kind of records that describe a word, such as a condition.
var term = recordKind{"term", "Lore", "rule"}

// open5eRecord is a record of Open5e: an object of Django's serializer.
type open5eRecord struct {
	record.Entry
	model, pk string
	fields    map[string]any
}

func (r open5eRecord) text(key string) string { return decoded.TextOf(r.fields[key]) }

// kind returns the kind of a record that becomes a card.
func (r open5eRecord) kind() (recordKind, bool) {
	if strings.HasSuffix(r.model, "description") && r.text("describes") != "" {
		return term, true
	}
	k, ok := open5eModels[r.model]
	return k, ok
}

// open5e makes cards from records of Open5e.
type open5e struct {
	s     *record.Source
	cards []open5eRecord
	parts map[string][]open5eRecord // records with a text, by the pk of the record that they belong to
	stats map[string]map[string]any // fields of weapons and armor, by model and pk
	left  map[string]int            // records left out, by model
}

// ImportOpen5e imports the data of Open5e, version 2: files with lists of records. Traits, actions,
// benefits and features become sections of the card that they belong to; the values of weapons and armor
// stand in the fields of their items.
func ImportOpen5e(ctx context.Context, c *canon.Canon, g access.Grant, files fs.FS, o exchange.Options) (exchange.Summary,
	error) {
	return record.Import(ctx, c, g, "open5e", o, func(s *record.Source) error {
		x := &open5e{s: s, parts: map[string][]open5eRecord{}, stats: map[string]map[string]any{}, left: map[string]int{}}
		if err := x.readFiles(files); err != nil {
			return err
		}
		return x.addCards(ctx)
	})
}

func (x *open5e) readFiles(files fs.FS) error {
	names, err := x.s.JSONFiles(files)
	if err != nil {
		return err
	}
	for _, name := range names {
		data, ok := x.s.ReadFile(files, name)
		if !ok {
			continue
		}
		for _, e := range x.s.ReadEntries(name, data) {
			r := open5eRecord{Entry: e, pk: e.Text("pk"), fields: e.Object("fields")}
			var found bool
			if r.model, found = strings.CutPrefix(e.Text("model"), "api_v2."); !found || r.pk == "" || r.fields == nil {
				x.s.AddProblem(name, e.Line, "is not a record of Open5e, version 2; left out")
				continue
			}
			x.sort(r)
		}
	}
	if len(x.cards) == 0 {
		return x.s.EmptyError("no record is a creature, spell, item or rule of Open5e, version 2")
	}
	return nil
}

// sort keeps a record for the card that it becomes or belongs to.
func (x *open5e) sort(r open5eRecord) {
	_, isCard := r.kind()
	switch parent := r.text("parent"); {
	case isCard:
		x.cards = append(x.cards, r)
	case parent != "" && r.text("desc") != "":
		x.parts[parent] = append(x.parts[parent], r)
	case r.model == "weapon" || r.model == "armor":
		x.stats[r.model+" "+r.pk] = r.fields
	case r.model != "document":
		x.left[r.model]++
	}
}

func (x *open5e) addCards(ctx context.Context) error {
	for _, r := range x.cards {
		kind, _ := r.kind()
		name := r.text("name")
		if name == "" {
			name = strings.ReplaceAll(r.text("describes"), "-", " ")
		}
		fields := map[string]any{"open5e": x.cardFields(r)}
		if kind.fact != "" {
			fields["factType"] = kind.fact
		}
		if _, err := x.s.Add(ctx, record.Card{Key: []string{r.model, r.pk}, File: fmt.Sprintf("%s:%d", r.File, r.Line), Name: name,
			Suffixes: []string{strings.ReplaceAll(kind.kind, "-", " "), r.pk}, Type: kind.typ, Codename: "open5e-" + r.pk,
			Fields: fields, Tags: []string{"open5e", kind.kind}, Form: record.Markdown,
			Text: record.Text(x.cardText(r))}); err != nil {
			return err
		}
	}
	var left []string
	for _, model := range decoded.SortedKeys(x.left) {
		left = append(left, fmt.Sprintf("%d %s", x.left[model], model))
	}
	if len(left) > 0 {
		x.s.AddProblem("records", 0, "have no text or place of their own; left out: %s", strings.Join(left, ", "))
	}
	return nil
}

// cardFields returns the members of a record that are not part of the card's text.
func (x *open5e) cardFields(r open5eRecord) map[string]any {
	rest := map[string]any{"model": r.model, "pk": r.pk}
	for k, v := range r.fields {
		if v != nil && v != "" && k != "name" && k != "desc" {
			rest[k] = v
		}
	}
	for _, of := range []string{"weapon", "armor"} {
		if stats := x.stats[of+" "+r.text(of)]; stats != nil {
			rest[of] = stats
		}
	}
	return rest
}

// cardText returns a record's text with those of its parts, in Markdown.
func (x *open5e) cardText(r open5eRecord) string {
	higher := r.text("higher_level")
	if higher != "" {
		higher = "**At higher levels.** " + higher
	}
	blocks := decoded.NonEmpty(r.text("desc"), higher)
	parts := slices.Clone(x.parts[r.pk])
	slices.SortStableFunc(parts, func(a, b open5eRecord) int { return strings.Compare(a.model, b.model) })
	for _, part := range parts {
		if name := part.text("name"); name != "" {
			blocks = append(blocks, "### "+name)
		}
		blocks = append(blocks, part.text("desc"))
	}
	return strings.Join(blocks, "\n\n")
}
