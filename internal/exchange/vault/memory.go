package vault

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/decoded"
	"loregate/internal/exchange"
	"loregate/internal/exchange/native"
)

// lastImport is the memory of the last import of a vault, and of this one.
type lastImport struct {
	source   *native.Source
	card     canon.Card                    // that holds it; zero if there is none
	writable bool                          // the importer may keep a memory: it sees cards of the GM
	sheetOf  map[canon.CardID]canon.CardID // ids under which cards with other ids are remembered; see sheetID
	others   []canon.Card                  // that hold the memories of vaults which are one with this one now
}

// loadMemory reads the memory of a vault, and of others whose notes are among its notes now.
func loadMemory(ctx context.Context, l *canon.Snapshot, label string, others []canon.Card) (m *lastImport, err error) {
	m = &lastImport{writable: l.View().Level >= access.LevelGM}
	if m.writable {
		if m.card, _, err = l.ByID(ctx, native.SourceID(label)); err != nil {
			return nil, err
		}
	}
	var r native.SourceReader
	if m.source, err = r.Load(ctx, l, m.card); err != nil {
		return nil, err
	}
	for _, c := range others {
		s, err := r.Load(ctx, l, c)
		if err != nil {
			return nil, err
		}
		maps.Copy(m.source.Notes, s.Notes)
		maps.Copy(m.source.Files, s.Files)
		maps.Copy(m.source.Cards, s.Cards)
		m.source.Folders = append(m.source.Folders, s.Folders...)
		m.source.Open, m.source.Confirm = append(m.source.Open, s.Open...), append(m.source.Confirm, s.Confirm...)
		m.source.Links = append(m.source.Links, s.Links...)
		m.source.Begun = m.source.Begun || s.Begun
		m.source.Given = m.source.Given && s.Given
	}
	m.others = others
	for id := range m.source.Notes { // a note is known by its card from the second import on
		if at := m.sheetID(id); at != id {
			k := m.source.Cards[at]
			delete(m.source.Cards, at)
			k.ID = canon.CardID{}
			m.source.Cards[id] = k
		}
	}
	return m, m.forgetUndone(ctx, l)
}

// forgetUndone forgets the cards that the undo of an import gave their former text. The undo keeps the memory of the
// import if cards of it stay: without this they would count as changed here.
func (m *lastImport) forgetUndone(ctx context.Context, l *canon.Snapshot) error {
	if m.card.ID.IsZero() {
		return nil
	}
	steps, err := l.Steps(ctx)
	if err != nil {
		return err
	}
	for _, undo := range steps {
		isOfImport := slices.ContainsFunc(steps, func(s canon.Step) bool {
			return s.ID == undo.Of && s.Kind == canon.KindImport
		})
		if !isOfImport || undo.UndoneBy != [16]byte{} || m.card.Seq > undo.First {
			continue
		}
		cards, err := l.StepCards(ctx, undo)
		if err != nil {
			return err
		}
		for _, c := range cards {
			if c.Act == canon.ActUpdate && c.Seq <= undo.Span().To {
				delete(m.source.Cards, c.ID)
			}
		}
	}
	return nil
}

// rememberedDecisions tells which decisions of earlier imports count, and how they are taken back.
func (m *lastImport) rememberedDecisions() (said []string) {
	for _, d := range []struct {
		flag, other string
		texts       []string
	}{{"--open", "--confirm", m.source.Open}, {"--confirm", "--open", m.source.Confirm}} {
		if len(d.texts) > 0 {
			said = append(said, fmt.Sprintf("Decided at earlier imports with %s: %s. %s takes one back.", d.flag,
				strings.Join(d.texts, ", "), d.other))
		}
	}
	if len(m.source.Links) > 0 {
		said = append(said, fmt.Sprintf("Decided at earlier imports with --link: %s. Another --link replaces one.",
			strings.Join(m.source.Links, ", ")))
	}
	return said
}

// findMoved returns the ids of notes that the last import had at another path, or under another label: those with the
// name that the card has now, with the same bytes as a note that is gone, or with most of its lines.
func (m *lastImport) findMoved(ctx context.Context, l *canon.Snapshot, v *vault) (map[*note]canon.CardID, error) {
	there, byPath, byHash, byName := map[string]bool{}, map[string]canon.CardID{}, map[string]canon.CardID{},
		map[string]canon.CardID{}
	for _, n := range v.notes {
		there[n.Path] = true
	}
	var gone []canon.Card
	for _, id := range slices.SortedFunc(maps.Keys(m.source.Notes), func(a, b canon.CardID) int {
		return bytes.Compare(a[:], b[:])
	}) {
		o := m.source.Notes[id]
		if there[o.Path] {
			if id != v.noteID(o.Path) {
				byPath[o.Path] = id
			}
			continue
		}
		byHash[o.Hash] = id
		c, ok, err := l.ByID(ctx, id)
		if err != nil {
			return nil, err
		}
		if ok && c.Name != o.Name {
			byName[c.Name] = id
		}
		if ok {
			gone = append(gone, c)
		}
	}
	moved, used := map[*note]canon.CardID{}, map[canon.CardID]bool{}
	var fresh []*note
	for _, n := range v.notes {
		if v.isNative(n) || m.source.Notes[v.noteID(n.Path)] != nil && byPath[n.Path].IsZero() {
			continue
		}
		for _, id := range []canon.CardID{byPath[n.Path], byName[n.name], byHash[n.origin.Hash]} {
			if !id.IsZero() && !used[id] && moved[n].IsZero() {
				moved[n], used[id] = id, true
			}
		}
		if moved[n].IsZero() {
			fresh = append(fresh, n)
		}
	}
	gone = slices.DeleteFunc(gone, func(c canon.Card) bool { return used[c.ID] })
	return moved, findEdited(ctx, l, v, moved, fresh, gone)
}

