package storetest

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
)

// write does one random write.
func (m *model) write() {
	m.seq++
	w := m.world()
	living := m.living(w)
	var what string
	var changes []change
	switch pick := m.rng.IntN(100); {
	case len(living) == 0 || pick < 18 && len(living) < modelCards:
		what, changes = "create", m.create(w, living)
	case pick < 32:
		what, changes = "update", m.update(one(m, living...))
	case pick < 42:
		what, changes = "rename or relabel", m.move(one(m, living...), living)
	case pick < 50:
		what, changes = "trash", m.trash(one(m, living...))
	case pick < 55:
		what, changes = "restore", m.restore(w)
	case pick < 65:
		what, changes = "refs", m.refer(one(m, living...))
	case pick < 75:
		what, changes = "link", m.link(w, living)
	case pick < 83:
		what, changes = "layer", m.layer(w, living)
	case pick < 88:
		what, changes = "body", m.body(w)
	case pick < 91:
		what, changes = "member", m.member(w)
	case pick < 94:
		what, changes = "commit", m.commit()
	case pick < 97:
		what, changes = "index", m.index(one(m, living...))
	case pick < 98:
		what, changes = "purge", m.purge(one(m, living...))
	case pick < 99:
		what, changes = "event", m.event(w)
	case m.chance(10):
		what, changes = "clear", m.clear(w)
	}
	if m.chance(5) {
		what += " and fail"
		changes = append(changes, func(canon.Tx) error { return errTest })
		m.apply(what, false, changes...)
		return
	}
	m.apply(what, m.chance(30), changes...)
}

func (m *model) putWorld(n int) change {
	return func(tx canon.Tx) error { return tx.PutWorld(m.t.Context(), World(n)) }
}

