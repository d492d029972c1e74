package storetest

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
)

// writeRandom runs one random write.
func (m *model) writeRandom() {
	m.seq++
	w := m.pickWorld()
	living := m.livingCards(w)
	var what string
	var changes []change
	switch pick := m.rng.IntN(100); {
	case len(living) == 0 || pick < 18 && len(living) < modelCards:
		what, changes = "create", m.createCard(w, living)
	case pick < 32:
		what, changes = "update", m.updateCard(pickOne(m, living...))
	case pick < 42:
		what, changes = "rename or relabel", m.moveCard(pickOne(m, living...), living)
	case pick < 50:
		what, changes = "trash", m.trashCard(pickOne(m, living...))
	case pick < 55:
		what, changes = "restore", m.restoreCards(w)
	case pick < 65:
		what, changes = "refs", m.putRefs(pickOne(m, living...))
	case pick < 75:
		what, changes = "link", m.putLink(w, living)
	case pick < 83:
		what, changes = "layer", m.putLayer(w, living)
	case pick < 88:
		what, changes = "body", m.putBody(w)
	case pick < 91:
		what, changes = "member", m.putMember(w)
	case pick < 94:
		what, changes = "commit", m.appendCommit()
	case pick < 97:
		what, changes = "index", m.indexCard(pickOne(m, living...))
	case pick < 98:
		what, changes = "purge", m.purgeVersion(pickOne(m, living...))
	case pick < 99:
		what, changes = "event", m.putEvents(w)
	case m.chance(10):
		what, changes = "clear", m.clearWorld(w)
	}
	if m.chance(5) {
		what += " and fail"
		changes = append(changes, func(canon.Tx) error { return errTest })
		m.applyChanges(what, false, changes...)
		return
	}
	m.applyChanges(what, m.chance(30), changes...)
}

func (m *model) putWorld(n int) change {
	return func(tx canon.Tx) error { return tx.PutWorld(m.t.Context(), World(n)) }
}

// putCard writes a card, its version and its index entry. If the card is refused, it writes
// nothing.
func (m *model) putCard(c canon.Card, text string) change {
	v := Version(c)
	if m.chance(20) {
		v.Former = canon.FormerName{Name: m.pickName(), Label: m.pickLabel()}
	}
	doc := &canon.SearchDoc{Name: c.Name, Text: text}
	if c.Trashed() {
		doc = nil
	}
	return func(tx canon.Tx) error {
		if err := tx.PutCard(m.t.Context(), c); err != nil {
			return err
		}
		if err := tx.EndVersion(m.t.Context(), c.World, c.ID, v.From); err != nil {
			return err
		}
		if err := tx.PutVersion(m.t.Context(), v); err != nil {
			return err
		}
		return tx.Index(m.t.Context(), c, doc)
	}
}

// stampCard returns c as the next version, written in this step. Several steps share a time.
func (m *model) stampCard(c canon.Card) canon.Card {
	c = Next(c, int(m.seq))
	c.UpdatedAt = Time(int(m.seq / 4)).Add(time.Duration(m.rng.IntN(2)) * time.Millisecond)
	c.UpdatedBy = pickOne(m, access.Subject("ann"), "bob")
	return c
}

func (m *model) createCard(w access.WorldID, living []canon.Card) []change {
	c := canon.Card{World: w, ID: CardID(m.nextID()), Part: pickOne(m, modelParts...), Own: m.pickLabel(),
		CreatedBy: "ann", CreatedAt: Time(int(m.seq / 4))}
	var parent canon.Card
	if len(living) > 0 && m.chance(60) {
		parent = pickOne(m, living...)
		c.Parent = parent.ID
	}
	m.randomizeCard(&c)
	return []change{m.putCard(m.stampCard(inheritFrom(c, parent)), m.randomText(8))}
}

// randomizeCard sets a random type, content, fields and codename.
func (m *model) randomizeCard(c *canon.Card) {
	c.Format = pickOne(m, canon.FormatHTML, canon.FormatMarkdown)
	c.Type = pickOne(m, "RichText", "rich text", "Lore", "Lores", "Place")
	c.Fields = pickOne(m, nil, json.RawMessage(`{"a":1}`), json.RawMessage(`{"b":"é <&>"}`),
		json.RawMessage(`{"c":["Lanterns","the ferry"]}`), json.RawMessage(`{"sort":1}`), json.RawMessage(`{"sort":-2}`),
		json.RawMessage(`{"aliases":["Old Hall","Été bis"],"sort":1.0}`),
		json.RawMessage(`{"aliases":["ferryman"," ","Old  Hall"],"sort":7}`))
	if m.chance(20) {
		c.Codename = pickOne(m, "", "one", "two", "three", "four")
	}
	if m.chance(50) {
		*c = With(*c, pickOne(m, modelWords...))
	}
}

