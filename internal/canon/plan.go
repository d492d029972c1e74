package canon

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/markup"
)

// Caps of what a card may hold.
const (
	MaxContent = 1 << 20  // bytes of text
	MaxFile    = 25 << 20 // bytes of an attachment
	MaxFields  = 256 << 10
	maxDepth   = 64
)

// Plan builds a ChangeSet on a snapshot. It sees its own changes: a card that it made is
// found by name, and a card that it changed is found as changed. Each method checks what
// can be checked before the commit and answers with a fault that names the field.
type Plan struct {
	*Look
	ctx  context.Context
	set  ChangeSet
	made map[markup.Key]CardID // cards the plan created or renamed to, by key
	now  map[CardID]*Card      // cards as the plan leaves them
	gone map[CardID]bool       // cards the plan trashed
	text map[CardID]string     // content the plan wrote
}

func newPlan(ctx context.Context, l *Look) *Plan {
	return &Plan{
		Look: l, ctx: ctx,
		set:  ChangeSet{bodies: make(map[Hash][]byte)},
		made: make(map[markup.Key]CardID), now: make(map[CardID]*Card),
		gone: make(map[CardID]bool), text: make(map[CardID]string),
	}
}

// Target names a card as what the caller acted on, for the reply.
func (p *Plan) Target(id CardID) { p.set.Targets = append(p.set.Targets, id) }

// Note says why the change is made; it is kept in the commit.
func (p *Plan) Note(why string) { p.set.Note = clip(markup.Clean(why), 500) }

// Empty reports whether nothing is planned so far.
func (p *Plan) Empty() bool { return p.set.empty() }

// Repeated finds the receipt of what a grant's idempotency key was used for. Its error
// is fault.Conflict where that was another input.
func (l *Look) Repeated(ctx context.Context, g access.Grant) (Receipt, bool, error) {
	return repeated(ctx, l.r, g)
}

// Acted is what a plan does to one card.
type Acted struct {
	Card CardID
	Act  Act
}

// Acts lists what is planned for cards so far, in order.
func (p *Plan) Acts() []Acted {
	var list []Acted
	for _, ch := range p.set.Changes {
		if ch.Card != nil {
			list = append(list, Acted{ch.Card.ID, ch.Card.Act})
		}
	}
	return list
}

// Type finds a type as Look.Type does, as the plan leaves it: a type card that the plan
// made, renamed or changed is known by what it is now.
func (p *Plan) Type(ctx context.Context, name string) (Type, error) {
	key := markup.KeyOf(name)
	if _, ok := builtinByKey[key]; !ok {
		id, ok := p.made[key]
		if c := p.now[id]; ok && markup.KeyOf(c.Type) == markup.KeyOf(TypeCardtype) {
			return p.plannedType(*c)
		}
	}
	t, err := p.Look.Type(ctx, name)
	if err != nil || p.now[t.card] == nil || t.card.IsZero() {
		return t, err
	}
	if c := p.now[t.card]; !p.gone[t.card] && c.Key == key && markup.KeyOf(c.Type) == markup.KeyOf(TypeCardtype) {
		return p.plannedType(*c)
	}
	return Type{}, unknownType(name)
}

// plannedType is typeOf for a card whose content may not be stored yet.
func (p *Plan) plannedType(c Card) (Type, error) {
	content, err := p.Text(c)
	if err != nil {
		return Type{}, err
	}
	return typeFrom(c, content), nil
}

// Card finds a card by name as the plan leaves it, and rests the plan on it.
func (p *Plan) Card(name string) (Card, error) {
	c, ok, err := p.Has(name)
	if err != nil {
		return Card{}, err
	}
	if !ok {
		return Card{}, p.absent(p.ctx, name)
	}
	return c, nil
}

// Has is Card for those who can go on without.
func (p *Plan) Has(name string) (Card, bool, error) {
	if id, err := uuid.Parse(strings.TrimSpace(strings.TrimPrefix(name, "~"))); err == nil && strings.HasPrefix(name, "~") {
		if now, ok := p.now[CardID(id)]; ok && !p.gone[now.ID] {
			return *now, true, nil
		}
	}
	if !strings.HasPrefix(name, "~") && !strings.HasPrefix(name, ":") {
		if id, ok := p.made[markup.KeyOf(name)]; ok {
			return *p.now[id], true, nil
		}
	}
	c, ok, err := p.find(p.ctx, name)
	if err != nil || !ok || p.gone[c.ID] {
		return Card{}, false, err
	}
	if now, ok := p.now[c.ID]; ok {
		return *now, !movedAway(now, name), nil
	}
	p.rest(c)
	return c, true, nil
}

