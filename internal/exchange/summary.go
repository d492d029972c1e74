package exchange

import (
	"fmt"
	"slices"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
)

// Summary is the result of an import or export.
type Summary struct {
	Files     int // read or written
	Cards     int // number of cards that an export wrote
	Created   int
	Updated   int
	Unchanged int
	Links     int // links and layers that were created or changed
	TagLists  int // lists of tags that were created or changed
	Versions  int // earlier versions of cards
	Attached  int // files that became File or Image cards
	Hidden    int // cards with parts or fields that are hidden from some of their readers
	Problems  []Problem
	Hides     []Hide               // of an import: counts by the mark that hides; suspicions first
	Mentions  []Mention            // of an import: texts that players read and that name or link hidden cards
	Asked     []LinkChoice         // of an import: links that fit several notes
	Types     []TypeUse            // of an import: counts by the word that set the type
	Starter   string               // of an import: where players begin; "" if no place was imported
	Levels    map[access.Level]int // number of imported cards by level; user means visible to players
	DryRun    bool
	Export    bool
	Format    string   // of an import without a named format: the format that was recognized, and why
	Said      []string // sentences about choices that the import made
	Plan      string   // of a dry run: the hash that binds an import to it
	Result    string   // of a format that carries whole worlds: the sentence in place of the counts
}

// Mention is a text that players read and that names or links a hidden card.
type Mention struct {
	File string // the file with the text
	Of   string // the name of the hidden card
	Link bool   // the text links the card; it may also name it
}

// LinkChoice is a link that fits several notes which are equally near.
type LinkChoice struct {
	Target   string   // as the link writes it
	To       string   // the path of the note that it leads to
	Others   []string // the paths of the others
	Answered bool     // by the user
}

// TypeUse counts the notes that became cards of a type because of one word.
type TypeUse struct {
	By   string // the word and its source, for example: folder "03 Locations"
	Type string
	Many int
}

// maxShown is the maximum length of each list that a Summary prints.
const maxShown = 100

// String returns the summary as it is shown to a person, in several lines.
func (s Summary) String() string {
	var b strings.Builder
	if s.Format != "" {
		fmt.Fprintf(&b, "Recognized as %s.\n", s.Format)
	}
	if s.DryRun {
		b.WriteString("Dry run: nothing was changed. A real import would give:\n")
	}
	switch {
	case s.Result != "":
		b.WriteString(s.Result)
	case s.Export:
		fmt.Fprintf(&b, "%d cards in %d files", s.Cards, s.Files)
	default:
		fmt.Fprintf(&b, "%d files: %d cards created, %d updated, %d unchanged", s.Files, s.Created, s.Updated, s.Unchanged)
	}
	for _, n := range []struct {
		count int
		what  string
	}{{s.Versions, "earlier versions"}, {s.Links, "links and layers"}, {s.TagLists, "lists of tags"},
		{s.Attached, "attachments"}, {s.Hidden, "cards with hidden parts"}} {
		if n.count > 0 {
			fmt.Fprintf(&b, ", %d %s", n.count, n.what)
		}
	}
	b.WriteString(".\n")
	if len(s.Levels) > 0 {
		fmt.Fprintf(&b, "Players see %d of these cards; %d are for the GM, %d for admins.\n", s.Levels[access.LevelUser],
			s.Levels[access.LevelGM], s.Levels[access.LevelAdmin])
	}
	for _, said := range s.Said {
		b.WriteString(said + "\n")
	}
	s.printTypes(&b)
	s.printHides(&b)
	s.printAsked(&b)
	s.printMentions(&b)
	s.printProblems(&b)
	if s.DryRun && s.Plan != "" {
		fmt.Fprintf(&b, "To import exactly this, replace --dry-run by: --plan %s\n", s.Plan)
	}
	return b.String()
}

func (s Summary) printProblems(b *strings.Builder) {
	if len(s.Problems) == 0 {
		return
	}
	b.WriteString("Please check:\n")
	for i, p := range s.Problems {
		if i == maxShown {
			fmt.Fprintf(b, "  and %d more\n", len(s.Problems)-maxShown)
			break
		}
		fmt.Fprintf(b, "  %s\n", p)
	}
}