func (m *model) updateCard(c canon.Card) []change {
	m.randomizeCard(&c)
	return []change{m.putCard(m.stampCard(c), m.randomText(8))}
}

// moveCard renames, relabels or moves a card and updates all its descendants.
func (m *model) moveCard(c canon.Card, living []canon.Card) []change {
	family := m.listBelow(c)
	if m.chance(60) {
		c.Part = pickOne(m, modelParts...)
	}
	if m.chance(60) {
		c.Own = m.pickLabel()
	}
	if m.chance(30) {
		c.Parent = canon.CardID{}
		if p := pickOne(m, living...); p.ID != c.ID && !slices.Contains(cardIDs(family), p.ID) {
			c.Parent = p.ID
		}
	}
	moved := map[canon.CardID]canon.Card{}
	for _, l := range living {
		moved[l.ID] = l
	}
	var changes []change
	for _, f := range append([]canon.Card{c}, family...) {
		f = m.stampCard(inheritFrom(f, moved[f.Parent]))
		moved[f.ID] = f
		changes = append(changes, m.putCard(f, m.randomText(8)))
	}
	return changes
}

func (m *model) trashCard(c canon.Card) []change {
	var changes []change
	for _, f := range append([]canon.Card{c}, m.listBelow(c)...) {
		changes = append(changes, m.putCard(Trashed(m.stampCard(f), c, int(m.seq/4)), ""))
	}
	return changes
}

// restoreCards restores a root from the trash, with all cards that were trashed with it, if its
// parent is alive.
func (m *model) restoreCards(w access.WorldID) []change {
	var family []canon.Card
	alive := map[canon.CardID]canon.Card{{}: {}}
	m.readModel(func(r canon.Reader) error {
		roots, _, err := r.Trash(m.t.Context(), canon.Visibility{World: w, View: AsAll}, everything)
		if err != nil || len(roots) == 0 {
			return err
		}
		family, err = r.FindCards(m.t.Context(), canon.Visibility{World: w, View: AsAll},
			canon.CardQuery{TrashRoot: pickOne(m, roots...).ID})
		return err
	})
	for _, l := range m.livingCards(w) {
		alive[l.ID] = l
	}
	var changes []change
	for len(family) > 0 { // parents before their children
		i := slices.IndexFunc(family, func(c canon.Card) bool { _, ok := alive[c.Parent]; return ok })
		if i < 0 {
			return changes
		}
		c := family[i]
		family = slices.Delete(family, i, i+1)
		c.TrashedAt, c.TrashRoot = time.Time{}, canon.CardID{}
		c = m.stampCard(inheritFrom(c, alive[c.Parent]))
		alive[c.ID] = c
		changes = append(changes, m.putCard(c, m.randomText(8)))
	}
	return changes
}

func (m *model) putRefs(c canon.Card) []change {
	refs := []canon.Ref{}
	for i := range m.rng.IntN(5) {
		r := refTo(pickOne(m, link, link, nest), pickOne(m, modelParts...))
		if c.Key.Tag() == "tag" && m.chance(80) {
			r.Kind = tag
		}
		r.From, r.Order = c.ID, i
		refs = append(refs, r)
	}
	doc := &canon.SearchDoc{Name: c.Name, Text: m.randomText(8)}
	return []change{func(tx canon.Tx) error {
		if err := tx.PutRefs(m.t.Context(), c.World, c.ID, refs); err != nil || !canon.HoldsTags(c.Key) {
			return err
		}
		return tx.Index(m.t.Context(), c, doc)
	}}
}

func (m *model) putLink(w access.WorldID, living []canon.Card) []change {
	l := canon.Link{World: w, ID: LinkID(m.nextID()), Kind: pickOne(m, "exit", "at", "within"),
		From: pickOne(m, living...).ID, To: pickOne(m, living...).ID,
		Attrs: pickOne(m, nil, json.RawMessage(`{"a":"<"}`),
			json.RawMessage(fmt.Sprintf(`{"clock":%d,"n":%d}`, m.seq%50, m.rng.IntN(9)-4))), Label: m.pickLabel(), Since: m.seq,
		At: Time(int(m.seq))}
	var current []canon.Link
	m.readModel(func(r canon.Reader) (err error) {
		current, _, err = r.Links(m.t.Context(), canon.Visibility{World: w, View: AsAll}, canon.LinkQuery{Page: everything})
		return err
	})
	put := func(tx canon.Tx) error { return tx.PutLink(m.t.Context(), l) }
	if len(current) == 0 || m.chance(50) {
		return []change{put}
	}
	l.ID = pickOne(m, current...).ID
	end := func(tx canon.Tx) error { return tx.EndLink(m.t.Context(), w, l.ID, m.seq) }
	if m.chance(50) {
		return []change{end}
	}
	return []change{end, put}
}