// movedAway reports whether the plan renamed a card so that a name no longer means it.
func movedAway(c *Card, name string) bool {
	return !strings.HasPrefix(name, "~") && !strings.HasPrefix(name, ":") && c.Key != markup.KeyOf(name)
}

// rest makes the plan depend on a card staying as it is.
func (p *Plan) rest(c Card) {
	if c.Rev == 0 { // made by this plan
		return
	}
	for _, m := range p.set.Reads {
		if m.Card == c.ID {
			return
		}
	}
	p.set.Reads = append(p.set.Reads, ReadMark{Card: c.ID, Rev: c.Rev})
}

// Rest makes the plan depend on a link staying as it is, so that of two that change the
// same thing the later is planned anew. A link with Since 0 stands for there being none
// of that id in sight.
func (p *Plan) Rest(l Link) {
	mark := ReadMark{Link: l.ID, Since: l.Since}
	if !slices.Contains(p.set.Reads, mark) {
		p.set.Reads = append(p.set.Reads, mark)
	}
}

// Text gives a card's content as the plan leaves it.
func (p *Plan) Text(c Card) (string, error) {
	if t, ok := p.text[c.ID]; ok {
		return t, nil
	}
	return p.Content(p.ctx, c)
}

// NewCard is a card to be made. Type defaults to RichText, Label to what the name's
// rules and the ancestors give.
type NewCard struct {
	ID       CardID // zero: a new one. Importers derive theirs, so that importing again finds the card; one in use is not taken
	Name     string
	Type     string
	Content  string
	File     []byte // for types that hold a file; Content is then empty
	Fields   json.RawMessage
	Codename string
	Label    *access.Label
	Orphan   bool   // make no missing ancestors
	Parent   CardID // the ancestor to go below where several bear its name; zero: found by name
	Root     bool   // go below no ancestor, whatever bears their names
}

// Create makes a card, and missing ancestors as empty cards of the same label.
func (p *Plan) Create(n NewCard) (Card, error) {
	if err := checkName("name", n.Name); err != nil {
		return Card{}, err
	}
	if n.Type == "" {
		n.Type = TypeRichText
	}
	typ, err := p.Type(p.ctx, n.Type)
	if err != nil {
		return Card{}, err
	}
	own := access.NewLabel(access.LevelUser)
	if n.Label != nil {
		own = *n.Label
	}
	parent, part, err := p.placeFor(n, own)
	if err != nil {
		return Card{}, err
	}
	if n.ID, err = p.freeID(n.ID); err != nil {
		return Card{}, err
	}
	c := Card{World: p.world.ID, ID: n.ID, Part: part, Codename: n.Codename, Type: typ.Name, Own: own}
	p.place(&c, parent)
	if err := p.mayHold(c, typ); err != nil {
		return Card{}, err
	}
	if err := p.free(c); err != nil {
		return Card{}, err
	}
	if err := checkCodename(n.Codename); err != nil {
		return Card{}, err
	}
	if c.Fields, err = mergeFields(nil, n.Fields); err != nil {
		return Card{}, err
	}
	if err := p.canon.checkFields(typ, c.Fields); err != nil {
		return Card{}, err
	}
	if err := p.write(&c, n.Content, n.File); err != nil {
		return Card{}, err
	}
	p.put(ActCreate, &c)
	p.made[c.Key] = c.ID
	return c, nil
}

// Edit is a change to a card's own state; nil leaves a part as it is. Fields are merged
// into the card's, null removing one, unless Replace is set.
type Edit struct {
	Type     *string
	Content  *string
	File     []byte
	Fields   json.RawMessage
	Replace  bool
	Codename *string
}

// Update changes a card. An edit that changes nothing plans nothing.
func (p *Plan) Update(c Card, e Edit) (Card, error) {
	p.rest(c)
	before := c
	name := c.Type
	if e.Type != nil {
		name = *e.Type
	}
	typ, err := p.Type(p.ctx, name)
	if err != nil {
		return Card{}, err
	}
	c.Type = typ.Name
	if err := p.mayHold(c, typ); err != nil {
		return Card{}, err
	}
	base := c.Fields
	if e.Replace {
		base = nil
	}
	if e.Fields != nil || e.Replace {
		if c.Fields, err = mergeFields(base, e.Fields); err != nil {
			return Card{}, err
		}
	}
	if err := p.canon.checkFields(typ, c.Fields); err != nil {
		return Card{}, err
	}
	if e.Codename != nil {
		if err := checkCodename(*e.Codename); err != nil {
			return Card{}, err
		}
		c.Codename = *e.Codename
	}
	if e.Content != nil || e.File != nil {
		content := ""
		if e.Content != nil {
			content = *e.Content
		}
		if err := p.write(&c, content, e.File); err != nil {
			return Card{}, err
		}
	}
	if c.Type != before.Type || c.Content != before.Content || c.Codename != before.Codename || string(c.Fields) != string(before.Fields) {
		p.put(ActUpdate, &c)
	}
	return c, nil
}

