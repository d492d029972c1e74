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

// srdFile describes the records of one file of the rules reference: their kind in codenames and
// tags, the type of their cards, and their fact type.
type srdFile struct {
	kind, typ, fact string
}

// Kinds that are handled specially.
const (
	srdLevel   = "level"
	srdFeature = "feature"
)

// srdFiles lists the files by the end of their names.
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

// ImportSRD imports the rules reference of the fifth edition in the format of the 5e-bits project:
// a folder of JSON files, each with a list of records. A record becomes a card with a codename such
// as srd-spell-fireball; its other members are kept in the field srd. References between records
// become wiki links. Levels become children of their class.
func ImportSRD(ctx context.Context, c *canon.Canon, g access.Grant, files fs.FS, o Options) (Summary, error) {
	return importSource(ctx, c, g, "srd", o, func(s *source) error {
		x := &srdReader{s: s, byURL: map[string]*sheet{}}
		return x.readFiles(ctx, files)
	})
}

// srdReader makes cards from records.
type srdReader struct {
	s      *source
	byURL  map[string]*sheet
	levels []srdRecord // added after their classes
}

// srdRecord is a record together with the description of its file.
type srdRecord struct {
	entry
	srdFile
}

func (x *srdReader) readFiles(ctx context.Context, files fs.FS) error {
	names, err := x.s.jsonFiles(files)
	if err != nil {
		return err
	}
	for _, name := range names {
		stem := strings.TrimSuffix(name, path.Ext(name))
		_, suffix, _ := strings.Cut(stem, "-SRD-")
		kind, known := srdFiles[suffix]
		if !known {
			x.s.addProblem(name, 0, "is not a file of the rules reference; left out")
			continue
		}
		data, ok := x.s.readText(files, name)
		if !ok {
			continue
		}
		for _, e := range x.s.readEntries(name, data) {
			if err := x.addRecord(ctx, srdRecord{e, kind}); err != nil {
				return err
			}
		}
	}
	if x.s.files == 0 {
		return x.s.emptyError("the folder holds no files such as 5e-SRD-Spells.json")
	}
	return x.addLevels(ctx)
}

func (x *srdReader) addRecord(ctx context.Context, r srdRecord) error {
	index := r.memberText("index")
	if index == "" {
		x.s.addProblem(r.file, r.line, "a record without index; left out")
		return nil
	}
	if r.kind == srdLevel {
		x.levels = append(x.levels, r)
		return nil
	}
	name := r.memberText("name")
	if recordName(name) == "" {
		x.s.addProblem(r.file, r.line, "%q has no name; its index stands for it", index)
		name = index
	}
	return x.addCard(ctx, r, record{key: []string{r.kind, index}, name: name, suffixes: r.nameSuffixes(),
		codename: "srd-" + r.kind + "-" + index, tags: r.cardTags()})
}

// addLevels adds the cards of levels as children of their classes.
func (x *srdReader) addLevels(ctx context.Context) error {
	for _, r := range x.levels {
		class := x.byURL[textOf(r.memberObject("class")["url"])]
		if class == nil {
			x.s.addProblem(r.file, r.line, "level %q is of no class that is here; left out", r.memberText("index"))
			continue
		}
		name := "Level " + r.memberText("level")
		if sub := textOf(r.memberObject("subclass")["name"]); sub != "" {
			name = sub + " " + name
		}
		if err := x.addCard(ctx, r, record{key: []string{r.kind, r.memberText("index")}, name: name,
			above: class}); err != nil {
			return err
		}
	}
	return nil
}

// addCard completes a record and adds it to the source.
func (x *srdReader) addCard(ctx context.Context, r srdRecord, rec record) error {
	rec.file = fmt.Sprintf("%s:%d", r.file, r.line)
	rec.typ = r.typ
	rec.fields = r.cardFields()
	rec.body = func(ctx context.Context) string { return x.cardHTML(ctx, r) }
	sh, err := x.s.addRecord(ctx, rec)
	if err != nil {
		return err
	}
	if url := r.memberText("url"); url != "" && x.byURL[url] == nil {
		x.byURL[url] = sh
	}
	return nil
}

// nameSuffixes returns suffixes that distinguish records of the same name.
func (r srdRecord) nameSuffixes() []string {
	var list []string
	if r.kind == srdFeature {
		of := textOf(r.memberObject("subclass")["name"])
		if of == "" {
			of = textOf(r.memberObject("class")["name"])
		}
		list = append(list, of, of+" "+r.memberText("level"))
	}
	return append(list, strings.ReplaceAll(r.kind, "-", " "), r.memberText("index"))
}

func (r srdRecord) cardTags() []string {
	tags := []string{"srd", r.kind}
	for _, key := range []string{"school", "class", "equipment_category", "rarity"} {
		if name := textOf(r.memberObject(key)["name"]); name != "" {
			tags = append(tags, tagName(strings.ToLower(name)))
		}
	}
	if r.kind == "monster" {
		tags = append(tags, tagName(strings.ToLower(r.memberText("type"))))
	}
	return tags
}

// cardFields returns the members of a record that are not part of the card's text.
func (r srdRecord) cardFields() map[string]any {
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
	if full := r.memberText("full_name"); full != "" {
		fields["aliases"] = []string{full}
	}
	return fields
}

// cardHTML returns a record's text as HTML.
func (x *srdReader) cardHTML(ctx context.Context, r srdRecord) string {
	text := strings.Join(nonEmpty(r.leadLine(), r.memberText("desc"), r.namedSections(), x.seeAlso(r)), "\n\n")
	out, err := markup.ToHTML(ctx, text)
	if err != nil {
		return paragraphsHTML(text)
	}
	return out
}

// seeAlso returns a line with links to the records that a record refers to.
func (x *srdReader) seeAlso(r srdRecord) string {
	var links []string
	seen := map[*sheet]bool{x.byURL[r.memberText("url")]: true}
	eachReference(r.data, func(url string) {
		if to := x.byURL[url]; to != nil && !seen[to] && len(links) < maxSeeAlso {
			seen[to] = true
			links = append(links, "[["+to.fullName()+"]]")
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
		for _, key := range sortedKeys(v) {
			eachReference(v[key], see)
		}
	}
}
