package sentence

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/vocabulary.md")

const pageFile = "../../../docs/vocabulary.md"

// The page of the vocabulary is made from the data.
func TestPage(t *testing.T) {
	v, err := loadVocabulary()
	if err != nil {
		t.Fatal(err)
	}
	page := vocabularyPage(v)
	if *update {
		if err := os.WriteFile(pageFile, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if old, err := os.ReadFile(pageFile); err != nil || string(old) != page {
		t.Errorf("docs/vocabulary.md is not made from this vocabulary (%v); run make docs", err)
	}
}

func vocabularyPage(v *vocabulary) string {
	var b strings.Builder
	b.WriteString(`# Words for scenes

Generated from the vocabulary by ` + "`make docs`" + `. ` + "`generate_scene`, `plan_create` and `scene_spec`" + ` (with ` + "`words`" + `) read
English descriptions with these words. Plurals count, and so do synonyms that WordNet knows and nouns of a narrower
meaning: a sequoia is shown as a tree, and the answer says so. A noun of no other kind that people make is shown as a block.
Words that name a thing and are in no list are answered as not understood. If nothing is understood, nothing is built.

A phrase is a number, adjectives and a noun: "eight small stone houses". A number holds exactly; a plural without one
is the number in brackets, or 3. Relations stand between two phrases: "a well beside the church".

## Places

The first place that your words name is the scene's; other outdoor places join their roads, rivers and plants to it.

| place | words | with |
|---|---|---|
`)
	for _, name := range keysOf(v.Settings) {
		s := v.Settings[name]
		var with []string
		for _, thing := range keysOf(s.Adds) {
			with = append(with, fmt.Sprintf("%d %s", s.Adds[thing], v.Things[thing].Words[0]))
		}
		if s.Indoor != nil {
			with = append([]string{fmt.Sprintf("%.0f m by %.0f m, walls of %s, floor of %s", s.Indoor.Size[0],
				s.Indoor.Size[1],
				s.Indoor.Wall, s.Indoor.Floor)}, with...)
		} else {
			with = append([]string{s.Ground}, with...)
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", s.Words[0], strings.Join(s.Words[1:], ", "), strings.Join(with, "; "))
	}
	b.WriteString("\n## Things\n\n| thing | words |\n|---|---|\n")
	for _, name := range keysOf(v.Things) {
		t := v.Things[name]
		many := ""
		if t.Many > 0 {
			many = fmt.Sprintf(" (%d)", t.Many)
		}
		fmt.Fprintf(&b, "| %s%s | %s |\n", t.Words[0], many, strings.Join(t.Words[1:], ", "))
	}
	b.WriteString(
		"\nOther nouns are shown as these things if WordNet knows them as a kind of:\n\n| thing | kinds of |\n|---|---|\n",
	)
	kinds := map[string][]string{}
	for _, kind := range keysOf(v.Kinds) {
		kinds[v.Kinds[kind]] = append(kinds[v.Kinds[kind]], kind)
	}
	for _, name := range keysOf(kinds) {
		fmt.Fprintf(&b, "| %s | %s |\n", name, strings.Join(kinds[name], ", "))
	}
	b.WriteString("\nParts of buildings: " + listed(v.Features) + ".\n")
	b.WriteString("\nSurfaces of a room or building: " + strings.Join(keysOf(v.Surfaces), ", ") + ".\n")
	b.WriteString("\n## Materials\n\n| material | words |\n|---|---|\n")
	for _, name := range keysOf(v.Materials) {
		fmt.Fprintf(&b, "| %s | %s |\n", name, strings.Join(v.Materials[name], ", "))
	}
	b.WriteString(
		"\n## Relations\n\n| relation | words before the landmark | words behind it | words without one |\n|---|---|---|---|\n",
	)
	names := slices.Concat(keysOf(v.Relations), keysOf(v.Inverse), keysOf(v.Verbs), keysOf(v.Bearing))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", name,
			strings.Join(slices.Concat(v.Relations[name], v.Verbs[name]), ", "),
			strings.Join(slices.Concat(v.Inverse[name], v.Bearing[name]), ", "),
			strings.Join(v.Within[name], ", "))
	}
	b.WriteString("\nArrangements, with \"of\": " + listed(v.Arrangements) + ".\n")
	b.WriteString("\n## Numbers, sizes and light\n\n" + valued("Numbers", v.Numbers) + valued("About",
		v.Vague) + valued("Sizes", v.Sizes))
	b.WriteString("Lengths: \"12 m high\", \"30 feet tall\".\n\nLight: " + listed(v.Light) + ".\n")
	b.WriteString("\nThings behind these words are elsewhere and not built: " + strings.Join(v.Elsewhere, ", ") +
		". Things behind these are left out: " + strings.Join(v.Without, ", ") + ".\n")
	return b.String()
}

func listed(m map[string][]string) string {
	var out []string
	for _, name := range keysOf(m) {
		out = append(out, name+" ("+strings.Join(m[name], ", ")+")")
	}
	return strings.Join(out, "; ")
}

func valued(title string, m map[string]float64) string {
	names := keysOf(m)
	slices.SortStableFunc(names, func(a, b string) int { return int(100 * (m[a] - m[b])) })
	var out []string
	for _, name := range names {
		out = append(out, fmt.Sprintf("%s %g", name, m[name]))
	}
	return title + ": " + strings.Join(out, ", ") + ".\n\n"
}