// Rename moves a card, with everything below it, to a new name.
func (p *Plan) Rename(c Card, name string) (Card, error) {
	p.rest(c)
	if err := checkName("new_name", name); err != nil {
		return Card{}, err
	}
	if strings.HasPrefix(string(markup.KeyOf(name)), string(c.Key)+"+") {
		return Card{}, ruleFault("new_name", "a card cannot move below itself")
	}
	parent, part, err := p.parentFor(name, c.Own, false)
	if err != nil {
		return Card{}, err
	}
	old := c.Key
	c.Part = part
	p.place(&c, parent)
	if !p.View().Sees(c.Label) {
		return Card{}, p.above("new_name", c.Label)
	}
	if c.Key != old {
		if err := p.free(c); err != nil {
			return Card{}, err
		}
	}
	p.put(ActRename, &c)
	delete(p.made, old)
	p.made[c.Key] = c.ID
	return c, nil
}

// SetLabel gives a card a label of its own. Its effective label also meets the
// ancestors' and the name rules'.
func (p *Plan) SetLabel(c Card, own access.Label) (Card, error) {
	p.rest(c)
	for _, s := range own.Subjects {
		if err := access.CheckSubject(s); err != nil {
			return Card{}, fault.BadField("subjects", "%v", err)
		}
	}
	parent, err := p.parentOf(c)
	if err != nil {
		return Card{}, err
	}
	if c.Own.Equal(own) {
		return c, nil
	}
	c.Own = own
	p.place(&c, parent)
	if !p.View().Sees(c.Label) {
		return Card{}, p.above("level", c.Label)
	}
	p.put(ActLabel, &c)
	return c, nil
}

// Trash puts a card, and everything below it, in the trash.
func (p *Plan) Trash(c Card) error {
	p.rest(c)
	if c.Codename != "" && p.world.Settings.KeepCodenames {
		return ruleFault("name", "%q has a codename, which others rely on; remove the codename first", c.Name)
	}
	p.put(ActTrash, &c)
	p.gone[c.ID] = true
	delete(p.made, c.Key)
	return nil
}

// Restore takes a card out of the trash, with everything that went there with it.
func (p *Plan) Restore(c Card) (Card, error) {
	if !c.Trashed() || c.TrashRoot != c.ID {
		return Card{}, ruleFault("name", "%q did not go to the trash by itself; restore the card it went with", c.Name)
	}
	p.rest(c)
	if !c.Parent.IsZero() {
		if _, ok, err := p.ByID(p.ctx, c.Parent); err != nil || !ok {
			if err != nil {
				return Card{}, err
			}
			return Card{}, ruleFault("name", "the card above %q is in the trash; restore that one first", c.Name)
		}
	}
	if err := p.free(c); err != nil {
		return Card{}, err
	}
	p.put(ActRestore, &c)
	p.made[c.Key] = c.ID
	return c, nil
}

// put plans the card's state as it is now. An update of a card that the plan made or
// updated already becomes part of that change, so that one commit writes one version.
func (p *Plan) put(act Act, c *Card) {
	own := *c
	p.now[c.ID] = &own
	image := imageOf(own, act)
	if act == ActUpdate {
		for _, ch := range p.set.Changes {
			if ch.Card != nil && ch.Card.ID == c.ID && (ch.Card.Act == ActCreate || ch.Card.Act == ActUpdate) {
				image.Act = ch.Card.Act
				*ch.Card = *image
				return
			}
		}
	}
	p.set.Changes = append(p.set.Changes, Change{Card: image})
}

// write gives a card content.
func (p *Plan) write(c *Card, content string, file []byte) error {
	b := file
	if file == nil {
		if err := checkContent(content); err != nil {
			return err
		}
		b = []byte(content)
		p.text[c.ID] = content
	} else if len(file) > MaxFile {
		return fault.New(fault.TooLarge, "an attachment holds at most %d bytes; this one has %d", MaxFile, len(file))
	}
	c.Content, c.Size, c.Length = Hash{}, len(b), len(b)
	if file == nil {
		c.Length = utf8.RuneCountInString(content)
	}
	if len(b) > 0 {
		c.Content = sha256.Sum256(b)
		p.set.bodies[c.Content] = b
	}
	return nil
}

