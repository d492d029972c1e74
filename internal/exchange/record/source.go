package record

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"html"
	"io/fs"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/decoded"
	"loregate/internal/exchange"
	"loregate/internal/fault"
	"loregate/internal/lazyregexp"
	"loregate/internal/markup"
	"loregate/internal/secrecy"
)

// Source gathers the cards and links of a collection of records.
//
// A record never updates an existing card of the same name from another source: it gets a longer
// name instead. A record that was imported before keeps its card's name.
type Source struct {
	Options exchange.Options
	Files   int               // number of files that were read
	Choices *exchange.Choices // decide which marks hide, and count them

	format     string // name of the format; part of derived ids
	snapshot   *canon.Snapshot
	collection *exchange.Collection
	members    exchange.Members
	taken      map[taken[markup.Key]]bool
	codes      map[taken[string]]bool
	edges      map[edgeKey]*exchange.Edge
	room       int64 // bytes that further links may take
	tooMany    error // set when there is none left

	// JudgesWords is set for sources in which words such as "Secret:" at the beginning of a paragraph suggest
	// a secret, as in notes. In books of rules they suggest nothing.
	JudgesWords bool

	secrets          []func() // add the cards with the secret parts, once all names are known
	dated            bool     // a calendar was added that dates the timeline
	said             []string // sentences for the summary
	renamed, dropped []string // changed names, for the report
}

// taken is a name or codename that a card of some level has. Cards of different levels may have the
// same name, so that a hidden card never changes the name of a visible one.
type taken[T comparable] struct {
	level access.Level
	name  T
}

// Import gathers cards and links with read, and imports them.
func Import(ctx context.Context, c *canon.Canon, g access.Grant, format string, o exchange.Options,
	read func(*Source) error) (exchange.Summary, error) {
	sum := exchange.Summary{DryRun: g.Request().DryRun}
	s := newSource(format, o)
	err := c.Read(ctx, g, func(l *canon.Snapshot) error {
		s.snapshot = l
		if err := read(s); err != nil {
			return err
		}
		if s.tooMany != nil {
			return s.tooMany
		}
		for _, add := range s.secrets {
			add()
		}
		if err := s.Choices.CheckUnused(); err != nil {
			return err
		}
		return s.collection.CheckStarter(ctx, l, o.Starter)
	})
	if err != nil {
		return sum, err
	}
	sum.Files, sum.Hidden = s.Files, s.collection.Hidden
	s.reportRenamed()
	sum.Problems, sum.Hides = s.collection.Problems, s.Choices.List()
	sum.Said = s.said
	w := &exchange.Writer{Canon: c, Grant: g, Collection: s.collection, Summary: &sum, Progress: o.Progress}
	if err := w.Write(ctx); err != nil {
		return sum, err
	}
	return sum, w.SetStarter(ctx, o.Starter, nil)
}

func newSource(format string, o exchange.Options) *Source {
	return &Source{format: format, Options: o, Choices: exchange.NewChoices(o.Open, o.Confirm),
		collection: exchange.NewCollection(), taken: map[taken[markup.Key]]bool{}, codes: map[taken[string]]bool{},
		edges: map[edgeKey]*exchange.Edge{}, room: baseLinks}
}

// reportRenamed reports the names that were used already and the names that lost characters.
func (s *Source) reportRenamed() {
	for _, told := range []struct {
		why   string
		names []string
	}{{"names were taken by other cards and made longer", s.renamed},
		{"names lost characters that a card name cannot have, and are kept as aliases", s.dropped}} {
		if len(told.names) > 0 {
			s.AddProblem("names", 0, "%d %s: %s", len(told.names), told.why, exchange.FirstNames(told.names))
		}
	}
}

