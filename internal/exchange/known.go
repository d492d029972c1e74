package exchange

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/decoded"
	"loregate/internal/markup"
)

// Memory is what an import remembers of a card: the sheet that it wrote, and the card after that.
type Memory struct {
	Sheet digest       `json:"sheet"`
	Card  digest       `json:"card"`
	Parts digest       `json:"parts,omitzero"` // the card's hidden parts; zero is unknown
	Text  digest       `json:"text,omitzero"`  // the sheet without decisions; zero is unknown
	Want  access.Label `json:"want,omitzero"`  // the sheet's label; zero is unknown
	Own   access.Label `json:"own,omitzero"`   // the card's own label after that; zero is unknown
	ID    canon.CardID `json:"id,omitzero"`    // of the card, if the sheet's id is another
}

// digest is the beginning of a SHA-256; zero is none. In JSON it is base64.
type digest [16]byte

// MarshalText encodes a digest.
func (d digest) MarshalText() ([]byte, error) {
	return base64.StdEncoding.AppendEncode(nil, d[:]), nil
}

// UnmarshalText decodes a digest. Text that is none becomes the zero digest.
func (d *digest) UnmarshalText(text []byte) error {
	b, err := base64.StdEncoding.DecodeString(string(text))
	if err != nil || len(b) != len(d) {
		*d = digest{}
		return nil //nolint:nilerr // a card without a digest counts as changed
	}
	*d = digest(b)
	return nil
}

func digestOf(v ...any) digest {
	b, err := json.Marshal(v)
	if err != nil {
		return digest{} // never equal to a remembered one
	}
	sum := sha256.Sum256(b)
	return digest(sum[:16])
}

func (d digest) equal(other digest) bool { return d != digest{} && d == other }

// digestSheet returns the digest of everything that a sheet writes. Its content must have been read.
func digestSheet(s *Sheet) digest {
	above := canon.CardID{}
	if s.Above != nil {
		above = s.Above.ID
	}
	return digestOf(s.Name, above, s.Parent, s.Root, s.MinLevel, s.Content.Type, s.Format, s.Content.Text,
		sha256.Sum256(s.Content.file), s.Fields, s.Codename, s.Label, s.Exact, s.Items, s.Hide, s.HideFields, s.Beside,
		s.Exported, s.Opens, s.OpensCard, s.Hides, s.HidesCard)
}

// digestSource returns the digest of a sheet without the decisions about it.
func digestSource(s *Sheet) digest {
	return digestOf(s.Name, s.Content.Text, sha256.Sum256(s.Content.file), s.Fields)
}

// digestCard returns the digest of the parts of a card that an import replaces. Its name and its
// level are none: an import keeps names, and only raises levels.
func digestCard(c canon.Card) digest {
	return digestOf(c.Type, c.Format, c.Content, c.Fields, c.Codename)
}

// digestParts returns the digest of the hidden parts of a card, in the cards that hold them. Cards that hold nothing do
// not count: the undo of an import leaves them.
func digestParts(holders []canon.Card) digest {
	var all []digest
	for _, h := range holders {
		if holdsParts(h) {
			all = append(all, digestOf(h.Label, h.Content, h.Fields))
		}
	}
	return digestOf("parts", all)
}

func holdsParts(h canon.Card) bool {
	return h.Content != canon.Hash{} || len(decoded.ParseObject(string(h.Fields))) > 0
}

// ExpectCards adds to expected the memory that the import will have of its cards, if no cards were there before:
// those that it does not know yet and that hold no files.
func (w *Writer) ExpectCards(ctx context.Context, expected map[canon.CardID]Memory) {
	w.Collection.Arrange()
	problems := w.Summary.Problems
	for _, s := range w.Collection.Sheets {
		if _, known := w.Known[s.ID]; known || s.Data != nil || s.Body == nil {
			continue
		}
		w.readSheet(ctx, s)
		c := canon.Card{Type: cmp.Or(s.Content.Type, canon.TypeRichText), Format: s.Format, Fields: s.openFields(),
			Codename: s.Codename}
		if open := s.Divide(*s.Content.Text).Open; open != "" {
			c.Content = sha256.Sum256([]byte(open))
		}
		m := Memory{Sheet: digestSheet(s), Card: digestCard(c), Text: digestSource(s), Want: s.Label, Own: s.Label}
		if s.InPlace && c.Content == sha256.Sum256([]byte(*s.Content.Text)) && len(s.HideFields) == 0 {
			m.Parts = digestParts(nil)
		}
		expected[s.ID] = m
		s.Content = Content{}
	}
	w.Summary.Problems = problems // the import reports them
}

