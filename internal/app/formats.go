package app

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"loregate/internal/decoded"
	"loregate/internal/exchange"
	"loregate/internal/exchange/bundle"
	"loregate/internal/exchange/foundry"
	"loregate/internal/exchange/graph"
	"loregate/internal/exchange/light"
	"loregate/internal/exchange/lorebook"
	"loregate/internal/exchange/mapgen"
	"loregate/internal/exchange/mediawiki"
	"loregate/internal/exchange/planner"
	"loregate/internal/exchange/ranvier"
	"loregate/internal/exchange/srd"
	"loregate/internal/exchange/table"
	"loregate/internal/exchange/textworld"
	"loregate/internal/fault"
)

// Formats returns the formats that can be imported. Formats whose sources can be recognized with
// certainty come first, because a source is taken for the first format that it looks like.
func Formats() []exchange.Format {
	return slices.Concat([]exchange.Format{bundle.Format(), light.Format(), ranvier.Format(), turnsFormat(),
		foundry.Format(), graph.Format()}, srd.Formats(), planner.Formats(),
		lorebook.Formats(), mapgen.Formats(), textworld.Formats(),
		[]exchange.Format{mediawiki.Format(), markdownFormat(), table.Format()})
}

// FormatNamed returns the format of a name.
func FormatNamed(name string) (exchange.Format, bool) {
	all := Formats()
	i := slices.IndexFunc(all, func(f exchange.Format) bool { return f.Name == name })
	if i < 0 {
		return exchange.Format{}, false
	}
	return all[i], true
}

// FormatNames returns the names of the formats, sorted.
func FormatNames() (names []string) {
	for _, f := range Formats() {
		names = append(names, f.Name)
	}
	slices.Sort(names)
	return names
}

func turnsFormat() exchange.Format {
	return exchange.Format{Name: "turns", Title: "Records of play (JSON lines, plain or gzip)",
		Recognize: func(p *exchange.Peek) string {
			if name := findTurns(p); name != "" {
				return name + " has lines with ep and n"
			}
			return ""
		},
		Page: exchange.Page{
			Get: "Write a JSON object for each turn on a line of its own: `ep` (episode), `n` (number), `names` " +
				"(speakers) and `text`. The file may be packed with gzip.",
			Example: "./turns.jsonl.gz",
			Maps:    "Episodes become sessions, turns their child cards, with the speakers in a field.",
			Lost:    "Lines that are not a turn are named.", Sight: "The format has no secrets of its own: the import's " +
				"level, and the marks below in its texts.",
			Tried: "120,000 turns of CRD3"}}
}

// findTurns returns the first file that is a record of play, or "".
func findTurns(p *exchange.Peek) string {
	for _, name := range p.WithSuffix(".jsonl", ".ndjson", ".json") {
		line, _, _ := strings.Cut(string(p.Head(name)), "\n")
		if m := decoded.ParseObject(line); m["ep"] != nil && m["n"] != nil {
			return name
		}
	}
	return ""
}

func markdownFormat() exchange.Format {
	return exchange.Format{Name: "markdown", Title: "Markdown vaults (Obsidian, Logseq, Hugo)", Places: true,
		Recognize: func(p *exchange.Peek) string {
			if n := len(p.WithSuffix(".md", ".markdown")); n > 0 {
				return fmt.Sprintf("%d Markdown notes", n)
			}
			return ""
		},
		Page: exchange.Page{
			Get:     "Take the folder of the vault, or a zip of it.",
			Example: "./vault",
			Maps: "Notes become cards whose text is their Markdown as written; front matter, tags and " +
				"folders give types, tags and parents. An export as GM writes the same files, with the changes made here.",
			Lost: "Files that no note names, unless --all-files is given.",
			Sight: "The table of `loregate import --explain`. A text file that a note shows, such as a canvas, is for the GM " +
				"as a whole if it has one of these marks or names a hidden note, until `--open` names the file.",
			Tried: "Obsi-Forge-Apedia, Thellade, Cairn SRD"}}
}

// recognizeFormat returns the first format that a source looks like, and the reason.
func recognizeFormat(p *exchange.Peek) (found exchange.Format, why string) {
	for _, f := range Formats() {
		if why = f.Recognize(p); why != "" {
			return f, why
		}
	}
	return found, ""
}

// unknownSource returns the error for a source that no format recognizes.
func unknownSource(p *exchange.Peek, name string) error {
	if len(p.Paths()) == 0 {
		return fault.New(fault.Invalid, "import: %q contains no files", name)
	}
	var endings []string
	for _, file := range p.Paths() {
		if end := path.Ext(file); end != "" && !slices.Contains(endings, end) {
			endings = append(endings, end)
		}
	}
	return fault.New(fault.Invalid, "import: no format is recognized in %q (%s); name one of %s before the path", name,
		exchange.FirstNames(endings), strings.Join(FormatNames(), ", "))
}
