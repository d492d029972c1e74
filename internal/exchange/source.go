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

// SourceOptions say how a collection of records that others keep is taken over. The zero
// value makes it readable for everyone.
type SourceOptions struct {
	// Label names the collection. It stands in derived ids, as in MarkdownOptions.
	Label string
	// Level is the least level that imported cards get; zero is user.
	Level access.Level
	// File is the one file of the folder that is read; "" is all.
	File string
	// Starter is the place where players begin; "" chooses one where the world has none.
	Starter string
	// Progress, where set, is told of every batch that is done.
	Progress func(done, total int)
}

// source gathers the cards and links of a collection of records.
//
// A record never takes over a card of its name that came from elsewhere: it gets a longer
// name. One that came in before keeps the name that it has.
type source struct {
	format string // stands in ids
	o      SourceOptions
	look   *canon.Snapshot
	c      *collection
	files  int
	taken  map[markup.Key]bool
	codes  map[string]bool

	longer, dropped []string // names that came in otherwise, for the report
}

// importSource lets read gather cards and links, and brings them in.
func importSource(ctx context.Context, c *canon.Canon, g access.Grant, format string, o SourceOptions, read func(*source) error) (Summary, error) {
	sum := Summary{DryRun: g.Request().DryRun}
	s := &source{format: format, o: o, c: newCollection(), taken: map[markup.Key]bool{}, codes: map[string]bool{}}
	err := c.Read(ctx, g, func(l *canon.Snapshot) error {
		s.look = l
		if err := read(s); err != nil {
			return err
		}
		return s.c.checkStarter(ctx, l, o.Starter)
	})
	if err != nil {
		return sum, err
	}
	sum.Files = s.files
	s.sayLonger()
	sum.Problems = s.c.problems
	s.c.settle()
	im := &importer{canon: c, grant: g, c: s.c, sum: &sum, tell: o.Progress}
	if err := im.run(ctx); err != nil {
		return sum, err
	}
	return sum, im.startAt(ctx, o.Starter, nil)
}

// sayLonger reports names that were not free, and names that lost characters.
func (s *source) sayLonger() {
	for _, told := range []struct {
		why   string
		names []string
	}{{"names that another card bears got longer", s.longer}, {"names lost characters that no card's name can have, and are aliases", s.dropped}} {
		if len(told.names) > 0 {
			s.c.problem("names", 0, "%d %s: %s", len(told.names), told.why, few(told.names))
		}
	}
}

// record is a card as a source describes it.
type record struct {
	key      []string // what names it in the source, for ids
	file     string
	name     string   // as the source has it; made fit
	or       []string // what distinguishes it from others of the name, tried in turn
	above    *sheet   // the card it lies below
	typ      string
	codename string
	body     func(context.Context) string // HTML, asked for when all names are known
	fields   map[string]any
	tags     []string
}

// id is the id of what a source calls by a key.
func (s *source) id(key ...string) canon.CardID {
	return canon.CardID(derived(append([]string{s.format, s.o.Label}, key...)...))
}

func (s *source) label() access.Label {
	return access.NewLabel(max(s.o.Level, access.LevelUser))
}

// add makes the sheet of a record, and of its tags.
func (s *source) add(ctx context.Context, r record) (*sheet, error) {
	sh := &sheet{file: r.file, id: s.id(r.key...), above: r.above, typ: r.typ, own: s.label(), shy: true,
		codename: s.codename(r.codename), body: func(ctx context.Context) (string, error) { return r.body(ctx), ctx.Err() }}
	var err error
	if sh.name, err = s.name(ctx, sh, r); err != nil {
		return nil, err
	}
	if plain := strings.TrimSpace(r.name); plain != sh.name && r.above == nil && plain != "" {
		if base := recordName(r.name); base != strings.Join(strings.Fields(plain), " ") {
			s.dropped = append(s.dropped, fmt.Sprintf("%q is %q", plain, sh.name))
		} else if sh.name != base {
			s.longer = append(s.longer, fmt.Sprintf("%q is %q", plain, sh.name))
		}
		aliases, _ := r.fields["aliases"].([]string)
		r.fields = with(r.fields, "aliases", append(aliases, plain))
	}
	sh.fields = fieldsOf(r.fields)
	if !s.c.add(sh) {
		return sh, nil
	}
	if content := markup.SetItems(r.tags); content != "" {
		s.c.add(&sheet{file: r.file, id: childID(sh.id, tagsPart), above: sh, name: tagsPart, typ: canon.TypePointer, items: true,
			own: access.NewLabel(access.LevelUser), body: asIs(content)})
	}
	return sh, nil
}