// put writes a card, its version and its index: nothing more where the card is refused.
func (m *model) put(c canon.Card, text string) change {
	v := Version(c)
	if m.chance(20) {
		v.Former = canon.FormerName{Name: m.name(), Label: m.label()}
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

// now is a card as this step writes it. Several steps share a moment.
func (m *model) now(c canon.Card) canon.Card {
	c = Next(c, int(m.seq))
	c.UpdatedAt = Time(int(m.seq / 4)).Add(time.Duration(m.rng.IntN(2)) * time.Millisecond)
	c.UpdatedBy = one(m, access.Subject("ann"), "bob")
	return c
}

func (m *model) create(w access.WorldID, living []canon.Card) []change {
	c := canon.Card{World: w, ID: CardID(m.id()), Part: one(m, modelParts...), Own: m.label(), CreatedBy: "ann", CreatedAt: Time(int(m.seq / 4))}
	var parent canon.Card
	if len(living) > 0 && m.chance(60) {
		parent = one(m, living...)
		c.Parent = parent.ID
	}
	m.dress(&c)
	return []change{m.put(m.now(settled(c, parent)), m.text(8))}
}

// dress gives a card a random type, content, fields and codename.
func (m *model) dress(c *canon.Card) {
	c.Type = one(m, "RichText", "rich text", "Lore", "Lores", "Place")
	c.Fields = one(m, nil, json.RawMessage(`{"a":1}`), json.RawMessage(`{"b":"é <&>"}`), json.RawMessage(`{"c":["Lanterns","the ferry"]}`), json.RawMessage(`{"sort":1}`), json.RawMessage(`{"sort":-2}`),
		json.RawMessage(`{"aliases":["Old Hall","Été bis"],"sort":1.0}`), json.RawMessage(`{"aliases":["ferryman"," ","Old  Hall"],"sort":7}`))
	if m.chance(20) {
		c.Codename = one(m, "", "one", "two", "three", "four")
	}
	if m.chance(50) {
		*c = With(*c, one(m, modelWords...))
	}
}

func (m *model) update(c canon.Card) []change {
	m.dress(&c)
	return []change{m.put(m.now(c), m.text(8))}
}

// move renames, relabels or moves a card with all that is below it.
func (m *model) move(c canon.Card, living []canon.Card) []change {
	family := m.below(c)
	if m.chance(60) {
		c.Part = one(m, modelParts...)
	}
	if m.chance(60) {
		c.Own = m.label()
	}
	if m.chance(30) {
		c.Parent = canon.CardID{}
		if p := one(m, living...); p.ID != c.ID && !slices.Contains(ids(family), p.ID) {
			c.Parent = p.ID
		}
	}
	moved := map[canon.CardID]canon.Card{}
	for _, l := range living {
		moved[l.ID] = l
	}
	var changes []change
	for _, f := range append([]canon.Card{c}, family...) {
		f = m.now(settled(f, moved[f.Parent]))
		moved[f.ID] = f
		changes = append(changes, m.put(f, m.text(8)))
	}
	return changes
}

func (m *model) trash(c canon.Card) []change {
	var changes []change
	for _, f := range append([]canon.Card{c}, m.below(c)...) {
		changes = append(changes, m.put(Trashed(m.now(f), c, int(m.seq/4)), ""))
	}
	return changes
}

// restore brings back a root whose parent lives, with all that went with it.
func (m *model) restore(w access.WorldID) []change {
	var family []canon.Card
	alive := map[canon.CardID]canon.Card{{}: {}}
	m.read(func(r canon.Reader) error {
		roots, _, err := r.Trash(m.t.Context(), canon.Visibility{World: w, View: AsAll}, everything)
		if err != nil || len(roots) == 0 {
			return err
		}
		family, err = r.FindCards(m.t.Context(), canon.Visibility{World: w, View: AsAll}, canon.CardQuery{TrashRoot: one(m, roots...).ID})
		return err
	})
	for _, l := range m.living(w) {
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
		c = m.now(settled(c, alive[c.Parent]))
		alive[c.ID] = c
		changes = append(changes, m.put(c, m.text(8)))
	}
	return changes
}

func (m *model) refer(c canon.Card) []change {
	refs := []canon.Ref{}
	for i := range m.rng.IntN(5) {
		r := to(one(m, link, link, nest), one(m, modelParts...))
		if c.Key.Tag() == "tag" && m.chance(80) {
			r.Kind = tag
		}
		r.From, r.Order = c.ID, i
		refs = append(refs, r)
	}
	doc := &canon.SearchDoc{Name: c.Name, Text: m.text(8)}
	return []change{func(tx canon.Tx) error {
		if err := tx.PutRefs(m.t.Context(), c.World, c.ID, refs); err != nil || !canon.HoldsTags(c.Key) {
			return err
		}
		return tx.Index(m.t.Context(), c, doc)
	}}
}

func (m *model) link(w access.WorldID, living []canon.Card) []change {
	l := canon.Link{World: w, ID: LinkID(m.id()), Kind: one(m, "exit", "at", "within"), From: one(m, living...).ID, To: one(m, living...).ID,
		Attrs: one(m, nil, json.RawMessage(`{"a":"<"}`), json.RawMessage(fmt.Sprintf(`{"clock":%d,"n":%d}`, m.seq%50, m.rng.IntN(9)-4))), Label: m.label(), Since: m.seq, At: Time(int(m.seq))}
	var current []canon.Link
	m.read(func(r canon.Reader) (err error) {
		current, _, err = r.Links(m.t.Context(), canon.Visibility{World: w, View: AsAll}, canon.LinkQuery{Page: everything})
		return err
	})
	put := func(tx canon.Tx) error { return tx.PutLink(m.t.Context(), l) }
	if len(current) == 0 || m.chance(50) {
		return []change{put}
	}
	l.ID = one(m, current...).ID
	end := func(tx canon.Tx) error { return tx.EndLink(m.t.Context(), w, l.ID, m.seq) }
	if m.chance(50) {
		return []change{end}
	}
	return []change{end, put}
}

func (m *model) layer(w access.WorldID, living []canon.Card) []change {
	from := int64(m.rng.IntN(20))
	l := canon.Layer{World: w, ID: LayerID(m.id()), Card: one(m, living...).ID, Kind: one(m, "base", "weather"), Text: m.text(3), FromTick: from,
		ToTick: one(m, 0, from, from+5), Label: m.label(), Since: m.seq, At: Time(int(m.seq))}
	put := func(tx canon.Tx) error { return tx.PutLayer(m.t.Context(), l) }
	var current []canon.Layer
	m.read(func(r canon.Reader) (err error) {
		current, err = r.Layers(m.t.Context(), canon.Visibility{World: w, View: AsAll}, canon.LayerQuery{Card: one(m, living...).ID})
		return err
	})
	if len(current) == 0 || m.chance(50) {
		return []change{put}
	}
	l.ID = one(m, current...).ID
	end := func(tx canon.Tx) error { return tx.EndLayer(m.t.Context(), w, l.ID, m.seq) }
	if m.chance(50) {
		return []change{end}
	}
	return []change{end, put}
}

func (m *model) body(w access.WorldID) []change {
	text := one(m, modelWords...)
	if m.chance(30) {
		return []change{func(tx canon.Tx) error { return tx.EraseBody(m.t.Context(), w, HashOf(text)) }}
	}
	return []change{func(tx canon.Tx) error { return tx.PutBody(m.t.Context(), w, HashOf(text), []byte(text)) }}
}

func (m *model) member(w access.WorldID) []change {
	who := canon.Member{World: w, Subject: one(m, access.Subject("ann"), "bob", "zoe"), Role: one(m, access.RoleNone, access.RoleUser, access.RoleGM)}
	world := World(int(w[15]))
	world.Slug, world.Title = one(m, world.Slug, "world-1", "other"), m.text(2)
	return []change{
		func(tx canon.Tx) error { return tx.PutMember(m.t.Context(), who) },
		func(tx canon.Tx) error { return tx.PutWorld(m.t.Context(), world) },
	}
}

// commit appends to a stream, sometimes what does not follow.
func (m *model) commit() []change {
	id := one(m, canon.StreamID("a"), "b", canon.WorldStream(WorldID(1)))
	off := one(m, canon.Seq(0), 0, 0, 1)
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
			return tx.PutRepeat(m.t.Context(), canon.Repeat{Account: "k", Key: string(id), Stream: id, Seq: m.seq, Expires: Time(int(m.seq))})
		},
	}
}

