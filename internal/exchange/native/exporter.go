package native

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/decoded"
	"loregate/internal/exchange"
	"loregate/internal/fault"
	"loregate/internal/markup"
	"loregate/internal/media"
	"loregate/internal/secrecy"
)

// exporter builds pages from the cards of a snapshot.
type exporter struct {
	snapshot *canon.Snapshot
	sum      *exchange.Summary
	cards    []canon.Card // sorted by key, level and id
	byID     map[canon.CardID]canon.Card
	byKey    map[markup.Key][]canon.Card
	children map[canon.CardID][]canon.Card
	links    map[canon.CardID][]canon.Link
	layers   map[canon.CardID][]canon.Layer
	folded   map[canon.CardID]bool // child cards whose tags are written in the parent's page
	places   pathAllocator
	vaults   []string                 // labels of vaults
	origins  map[canon.CardID]*Origin // notes of vaults
	paths    map[canon.CardID]string  // of the files of vaults, by card
	hashes   map[string]string        // of the files of vaults at the last import, by path
}

// buildPage builds the page of a card and returns the bytes of its attachment.
func (x *exporter) buildPage(ctx context.Context, c canon.Card) (p *page, file []byte, err error) {
	p = &page{path: x.places.notePath(c), card: c, label: x.exportLabel(c), parent: x.exportParent(c)}
	above := access.NewLabel(access.LevelUser)
	if parent, ok := x.byID[c.Parent]; ok {
		above = parent.Label
	}
	if c.Label.Level > above.Meet(c.Own).Level {
		p.minLevel = c.Label.Level
	}
	if c.Places != nil {
		return p, nil, x.writeBeside(ctx, p, c)
	}
	seen := x.forMasters(c)
	for _, h := range x.children[c.ID] {
		if h.Places != nil && seen.View().Sees(h.Label) {
			p.hidden = append(p.hidden, h.Places.Fields...)
		}
	}
	if c.Fields, err = seen.Fields(ctx, c); err != nil {
		return nil, nil, err
	}
	p.card = c
	if canon.TextOf(c.Type) == canon.TextFile {
		file, err = x.readContent(ctx, c)
	} else {
		p.whole, err = x.markParts(ctx, c)
		p.text = p.whole.Whole()
	}
	if fault.KindOf(err) == fault.Denied {
		x.reportPage(p.path, "%v", err)
	} else if err != nil {
		return nil, nil, err
	} else if len(file)+len(p.text) == 0 && c.Size > 0 {
		x.reportPage(p.path, "its content was erased; only the card is written")
	}
	if len(file) > 0 {
		p.file = x.nameAttachment(p, file)
	}
	x.addLinkObjects(p)
	x.addLayerObjects(p)
	p.tags, p.tagsID, err = x.foldTags(ctx, c)
	return p, file, err
}

// readContent returns the content of a card: its text, or its file as the audience sees it.
func (x *exporter) readContent(ctx context.Context, c canon.Card) ([]byte, error) {
	if canon.TextOf(c.Type) == canon.TextFile {
		return x.snapshot.FileBytes(ctx, c)
	}
	text, err := x.forMasters(c).Content(ctx, c)
	return []byte(text), err
}

// markParts returns the text of a card, for game masters with a mark around each hidden part.
func (x *exporter) markParts(ctx context.Context, c canon.Card) (secrecy.Text, error) {
	s := x.forMasters(c)
	t, err := s.WholeText(ctx, c)
	if err != nil || s.View().Level < access.LevelGM {
		return secrecy.Text{Open: t.Whole()}, err
	}
	masters := access.NewLabel(access.LevelGM)
	for i, p := range t.Parts {
		if p.Label.Equal(c.Label.Meet(masters)) {
			t.Parts[i].Label = masters
		}
	}
	form, _ := canon.FormOf(c.TextKind())
	return t.Marked(form), nil
}

// forMasters returns the snapshot as game masters see it at most, if they see the card: a note says that a part is
// theirs, not that it is an admin's.
func (x *exporter) forMasters(c canon.Card) *canon.Snapshot {
	return x.snapshot.As(min(x.snapshot.View().Level, max(access.LevelGM, c.Label.Level)))
}

// writeBeside writes the page of a card that holds hidden parts: its other text, and if it holds parts for others
// than game masters, all of it.
func (x *exporter) writeBeside(ctx context.Context, p *page, c canon.Card) error {
	var err error
	if p.beside = c.Label.Level <= max(access.LevelGM, x.byID[c.Parent].Label.Level); p.beside {
		p.text, err = x.snapshot.Beside(ctx, c)
		p.card.Fields = ownFields(c)
	} else {
		p.text, err = x.snapshot.Body(ctx, c.Content)
	}
	return err
}

func (x *exporter) reportPage(file, format string, args ...any) {
	x.sum.Problems = append(x.sum.Problems, exchange.Problem{File: file, Why: fmt.Sprintf(format, args...)})
}

// canSeeLabels reports whether the export's audience may see labels.
func (x *exporter) canSeeLabels() bool { return x.snapshot.View().Level >= access.LevelGM }

// exportLabel returns the label that is written for a card. An audience that may not see labels
// gets only the card's effective level. A card shared with named subjects is exported with that
// level, so that importing it elsewhere does not make it visible to everyone.
func (x *exporter) exportLabel(c canon.Card) access.Label {
	if x.canSeeLabels() {
		return c.Own
	}
	return access.NewLabel(c.Label.Level)
}