// maxCompared is the number of notes, new or gone, up to which renamed ones are looked for by their lines.
const maxCompared = 500

// findEdited adds to moved the new notes that have most of the lines of a card whose note is gone. One that is as
// near to another card is a new note.
func findEdited(ctx context.Context, l *canon.Snapshot, v *vault, moved map[*note]canon.CardID, fresh []*note,
	gone []canon.Card) error {
	if len(fresh) > maxCompared || len(gone) > maxCompared {
		return nil
	}
	lines := map[canon.CardID]map[string]bool{}
	for _, c := range gone {
		text, err := l.Content(ctx, c)
		if err != nil {
			return err
		}
		lines[c.ID] = linesOf(text)
	}
	used := map[canon.CardID]bool{}
	for _, n := range fresh {
		if len(gone) == 0 || !v.loadBody(n) {
			continue
		}
		own := linesOf(n.Body)
		n.Body = ""
		var best canon.CardID
		most, twice := 0, false
		for _, c := range gone {
			if same := countShared(own, lines[c.ID]); !used[c.ID] && 2*same > max(len(own), len(lines[c.ID])) && same >= most {
				twice = same == most
				best, most = c.ID, same
			}
		}
		if most > 0 && !twice {
			moved[n], used[best] = best, true
		}
	}
	return nil
}

func linesOf(text string) map[string]bool {
	all := map[string]bool{}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			all[line] = true
		}
	}
	return all
}

func countShared(a, b map[string]bool) (n int) {
	for line := range a {
		if b[line] {
			n++
		}
	}
	return n
}

// dropFields makes notes remove the fields that their front matter no longer has.
func (m *lastImport) dropFields(f *reader) {
	for s := range f.notes {
		was := m.source.Notes[s.ID]
		if was == nil {
			continue
		}
		now := decoded.ParseObject(string(s.Fields))
		gone := false
		for key := range decoded.ParseObject(string(was.Fields)) {
			if _, ok := now[key]; !ok {
				if now == nil {
					now = map[string]any{}
				}
				now[key], gone = nil, true
			}
		}
		if gone {
			s.Fields = decoded.EncodeFields(now)
		}
	}
}

// begin stores what the import will remember of new notes and files. If the import is cut off, an export
// gives them back as they were written, and the next import goes on.
func (m *lastImport) begin(ctx context.Context, f *reader, w *exchange.Writer, o Options) error {
	if !m.writable || len(f.notes) == 0 || w.Grant.Request().DryRun {
		return nil
	}
	next := &native.Source{Loregate: 1, Begun: true, Open: m.source.Open, Confirm: m.source.Confirm, Given: m.source.Given,
		Links: m.source.Links,
		Notes: maps.Clone(m.source.Notes),
		Files: maps.Clone(m.source.Files), Folders: slices.Clone(m.source.Folders), Cards: maps.Clone(m.source.Cards)}
	fresh := false
	for s, o := range f.notes {
		if next.Notes[s.ID] == nil {
			next.Notes[s.ID], fresh = o, true
		}
	}
	for s, from := range f.files {
		if _, known := next.Files[s.ID]; known {
			continue
		}
		hash, err := native.HashFile(f.v.files, from.Path)
		if err != nil {
			continue // the import will report it
		}
		next.Files[s.ID], fresh = native.File{Path: from.Path, Hash: hash}, true
	}
	if !fresh {
		return nil
	}
	known := map[canon.CardID]bool{}
	for _, id := range next.Folders {
		known[id] = true
	}
	for _, s := range f.c.Sheets {
		if s.Folder && !known[s.ID] {
			next.Folders = append(next.Folders, s.ID)
		}
	}
	w.ExpectCards(ctx, next.Cards)
	if err := m.write(ctx, next, w, o, "begin"); err != nil {
		return err
	}
	m.source.Begun = true // so that the memory at the end differs from it
	return nil
}

