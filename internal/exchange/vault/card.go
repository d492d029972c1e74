package vault

import (
	"context"
	"path"
	"regexp"
	"slices"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/exchange"
	"loregate/internal/exchange/native"
	"loregate/internal/exchange/secrecy"
	"loregate/internal/markup"
)

// reader makes cards from a vault's notes that are not in our dialect.
type reader struct {
	v        *vault
	c        *exchange.Collection
	snapshot *canon.Snapshot
	types    *typer
	shown    map[string]access.Level // attachments shown by cards, with the lowest level of those cards
	order    []string
}

// programTypes are the card types that a note's front matter cannot choose.
var programTypes = []string{canon.TypeCardtype, "Set", "Setting", "User", "Role", "Email template", "HTML"}

// addNote adds the cards of one note: its own card, its tags and, if the note hides text from
// readers, a GM child.
func (f *reader) addNote(ctx context.Context, n *note) error {
	s := &exchange.Sheet{File: n.Path, ID: native.CardID(f.v.o.Label, n.Path), Name: n.name,
		Label: access.NewLabel(n.level)}
	known := []string{"tags", "tag"}
	if _, ok := access.ParseLevel(strings.ToLower(n.Text("level"))); ok {
		known = append(known, "level")
	}
	if typ, ok := f.types.noteType(n); ok {
		s.Type = typ
	} else if f.knowsType(ctx, n.Text("type")) {
		s.Type = n.Text("type")
		known = append(known, "type")
	}
	open := max(n.level, f.snapshot.NameLevel(n.name)) < access.LevelGM
	hiddenFields := ""
	if open {
		hiddenFields = f.v.takeFields(n)
		f.v.replaceFieldLinks(n, n.Meta)
	}
	var err error
	if s.Fields, err = n.ExtraFields(known...); err != nil {
		return err
	}
	body, secret := n.Body, ""
	if open {
		h := secrecy.Split(n.Body, func(m exchange.Mark) bool { return f.v.choices.Decide(m, n.Path, true) })
		body, secret = h.Open, strings.Trim(hiddenFields+"\n\n"+h.Secret, "\n")
		f.v.findMentions(n, body, string(s.Fields), n.name)
		if h.UnclosedAt >= 0 {
			n.AddReport(n.Line+strings.Count(n.Body[:h.UnclosedAt], "\n"),
				"a hidden part begins here and has no end; all text after it is for the GM")
		}
	} else {
		body = keepComments(body)
	}
	n.Body = ""
	s.Body = f.noteHTML(n, body, n.level)
	if !f.c.Add(s) {
		return nil
	}
	if secret != "" {
		f.addSecret(n, s, secret)
	}
	f.addTags(n, s)
	return nil
}

// knowsType reports whether a card type exists and has HTML content, so that a note can become a
// card of that type.
func (f *reader) knowsType(ctx context.Context, name string) bool {
	if name == "" || exchange.HasKey(programTypes, markup.PartKey(name)) || canon.TextOf(name) != canon.TextHTML {
		return false
	}
	t, err := f.snapshot.Type(ctx, name)
	return err == nil && t.Text == canon.TextHTML
}

var htmlComment = regexp.MustCompile(`(?s)<!--(.*?)-->`)

// keepComments turns HTML comments into %% comments, which conversion keeps. It is used for notes
// that only the GM reads.
func keepComments(body string) string {
	if !strings.Contains(body, "<!--") {
		return body
	}
	return htmlComment.ReplaceAllString(body, "%%$1%%")
}

// noteHTML returns a function that converts a note's text to HTML, with its links rewritten. See
// exchange.HTMLBody.
func (f *reader) noteHTML(n *note, body string, level access.Level) func(context.Context) (string, error) {
	text, shown := f.v.rewriteText(n, body, level)
	for _, file := range shown {
		if _, ok := f.shown[file]; !ok {
			f.order = append(f.order, file)
			f.shown[file] = level
		}
		f.shown[file] = min(f.shown[file], level)
	}
	return exchange.HTMLBody(text)
}