// exportParent returns the parent to write: an id, "none", or "" if an import finds the same parent
// by name.
func (x *exporter) exportParent(c canon.Card) string {
	parts := c.Key.Parts()
	for i := len(parts) - 1; i > 0; i-- {
		above := x.byKey[markup.Key(strings.Join(parts[:i], "+"))]
		switch {
		case len(above) == 0:
			continue
		case c.Parent.IsZero():
			return "none"
		case len(above) > 1 || above[0].ID != c.Parent:
			return c.Parent.String()
		}
		return ""
	}
	return ""
}

// foldTags returns the items of a card's tags child, if that child is nothing but a list of names.
// The child then gets no page of its own. id is zero if an import derives the same id.
func (x *exporter) foldTags(ctx context.Context, c canon.Card) (tags []string, id canon.CardID, err error) {
	for _, t := range x.children[c.ID] {
		derived := t.ID == exchange.ChildID(c.ID, exchange.TagsPart)
		plain := t.Part == exchange.TagsPart && t.Type == canon.TypePointer && t.Fields == nil && t.Codename == "" &&
			t.Own.Equal(access.NewLabel(access.LevelUser)) && (derived || len(x.byKey[t.Key]) == 1) && t.Key == c.Key+"+"+
			markup.KeyOf(exchange.TagsPart) &&
			len(x.children[t.ID])+len(x.links[t.ID])+len(x.layers[t.ID]) == 0
		if !plain {
			continue
		}
		text, err := x.snapshot.Content(ctx, t)
		if err != nil {
			return nil, id, err
		}
		items := markup.Items(text)
		for i := range items {
			items[i] = exchange.TagName(items[i])
		}
		if text == "" || markup.SetItems(items) != text {
			continue
		}
		x.folded[t.ID] = true
		if !derived {
			id = t.ID
		}
		return items, id, nil
	}
	return nil, id, nil
}

// nameAttachment returns a free name for the file beside a page.
func (x *exporter) nameAttachment(p *page, b []byte) string {
	var own struct {
		FileName string `json:"file_name"`
	}
	_ = json.Unmarshal(p.card.Fields, &own) // a file_name that is not a string is ignored
	ending := strings.ToLower(cmp.Or(path.Ext(own.FileName), media.Detect(b).Ext))
	if !extensionForm.MatchString(ending) || ending == ".md" {
		ending = extensions[strings.SplitN(http.DetectContentType(b), ";", 2)[0]]
	}
	if ending == "" {
		ending = ".bin"
	}
	stem := strings.TrimSuffix(path.Base(p.path), ending)
	for i := 1; ; i++ {
		name := stem + ending
		if i > 1 {
			name = fmt.Sprintf("%s~%d%s", stem, i, ending)
		}
		if x.places.reservePath(path.Join(path.Dir(p.path), name)) {
			return name
		}
	}
}

var extensions = map[string]string{"image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif",
	"image/webp":      ".webp",
	"application/pdf": ".pdf", "text/plain": ".txt", "audio/mpeg": ".mp3", "application/zip": ".zip"}

func (x *exporter) addLinkObjects(p *page) {
	links := x.links[p.card.ID]
	direction := func(l canon.Link) string { return decoded.TextOf(decoded.ParseObject(string(l.Attrs))["direction"]) }
	slices.SortFunc(links, func(a, b canon.Link) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(direction(a), direction(b)),
			cmp.Compare(x.byID[a.To].Key, x.byID[b.To].Key), slices.Compare(a.ID[:], b.ID[:]))
	})
	for _, l := range links {
		to, ok := x.byID[l.To]
		if !ok {
			continue
		}
		var out metaObject
		if l.ID != exchange.LinkID(l.Kind, l.From, l.To, direction(l)) {
			out.set("id", l.ID.String())
		}
		out.set("kind", l.Kind)
		out.set("to", to.Name)
		if len(x.byKey[to.Key]) > 1 || namedEnd(to.Name).Name != to.Name {
			out.set("to_id", to.ID.String())
		}
		if attrs := decoded.ParseObject(string(l.Attrs)); len(attrs) > 0 {
			out.set("attrs", attrs)
		}
		x.setLabel(&out, l.Label, p.card.Label.Meet(to.Label))
		p.links = append(p.links, out)
	}
}

// setLabel writes label l if it differs from the label that an import derives.
func (x *exporter) setLabel(out *metaObject, l, from access.Label) {
	if l.Equal(from) {
		return
	}
	out.set("level", l.Level.String())
	if x.canSeeLabels() && len(l.Subjects) > 0 {
		out.set("subjects", subjectsOf(l))
	}
}

func (x *exporter) addLayerObjects(p *page) {
	layers := x.layers[p.card.ID]
	slices.SortFunc(layers, func(a, b canon.Layer) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.FromTick, b.FromTick), slices.Compare(a.ID[:], b.ID[:]))
	})
	for i, l := range layers {
		var out metaObject
		if l.ID != exchange.LayerID(l.Card, l.Kind, l.FromTick, i) {
			out.set("id", l.ID.String())
		}
		out.set("layer", l.Kind)
		out.set("value", l.Text)
		if l.FromTick != 0 {
			out.set("from", json.Number(fmt.Sprint(l.FromTick)))
		}
		if l.ToTick != 0 {
			out.set("to", json.Number(fmt.Sprint(l.ToTick)))
		}
		x.setLabel(&out, l.Label, access.NewLabel(access.LevelUser).Meet(p.card.Label))
		p.layers = append(p.layers, out)
	}
}
