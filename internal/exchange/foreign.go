package exchange

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/markup"
)

// foreign makes cards of a vault's notes that others wrote.
type foreign struct {
	v     *vault
	c     *collection
	look  *canon.Snapshot
	types *typer
	shown map[string]access.Level // attachments that cards show: the lowest level of those
	order []string
}

// programTypes are types that a note does not become by saying so.
var programTypes = []string{canon.TypeCardtype, "Set", "Setting", "User", "Role", "Email template", "HTML"}

// note makes the cards of one note: its own, its tags and, where it hides something from
// readers, a GM child.
func (f *foreign) note(ctx context.Context, n *note) error {
	s := &sheet{file: n.path, id: f.v.cardID(n.path), name: n.name, own: access.NewLabel(n.level)}
	known := []string{"tags", "tag"}
	if _, ok := access.ParseLevel(strings.ToLower(n.text("level"))); ok {
		known = append(known, "level")
	}
	if typ, ok := f.types.of(n); ok {
		s.typ = typ
	} else if f.knowsType(ctx, n.text("type")) {
		s.typ = n.text("type")
		known = append(known, "type")
	}
	open := max(n.level, f.look.NameLevel(n.name)) < access.LevelGM
	hiddenFields := ""
	if open {
		hiddenFields = f.v.takeFields(n)
		f.v.fieldLinks(n, n.meta)
	}
	var err error
	if s.fields, err = n.fields(known...); err != nil {
		return err
	}
	body, secret := n.body, ""
	if open {
		h := split(n.body, func(m mark) bool { return f.v.choices.decide(m, n.path, true) })
		body, secret = h.open, strings.Trim(hiddenFields+"\n\n"+h.secret, "\n")
		f.v.findNames(n, body, string(s.fields), n.name)
		if h.loose >= 0 {
			n.report(n.line+strings.Count(n.body[:h.loose], "\n"), "something hidden begins here and does not end; all that follows is for the GM")
		}
	} else {
		body = keepComments(body)
	}
	n.body = ""
	s.body = f.html(n, body, n.level)
	if !f.c.add(s) {
		return nil
	}
	if secret != "" {
		f.secret(n, s, secret)
	}
	f.tags(n, s)
	return nil
}

// knowsType reports whether a type's content is HTML, so that a note can be of it.
func (f *foreign) knowsType(ctx context.Context, name string) bool {
	if name == "" || among(programTypes, markup.PartKey(name)) || canon.TextOf(name) != canon.TextHTML {
		return false
	}
	t, err := f.look.Type(ctx, name)
	return err == nil && t.Text == canon.TextHTML
}

var htmlComment = regexp.MustCompile(`(?s)<!--(.*?)-->`)

// keepComments keeps what conversion would drop, in a note that only the GM reads.
func keepComments(body string) string {
	if !strings.Contains(body, "<!--") {
		return body
	}
	return htmlComment.ReplaceAllString(body, "%%$1%%")
}

// html is a note's text with its links as the world has them, see htmlOf.
func (f *foreign) html(n *note, body string, level access.Level) func(context.Context) (string, error) {
	text, shown := f.v.rewrite(n, body, level)
	for _, file := range shown {
		if _, ok := f.shown[file]; !ok {
			f.order = append(f.order, file)
			f.shown[file] = level
		}
		f.shown[file] = min(f.shown[file], level)
	}
	return htmlOf(text)
}

// asIs is a text that needs no converting.
func asIs(text string) func(context.Context) (string, error) {
	return func(context.Context) (string, error) { return text, nil }
}

// htmlOf converts a text when it is asked for. What cannot be converted stays Markdown.
func htmlOf(text string) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		out, err := markup.ToHTML(ctx, text)
		if err != nil && ctx.Err() == nil {
			return text, notConverted{err}
		}
		return out, err
	}
}

// notConverted is why a text stays Markdown.
type notConverted struct{ error }

// gmPart is the part of the child that holds a card's secrets.
const gmPart = "GM"

func (f *foreign) secret(n *note, above *sheet, secret string) {
	gm := &sheet{file: n.path, id: childID(above.id, gmPart), above: above, name: gmPart, typ: canon.TypeRichText,
		own: access.NewLabel(access.LevelGM), shy: true, body: f.html(n, secret, access.LevelGM)}
	for f.c.byKey[gm.key()] != nil {
		gm.name += "+Hidden"
	}
	if f.c.add(gm) {
		f.c.hidden++
	}
}

func (f *foreign) tags(n *note, above *sheet) {
	tags := n.tags()
	if f.v.o.Folders == FolderTags || f.v.o.Folders == "" {
		if dir := path.Dir(n.path); dir != "." {
			tags = append(tags, strings.Split(dir, "/")...)
		}
	}
	content := markup.SetItems(tags)
	if content == "" {
		return
	}
	f.c.add(&sheet{file: n.path, id: childID(above.id, tagsPart), above: above, name: tagsPart, typ: canon.TypePointer, items: true,
		own: access.NewLabel(access.LevelUser), body: asIs(content)})
}

// tagsPart is the part of the child that holds a card's tags.
const tagsPart = "tags"

// folders makes cards for folders that names of notes go through and that no note is
// about, open to those who may read any of the notes below.
func (f *foreign) folders() {
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
		f.c.add(&sheet{file: names[key], id: f.v.cardID("folder:" + string(key)), name: names[key], folder: true,
			own: access.NewLabel(levels[key]), body: asIs("")})
	}
}

// attachments makes cards of the files that cards show.
func (f *foreign) attachments() {
	for _, file := range f.order {
		name := f.v.fileName(file)
		if f.c.byKey[markup.KeyOf(name)] != nil {
			f.c.problem(file, 0, "a card is called %q already; the file is left out", name)
			continue
		}
		typ := canon.TypeFile
		if slices.Contains(imageEndings, strings.ToLower(path.Ext(file))) {
			typ = canon.TypeImage
		}
		f.c.add(&sheet{file: file, id: f.v.cardID("file:" + file), name: name, typ: typ,
			own:    access.NewLabel(max(f.v.o.Level, f.shown[file], f.fileLevel(file))),
			fields: fieldsOf(map[string]any{"file_name": path.Base(file)}), data: readFile(f.v.files, file)})
	}
	f.rest()
}

func (f *foreign) fileLevel(file string) access.Level {
	if f.v.hidesFile(file) {
		return access.LevelGM
	}
	return access.LevelUser
}

var imageEndings = []string{".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg", ".bmp", ".avif"}

// rest says how many files were left out because no card shows them.
func (f *foreign) rest() {
	left := map[string]int{}
	for _, files := range f.v.attached {
		for _, file := range files {
			if _, ok := f.shown[file]; !ok {
				left["*"+strings.ToLower(path.Ext(file))]++
			}
		}
	}
	for _, kind := range sorted(left) {
		f.c.problem(kind, 0, "files that no note shows: %d; left out", left[kind])
	}
}

// readFile reads an attachment when it is asked for.
func readFile(files fs.FS, file string) func() ([]byte, error) {
	return func() ([]byte, error) {
		if info, err := fs.Stat(files, file); err != nil || info.Size() > canon.MaxFile {
			if err == nil {
				err = fmt.Errorf("longer than %d bytes", canon.MaxFile)
			}
			return nil, err
		}
		data, err := fs.ReadFile(files, file)
		if err == nil && len(data) == 0 {
			err = errors.New("empty")
		}
		return data, err
	}
}
