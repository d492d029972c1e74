package native

import (
	"context"
	"encoding/json"
	"maps"
	"path"
	"reflect"
	"slices"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/decoded"
	"loregate/internal/exchange"
	"loregate/internal/exchange/markdown"
	"loregate/internal/marked"
	"loregate/internal/markup"
	"loregate/internal/secrecy"
)

// Seen is the part of a card that players read now.
type Seen struct {
	Name   string // "" if they do not see the card
	Fields map[string]any
	Tags   []string
	Text   string
}

// digestHead returns the digest of the path of a note and of its front matter, but for the keys of the text.
func digestHead(n *markdown.Note) string {
	head := maps.Clone(n.Meta)
	for _, key := range []string{"head_digest", "text_digest", "hidden_parts", "format"} {
		delete(head, key)
	}
	return exchange.DigestText(n.Path + "\n" + string(decoded.EncodeFields(head)))
}

// judgement reads the marks of one note. An edited note of an export is a note like those of other programs: a mark
// hides, unless the export wrote it, or players read it already.
type judgement struct {
	*Reader
	n          *markdown.Note
	s          *exchange.Sheet
	headIsOurs bool // the front matter and the path are as an export wrote them
	seen       Seen
}

func (j *judgement) hides(m secrecy.Mark, part bool) bool {
	return j.Judge == nil || j.Judge(m, j.n.Path, part)
}

// isForMasters reports whether only game masters read the note even without its marks.
func (j *judgement) isForMasters() bool {
	return j.s.MinLevel >= access.LevelGM || j.s.Label.Level >= access.LevelGM && len(j.s.Label.Subjects) == 0
}

func (j *judgement) hide() { j.s.Label = j.s.Label.Meet(access.NewLabel(access.LevelGM)) }

// judgeNote hides the note, or some of its fields, by the marks in its front matter, its path and its name, and by the
// names of the people who read it.
func (j *judgement) judgeNote(ctx context.Context) (err error) {
	if j.Seen != nil {
		if j.seen, err = j.Seen(ctx, j.s.ID); err != nil {
			return err
		}
	}
	for _, m := range j.placeMarks() {
		if !j.isForMasters() && j.hides(m, false) {
			j.hide()
		}
	}
	if j.headIsOurs || j.isForMasters() {
		return nil
	}
	fields, hidden := decoded.ParseObject(string(j.s.Fields)), map[string]any{}
	for _, name := range decoded.SortedKeys(fields) {
		if slices.Contains(j.s.HideFields, name) || reflect.DeepEqual(fields[name], j.seen.Fields[name]) {
			delete(fields, name)
			continue
		}
		m := secrecy.Mark{Rule: secrecy.RuleFrontMatter, What: name}
		if secrecy.HidesField(name, fields[name]) && j.hides(m, true) {
			j.s.HideFields, hidden[name] = append(j.s.HideFields, name), fields[name]
			delete(fields, name)
		}
	}
	names, keys := secrecy.ReaderNames(fields)
	tags := slices.DeleteFunc(j.n.Tags(), func(t string) bool { return slices.Contains(j.seen.Tags, t) })
	_, marks := secrecy.NoteMarks(secrecy.Note{Meta: fields, Tags: tags})
	marks = append(marks, slices.DeleteFunc(secrecy.MetaMarks(hidden), func(m secrecy.Mark) bool { return m.Doubt })...)
	ofReaders, marks := secrecy.DivideReaders(marks, keys)
	if len(names) > 0 {
		var found []access.Subject
		known := false
		if j.FindMembers != nil {
			if found, known, err = j.FindMembers(names); err != nil {
				return err
			}
		}
		if known {
			j.s.Label = j.s.Label.Meet(access.NewLabel(access.LevelGM, found...))
		} else {
			marks = append(marks, exchange.UnknownReaders(names, ofReaders))
		}
	}
	for _, m := range marks {
		if j.hides(m, false) {
			j.hide()
		}
	}
	return nil
}

// placeMarks returns the marks of the folders of a note and of its names. Those of a card that has the name openly
// count only in other folders.
func (j *judgement) placeMarks() []secrecy.Mark {
	marksOf := j.Marks
	if marksOf == nil {
		marksOf = exchange.FolderMarks
	}
	marks := marksOf(j.n.Path)
	isSeen := j.seen.Name == j.s.Name
	names := []string{path.Base(j.n.Stem())}
	if !isSeen {
		names = append(names, j.s.Name)
	}
	var parts []string
	for _, part := range markup.Parts(j.s.Name) {
		parts = append(parts, pathSegment(part))
	}
	for _, name := range names {
		if !isSeen || !slices.Contains(parts, name) {
			marks = append(marks, secrecy.NameMarks(name)...)
		}
	}
	return slices.DeleteFunc(marks, func(m secrecy.Mark) bool {
		return m.Rule != exchange.RuleSetting && (j.headIsOurs || isSeen && m.Rule == exchange.RuleFolder &&
			slices.Contains(parts, path.Base(m.What)))
	})
}

