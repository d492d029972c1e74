package exchange

import (
	"bytes"
	"context"
	"fmt"
	"html"
	"io/fs"
	"regexp"
	"strings"
	"unicode/utf8"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/markup"
)

// source gathers the cards and links of a collection of records.
//
// A record never updates an existing card of the same name from another source: it gets a longer
// name instead. A record that was imported before keeps its card's name.
type source struct {
	format   string // name of the format; part of derived ids
	o        Options
	snapshot *canon.Snapshot
	c        *collection
	files    int
	taken    map[markup.Key]bool
	codes    map[string]bool

	renamed, dropped []string // changed names, for the report
}

// importSource gathers cards and links with read, and imports them.
func importSource(ctx context.Context, c *canon.Canon, g access.Grant, format string, o Options,
	read func(*source) error) (Summary, error) {
	sum := Summary{DryRun: g.Request().DryRun}
	s := &source{format: format, o: o, c: newCollection(), taken: map[markup.Key]bool{}, codes: map[string]bool{}}
	err := c.Read(ctx, g, func(l *canon.Snapshot) error {
		s.snapshot = l
		if err := read(s); err != nil {
			return err
		}
		return s.c.checkStarter(ctx, l, o.Starter)
	})
	if err != nil {
		return sum, err
	}
	sum.Files = s.files
	s.reportRenamed()
	sum.Problems = s.c.problems
	w := &importer{canon: c, grant: g, c: s.c, sum: &sum, tell: o.Progress}
	if err := w.run(ctx); err != nil {
		return sum, err
	}
	return sum, w.setStarter(ctx, o.Starter, nil)
}

// reportRenamed reports the names that were used already and the names that lost characters.
func (s *source) reportRenamed() {
	for _, told := range []struct {
		why   string
		names []string
	}{{"names that another card bears got longer", s.renamed},
		{"names lost characters that no card's name can have, and are aliases", s.dropped}} {
		if len(told.names) > 0 {
			s.addProblem("names", 0, "%d %s: %s", len(told.names), told.why, firstNames(told.names))
		}
	}
}

// record describes one card of a source.
type record struct {
	key      []string // its identity in the source, for derived ids
	file     string
	name     string   // as in the source, before it is made a valid name
	suffixes []string // suffixes that distinguish it from others of the same name, tried in order
	above    *sheet   // the parent
	typ      string
	codename string
	body     func(context.Context) string // returns HTML; called when all names are known
	fields   map[string]any
	tags     []string
}

// cardID derives the card id of a record from its key.
func (s *source) cardID(key ...string) canon.CardID {
	return cardIDOf(s.format, s.o.Label, key...)
}

// addRecord adds the sheets of a record and its tags.
func (s *source) addRecord(ctx context.Context, r record) (*sheet, error) {
	sh := &sheet{file: r.file, id: s.cardID(r.key...), above: r.above, typ: r.typ, own: s.o.cardLabel(), matchIDOnly: true,
		codename: s.reserveCodename(r.codename),
		body:     func(ctx context.Context) (string, error) { return r.body(ctx), ctx.Err() }}
	var err error
	if sh.name, err = s.cardName(ctx, sh, r); err != nil {
		return nil, err
	}
	if plain := strings.TrimSpace(r.name); plain != sh.name && r.above == nil && plain != "" {
		if base := recordName(r.name); base != strings.Join(strings.Fields(plain), " ") {
			s.dropped = append(s.dropped, fmt.Sprintf("%q is %q", plain, sh.name))
		} else if sh.name != base {
			s.renamed = append(s.renamed, fmt.Sprintf("%q is %q", plain, sh.name))
		}
		aliases, _ := r.fields["aliases"].([]string)
		r.fields = withField(r.fields, "aliases", append(aliases, plain))
	}
	sh.fields = fieldsOf(r.fields)
	if !s.c.add(sh) {
		return sh, nil
	}
	s.c.addTags(sh, r.tags)
	return sh, nil
}

// withField returns a copy of fields with one field set.
func withField(fields map[string]any, key string, value any) map[string]any {
	out := make(map[string]any, len(fields)+1)
	for k, v := range fields {
		out[k] = v
	}
	out[key] = value
	return out
}

