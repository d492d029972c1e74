package exchange

import (
	"context"
	"path"
	"regexp"
	"slices"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/markup"
)

// foreignReader makes cards from a vault's notes that are not in our dialect.
type foreignReader struct {
	v        *vault
	c        *collection
	snapshot *canon.Snapshot
	types    *typer
	shown    map[string]access.Level // attachments shown by cards, with the lowest level of those cards
	order    []string
}

// programTypes are the card types that a note's front matter cannot choose.
var programTypes = []string{canon.TypeCardtype, "Set", "Setting", "User", "Role", "Email template", "HTML"}

// addNote adds the cards of one note: its own card, its tags and, if the note hides text from
// readers, a GM child.
func (f *foreignReader) addNote(ctx context.Context, n *note) error {
	s := &sheet{file: n.path, id: markdownID(f.v.o.Label, n.path), name: n.name, own: access.NewLabel(n.level)}
	known := []string{"tags", "tag"}
	if _, ok := access.ParseLevel(strings.ToLower(n.metaText("level"))); ok {
		known = append(known, "level")
	}
	if typ, ok := f.types.noteType(n); ok {
		s.typ = typ
	} else if f.knowsType(ctx, n.metaText("type")) {
		s.typ = n.metaText("type")
		known = append(known, "type")
	}
	open := max(n.level, f.snapshot.NameLevel(n.name)) < access.LevelGM
	hiddenFields := ""
	if open {
		hiddenFields = f.v.takeFields(n)
		f.v.replaceFieldLinks(n, n.meta)
	}
	var err error
	if s.fields, err = n.extraFields(known...); err != nil {
		return err
	}
	body, secret := n.body, ""
	if open {
		h := splitSecrets(n.body, func(m mark) bool { return f.v.choices.decideMark(m, n.path, true) })
		body, secret = h.open, strings.Trim(hiddenFields+"\n\n"+h.secret, "\n")
		f.v.findMentions(n, body, string(s.fields), n.name)
		if h.unclosedAt >= 0 {
			n.addReport(n.line+strings.Count(n.body[:h.unclosedAt], "\n"),
				"something hidden begins here and does not end; all that follows is for the GM")
		}
	} else {
		body = keepComments(body)
	}
	n.body = ""
	s.body = f.noteHTML(n, body, n.level)
	if !f.c.add(s) {
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
func (f *foreignReader) knowsType(ctx context.Context, name string) bool {
	if name == "" || hasKey(programTypes, markup.PartKey(name)) || canon.TextOf(name) != canon.TextHTML {
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
// htmlBody.
func (f *foreignReader) noteHTML(n *note, body string, level access.Level) func(context.Context) (string, error) {
	text, shown := f.v.rewriteText(n, body, level)
	for _, file := range shown {
		if _, ok := f.shown[file]; !ok {
			f.order = append(f.order, file)
			f.shown[file] = level
		}
		f.shown[file] = min(f.shown[file], level)
	}
	return htmlBody(text)
}

func (f *foreignReader) addSecret(n *note, above *sheet, secret string) {
	gm := &sheet{file: n.path, id: childID(above.id, gmPart), above: above, name: gmPart, typ: canon.TypeRichText,
		own: access.NewLabel(access.LevelGM), matchIDOnly: true, body: f.noteHTML(n, secret, access.LevelGM)}
	for f.c.byKey[gm.cardKey()] != nil {
		gm.name += "+Hidden"
	}
	if f.c.add(gm) {
		f.c.hidden++
	}
}

func (f *foreignReader) addTags(n *note, above *sheet) {
	tags := n.metaTags()
	if f.v.o.Folders == FolderTags || f.v.o.Folders == "" {
		if dir := path.Dir(n.path); dir != "." {
			tags = append(tags, strings.Split(dir, "/")...)
		}
	}
	f.c.addTags(above, tags)
}

// addFolders adds cards for the folders that occur in note names and have no note of their own.
// Such a card is visible to everyone who may read one of the notes below it.
func (f *foreignReader) addFolders() {
	levels, names := map[markup.Key]access.Level{}, map[markup.Key]string{}
	var order []markup.Key
	for _, s := range f.c.sheets {
		parts := markup.Parts(s.name)
		if s.above != nil || s.exact {
			continue
		}
		for i := 1; i < len(parts); i++ {
			name := markup.Join(parts[:i]...)
			key := markup.KeyOf(name)
			level, ok := levels[key]
			if !ok {
				order = append(order, key)
				names[key], level = name, s.own.Level
			}
			levels[key] = min(level, s.own.Level)
		}
	}
	for _, key := range order {
		if slices.ContainsFunc(f.c.byKey[key], func(s *sheet) bool { return s.own.Level <= levels[key] }) {
			continue
		}
		f.c.add(&sheet{file: names[key], id: markdownID(f.v.o.Label, "folder:"+string(key)), name: names[key], folder: true,
			own: access.NewLabel(levels[key]), body: plainBody("")})
	}
}

// addAttachments adds cards for the files that cards show.
func (f *foreignReader) addAttachments() {
	for _, file := range f.order {
		name := f.v.fileName(file)
		if f.c.byKey[markup.KeyOf(name)] != nil {
			f.c.addProblem(file, 0, "a card is called %q already; the file is left out", name)
			continue
		}
		typ := canon.TypeFile
		if slices.Contains(imageExtensions, strings.ToLower(path.Ext(file))) {
			typ = canon.TypeImage
		}
		f.c.add(&sheet{file: file, id: markdownID(f.v.o.Label, "file:"+file), name: name, typ: typ,
			own:    access.NewLabel(max(f.v.o.Level, f.shown[file], f.fileLevel(file))),
			fields: fieldsOf(map[string]any{"file_name": path.Base(file)}), data: readFile(f.v.files, file)})
	}
	f.reportUnused()
}

func (f *foreignReader) fileLevel(file string) access.Level {
	if f.v.isFileHidden(file) {
		return access.LevelGM
	}
	return access.LevelUser
}

var imageExtensions = []string{".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg", ".bmp", ".avif"}

// reportUnused reports the number of files that were left out because no card shows them, by file
// extension.
func (f *foreignReader) reportUnused() {
	left := map[string]int{}
	for _, files := range f.v.attached {
		for _, file := range files {
			if _, ok := f.shown[file]; !ok {
				left["*"+strings.ToLower(path.Ext(file))]++
			}
		}
	}
	for _, kind := range sortedKeys(left) {
		f.c.addProblem(kind, 0, "files that no note shows: %d; left out", left[kind])
	}
}