func (m *model) putLayer(w access.WorldID, living []canon.Card) []change {
	from := int64(m.rng.IntN(20))
	l := canon.Layer{World: w, ID: LayerID(m.nextID()), Card: pickOne(m, living...).ID,
		Kind: pickOne(m, "base", "weather"), Text: m.randomText(3), FromTick: from,
		ToTick: pickOne(m, 0, from, from+5), Label: m.pickLabel(), Since: m.seq, At: Time(int(m.seq))}
	put := func(tx canon.Tx) error { return tx.PutLayer(m.t.Context(), l) }
	var current []canon.Layer
	m.readModel(func(r canon.Reader) (err error) {
		current, err = r.Layers(m.t.Context(), canon.Visibility{World: w, View: AsAll},
			canon.LayerQuery{Card: pickOne(m, living...).ID})
		return err
	})
	if len(current) == 0 || m.chance(50) {
		return []change{put}
	}
	l.ID = pickOne(m, current...).ID
	end := func(tx canon.Tx) error { return tx.EndLayer(m.t.Context(), w, l.ID, m.seq) }
	if m.chance(50) {
		return []change{end}
	}
	return []change{end, put}
}

func (m *model) putBody(w access.WorldID) []change {
	text := pickOne(m, modelWords...)
	if m.chance(30) {
		return []change{func(tx canon.Tx) error { return tx.EraseBody(m.t.Context(), w, HashOf(text)) }}
	}
	return []change{func(tx canon.Tx) error { return tx.PutBody(m.t.Context(), w, HashOf(text), []byte(text)) }}
}

func (m *model) putMember(w access.WorldID) []change {
	who := canon.Member{World: w, Subject: pickOne(m, access.Subject("ann"), "bob", "zoe"),
		Role: pickOne(m, access.RoleNone, access.RoleUser, access.RoleGM)}
	world := World(int(w[15]))
	world.Slug, world.Title = pickOne(m, world.Slug, "world-1", "other"), m.randomText(2)
	return []change{
		func(tx canon.Tx) error { return tx.PutMember(m.t.Context(), who) },
		func(tx canon.Tx) error { return tx.PutWorld(m.t.Context(), world) },
	}
}

// appendCommit appends a commit to a stream, sometimes one with a wrong sequence number.
func (m *model) appendCommit() []change {
	id := pickOne(m, canon.StreamID("a"), "b", canon.WorldStream(WorldID(1)))
	off := pickOne(m, canon.Seq(0), 0, 0, 1)
	return []change{
		func(tx canon.Tx) error {
			head, err := tx.Head(m.t.Context(), id)
			if err != nil {
				return err
			}
			c := Commit(id, head)
			c.Seq += off
			return tx.Append(m.t.Context(), c)
		},
		func(tx canon.Tx) error {
			return tx.PutRepeat(m.t.Context(), canon.Repeat{Account: "k", Key: string(id), Stream: id, Seq: m.seq,
				Expires: Time(int(m.seq))})
		},
	}
}

// putEvents writes some events, sometimes one for a commit that already has an event.
func (m *model) putEvents(w access.WorldID) (changes []change) {
	for range 1 + m.rng.IntN(12) {
		e := Event(m.nextID(), pickOne(m, "moved", "said"), pickOne(m, "", "place:1", "place:2"), m.pickLabel())
		e.World, e.Seq, e.Key = w, canon.Seq(1+m.rng.IntN(60)), pickOne(m, "", "", "a", "b")
		e.Payload = pickOne(m, nil, json.RawMessage(`{"a":1}`))
		changes = append(changes, func(tx canon.Tx) error { return tx.PutEvent(m.t.Context(), e) })
	}
	return changes
}

func (m *model) indexCard(c canon.Card) []change {
	doc := &canon.SearchDoc{Name: c.Name, Text: m.randomText(20)}
	if m.chance(20) {
		doc = nil
	}
	return []change{func(tx canon.Tx) error { return tx.Index(m.t.Context(), c, doc) }}
}

// purgeVersion marks the current version of a card as erased.
func (m *model) purgeVersion(c canon.Card) []change {
	v := Version(c)
	v.Purged = true
	return []change{
		func(tx canon.Tx) error { return tx.PutVersion(m.t.Context(), v) },
		func(tx canon.Tx) error {
			used, err := tx.BodyInUse(m.t.Context(), c.World, c.Content)
			if err != nil || used {
				return err
			}
			return tx.EraseBody(m.t.Context(), c.World, c.Content)
		},
	}
}

func (m *model) clearWorld(w access.WorldID) []change {
	return []change{
		func(tx canon.Tx) error { return tx.Clear(m.t.Context(), w) },
		func(tx canon.Tx) error {
			world := World(int(w[15]))
			world.Slug = fmt.Sprintf("%s-%d", world.Slug, m.step)
			return tx.PutWorld(m.t.Context(), world)
		},
	}
}