// printTypes lists the words that set the types of cards.
func (s Summary) printTypes(b *strings.Builder) {
	if len(s.Types) > 0 {
		b.WriteString("Types of cards (--types WORD=TYPE changes them):\n")
	}
	for _, u := range s.Types[:min(len(s.Types), maxShown)] {
		typ := u.Type
		if typ == "" {
			typ = canon.TypeRichText
		}
		fmt.Fprintf(b, "  %s: %d %s\n", u.By, u.Many, typ)
	}
	if s.Starter != "" {
		fmt.Fprintf(b, "Players begin at %q (--starter-location changes it).\n", s.Starter)
	}
}

// printHides lists the hidden notes by mark.
func (s Summary) printHides(b *strings.Builder) {
	doubts := slices.IndexFunc(s.Hides, func(h Hide) bool { return !h.Doubt })
	if doubts < 0 {
		doubts = len(s.Hides)
	}
	if doubts > 0 {
		b.WriteString("Hidden, please confirm: these only look secret. They are for the GM until you repeat the import\n" +
			"with --open (players may see it) or --confirm (it is secret) and the words in quotes:\n")
		printHides(b, s.Hides[:doubts])
	}
	if doubts < len(s.Hides) {
		b.WriteString("Hidden by marks:\n")
		printHides(b, s.Hides[doubts:])
	}
}

func printHides(b *strings.Builder, list []Hide) {
	for _, h := range list[:min(len(list), maxShown)] {
		fmt.Fprintf(b, "  %s", h.Rule)
		if h.What != "" {
			fmt.Fprintf(b, " %q", h.What)
		}
		b.WriteString(": ")
		switch {
		case h.Parts == 0:
			fmt.Fprintf(b, "%d notes and files", h.Notes)
		case h.Notes == 0:
			fmt.Fprintf(b, "%d parts of notes", h.Parts)
		default:
			fmt.Fprintf(b, "%d notes and files, %d parts of notes", h.Notes, h.Parts)
		}
		if h.Doubt && h.Rule != RuleFolder {
			fmt.Fprintf(b, " (%s)", strings.Join(h.Files, ", "))
		}
		b.WriteString("\n")
	}
	if len(list) > maxShown {
		fmt.Fprintf(b, "  and %d more\n", len(list)-maxShown)
	}
}

// Answers returns the texts of --link that decide a link, that of the present decision first.
func (c LinkChoice) Answers() (all []string) {
	for _, p := range append([]string{c.To}, c.Others...) {
		all = append(all, c.Target+"="+p)
	}
	return all
}

// printAsked lists the links that fit several notes.
func (s Summary) printAsked(b *strings.Builder) {
	open := slices.DeleteFunc(slices.Clone(s.Asked), func(c LinkChoice) bool { return c.Answered })
	if len(open) == 0 {
		return
	}
	b.WriteString("Links that fit several notes, all as near: they lead to the first one until you repeat the import\n" +
		"with --link and one of:\n")
	for _, c := range open[:min(len(open), maxShown)] {
		fmt.Fprintf(b, "  %q\n", c.Answers())
	}
	if len(open) > maxShown {
		fmt.Fprintf(b, "  and %d more\n", len(open)-maxShown)
	}
}

// printMentions lists the texts that players read and that name or link hidden cards.
func (s Summary) printMentions(b *strings.Builder) {
	if len(s.Mentions) == 0 {
		return
	}
	fmt.Fprintf(b, "Texts for players name or link hidden cards in %d places (--hide-links turns the links into plain text; names stay):\n",
		len(s.Mentions))
	for _, m := range s.Mentions[:min(len(s.Mentions), maxShown)] {
		verb := "names"
		if m.Link {
			verb = "links"
		}
		fmt.Fprintf(b, "  %s %s %s\n", m.File, verb, m.Of)
	}
	if len(s.Mentions) > maxShown {
		fmt.Fprintf(b, "  and %d more\n", len(s.Mentions)-maxShown)
	}
}