// readContent reads the note's text or file, and reports whether the text has hidden parts. They have the same
// marks as in vaults. A mark that looks secret hides too in a text that is new.
func (j *judgement) readContent(ctx context.Context) (hides bool, err error) {
	n, s := j.n, j.s
	if file := n.Text("file"); file != "" {
		at := path.Join(path.Dir(n.Path), file)
		if !isInFolder(file, at) {
			n.AddReport(0, "file %q is not in the folder of the note; left out", file)
			at = ""
		}
		s.Data = exchange.FileData(j.Files, at)
		return false, nil
	}
	body := strings.TrimSuffix(n.Body, "\n")
	if f, ok := canon.ParseFormat(n.Text("text_format")); ok {
		s.Format = f
	} else if n.Meta["text_format"] != nil {
		n.AddReport(0, "text_format %q is not html or markdown; html is used", n.Text("text_format"))
	}
	kind, read := canon.KindOf(s.Type, s.Format), exchange.PlainBody
	form, hasParts := canon.FormOf(kind)
	if !hasParts {
		form = secrecy.Markdown
	}
	switch format := n.Text("format"); {
	case format == "json":
		var text string
		if err := json.Unmarshal([]byte(body), &text); err != nil {
			n.AddReport(n.Line, "the text is not a JSON string; it is imported as written, for the GM only")
			text = body
			j.hide()
		}
		body = text
	case kind == canon.TextHTML && format != "html":
		form, read = secrecy.Markdown, exchange.HTMLBody
	}
	s.InPlace, s.Asks, s.Body = true, true, read(body)
	if j.isForMasters() {
		return false, nil
	}
	doubts, whole, err := j.newMarks(ctx, body, form, hasParts)
	if err != nil {
		return false, err
	}
	if len(doubts)+len(whole) > 0 && s.Exported != nil {
		text, err := s.Body(ctx)
		if err != nil || exchange.DigestText(text) == s.Exported.Digest {
			return false, err
		}
	}
	for _, m := range whole {
		if j.hides(m, false) {
			j.hide()
		}
	}
	switch doubts = slices.DeleteFunc(doubts, func(u secrecy.Unsure) bool { return !j.hides(u.Mark, true) }); {
	case len(doubts) == 0 || j.isForMasters():
	case j.seen.Name != "":
		s.Unsure = &doubts[0]
	default:
		body = secrecy.MarkUnsure(body, form, doubts)
		s.Body = read(body)
	}
	h := secrecy.Split(body, form, func(m secrecy.Mark) bool { return !m.Doubt })
	if h.UnclosedAt >= 0 {
		n.AddReport(n.Line+strings.Count(body[:h.UnclosedAt], "\n"),
			"a hidden part begins here and has no end; all text after it is for the GM")
	}
	return len(h.Parts) > 0, nil
}

// newMarks returns the marks of a text that players do not read yet: those that look secret, and those that hide all of
// it, which in a text without parts are all.
func (j *judgement) newMarks(ctx context.Context, body string, form secrecy.Form,
	hasParts bool) (doubts []secrecy.Unsure, whole []secrecy.Mark, err error) {
	if form == secrecy.Markdown {
		_, had := secrecy.NoteMarks(secrecy.Note{Body: j.seen.Text})
		_, whole = secrecy.NoteMarks(secrecy.Note{Body: body})
		whole = slices.DeleteFunc(whole, func(m secrecy.Mark) bool { return slices.Contains(had, m) })
	}
	list := secrecy.FindUnsure("", body, form)
	if was := j.seen.Text; len(list) > 0 && was != "" {
		if form == secrecy.Markdown && canon.KindOf(j.s.Type, j.s.Format) == canon.TextHTML {
			if was, err = marked.ToMarkdown(ctx, was); err != nil {
				return nil, nil, err
			}
		}
		list = secrecy.FindUnsure(was, body, form)
	}
	for _, u := range list {
		switch {
		case u.Sign != "", slices.Contains(whole, u.Mark):
		case hasParts:
			doubts = append(doubts, u)
		case j.seen.Name == "": // else the writer asks about it
			whole = append(whole, u.Mark)
		}
	}
	if at, found := secrecy.NewMark("", body); found && !hasParts && j.seen.Name == "" {
		line, _, _ := strings.Cut(body[at:], "\n")
		whole = append(whole, secrecy.Mark{Rule: exchange.RuleUnread, What: markup.Clip(line, 80)})
	}
	return doubts, whole, nil
}