// cardName returns the name of the record's existing card, or a free name for a new one.
func (s *source) cardName(ctx context.Context, sh *sheet, r record) (string, error) {
	base := recordName(r.name)
	if r.above != nil {
		return base, nil
	}
	if there, ok, err := s.snapshot.ByID(ctx, sh.id); err != nil || ok {
		s.taken[there.Key] = true
		return there.Name, err
	}
	tries := []string{base}
	for _, or := range r.suffixes {
		if or = recordName(or); or != "" {
			tries = append(tries, base+" ("+or+")")
		}
	}
	for _, name := range append(tries, base+" "+sh.id.String()[:8]) {
		free, err := s.reserveKey(ctx, markup.KeyOf(name))
		if err != nil || free {
			return name, err
		}
	}
	return base + " " + sh.id.String(), nil
}

// reserveKey reserves a key. It returns false if the key is reserved already or a card with the
// collection's label has it.
func (s *source) reserveKey(ctx context.Context, key markup.Key) (bool, error) {
	if s.taken[key] {
		return false, nil
	}
	others, err := s.snapshot.Homonyms(ctx, key)
	if err != nil {
		return false, err
	}
	for _, o := range others {
		if o.Label.Equal(s.o.cardLabel()) {
			return false, nil
		}
	}
	s.taken[key] = true
	return true, nil
}

// recordName turns a record's name into one part of a card name. A plus sign would split it and is
// written as "plus".
func recordName(name string) string {
	if strings.TrimSpace(name) == "" {
		return ""
	}
	return plainName(strings.ReplaceAll(name, "+", "plus "))
}

// reserveCodename returns a valid form of a codename, or "" if it is used already.
func (s *source) reserveCodename(code string) string {
	code = codeOf(code)
	if code == "" || s.codes[code] {
		return ""
	}
	s.codes[code] = true
	return code
}

var notInCodes = regexp.MustCompile(`[^a-z0-9_.]+`)

func codeOf(text string) string {
	code := notInCodes.ReplaceAllString(strings.ToLower(markup.Fold(text)), "-") // only one-byte characters from here on
	return strings.Trim(code[:min(len(code), 100)], "-")
}

// addProblem reports a part of a file that was left out or changed; line 0 means the whole file.
func (s *source) addProblem(file string, line int, format string, args ...any) {
	s.c.addProblem(file, line, format, args...)
}

// hasCards reports whether a card was added.
func (s *source) hasCards() bool { return len(s.c.sheets) > 0 }

// addEdge adds a link between two sheets.
func (s *source) addEdge(file, kind string, from, to *sheet, attrs map[string]any) {
	s.c.edges = append(s.c.edges, &edge{file: file, kind: kind, from: linkEnd{sheet: from}, to: linkEnd{sheet: to},
		attrs: attrs})
}

// maxSource is the maximum size of one file of a source, in bytes.
const maxSource = 64 << 20

// readText returns the text of a file. It reports a file that cannot be read and returns false.
func (s *source) readText(files fs.FS, name string) ([]byte, bool) {
	info, err := fs.Stat(files, name)
	if err == nil && !info.Mode().IsRegular() { // reading a pipe would block, and a device has no end
		s.addProblem(name, 0, "not a plain file; left out")
		return nil, false
	}
	if err == nil && info.Size() > maxSource {
		s.addProblem(name, 0, "longer than %d MiB; left out", maxSource>>20)
		return nil, false
	}
	data, err := fs.ReadFile(files, name)
	if err != nil {
		s.addProblem(name, 0, "cannot be read; left out")
		return nil, false
	}
	s.files++
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if !utf8.Valid(data) {
		s.addProblem(name, 0, "is not UTF-8; what cannot be read is replaced")
		data = bytes.ToValidUTF8(data, []byte("\ufffd"))
	}
	return data, true
}

// jsonFiles returns the names of the files to read, sorted.
func (s *source) jsonFiles(files fs.FS) ([]string, error) {
	if s.o.File != "" {
		return []string{s.o.File}, nil
	}
	return fs.Glob(files, "*.json")
}

// emptyError returns the error for a folder without data of the format.
func (s *source) emptyError(what string) error {
	return fault.New(fault.Invalid, "there is nothing to import: %s", what)
}

// paragraphsHTML converts plain text to HTML, one paragraph per block.
func paragraphsHTML(blocks ...string) string {
	var b strings.Builder
	for _, block := range blocks {
		if block = strings.TrimSpace(markup.Clean(block)); block != "" {
			b.WriteString("<p>" + strings.ReplaceAll(html.EscapeString(block), "\n", "<br/>") + "</p>\n")
		}
	}
	return b.String()
}

// lineAt returns the number of the line that contains an offset.
func lineAt(data []byte, offset int64) int {
	offset = min(max(offset, 0), int64(len(data)))
	return 1 + bytes.Count(data[:offset], []byte("\n"))
}