// Card describes one card of a source.
type Card struct {
	Key      []string // its identity in the source, for derived ids
	Of       string   // id of the card of a world that an export wrote; "" if it is not known
	File     string
	Name     string          // as in the source, before it is made a valid name
	Suffixes []string        // suffixes that distinguish it from others of the same name, tried in order
	Above    *exchange.Sheet // the parent
	Type     string
	Codename string
	Text     []Block
	Form     Form // of the text
	// Render turns a part of the text, in the form of the source, into that of the card. It is called when all
	// names are known, with the sheet whose readers see the part; nil means that nothing is to be done.
	Render  func(from *exchange.Sheet, text string) string
	Data    func() ([]byte, error) // set for a card that holds a file
	Fields  map[string]any
	Tags    []string
	Level   access.Level   // minimum level; zero means that of the import
	Marks   []secrecy.Mark // reasons to hide the card from players
	Readers []string       // names of the people who read the card besides the GM, if the source names any
	// ReaderMarks are the marks of the fields that name them. They count if a reader is no member of the world.
	ReaderMarks []secrecy.Mark
	Past        []Past         // earlier versions, oldest first
	GMFields    map[string]any // fields of the card for the GM
}

// Past is an earlier version of a record.
type Past struct {
	Revision Revision
	Text     []Block
	Fields   map[string]any
}

// Revision is the origin of a version at the source. It stands in the field revision of each version of a
// card.
type Revision struct {
	ID      string `json:"id"`
	Time    string `json:"time"`
	Author  string `json:"author,omitempty"`
	Comment string `json:"comment,omitempty"`
}

// fieldRevision is the field that holds the Revision of a card's version.
const fieldRevision = "revision"

// addPast adds the earlier versions that the card does not have yet.
func (s *Source) addPast(ctx context.Context, sh *exchange.Sheet, r Card, h *hidden) error {
	if len(r.Past) == 0 {
		return nil
	}
	var there struct{ Revision Revision }
	card, ok, err := s.snapshot.ByID(ctx, sh.ID)
	if err != nil {
		return err
	}
	if ok && json.Unmarshal(card.Fields, &there) != nil {
		return nil // the fields were changed here, so that nothing tells which versions are new
	}
	known := slices.IndexFunc(r.Past, func(p Past) bool { return p.Revision.ID == there.Revision.ID })
	if ok && known < 0 { // the card has the newest version, or came in without its history
		return nil
	}
	for _, p := range r.Past[known+1:] {
		open, secret, _ := s.splitText(r, p.Text)
		fields, _ := s.splitFields(r, decoded.EncodeFields(WithField(p.Fields, fieldRevision, p.Revision)))
		sh.Past = append(sh.Past, exchange.Past{Body: r.body(sh, open, ""), Fields: fields})
		h.past = append(h.past, secret)
	}
	return nil
}

// Form is the form of a record's text.
type Form int

// The forms.
const (
	HTML     Form = iota
	Markdown      // converted by the exchange
	Plain         // paragraphs without markup
)

// cardID derives the card id of a record from its key.
func (s *Source) cardID(key ...string) canon.CardID {
	return exchange.CardID(s.format, s.Options.Label, key...)
}