// place makes a card's name, key and label follow from its parent and own part.
func (p *Plan) place(c *Card, parent Card) {
	placeUnder(c, parent, p.world.Settings)
}

// placeUnder computes the projections of a card from its parent's; the zero parent is a
// root's.
func placeUnder(c *Card, parent Card, s Settings) {
	c.Parent, c.Name, c.Key = parent.ID, c.Part, markup.KeyOf(c.Part)
	c.Label = access.NewLabel(access.LevelUser).Meet(c.Own)
	if !parent.ID.IsZero() {
		c.Name = parent.Name + "+" + c.Part
		c.Key = parent.Key + "+" + c.Key
		c.Label = parent.Label.Meet(c.Label)
	}
	c.Label = c.Label.Meet(access.NewLabel(s.nameLevel(markup.KeyOf(c.Part))))
}

// placeFor is parentFor for a card to be made, which may name the ancestor by id.
func (p *Plan) placeFor(n NewCard, own access.Label) (parent Card, part string, err error) {
	if n.Root {
		return Card{}, markup.Join(markup.Parts(n.Name)...), nil
	}
	if n.Parent.IsZero() {
		return p.parentFor(n.Name, own, n.Orphan)
	}
	parent, ok, err := p.Has("~" + n.Parent.String())
	if err != nil {
		return Card{}, "", err
	}
	parts, above := markup.Parts(n.Name), len(parent.Key.Parts())
	if !ok || len(parts) <= above || markup.KeyOf(markup.Join(parts[:above]...)) != parent.Key {
		return Card{}, "", ruleFault("name", "the card does not lie below the one it is put under")
	}
	p.rest(parent)
	return parent, markup.Join(parts[above:]...), nil
}

// freeID is an id for a new card: the one asked for, unless a card has it that the
// caller cannot see, or none was asked for.
func (p *Plan) freeID(id CardID) (CardID, error) {
	if !id.IsZero() {
		_, held, err := p.r.CardByID(p.ctx, Sight{p.world.ID, access.View{Level: access.LevelAll}}, id)
		if err != nil || !held && p.now[id] == nil {
			return id, err
		}
	}
	return CardID(p.canon.newID()), nil
}

// parentFor finds the nearest ancestor of a name, making missing ones unless orphan is
// set, and what of the name is left to the card itself.
func (p *Plan) parentFor(name string, own access.Label, orphan bool) (parent Card, part string, err error) {
	parts := markup.Parts(name)
	for i := len(parts) - 1; i > 0; i-- {
		c, ok, err := p.Has(markup.Join(parts[:i]...))
		if err != nil {
			return Card{}, "", err
		}
		if ok {
			parent, parts = c, parts[i:]
			break
		}
	}
	if orphan {
		return parent, markup.Join(parts...), nil
	}
	for len(parts) > 1 {
		above := markup.Join(parent.Name, parts[0])
		if parent.ID.IsZero() {
			above = parts[0]
		}
		if parent, err = p.Create(NewCard{Name: above, Label: &own}); err != nil {
			return Card{}, "", err
		}
		parts = parts[1:]
	}
	return parent, parts[0], nil
}

func (p *Plan) parentOf(c Card) (Card, error) {
	if c.Parent.IsZero() {
		return Card{}, nil
	}
	if now, ok := p.now[c.Parent]; ok {
		return *now, nil
	}
	parent, ok, err := p.r.CardByID(p.ctx, Sight{p.world.ID, access.View{Level: access.LevelAll}}, c.Parent)
	if err == nil && !ok {
		err = fmt.Errorf("canon: card %s has no parent row", c.ID)
	}
	return parent, err
}

// free reports a conflict where a card in sight bears the same name under the same label.
func (p *Plan) free(c Card) error {
	if id, ok := p.made[c.Key]; ok && id != c.ID && p.now[id].Label.Equal(c.Label) {
		return taken(c.Name)
	}
	others, err := p.Homonyms(p.ctx, c.Key)
	if err != nil {
		return err
	}
	for _, o := range others {
		if now, ok := p.now[o.ID]; ok {
			o = *now
		}
		if o.ID != c.ID && !p.gone[o.ID] && o.Key == c.Key && o.Label.Equal(c.Label) {
			return taken(o.Name)
		}
	}
	return nil
}