// finish handles the notes that are gone at the source, and stores the memory of this import.
func (m *lastImport) finish(ctx context.Context, f *reader, w *exchange.Writer, o Options) error {
	if !m.writable || len(f.notes) == 0 {
		return nil
	}
	kept, err := m.trashGone(ctx, f, w, o)
	if err != nil || w.Grant.Request().DryRun {
		return err
	}
	next := &native.Source{Loregate: 1, Given: true, Notes: map[canon.CardID]*native.Origin{},
		Files: map[canon.CardID]native.File{}, Cards: w.Remembered}
	next.Open, next.Confirm = f.v.choices.Decisions()
	next.Links = f.v.answers.texts()
	for _, c := range kept {
		id := m.sheetID(c.ID)
		next.Cards[id] = m.source.Cards[id]
		if o := m.source.Notes[c.ID]; o != nil {
			next.Notes[c.ID] = o
		}
		if from, ok := m.source.Files[c.ID]; ok {
			next.Files[c.ID] = from
		}
	}
	idOf := func(s *exchange.Sheet) (id canon.CardID, ok bool) {
		known, ok := w.Remembered[s.ID]
		return cmp.Or(known.ID, s.ID), ok
	}
	for s, o := range f.notes {
		id, ok := idOf(s)
		if was := m.source.Notes[id]; w.Conflicts[s] && was != nil {
			o = was
		}
		if known, had := m.source.Cards[s.ID]; !ok && had { // its card is in the trash
			next.Cards[s.ID], ok = known, true
		}
		if ok {
			next.Notes[id] = o
		}
	}
	for _, s := range f.c.Sheets {
		if s.Folder {
			next.Folders = append(next.Folders, s.ID)
		}
	}
	for s, from := range f.files {
		if id, ok := idOf(s); ok {
			next.Files[id] = *from
			if w.Conflicts[s] {
				next.Files[id] = m.source.Files[id]
			}
		}
	}
	if err := m.write(ctx, next, w, o, "source"); err != nil || len(m.others) == 0 {
		return err
	}
	_, err = w.Canon.Update(ctx, w.Grant.Part("one", w.Grant.Request().InputHash), func(p *canon.Plan) error {
		for _, c := range m.others {
			if c, ok, err := p.Has("~" + c.ID.String()); err != nil || !ok {
				return err
			} else if err := p.Trash(c); err != nil {
				return err
			}
		}
		return nil
	})
	return err
}

// sheetID returns the id under which a card is remembered.
func (m *lastImport) sheetID(card canon.CardID) canon.CardID {
	if _, ok := m.source.Cards[card]; ok {
		return card
	}
	if m.sheetOf == nil {
		m.sheetOf = map[canon.CardID]canon.CardID{}
		for id, k := range m.source.Cards {
			if !k.ID.IsZero() {
				m.sheetOf[k.ID] = id
			}
		}
	}
	return cmp.Or(m.sheetOf[card], card)
}

// trashGone moves the cards to the trash that the source no longer has: those of notes that are
// still there at once, such as their hidden parts, the others only if the options say so. It returns
// the cards that stay.
func (m *lastImport) trashGone(ctx context.Context, f *reader, w *exchange.Writer, o Options) (kept []canon.Card,
	err error) {
	there := map[canon.CardID]bool{}
	for s := range f.notes {
		there[cmp.Or(w.Remembered[s.ID].ID, s.ID)] = true
	}
	fileOf := func(c canon.Card) string {
		if note := m.source.Notes[c.ID]; note != nil {
			return note.Path
		}
		return cmp.Or(m.source.Files[c.ID].Path, c.Name)
	}
	var gone, waiting []canon.Card
	for _, c := range w.FindGone() {
		if o.Prune || there[c.Parent] {
			gone = append(gone, c)
		} else {
			waiting = append(waiting, c)
		}
	}
	if len(waiting) > 0 {
		var files []string
		for _, c := range waiting {
			if m.source.Notes[c.ID] != nil || m.source.Files[c.ID].Path != "" {
				files = append(files, fileOf(c))
			}
		}
		slices.Sort(files)
		w.Summary.Said = append(w.Summary.Said, fmt.Sprintf(
			"Gone at the source: %d notes and files (%s). Their cards stay; --prune moves them to the trash.", len(files),
			exchange.FirstNames(files)))
	}
	n, err := w.TrashGone(ctx, gone, fileOf)
	if n > 0 {
		w.Summary.Said = append(w.Summary.Said,
			fmt.Sprintf("%d cards that are gone at the source were moved to the trash.", n))
	}
	return waiting, err
}

// write stores the memory, if it changed, in a commit of its own. part distinguishes it from the other
// commits of the import.
func (m *lastImport) write(ctx context.Context, next *native.Source, w *exchange.Writer, o Options, part string) error {
	if !m.card.ID.IsZero() && !m.source.Begun && !next.Begun {
		was, is := sha256.New(), sha256.New()
		if m.source.Encode(was) == nil && next.Encode(is) == nil && bytes.Equal(was.Sum(nil), is.Sum(nil)) {
			return nil
		}
	}
	s, err := next.Sheet(o.Label, o.Level)
	if err != nil {
		return err
	}
	quiet := &exchange.Writer{Canon: w.Canon, Grant: w.Grant.Part(part, w.Grant.Request().InputHash),
		Summary: &exchange.Summary{}}
	if err := quiet.WriteSheet(ctx, s); err != nil {
		return err
	}
	w.Summary.Problems = exchange.AppendProblems(w.Summary.Problems, quiet.Summary.Problems...)
	return nil
}
