package vault

import (
	"cmp"
	"context"
	"maps"
	"path"
	"slices"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/decoded"
	"loregate/internal/exchange"
	"loregate/internal/exchange/native"
	"loregate/internal/markup"
	"loregate/internal/secrecy"
	"loregate/internal/slicesx"
)

// reader makes cards from a vault's notes that are not in our dialect.
type reader struct {
	v        *vault
	c        *exchange.Collection
	snapshot *canon.Snapshot
	types    *typer
	shown    map[string]access.Level // attachments shown by cards, with the lowest level of those cards
	order    []string
	notes    map[*exchange.Sheet]*native.Origin
	files    map[*exchange.Sheet]*native.File
	links    []link
	sheetOf  map[*note]*exchange.Sheet
	// sheetOfFile are the sheets of attachments, by their paths.
	sheetOfFile map[string]*exchange.Sheet
	moved       map[*note]canon.CardID           // ids of notes that the last import had at another path
	known       map[canon.CardID]*native.Origin  // notes of the last import
	cards       map[canon.CardID]exchange.Memory // all cards of the last import
}

func newReader(v *vault, l *canon.Snapshot, types *typer) *reader {
	return &reader{v: v, c: exchange.NewCollection(), snapshot: l, types: types, shown: map[string]access.Level{},
		notes: map[*exchange.Sheet]*native.Origin{}, files: map[*exchange.Sheet]*native.File{},
		sheetOf: map[*note]*exchange.Sheet{}, sheetOfFile: map[string]*exchange.Sheet{}}
}

// keepHidden hides the sentences of a note that are hidden in the world.
func (f *reader) keepHidden(n *note, s *exchange.Sheet, here canon.CardID) error {
	found, name, err := f.v.hidden.rangesIn(here, n.Body)
	for _, r := range found {
		if !slices.ContainsFunc(s.Hide, func(h secrecy.Range) bool { return h.From <= r.From && r.To <= h.To }) {
			s.Hide = append(s.Hide, secrecy.Range{Span: r})
			if name != "" {
				n.AddReport(0, "has text that is hidden in %q, and hides it", name)
				name = ""
			}
		}
	}
	return err
}

// programTypes are the card types that a note's front matter cannot choose.
var programTypes = []string{canon.TypeCardtype, "Set", "Setting", "User", "Role", "Email template", "HTML"}

// addNote adds the cards of one note: its own card and its tags.
func (f *reader) addNote(ctx context.Context, n *note) error {
	s := &exchange.Sheet{File: n.Path, ID: f.v.noteID(n.Path), Name: n.name,
		Format: canon.FormatMarkdown, Label: access.NewLabel(n.level, n.readers...)}
	if id, ok := f.moved[n]; ok {
		s.ID = id
		if was := f.known[id]; was != nil && was.Path != n.Path {
			s.NameWas = was.Name
		}
	}
	s.OpensCard, s.HidesCard = n.opened, n.kept
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
	was := f.known[s.ID]
	changed := was == nil || was.Hash != n.origin.Hash
	here := cmp.Or(f.cards[s.ID].ID, s.ID)
	open := n.isRead(max(n.level, f.snapshot.NameLevel(n.name))) || !n.kept && f.v.world.wasOpened(here)
	var under map[string]any
	if open {
		var err error
		if under, err = f.v.takeFields(n, here, changed); err != nil {
			return err
		}
		for _, k := range decoded.SortedKeys(n.Meta) {
			n.Meta[k] = f.v.replaceFieldLinks(n, decoded.RestoreLinks(n.Meta[k]))
		}
	}
	f.showFields(n, n.Meta, n.level)
	f.showFields(n, under, access.LevelGM)
	h := secrecy.Result{Open: n.Body, UnclosedAt: -1}
	var parts verdicts
	seen := ""
	if open {
		var err error
		if seen, err = f.seenText(ctx, here); err != nil {
			return err
		}
		h, parts = f.judgeParts(n, seen)
		if h.UnclosedAt >= 0 {
			n.AddReport(n.Line+strings.Count(n.Body[:h.UnclosedAt], "\n"),
				"a hidden part begins here and has no end; all text after it is for the GM")
		}
	}
	shown, signs := f.v.findReferences(n, h.Open, n.level)
	f.showFiles(shown, n.level)
	shown, _ = f.v.findReferences(n, h.Secret(), access.LevelGM)
	f.showFiles(shown, access.LevelGM)
	s.Hide = secrecy.Ranges(h.Spans())
	for _, sign := range signs {
		s.Hide = append(s.Hide, secrecy.Range{Span: h.Source(sign.from, sign.to)})
	}
	for _, asked := range parts.spans(n.Body, exchange.Asked) {
		for _, r := range newLines(n.Body, asked, seen) {
			if !slices.ContainsFunc(s.Hide, func(h secrecy.Range) bool { return h.From <= r.From && r.To <= h.To }) {
				s.Hide = append(s.Hide, r)
			}
		}
	}
	if open && changed {
		if err := f.keepHidden(n, s, here); err != nil {
			return err
		}
	}
	s.InPlace, s.MarksKnown = true, true
	s.Opens, s.Hides = parts.texts(n.Body, exchange.OpenedNow), parts.texts(n.Body, exchange.Confirmed)
	var err error
	if s.Fields, err = n.ExtraFields(known...); err != nil {
		return err
	}
	if open {
		f.v.findMentions(n, withoutSigns(h.Open, signs), string(s.Fields), n.name)
	}
	if len(under) > 0 {
		s.HideFields = decoded.SortedKeys(under)
		all := decoded.ParseObject(string(s.Fields))
		if all == nil {
			all = map[string]any{}
		}
		maps.Copy(all, under)
		s.Fields = decoded.EncodeFields(all)
	}
	if len(h.Parts)+len(under) > 0 {
		f.c.Hidden++
	}
	if s.Body, err = f.v.o.Shelf.Keep(n.Body); err != nil {
		return err
	}
	o := n.origin
	o.Name, o.Type, o.Level, o.Fields = s.Name, cmp.Or(s.Type, canon.TypeRichText), n.level, s.Fields
	o.Readers = s.Label.Subjects
	defer func() { n.Meta, n.Body, n.marks = nil, "", nil }() // the sheets have what is needed of them
	if !f.c.Add(s) {
		return nil
	}
	f.notes[s], f.sheetOf[n] = o, s
	f.collectLinks(n, s)
	return f.addTags(ctx, n, s)
}