// Add adds the sheets of a record: its card, its tags, and a child card with its secret parts: the blocks for
// the GM, and all that a mark of package secrecy hides in its name, text, tags and fields.
func (s *Source) Add(ctx context.Context, r Card) (*exchange.Sheet, error) {
	r.Marks = append(slices.Clone(r.Marks), r.wholeMarks()...)
	for _, m := range s.unreadMarks(r) {
		if s.Choices.Decide(m, r.File, false) {
			r.Level = max(r.Level, access.LevelGM)
		}
	}
	h := s.takeSecrets(&r)
	label, err := s.label(ctx, r)
	if err != nil {
		return nil, err
	}
	sh := &exchange.Sheet{File: r.File, ID: s.cardID(r.Key...), Above: r.Above, Type: r.Type, Label: label,
		MatchIDOnly: true, Codename: s.reserveCodename(label.Level, r.Codename), Data: r.Data}
	if r.Data == nil {
		sh.Body = r.body(sh, h.open, "")
	}
	if label.Level < access.LevelGM {
		if sh.HiddenIn, err = s.findHidden(ctx, r, h); err != nil {
			return nil, err
		}
	}
	if sh.Name, err = s.cardName(ctx, sh, r); err != nil {
		return nil, err
	}
	if plain := strings.TrimSpace(r.Name); plain != sh.Name && r.Above == nil && plain != "" {
		if base := CardName(r.Name); base != strings.Join(strings.Fields(plain), " ") {
			s.dropped = append(s.dropped, fmt.Sprintf("%q became %q", plain, sh.Name))
		} else if sh.Name != base {
			s.renamed = append(s.renamed, fmt.Sprintf("%q became %q", plain, sh.Name))
		}
		aliases, _ := r.Fields["aliases"].([]string)
		if !slices.Contains(aliases, plain) {
			r.Fields = WithField(r.Fields, "aliases", append(slices.Clone(aliases), plain))
		}
	}
	sh.Fields, h.fields = s.splitFields(r, decoded.EncodeFields(r.Fields))
	if !s.collection.Add(sh) {
		return sh, nil
	}
	if err := s.addPast(ctx, sh, r, h); err != nil {
		return nil, err
	}
	s.collection.AddTags(sh, r.Tags)
	s.secrets = append(s.secrets, func() { s.addSecret(sh, r, h) })
	return sh, nil
}

// wholeMarks returns the exact marks in the text of a record that are about all of it, such as the tag #gm.
func (r Card) wholeMarks() (all []secrecy.Mark) {
	for _, b := range r.Text {
		if r.Form != Markdown || b.GM || !secrecy.HidesWhole(b.Text) {
			continue
		}
		_, marks := secrecy.NoteMarks(secrecy.Note{Body: b.Text})
		all = append(all, slices.DeleteFunc(marks, func(m secrecy.Mark) bool { return m.Doubt })...)
	}
	return all
}

// unreadMarks returns the marks in the text of a record whose card has a type in which they hide no part.
func (s *Source) unreadMarks(r Card) (all []secrecy.Mark) {
	form, hasParts := canon.FormOf(canon.TextOf(r.Type))
	if hasParts && form != secrecy.Plain || r.Data != nil {
		return nil
	}
	note := func(m secrecy.Mark) bool {
		if (s.JudgesWords || !secrecy.IsByWords(m)) && !slices.Contains(all, m) {
			all = append(all, m)
		}
		return false
	}
	for _, b := range r.Text {
		if b.GM || b.Open {
			continue
		}
		rest := b.Text
		if hasParts {
			rest = secrecy.Split(rest, r.Form.markForm(), nil).Open
		}
		for _, form := range []secrecy.Form{secrecy.HTML, secrecy.Markdown} {
			secrecy.Split(rest, form, note)
		}
		_, marks := secrecy.NoteMarks(secrecy.Note{Body: rest})
		all = append(all, marks...)
	}
	return all
}

// label returns the label of a record: that of the import, or the GM's if a mark hides it, with the members that
// the record names as its readers.
func (s *Source) label(ctx context.Context, r Card) (access.Label, error) {
	label := s.Options.CardLabel()
	if r.Level > label.Level {
		label = access.NewLabel(r.Level)
	}
	for _, m := range r.Marks {
		if s.Choices.Decide(m, r.File, false) && label.Level < access.LevelGM {
			label = access.NewLabel(access.LevelGM)
		}
	}
	if len(r.Readers) == 0 {
		return label, nil
	}
	subjects, known, err := s.members.Find(ctx, s.snapshot, r.Readers)
	if err == nil && known {
		label = label.Meet(access.NewLabel(access.LevelGM, subjects...))
	} else if s.Choices.Decide(exchange.UnknownReaders(r.Readers, r.ReaderMarks), r.File, false) {
		label = label.Meet(access.NewLabel(access.LevelGM))
	}
	return label, err
}