// event writes some events, now and then one of a commit that has one.
func (m *model) event(w access.WorldID) (changes []change) {
	for range 1 + m.rng.IntN(12) {
		e := Event(m.id(), one(m, "moved", "said"), one(m, "", "place:1", "place:2"), m.label())
		e.World, e.Seq, e.Key = w, canon.Seq(1+m.rng.IntN(60)), one(m, "", "", "a", "b")
		e.Payload = one(m, nil, json.RawMessage(`{"a":1}`))
		changes = append(changes, func(tx canon.Tx) error { return tx.PutEvent(m.t.Context(), e) })
	}
	return changes
}

func (m *model) index(c canon.Card) []change {
	doc := &canon.SearchDoc{Name: c.Name, Text: m.text(20)}
	if m.chance(20) {
		doc = nil
	}
	return []change{func(tx canon.Tx) error { return tx.Index(m.t.Context(), c, doc) }}
}

// purge marks the present version of a card as erased.
func (m *model) purge(c canon.Card) []change {
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

func (m *model) clear(w access.WorldID) []change {
	return []change{
		func(tx canon.Tx) error { return tx.Clear(m.t.Context(), w) },
		func(tx canon.Tx) error {
			world := World(int(w[15]))
			world.Slug = fmt.Sprintf("%s-%d", world.Slug, m.step)
			return tx.PutWorld(m.t.Context(), world)
		},
	}
}