func (f *reader) addSecret(n *note, above *exchange.Sheet, secret string) {
	gm := &exchange.Sheet{File: n.Path, ID: exchange.ChildID(above.ID, exchange.GMPart), Above: above,
		Name: exchange.GMPart, Type: canon.TypeRichText,
		Label: access.NewLabel(access.LevelGM), MatchIDOnly: true, Body: f.noteHTML(n, secret, access.LevelGM)}
	for f.c.ByKey[gm.Key()] != nil {
		gm.Name += "+Hidden"
	}
	if f.c.Add(gm) {
		f.c.Hidden++
	}
}

func (f *reader) addTags(n *note, above *exchange.Sheet) {
	tags := n.Tags()
	if f.v.o.Folders == FolderTags || f.v.o.Folders == "" {
		if dir := path.Dir(n.Path); dir != "." {
			tags = append(tags, strings.Split(dir, "/")...)
		}
	}
	f.c.AddTags(above, tags)
}

// addFolders adds cards for the folders that occur in note names and have no note of their own.
// Such a card is visible to everyone who may read one of the notes below it.
func (f *reader) addFolders() {
	levels, names := map[markup.Key]access.Level{}, map[markup.Key]string{}
	var order []markup.Key
	for _, s := range f.c.Sheets {
		parts := markup.Parts(s.Name)
		if s.Above != nil || s.Exact {
			continue
		}
		for i := 1; i < len(parts); i++ {
			name := markup.Join(parts[:i]...)
			key := markup.KeyOf(name)
			level, ok := levels[key]
			if !ok {
				order = append(order, key)
				names[key], level = name, s.Label.Level
			}
			levels[key] = min(level, s.Label.Level)
		}
	}
	for _, key := range order {
		if slices.ContainsFunc(f.c.ByKey[key], func(s *exchange.Sheet) bool { return s.Label.Level <= levels[key] }) {
			continue
		}
		f.c.Add(&exchange.Sheet{File: names[key], ID: native.CardID(f.v.o.Label, "folder:"+string(key)),
			Name: names[key], Folder: true,
			Label: access.NewLabel(levels[key]), Body: exchange.PlainBody("")})
	}
}

// addAttachments adds cards for the files that cards show.
func (f *reader) addAttachments() {
	for _, file := range f.order {
		name := f.v.fileName(file)
		if f.c.ByKey[markup.KeyOf(name)] != nil {
			f.c.AddProblem(file, 0, "another card is already called %q; the file is left out", name)
			continue
		}
		typ := canon.TypeFile
		if slices.Contains(imageExtensions, strings.ToLower(path.Ext(file))) {
			typ = canon.TypeImage
		}
		f.c.Add(&exchange.Sheet{File: file, ID: native.CardID(f.v.o.Label, "file:"+file), Name: name, Type: typ,
			Label:  access.NewLabel(max(f.v.o.Level, f.shown[file], f.fileLevel(file))),
			Fields: exchange.EncodeFields(map[string]any{"file_name": path.Base(file)}), Data: exchange.FileData(f.v.files,
				file)})
	}
	f.reportUnused()
}

func (f *reader) fileLevel(file string) access.Level {
	if f.v.isFileHidden(file) {
		return access.LevelGM
	}
	return access.LevelUser
}

var imageExtensions = []string{".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg", ".bmp", ".avif"}

// reportUnused reports the number of files that were left out because no card shows them, by file
// extension.
func (f *reader) reportUnused() {
	left := map[string]int{}
	for _, files := range f.v.attached {
		for _, file := range files {
			if _, ok := f.shown[file]; !ok {
				left["*"+strings.ToLower(path.Ext(file))]++
			}
		}
	}
	for _, kind := range exchange.SortedKeys(left) {
		f.c.AddProblem(kind, 0, "%d files that no note shows; left out", left[kind])
	}
}