// WithField returns a copy of fields with one field set.
func WithField(fields map[string]any, key string, value any) map[string]any {
	out := make(map[string]any, len(fields)+1)
	for k, v := range fields {
		out[k] = v
	}
	out[key] = value
	return out
}

// cardName returns the name of the record's existing card, or a free name for a new one.
func (s *Source) cardName(ctx context.Context, sh *exchange.Sheet, r Card) (string, error) {
	base := CardName(r.Name)
	if r.Above != nil {
		return base, nil
	}
	level := sh.Label.Level
	if there, ok, err := s.snapshot.ByID(ctx, sh.ID); err != nil || ok {
		s.taken[taken[markup.Key]{level, there.Key}] = true
		return there.Name, err
	}
	for name := range namesToTry(base, r.Suffixes, sh.ID) {
		free, err := s.reserveKey(ctx, sh.Label, markup.KeyOf(name))
		if err != nil || free {
			return name, err
		}
	}
	return base + " " + sh.ID.String(), nil
}

// namesToTry yields names for a card in the order of preference.
func namesToTry(base string, suffixes []string, id canon.CardID) iter.Seq[string] {
	return func(yield func(string) bool) {
		if !yield(base) {
			return
		}
		for _, or := range suffixes {
			if or = CardName(or); or != "" && !yield(base+" ("+or+")") {
				return
			}
		}
		yield(base + " " + id.String()[:8])
	}
}

// reserveKey reserves a key for a label. It returns false if the key is reserved already or a card
// with that label has it.
func (s *Source) reserveKey(ctx context.Context, label access.Label, key markup.Key) (bool, error) {
	if s.taken[taken[markup.Key]{label.Level, key}] {
		return false, nil
	}
	others, err := s.snapshot.Homonyms(ctx, key)
	if err != nil {
		return false, err
	}
	for _, o := range others {
		if o.Label.Equal(label) {
			return false, nil
		}
	}
	s.taken[taken[markup.Key]{label.Level, key}] = true
	return true, nil
}

// CardName turns a record's name into one part of a card name. A plus sign would split it and is
// written as "plus".
func CardName(name string) string {
	if strings.TrimSpace(name) == "" {
		return ""
	}
	return exchange.PlainName(strings.ReplaceAll(exchange.ClipName(name), "+", "plus "))
}

// WrittenName is CardName, except that a name with a mark of a secret stays as it is written, so that Add hides a part
// of it.
func WrittenName(name string) string {
	if plain := CardName(name); plain == "" || !secrecy.HasAnyMark(name) {
		return plain
	}
	return name
}

// reserveCodename returns a valid form of a codename, or "" if a card of the level uses it already.
func (s *Source) reserveCodename(level access.Level, code string) string {
	code = codeOf(code)
	key := taken[string]{level, code}
	if code == "" || s.codes[key] {
		return ""
	}
	s.codes[key] = true
	return code
}

var notInCodes = lazyregexp.New(`[^a-z0-9_.]+`)

func codeOf(text string) string {
	text = exchange.ClipName(text)
	code := notInCodes.ReplaceAllString(strings.ToLower(markup.Fold(text)), "-") // only one-byte characters from here on
	return strings.Trim(code[:min(len(code), 100)], "-")
}

// AddProblem reports a part of a file that was left out or changed; line 0 means the whole file.
func (s *Source) AddProblem(file string, line int, format string, args ...any) {
	s.collection.AddProblem(file, line, format, args...)
}

// HasCards reports whether a card was added.
func (s *Source) HasCards() bool { return len(s.collection.Sheets) > 0 }

// edgeKey identifies a link of a source.
type edgeKey struct {
	kind, direction string
	from, to        *exchange.Sheet
}

// AddEdge adds a link between two sheets. Of several links of one kind and direction between the same
// sheets the first counts; it is visible if one of them is.
func (s *Source) AddEdge(file, kind string, from, to *exchange.Sheet, attrs map[string]any) {
	_ = s.Link(&exchange.Edge{File: file, Kind: kind, From: exchange.End{Sheet: from}, To: exchange.End{Sheet: to},
		Attrs: attrs}) // the import fails with the error
}

