package srd

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/decoded"
	"loregate/internal/exchange"
	"loregate/internal/exchange/record"
)

// recordKind describes the records of one file of the rules reference: their kind in codenames and
// tags, the type of their cards, and their fact type.
type recordKind struct {
	kind, typ, fact string
}

// Kinds that are handled specially.
const (
	kindLevel   = "level"
	kindFeature = "feature"
)

// recordKinds lists the files by the end of their names.
var recordKinds = map[string]recordKind{
	"Ability-Scores":       {"ability", "Lore", "rule"},
	"Alignments":           {"alignment", "Lore", "rule"},
	"Backgrounds":          {"background", "Lore", "rule"},
	"Classes":              {"class", "Lore", "rule"},
	"Conditions":           {"condition", "Lore", "rule"},
	"Damage-Types":         {"damage-type", "Lore", "rule"},
	"Equipment-Categories": {"category", "Lore", "rule"},
	"Equipment":            {"equipment", "Item", ""},
	"Feats":                {"feat", "Lore", "rule"},
	"Features":             {kindFeature, "Lore", "rule"},
	"Languages":            {"language", "Lore", "rule"},
	"Levels":               {kindLevel, "Lore", ""},
	"Magic-Items":          {"magic-item", "Artifact", ""},
	"Magic-Schools":        {"school", "Lore", "rule"},
	"Monsters":             {"monster", "Creature", ""},
	"Proficiencies":        {"proficiency", "Lore", "rule"},
	"Races":                {"race", "Lore", "rule"},
	"Rule-Sections":        {"rule-section", "Lore", "rule"},
	"Rules":                {"rules", "Lore", "rule"},
	"Skills":               {"skill", "Lore", "rule"},
	"Spells":               {"spell", "Lore", "spell"},
	"Subclasses":           {"subclass", "Lore", "rule"},
	"Subraces":             {"subrace", "Lore", "rule"},
	"Traits":               {"trait", "Lore", "rule"},
	"Weapon-Properties":    {"weapon-property", "Lore", "rule"},
}

// Import imports the rules reference of the fifth edition in the format of the 5e-bits project:
// a folder of JSON files, each with a list of records. A record becomes a card with a codename such
// as srd-spell-fireball; its other members are kept in the field srd. References between records
// become wiki links. Levels become children of their class.
func Import(ctx context.Context, c *canon.Canon, g access.Grant, files fs.FS, o exchange.Options) (exchange.Summary,
	error) {
	return record.Import(ctx, c, g, "srd", o, func(s *record.Source) error {
		x := &reader{s: s, byURL: map[string]*exchange.Sheet{}}
		return x.readFiles(ctx, files)
	})
}

// reader makes cards from records.
type reader struct {
	s      *record.Source
	byURL  map[string]*exchange.Sheet
	levels []ruleEntry // added after their classes
}

// ruleEntry is a record together with the description of its file.
type ruleEntry struct {
	record.Entry
	recordKind
}

func (x *reader) readFiles(ctx context.Context, files fs.FS) error {
	names, err := x.s.JSONFiles(files)
	if err != nil {
		return err
	}
	for _, name := range names {
		stem := strings.TrimSuffix(name, path.Ext(name))
		_, suffix, _ := strings.Cut(stem, "-SRD-")
		kind, known := recordKinds[suffix]
		if !known {
			x.s.AddProblem(name, 0, "is not a file of the rules reference; left out")
			continue
		}
		data, ok := x.s.ReadFile(files, name)
		if !ok {
			continue
		}
		for _, e := range x.s.ReadEntries(name, data) {
			if err := x.addRecord(ctx, ruleEntry{e, kind}); err != nil {
				return err
			}
		}
	}
	if x.s.Files == 0 {
		return x.s.EmptyError("the folder holds no files such as 5e-SRD-Spells.json")
	}
	return x.addLevels(ctx)
}

func (x *reader) addRecord(ctx context.Context, r ruleEntry) error {
	index := r.Text("index")
	if index == "" {
		x.s.AddProblem(r.File, r.Line, "the record has no index; left out")
		return nil
	}
	if r.kind == kindLevel {
		x.levels = append(x.levels, r)
		return nil
	}
	name := r.Text("name")
	if record.CardName(name) == "" {
		x.s.AddProblem(r.File, r.Line, "%q has no name; its index is used as the name", index)
		name = index
	}
	return x.addCard(ctx, r, record.Card{Key: []string{r.kind, index}, Name: name, Suffixes: r.nameSuffixes(),
		Codename: "srd-" + r.kind + "-" + index, Tags: r.cardTags()})
}