// openFields returns the fields of a sheet that are not hidden.
func (s *Sheet) openFields() json.RawMessage {
	hidden := s.hiddenFields(nil)
	if len(hidden) == 0 {
		return s.Fields
	}
	all := decoded.ParseObject(string(s.Fields))
	for _, name := range hidden {
		delete(all, name)
	}
	return decoded.EncodeFields(all)
}

// loadKnown reads the living cards that an earlier import of the same source wrote.
func (w *Writer) loadKnown(ctx context.Context) error {
	w.Remembered = map[canon.CardID]Memory{}
	if len(w.Known) == 0 {
		return nil
	}
	known := map[canon.CardID]bool{}
	for id, k := range w.Known {
		known[cmp.Or(k.ID, id)] = true
	}
	w.there, w.holders = make(map[canon.CardID]canon.Card, len(known)), map[canon.CardID][]canon.Card{}
	return persist(ctx, func() error {
		return w.Canon.Read(ctx, w.Grant, func(l *canon.Snapshot) error {
			for c, err := range l.AllCards(ctx, canon.Filter{TagLists: true}) {
				if err != nil {
					return err
				}
				if known[c.ID] {
					w.there[c.ID] = c
				}
				if c.Places != nil && known[c.Parent] {
					w.holders[c.Parent] = append(w.holders[c.Parent], c)
				}
			}
			return nil
		})
	})
}

// knownCard returns the memory of a sheet and its card. ok is false if the card must be planned.
func (w *Writer) knownCard(s *Sheet) (k Memory, card canon.Card, ok bool) {
	if k, ok = w.Known[s.ID]; !ok {
		return k, card, false
	}
	card, ok = w.there[cmp.Or(k.ID, s.ID)]
	return k, card, ok
}

// keepKnown handles a sheet whose card needs no plan: the source is as it was, so that the card stays,
// even if it was changed here.
func (w *Writer) keepKnown(s *Sheet) bool {
	k, card, ok := w.knownCard(s)
	if !ok || !k.Sheet.equal(digestSheet(s)) {
		return false
	}
	w.Remembered[s.ID] = k
	s.finish(card)
	if w.claimed == nil {
		w.claimed = map[canon.CardID]*Sheet{}
	}
	w.claimed[card.ID] = s
	if !s.isTagList() {
		w.Summary.Unchanged++
	}
	w.countLevel(s, card)
	return true
}

// isConflict reports whether a card was changed both here and at the source since the last import. Items that either
// added or removed are merged.
func (w *Writer) isConflict(s *Sheet) bool {
	k, card, ok := w.knownCard(s)
	if ok && !s.Folder && s.wasOpened(k, card) && !s.isContentOf(card) {
		return true
	}
	if !ok || s.Folder || s.Items || w.wasExported(card) || k.IsOf(card) &&
		(k.Parts == digest{} || k.Parts.equal(digestParts(w.holders[card.ID]))) {
		return false
	}
	return slices.ContainsFunc(w.holders[card.ID], holdsParts) || !s.isContentOf(card)
}

// wasExported reports whether the source had the card and its hidden parts as they are.
func (w *Writer) wasExported(card canon.Card) bool {
	return card.Seq <= w.Exported && !slices.ContainsFunc(w.holders[card.ID], func(h canon.Card) bool {
		return h.Seq > w.Exported
	})
}

// isDecided reports whether a sheet differs from the last one in decisions alone.
func (w *Writer) isDecided(s *Sheet) bool {
	k, _, ok := w.knownCard(s)
	return ok && k.Text.equal(digestSource(s))
}

// wasOpened reports whether a card that the source hides, as it did before, was opened here.
func (s *Sheet) wasOpened(k Memory, card canon.Card) bool {
	return !s.OpensCard && !s.HidesCard && k.Want.Level == s.Label.Level && k.WasOpened(card.Own)
}

// WasOpened reports whether a card that the import hid, and that has a label of its own now, was opened since.
func (m Memory) WasOpened(own access.Label) bool {
	return m.Want.Level > access.LevelUser && m.Own.Level == m.Want.Level && own.Level < m.Own.Level
}

// ownLabel returns the own label that a sheet gives to its card. An import only raises labels, unless its user
// opens a card; a card that was opened here stays open.
func (w *Writer) ownLabel(s *Sheet, card canon.Card) access.Label {
	k, known := w.Known[s.ID]
	switch {
	case known && s.wasOpened(k, card):
		return card.Own
	case s.OpensCard && known && (k.Own.Equal(card.Own) || k.Own.Level == access.LevelNone && onlyGM(card.Own)):
		return s.Label
	}
	return card.Own.Meet(s.Label)
}

func onlyGM(l access.Label) bool { return l.Equal(access.NewLabel(access.LevelGM)) }