// AddGMEdge adds a link between two sheets that players do not see.
func (s *Source) AddGMEdge(file, kind string, from, to *exchange.Sheet, attrs map[string]any) {
	gm := access.NewLabel(access.LevelGM)
	_ = s.Link(&exchange.Edge{File: file, Kind: kind, From: exchange.End{Sheet: from}, To: exchange.End{Sheet: to},
		Attrs: attrs, Label: &gm})
}

// Limits of the links of a source. They may take half of the memory that an import has for its size.
const (
	baseLinks = 32 << 20
	linksByte = 4   // for each byte that is read
	linkBytes = 400 // of an edge, and the key by which it is found
)

// Link adds a link. Of several links of one kind and direction between the same sheets the first counts; it is visible
// if one of them is. A few records may name very many others: of more links than the size of the files allows none is
// added, and the import fails with the error.
func (s *Source) Link(e *exchange.Edge) error {
	if s.room < linkBytes && s.tooMany == nil {
		s.tooMany = fault.New(fault.TooLarge, "%s has more links than its size allows in memory; divide it into smaller "+
			"files", e.File)
	}
	if s.tooMany != nil {
		return s.tooMany
	}
	for _, text := range decoded.TextsOf(e.Attrs) {
		if _, secret := s.Hide(e.File, Markdown, text); secret != "" {
			gm := access.NewLabel(access.LevelGM)
			e.Label = &gm
		}
	}
	key := edgeKey{e.Kind, decoded.TextOf(e.Attrs["direction"]), e.From.Sheet, e.To.Sheet}
	if word := decoded.TextOf(e.Attrs["type"]); word != "" &&
		key.direction == "" { // two cards may be related in several ways
		key.direction = word
		e.ID = exchange.LinkID(e.Kind, e.From.Sheet.ID, e.To.Sheet.ID, word)
	}
	if old := s.edges[key]; old != nil {
		if old.Label != nil && e.Label == nil {
			*old = *e
		}
		return nil
	}
	s.room -= linkBytes
	s.edges[key] = e
	s.collection.Edges = append(s.collection.Edges, e)
	return nil
}

// LinkText returns the text that links a card in the text of another: a wiki link or, if the link
// would name a card that the readers of the text do not see, the label alone.
func (s *Source) LinkText(from, to *exchange.Sheet, label string) string {
	label = strings.TrimSpace(linkLabel.Replace(label))
	name := to.FullName()
	switch {
	case to.EffectiveLevel() > from.EffectiveLevel():
		return label
	case label == "" || label == name:
		return "[[" + name + "]]"
	}
	return "[[" + name + "|" + label + "]]"
}

// linkLabel removes the characters that would end a link's label.
var linkLabel = strings.NewReplacer("[", "", "]", "", "|", " ")

// IsType reports whether the world has a type of cards of the given name, or the import defines it.
func (s *Source) IsType(ctx context.Context, name string) (bool, error) {
	for _, sh := range s.collection.ByKey[markup.KeyOf(name)] {
		if markup.KeyOf(sh.Type) == markup.KeyOf(canon.TypeCardtype) {
			return true, nil
		}
	}
	_, err := s.snapshot.Type(ctx, name)
	if kind := fault.KindOf(err); kind == fault.NotFound || kind == fault.Invalid || kind == fault.Rule {
		return false, nil
	}
	return err == nil, err
}

// BeginAt names the place where the source's own players begin. An import that chooses the starter place
// takes it if players see it.
func (s *Source) BeginAt(place *exchange.Sheet) { s.collection.Begin = place }

// maxSource is the maximum size of one file of a source, in bytes.
const maxSource = 64 << 20

// maxDump is the maximum size of a file that holds a whole wiki or world, in bytes.
const maxDump = 512 << 20

