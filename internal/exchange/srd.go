package exchange

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/markup"
)

// srdFile is what a file of the rules reference holds: how its records are called in
// codenames and tags, what cards they become, and which kind of fact.
type srdFile struct {
	kind, typ, fact string
}

// Kinds that need more than the table says.
const (
	srdLevel   = "level"
	srdFeature = "feature"
)

// srdFiles are the files by the end of their names.
var srdFiles = map[string]srdFile{
	"Ability-Scores":       {"ability", "Lore", "rule"},
	"Alignments":           {"alignment", "Lore", "rule"},
	"Backgrounds":          {"background", "Lore", "rule"},
	"Classes":              {"class", "Lore", "rule"},
	"Conditions":           {"condition", "Lore", "rule"},
	"Damage-Types":         {"damage-type", "Lore", "rule"},
	"Equipment-Categories": {"category", "Lore", "rule"},
	"Equipment":            {"equipment", "Item", ""},
	"Feats":                {"feat", "Lore", "rule"},
	"Features":             {srdFeature, "Lore", "rule"},
	"Languages":            {"language", "Lore", "rule"},
	"Levels":               {srdLevel, "Lore", ""},
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

// ImportSRD brings in the rules reference of the fifth edition as the 5e-bits project
// keeps it: a folder of JSON files, each a list of records. A record becomes a card with
// a codename such as srd-spell-fireball; what else it says is kept in the field srd.
// References between records become wiki links, and levels lie below their class.
func ImportSRD(ctx context.Context, c *canon.Canon, g access.Grant, files fs.FS, o SourceOptions) (Summary, error) {
	return importSource(ctx, c, g, "srd", o, func(s *source) error {
		x := &srd{s: s, byURL: map[string]*sheet{}}
		return x.read(ctx, files)
	})
}

// srd makes cards of records.
type srd struct {
	s      *source
	byURL  map[string]*sheet
	levels []srdRecord // wait for the classes they lie below
}

// srdRecord is a record and what its file holds.
type srdRecord struct {
	entry
	srdFile
}

func (x *srd) read(ctx context.Context, files fs.FS) error {
	names, err := x.s.jsonFiles(files)
	if err != nil {
		return err
	}
	for _, name := range names {
		stem := strings.TrimSuffix(name, path.Ext(name))
		_, suffix, _ := strings.Cut(stem, "-SRD-")
		kind, known := srdFiles[suffix]
		if !known {
			x.s.c.problem(name, 0, "is not a file of the rules reference; left out")
			continue
		}
		data, ok := x.s.read(files, name)
		if !ok {
			continue
		}
		for _, e := range x.s.entries(name, data) {
			if err := x.record(ctx, srdRecord{e, kind}); err != nil {
				return err
			}
		}
	}
	if x.s.files == 0 {
		return x.s.none("the folder holds no files such as 5e-SRD-Spells.json")
	}
	return x.below(ctx)
}

func (x *srd) record(ctx context.Context, r srdRecord) error {
	index := r.text("index")
	if index == "" {
		x.s.c.problem(r.file, r.line, "a record without index; left out")
		return nil
	}
	if r.kind == srdLevel {
		x.levels = append(x.levels, r)
		return nil
	}
	name := r.text("name")
	if recordName(name) == "" {
		x.s.c.problem(r.file, r.line, "%q has no name; its index stands for it", index)
		name = index
	}
	return x.add(ctx, r, record{key: []string{r.kind, index}, name: name, or: r.distinctions(),
		codename: "srd-" + r.kind + "-" + index, tags: r.tags()})
}

// below makes the cards of levels, below their classes.
func (x *srd) below(ctx context.Context) error {
	for _, r := range x.levels {
		class := x.byURL[textOf(r.object("class")["url"])]
		if class == nil {
			x.s.c.problem(r.file, r.line, "level %q is of no class that is here; left out", r.text("index"))
			continue
		}
		name := "Level " + r.text("level")
		if sub := textOf(r.object("subclass")["name"]); sub != "" {
			name = sub + " " + name
		}
		if err := x.add(ctx, r, record{key: []string{r.kind, r.text("index")}, name: name, above: class}); err != nil {
			return err
		}
	}
	return nil
}

// add completes a record and takes it in.
func (x *srd) add(ctx context.Context, r srdRecord, rec record) error {
	rec.file = fmt.Sprintf("%s:%d", r.file, r.line)
	rec.typ = r.typ
	rec.fields = r.fields()
	rec.body = func(ctx context.Context) string { return x.html(ctx, r) }
	sh, err := x.s.add(ctx, rec)
	if err != nil {
		return err
	}
	if url := r.text("url"); url != "" && x.byURL[url] == nil {
		x.byURL[url] = sh
	}
	return nil
}

// distinctions tell records of one name apart.
func (r srdRecord) distinctions() []string {
	var list []string
	if r.kind == srdFeature {
		of := textOf(r.object("subclass")["name"])
		if of == "" {
			of = textOf(r.object("class")["name"])
		}
		list = append(list, of, of+" "+r.text("level"))
	}
	return append(list, strings.ReplaceAll(r.kind, "-", " "), r.text("index"))
}

func (r srdRecord) tags() []string {
	tags := []string{"srd", r.kind}
	for _, key := range []string{"school", "class", "equipment_category", "rarity"} {
		if name := textOf(r.object(key)["name"]); name != "" {
			tags = append(tags, tagName(strings.ToLower(name)))
		}
	}
	if r.kind == "monster" {
		tags = append(tags, tagName(strings.ToLower(r.text("type"))))
	}
	return tags
}

// fields keeps what the text of the card does not say.
func (r srdRecord) fields() map[string]any {
	rest := map[string]any{}
	for k, v := range r.data {
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
	if full := r.text("full_name"); full != "" {
		fields["aliases"] = []string{full}
	}
	return fields
}

// html is a record's text.
func (x *srd) html(ctx context.Context, r srdRecord) string {
	text := strings.Join(nonEmpty(r.lead(), r.text("desc"), r.sections(), x.seeAlso(r)), "\n\n")
	out, err := markup.ToHTML(ctx, text)
	if err != nil {
		return paragraphs(text)
	}
	return out
}

func nonEmpty(parts ...string) []string {
	var out []string
	for _, p := range parts {
		if strings.TrimSpace(p) != "" {
			out = append(out, p)
		}
	}
	return out
}

// seeAlso links the records that a record refers to.
func (x *srd) seeAlso(r srdRecord) string {
	var links []string
	seen := map[*sheet]bool{x.byURL[r.text("url")]: true}
	eachReference(r.data, func(url string) {
		if to := x.byURL[url]; to != nil && !seen[to] && len(links) < maxSeeAlso {
			seen[to] = true
			links = append(links, "[["+to.whole()+"]]")
		}
	})
	if len(links) == 0 {
		return ""
	}
	return "See also: " + strings.Join(links, ", ") + "."
}

// maxSeeAlso bounds the references that a card's text names; a class has hundreds.
const maxSeeAlso = 60

// eachReference gives the addresses of records that a value refers to, in order.
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
		for _, key := range sorted(v) {
			eachReference(v[key], see)
		}
	}
}