// knowsType reports whether a card type exists and has HTML content, so that a note can become a
// card of that type.
func (f *reader) knowsType(ctx context.Context, name string) bool {
	if name == "" || markup.HasPart(programTypes, markup.PartKey(name)) || canon.TextOf(name) != canon.TextHTML {
		return false
	}
	t, err := f.snapshot.Type(ctx, name)
	return err == nil && t.Text == canon.TextHTML
}

// showFiles notes that readers of a level see attachments.
func (f *reader) showFiles(files []string, level access.Level) {
	for _, file := range files {
		if _, ok := f.shown[file]; !ok {
			f.order = append(f.order, file)
			f.shown[file] = level
		}
		f.shown[file] = min(f.shown[file], level)
	}
}

// showFields is showFiles for the attachments that front matter names.
func (f *reader) showFields(n *note, meta map[string]any, level access.Level) {
	for _, key := range decoded.SortedKeys(meta) {
		for _, text := range decoded.TextsOf(decoded.RestoreLinks(meta[key])) {
			if file := f.v.fileInField(n, text); file != "" {
				f.showFiles([]string{file}, level)
			}
		}
	}
}

func (f *reader) addTags(ctx context.Context, n *note, above *exchange.Sheet) error {
	tags := n.Tags()
	if f.v.o.Folders == FolderTags || f.v.o.Folders == "" {
		if dir := path.Dir(n.Path); dir != "." {
			tags = append(tags, strings.Split(dir, "/")...)
		}
	}
	content := markup.SetItems(tags)
	f.notes[above].Tags = markup.Items(content)
	list := exchange.NewTagsSheet(above, content)
	if was := f.known[above.ID]; was != nil {
		list.Gone = slicesx.Filter(was.Tags, func(tag string) bool { return !slices.Contains(f.notes[above].Tags, tag) })
	}
	if content == "" {
		if added, err := f.hasOtherTags(ctx, list); err != nil || !added {
			return err
		}
	}
	f.c.Add(list)
	return nil
}

// hasOtherTags reports whether the list of tags of a note without tags has some that were added here.
func (f *reader) hasOtherTags(ctx context.Context, list *exchange.Sheet) (bool, error) {
	k, known := f.cards[list.ID]
	if !known {
		return false, nil
	}
	card, ok, err := f.snapshot.ByID(ctx, cmp.Or(k.ID, list.ID))
	if err != nil || !ok {
		return false, err
	}
	text, err := f.snapshot.Content(ctx, card)
	return len(markup.Items(markup.AddItems(text, nil, list.Gone))) > 0, err
}

// addFolders adds cards for the folders that occur in the names of notes and files and have no note of
// their own. Such a card is visible to everyone who may read one of the cards below it.
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
	if f.v.o.AllFiles {
		f.showUnused()
	}
	for _, file := range f.order {
		name := f.v.fileName(file)
		if f.c.ByKey[markup.KeyOf(name)] != nil {
			f.c.AddProblem(file, 0, "another card is already called %q; the file is left out", name)
			continue
		}
		typ := canon.TypeFile
		if exchange.IsPicture(file) {
			typ = canon.TypeImage
		}
		level, opened := f.fileLevel(file)
		s := &exchange.Sheet{File: file, ID: f.v.fileID(file), Name: name, Type: typ,
			Label: access.NewLabel(max(f.v.o.Level, f.shown[file], level)), OpensCard: opened,
			Fields: decoded.EncodeFields(map[string]any{"file_name": path.Base(file)})}
		if f.c.Add(s) {
			from := &native.File{Path: file}
			f.files[s], f.sheetOfFile[file] = from, s
			s.Data = func() ([]byte, error) {
				data, err := exchange.FileData(f.v.files, file)()
				from.Hash = native.HashOf(data)
				return data, err
			}
		}
	}
	f.reportUnused()
}

// showUnused makes the files that no note names visible to the GM.
func (f *reader) showUnused() {
	for _, name := range decoded.SortedKeys(f.v.attached) {
		for _, file := range f.v.attached[name] {
			if _, ok := f.shown[file]; !ok {
				f.showFiles([]string{file}, access.LevelGM)
			}
		}
	}
}

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
	for _, kind := range decoded.SortedKeys(left) {
		f.c.AddProblem(kind, 0, "%d files that no note names; left out (--all-files imports them for the GM)", left[kind])
	}
}