// isContentOf reports whether a card already has the sheet's content.
func (s *Sheet) isContentOf(c canon.Card) bool {
	data := s.Content.file
	if s.Content.Text != nil {
		data = []byte(s.Divide(*s.Content.Text).Open)
	}
	return len(data) == 0 && c.Content == canon.Hash{} || c.Content == sha256.Sum256(data) && c.Format == s.Format
}

// conflictPart is the name part, below a card, of the card with the source's text in a conflict.
const conflictPart = GMPart + "+Conflict"

// ConflictID returns the id of the card with the source's text in a conflict about a card.
func ConflictID(card canon.CardID) canon.CardID { return ChildID(card, conflictPart) }

// putConflict leaves a card as it is and writes the source's text beside it, for the GM. A card for
// higher levels at the source gets that level. If the text beside it was put into the trash, the
// conflict is resolved.
func (w *Writer) putConflict(ctx context.Context, p *canon.Plan, t *tally, s *Sheet) error {
	_, card, _ := w.knownCard(s)
	was := card
	card, err := p.SetLabel(card, w.ownLabel(s, card))
	if err != nil {
		return reportRefusal(t, s.File, err)
	}
	decided := w.isDecided(s)
	if card, err = hideParts(p, t, s, card); err == nil && decided {
		card, err = openParts(p, s, card)
	}
	if err != nil {
		return reportRefusal(t, s.File, err)
	}
	t.claimed[card.ID], t.got[s] = s, card
	if isSameCard(was, card) {
		t.unchanged++
	} else {
		t.updated++
	}
	if decided {
		t.resolved = append(t.resolved, s)
		return nil
	}
	beside := &Sheet{File: s.File, ID: ConflictID(card.ID), Above: s, Name: conflictPart, Type: s.Content.Type,
		Format: s.Format, Fields: s.Fields, Label: access.NewLabel(access.LevelGM), MatchIDOnly: true,
		Content: s.Content, Data: s.Data}
	if seen, trashed, err := p.Trashed(ctx, beside.ID); err != nil || trashed && beside.isContentOf(seen) {
		t.resolved = append(t.resolved, s)
		return err
	}
	t.conflicts = append(t.conflicts, s)
	t.addProblem(s.File, "changed here and at the source; the card stays as it is, and the source's text is in %q: "+
		"put what you want into the card, put that one into the trash, and import again",
		markup.Join(card.Name, conflictPart))
	counts := *t
	err = w.putSheet(ctx, p, t, beside)
	t.created, t.updated, t.unchanged, t.attached = counts.created, counts.updated, counts.unchanged, counts.attached
	delete(t.got, beside)
	return err
}

// FindGone returns the remembered cards that the source no longer has and that still live.
func (w *Writer) FindGone() (gone []canon.Card) {
	for id, k := range w.Known {
		if _, ok := w.Remembered[id]; ok || w.Collection.byID[id] != nil {
			continue
		}
		id = cmp.Or(k.ID, id)
		if c, ok := w.there[id]; ok && w.claimed[id] == nil {
			gone = append(gone, c)
		}
	}
	slices.SortFunc(gone, func(a, b canon.Card) int { return slices.Compare(a.ID[:], b.ID[:]) })
	return gone
}

// TrashGone puts cards of FindGone into the trash, except those that were changed here, which are
// reported. file returns the source of a card.
func (w *Writer) TrashGone(ctx context.Context, gone []canon.Card, file func(canon.Card) string) (n int, err error) {
	states := map[canon.CardID]digest{}
	for id, k := range w.Known {
		states[cmp.Or(k.ID, id)] = k.Card
	}
	for batch := range slices.Chunk(gone, batchCards) {
		trashed := 0
		err := w.commit(ctx, func(p *canon.Plan, t *tally) error {
			trashed = 0
			for _, c := range batch {
				now, ok, err := p.Has("~" + c.ID.String())
				if err != nil {
					return err
				}
				switch {
				case !ok, now.Places != nil: // a holder of hidden parts goes with the text above it
				case !states[c.ID].equal(digestCard(now)):
					t.addProblem(file(c), "is gone at the source, but %q was changed here; it stays", c.Name)
				default:
					if err := p.Trash(now); err != nil {
						if err := reportRefusal(t, file(c), err); err != nil {
							return fmt.Errorf("%s: %w", c.Name, err)
						}
						continue
					}
					trashed++
				}
			}
			return nil
		})
		if err != nil {
			return n, err
		}
		n += trashed
	}
	return n, nil
}

// ReadMarks reports whether the import that wrote the card read the marks in its text. Earlier releases divided notes
// alone, and kept no digest of the sheet without decisions.
func (m Memory) ReadMarks() bool { return m.Text != digest{} }

// IsOf reports whether a card is as the import left it.
func (m Memory) IsOf(c canon.Card) bool { return m.Card.equal(digestCard(c)) }