// with is fields with one set anew; the given ones stay as they are.
func with(fields map[string]any, key string, value any) map[string]any {
	out := make(map[string]any, len(fields)+1)
	for k, v := range fields {
		out[k] = v
	}
	out[key] = value
	return out
}

// name is the name that a record's card has or gets.
func (s *source) name(ctx context.Context, sh *sheet, r record) (string, error) {
	base := recordName(r.name)
	if r.above != nil {
		return base, nil
	}
	if there, ok, err := s.look.ByID(ctx, sh.id); err != nil || ok {
		s.taken[there.Key] = true
		return there.Name, err
	}
	tries := []string{base}
	for _, or := range r.or {
		if or = recordName(or); or != "" {
			tries = append(tries, base+" ("+or+")")
		}
	}
	for _, name := range append(tries, base+" "+sh.id.String()[:8]) {
		free, err := s.free(ctx, markup.KeyOf(name))
		if err != nil || free {
			return name, err
		}
	}
	return base + " " + sh.id.String(), nil
}

// free takes a key that nothing of the collection's label bears.
func (s *source) free(ctx context.Context, key markup.Key) (bool, error) {
	if s.taken[key] {
		return false, nil
	}
	others, err := s.look.Homonyms(ctx, key)
	if err != nil {
		return false, err
	}
	for _, o := range others {
		if o.Label.Equal(s.label()) {
			return false, nil
		}
	}
	s.taken[key] = true
	return true, nil
}

// recordName makes what a source calls a thing one part of a card's name. A plus that
// would part it is written out.
func recordName(name string) string {
	if strings.TrimSpace(name) == "" {
		return ""
	}
	return plainName(strings.ReplaceAll(name, "+", "plus "))
}

// codename makes a codename fit, and gives each once.
func (s *source) codename(code string) string {
	code = codeOf(code)
	if code == "" || s.codes[code] {
		return ""
	}
	s.codes[code] = true
	return code
}

var notInCodes = regexp.MustCompile(`[^a-z0-9_.]+`)

func codeOf(text string) string {
	code := notInCodes.ReplaceAllString(strings.ToLower(markup.Fold(text)), "-") // one byte a character from here
	return strings.Trim(code[:min(len(code), 100)], "-")
}

// tie links two cards.
func (s *source) tie(file, kind string, from, to *sheet, attrs map[string]any) {
	s.c.edges = append(s.c.edges, &edge{file: file, kind: kind, from: end{sheet: from}, to: end{sheet: to}, attrs: attrs})
}

// maxSource bounds one file of a source, in bytes.
const maxSource = 64 << 20

// read gives a file's text, or reports why it cannot.
func (s *source) read(files fs.FS, name string) ([]byte, bool) {
	info, err := fs.Stat(files, name)
	if err == nil && !info.Mode().IsRegular() { // a pipe would be waited for, a device has no end
		s.c.problem(name, 0, "not a plain file; left out")
		return nil, false
	}
	if err == nil && info.Size() > maxSource {
		s.c.problem(name, 0, "longer than %d MiB; left out", maxSource>>20)
		return nil, false
	}
	data, err := fs.ReadFile(files, name)
	if err != nil {
		s.c.problem(name, 0, "cannot be read; left out")
		return nil, false
	}
	s.files++
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if !utf8.Valid(data) {
		s.c.problem(name, 0, "is not UTF-8; what cannot be read is replaced")
		data = bytes.ToValidUTF8(data, []byte("\ufffd"))
	}
	return data, true
}

// jsonFiles are the files of a folder to read, by name.
func (s *source) jsonFiles(files fs.FS) ([]string, error) {
	if s.o.File != "" {
		return []string{s.o.File}, nil
	}
	return fs.Glob(files, "*.json")
}

// none is the error where a folder holds nothing of a format.
func (s *source) none(what string) error {
	return fault.New(fault.Invalid, "there is nothing to import: %s", what)
}

// paragraphs makes HTML of plain text, a paragraph for each block.
func paragraphs(blocks ...string) string {
	var b strings.Builder
	for _, block := range blocks {
		if block = strings.TrimSpace(markup.Clean(block)); block != "" {
			b.WriteString("<p>" + strings.ReplaceAll(html.EscapeString(block), "\n", "<br/>") + "</p>\n")
		}
	}
	return b.String()
}

// lineAt is the number of the line that holds a byte.
func lineAt(data []byte, offset int64) int {
	offset = min(max(offset, 0), int64(len(data)))
	return 1 + bytes.Count(data[:offset], []byte("\n"))
}