// ReadFile returns the text of a file. It reports a file that cannot be read and returns false.
func (s *Source) ReadFile(files fs.FS, name string) ([]byte, bool) {
	data, ok := s.ReadBytes(files, name)
	if !ok {
		return nil, false
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if !utf8.Valid(data) {
		s.AddProblem(name, 0, "is not UTF-8; invalid bytes are replaced")
		data = bytes.ToValidUTF8(data, []byte("\ufffd"))
	}
	return data, true
}

// ReadBytes returns the content of a file. It reports a file that cannot be read and returns false.
func (s *Source) ReadBytes(files fs.FS, name string) ([]byte, bool) {
	return s.readUpTo(files, name, maxSource)
}

// ReadWhole returns the text of a file that may be as large as a dump of a whole wiki, otherwise like
// ReadBytes.
func (s *Source) ReadWhole(files fs.FS, name string) ([]byte, bool) {
	return s.readUpTo(files, name, maxDump)
}

func (s *Source) readUpTo(files fs.FS, name string, limit int64) ([]byte, bool) {
	info, err := fs.Stat(files, name)
	if err == nil && !info.Mode().IsRegular() { // reading a pipe would block, and a device has no end
		s.AddProblem(name, 0, "is not a regular file; left out")
		return nil, false
	}
	if err == nil && info.Size() > limit {
		s.AddProblem(name, 0, "is larger than %d MiB; left out", limit>>20)
		return nil, false
	}
	data, err := fs.ReadFile(files, name)
	if err != nil {
		s.AddProblem(name, 0, "cannot be read; left out")
		return nil, false
	}
	s.Files++
	s.room += linksByte * int64(len(data))
	return data, true
}

// JSONFiles returns the names of the files to read, sorted.
func (s *Source) JSONFiles(files fs.FS) ([]string, error) {
	if s.Options.File != "" {
		return []string{s.Options.File}, nil
	}
	return fs.Glob(files, "*.json")
}

// EmptyError returns the error for a folder without data of the format. It names the first problem, which
// may be the reason.
func (s *Source) EmptyError(what string) error {
	if list := s.collection.Problems; len(list) > 0 {
		return fault.New(fault.Invalid, "the import found no data: %s. %s", what, list[0])
	}
	return fault.New(fault.Invalid, "the import found no data: %s", what)
}

// Paragraphs converts plain text to HTML, one paragraph per block.
func Paragraphs(blocks ...string) string {
	var b strings.Builder
	for _, block := range blocks {
		if block = strings.TrimSpace(markup.Clean(block)); block != "" {
			b.WriteString("<p>" + strings.ReplaceAll(html.EscapeString(block), "\n", "<br/>") + "</p>\n")
		}
	}
	return b.String()
}

// PlainHTML converts a text without markup to HTML: blank lines separate paragraphs, and brackets and
// braces are not taken for links and nests.
func PlainHTML(text string) string {
	return plainBrackets.Replace(Paragraphs(strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n\n")...))
}

var plainBrackets = strings.NewReplacer("[[", "&#91;&#91;", "{{", "&#123;&#123;")

// Relabel replaces the label of the source, for sources that name themselves. Ids then do not depend
// on the name of a folder.
func (s *Source) Relabel(label string) { s.Options.Label = exchange.ClipName(label) }

// Say adds a sentence about a choice of the import to the summary.
func (s *Source) Say(format string, args ...any) {
	s.said = append(s.said, fmt.Sprintf(format, args...))
}

// LineCounter finds the lines of offsets in a file, in linear time if the offsets ascend.
type LineCounter struct {
	Data []byte
	at   int // an offset
	line int // number of line ends before it
}

// At returns the number of the line that contains an offset.
func (c *LineCounter) At(offset int64) int {
	to := int(min(max(offset, 0), int64(len(c.Data))))
	if to < c.at {
		c.at, c.line = 0, 0
	}
	c.line += bytes.Count(c.Data[c.at:to], []byte("\n"))
	c.at = to
	return c.line + 1
}