// addLevels adds the cards of levels as children of their classes.
func (x *reader) addLevels(ctx context.Context) error {
	for _, r := range x.levels {
		class := x.byURL[decoded.TextOf(r.Object("class")["url"])]
		if class == nil {
			x.s.AddProblem(r.File, r.Line, "level %q belongs to no class of this folder; left out", r.Text("index"))
			continue
		}
		name := "Level " + r.Text("level")
		if sub := decoded.TextOf(r.Object("subclass")["name"]); sub != "" {
			name = sub + " " + name
		}
		if err := x.addCard(ctx, r, record.Card{Key: []string{r.kind, r.Text("index")}, Name: name,
			Above: class}); err != nil {
			return err
		}
	}
	return nil
}

// addCard completes a record and adds it to the source.
func (x *reader) addCard(ctx context.Context, r ruleEntry, rec record.Card) error {
	rec.File = fmt.Sprintf("%s:%d", r.File, r.Line)
	rec.Type = r.typ
	rec.Fields = r.cardFields()
	rec.Form, rec.Text = record.Markdown, r.cardText()
	var sh *exchange.Sheet
	rec.Render = func(from *exchange.Sheet, text string) string {
		if from != sh {
			return text
		}
		return strings.Join(decoded.NonEmpty(text, x.seeAlso(r)), "\n\n")
	}
	sh, err := x.s.Add(ctx, rec)
	if err != nil {
		return err
	}
	if url := r.Text("url"); url != "" && x.byURL[url] == nil {
		x.byURL[url] = sh
	}
	return nil
}

// nameSuffixes returns suffixes that distinguish records of the same name.
func (r ruleEntry) nameSuffixes() []string {
	var list []string
	if r.kind == kindFeature {
		of := decoded.TextOf(r.Object("subclass")["name"])
		if of == "" {
			of = decoded.TextOf(r.Object("class")["name"])
		}
		list = append(list, of, of+" "+r.Text("level"))
	}
	return append(list, strings.ReplaceAll(r.kind, "-", " "), r.Text("index"))
}

func (r ruleEntry) cardTags() []string {
	tags := []string{"srd", r.kind}
	for _, key := range []string{"school", "class", "equipment_category", "rarity"} {
		if name := decoded.TextOf(r.Object(key)["name"]); name != "" {
			tags = append(tags, strings.ToLower(name))
		}
	}
	if r.kind == "monster" {
		tags = append(tags, strings.ToLower(r.Text("type")))
	}
	return tags
}

// cardFields returns the members of a record that are not part of the card's text.
func (r ruleEntry) cardFields() map[string]any {
	rest := map[string]any{}
	for k, v := range r.Data {
		switch k {
		case "name", "desc", "url", "image":
		default:
			rest[k] = v
		}
	}
	fields := map[string]any{"srd": rest}
	if r.fact != "" {
		fields["factType"] = r.fact
	}
	if full := r.Text("full_name"); full != "" {
		fields["aliases"] = []string{full}
	}
	return fields
}

// cardText returns a record's text in Markdown, as one block, to which its references are added.
func (r ruleEntry) cardText() []record.Block {
	return []record.Block{{Text: strings.Join(decoded.NonEmpty(r.leadLine(), r.Text("desc"), r.namedSections()), "\n\n")}}
}

// seeAlso returns a line with links to the records that a record refers to.
func (x *reader) seeAlso(r ruleEntry) string {
	var links []string
	seen := map[*exchange.Sheet]bool{x.byURL[r.Text("url")]: true}
	eachReference(r.Data, func(url string) {
		if to := x.byURL[url]; to != nil && !seen[to] && len(links) < maxSeeAlso {
			seen[to] = true
			links = append(links, "[["+to.FullName()+"]]")
		}
	})
	if len(links) == 0 {
		return ""
	}
	return "See also: " + strings.Join(links, ", ") + "."
}

// maxSeeAlso is the maximum number of references listed in a card's text; a class has hundreds.
const maxSeeAlso = 60

// eachReference calls see with the url of each record that a value refers to, in order.
func eachReference(v any, see func(url string)) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			eachReference(item, see)
		}
	case map[string]any:
		if url, ok := v["url"].(string); ok && v["index"] != nil {
			see(url)
		}
		for _, key := range decoded.SortedKeys(v) {
			eachReference(v[key], see)
		}
	}
}
