package canon

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/markup"
	"loregate/internal/secrecy"
)

// Limits of a card.
const (
	MaxContent = 1 << 20  // bytes of text
	MaxFile    = 25 << 20 // bytes of an attachment
	MaxFields  = 256 << 10
	MaxRefs    = 10_000 // links, nests and tags; each is a row that the only writer inserts
)

// NewCard describes a card to create. Type defaults to RichText. Label defaults to the label that
// follows from the ancestors and the name rules.
type NewCard struct {
	// zero, or derived by an importer so that a second import finds the card; a used id is replaced by
	// a new one
	ID         CardID
	Name       string
	Type       string
	Format     TextFormat // of the content
	Content    string
	File       []byte // for types that hold a file; Content is then empty
	Fields     json.RawMessage
	Codename   string
	Label      *access.Label
	Orphan     bool            // do not create missing ancestors
	Parent     CardID          // ancestor to place it below, if several have the name; zero: found by name
	Root       bool            // place it below no ancestor, even if cards have their names
	Hide       []secrecy.Range // of the content, hidden besides those with an exact mark
	HideFields []string        // names of fields that are hidden
	Undivided  bool            // marks in the content are text
	MarksKnown bool            // Hide has all ranges that marks hide
	AsWritten  bool            // hidden parts keep their text, also without a mark
	Places     *Places         // of the hidden parts in the content, for a card that holds some; see Places
}

// Create creates a card, and missing ancestors as empty cards with the same label.
func (p *Plan) Create(n NewCard) (Card, error) {
	if err := checkName("name", n.Name); err != nil {
		return Card{}, err
	}
	n.Type = cmp.Or(n.Type, TypeRichText)
	typ, err := p.Type(p.ctx, n.Type)
	if err != nil {
		return Card{}, err
	}
	own := access.NewLabel(access.LevelUser)
	if n.Label != nil {
		own = *n.Label
	}
	if p.hidesWhole(n) {
		own = own.Meet(access.NewLabel(access.LevelGM))
	}
	parent, part, err := p.placeNewCard(n, own)
	if err != nil {
		return Card{}, err
	}
	if n.ID, err = p.freeID(n.ID); err != nil {
		return Card{}, err
	}
	c := Card{World: p.world.ID, ID: n.ID, Part: part, Type: typ.Name, Format: n.Format, Own: own}
	p.placeCard(&c, parent)
	if err := p.checkLevels(c, typ); err != nil {
		return Card{}, err
	}
	if err := p.checkNameFree(c); err != nil {
		return Card{}, err
	}
	e := Edit{Content: &n.Content, File: n.File, Fields: n.Fields,
		Codename: &n.Codename, Hide: n.Hide, HideFields: n.HideFields, Undivided: n.Undivided,
		MarksKnown: n.MarksKnown, AsWritten: n.AsWritten, Places: n.Places}
	if e.isAsked() {
		if err := p.checkNameMarks("name", c); err != nil {
			return Card{}, err
		}
	}
	if err := p.applyEdit(&c, Card{}, typ, e); err != nil {
		return Card{}, err
	}
	p.planCard(ActCreate, &c)
	p.made[c.Key] = c.ID
	if e.isAsked() {
		if err := p.checkNotCopied(Card{}, c); err != nil {
			return Card{}, err
		}
	}
	return c, p.writeParts(c)
}

// Edit is a change to a card's own state; nil leaves a part as it is. Fields are merged into the
// card's fields, where null removes one; if Replace is set, they replace them.
type Edit struct {
	Type     *string
	Format   *TextFormat
	Content  *string
	File     []byte
	Fields   json.RawMessage
	Replace  bool
	Codename *string

	Hide        []secrecy.Range // of the content, hidden besides those with an exact mark
	HideFields  []string        // names of fields that are hidden
	Undivided   bool            // marks in the content are text
	MarksKnown  bool            // Hide has all ranges that marks hide
	KeepHistory bool            // text that becomes hidden stays readable in earlier versions
	HidePast    bool            // earlier versions are hidden: the edit takes back something that others read there
	opens       bool            // the card will open: all marks in its content hide
	AsWritten   bool            // hidden parts keep their text, also without a mark
	Places      *Places         // of the hidden parts in the content, for a card that holds some; see Places
	Beside      bool            // the content is the text beside the hidden parts that the card holds, which stay
	Follows     bool            // references and links follow other cards: no sentence of the content is new
	exact       *secrecy.Text   // the content with its hidden parts, of a version that is brought back
}

// isAsked reports whether the author of an edit is asked about text that may show more than was meant: an edit by an
// import, a restore, an opening or of a holder says itself what it hides.
func (e Edit) isAsked() bool {
	return !e.Undivided && !e.MarksKnown && !e.AsWritten && !e.opens && !e.Follows && e.exact == nil && e.Places == nil
}

// Update changes a card. An edit that changes nothing plans nothing.
func (p *Plan) Update(c Card, e Edit) (Card, error) {
	p.dependOn(c)
	if now := p.now[c.ID]; now != nil && now.Places != nil {
		c = *now // the plan may have written the parts in it meanwhile
	}
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
	if e.Format != nil {
		c.Format = *e.Format
	}
	if err := p.checkLevels(c, typ); err != nil {
		return Card{}, err
	}
	if err := p.applyEdit(&c, before, typ, e); err != nil {
		return Card{}, err
	}
	if c.Type != before.Type || c.Format != before.Format || c.Content != before.Content ||
		c.Codename != before.Codename || c.Places != before.Places ||
		string(c.Fields) != string(before.Fields) {
		p.hidesPast[c.ID] = p.hidesPast[c.ID] || e.HidePast
		p.planCard(ActUpdate, &c)
		if e.isAsked() {
			if err := p.checkNotCopied(before, c); err != nil {
				return Card{}, err
			}
		}
	}
	if err := p.writeParts(c); err != nil {
		return Card{}, err
	}
	return p.retitle(before, c)
}

// applyEdit sets the parts of a card that an edit gives, and checks them against the card's type.
func (p *Plan) applyEdit(c *Card, before Card, typ Type, e Edit) (err error) {
	base := c.Fields
	if e.Replace {
		base = nil
	}
	if e.Fields != nil || e.Replace {
		if err := p.divideFields(*c, before, typ, &e); err != nil {
			return err
		}
		if c.Fields, err = mergeFields(base, e.Fields); err != nil {
			return err
		}
		if err := p.checkNoOldFields(before, c.Fields); err != nil {
			return err
		}
	}
	if err := p.canon.checkFields(typ, c.Fields); err != nil {
		return err
	}
	if e.Codename != nil {
		if err := checkCodename(*e.Codename); err != nil {
			return err
		}
		c.Codename = *e.Codename
	}
	if e.Content == nil && e.File == nil {
		return nil
	}
	if e.Content == nil || e.File != nil {
		return p.writeContent(c, "", e.File)
	}
	return p.writeText(c, before, typ, e)
}

// writeText sets a card's text: its open text, and by writeParts its hidden parts.
func (p *Plan) writeText(c *Card, before Card, typ Type, e Edit) error {
	if err := checkContent(*e.Content); err != nil {
		return err
	}
	open := *e.Content
	switch {
	case e.Places != nil:
		c.Places = e.Places
	case e.Beside && before.Places != nil:
		open, c.Places = p.besideParts(before, open)
	case before.Places != nil:
		if err := p.checkTold(before, open); err != nil {
			return err
		}
		var err error
		if open, err = p.keepPlaces(c, before, open); err != nil {
			return err
		}
	case p.isDivided(*c, typ, e):
		var err error
		if open, err = p.divideText(c, before, typ, e); err != nil {
			return err
		}
	default:
		if err := p.checkNoMarks(*c, before, typ, e); err != nil {
			return err
		}
	}
	if err := p.writeContent(c, open, nil); err != nil {
		return err
	}
	if d := p.divided[c.ID]; d != nil {
		p.text[c.ID] = d.now.Whole()
	}
	return nil
}

// Rename moves a card, with everything below it, to a new name. It shows the card to nobody to whom it was hidden:
// away from a hidden card or a name that hides, it keeps the label that it had.
//
// A card that holds hidden parts of the card above it cannot leave that card.
func (p *Plan) Rename(c Card, name string) (Card, error) {
	moved, err := p.moveTo(c, name, c.Label)
	if err == nil && c.HoldsParts() && moved.Places == nil {
		return Card{}, ruleFault("new_name", "%q holds hidden parts of the card above it; rename that card, or write "+
			"the notes into a new card", c.Name)
	}
	if err == nil && !secrecy.NameSaysHidden(c.Name) {
		err = p.checkNameMarks("new_name", moved)
	}
	if err == nil {
		err = p.checkNotCopied(c, moved)
	}
	return moved, err
}

// RenameImported is Rename for a name whose marks are known.
func (p *Plan) RenameImported(c Card, name string) (Card, error) { return p.moveTo(c, name, c.Label) }

// moveTo is Rename for a card that gets at least the given label.
func (p *Plan) moveTo(c Card, name string, least access.Label) (Card, error) {
	p.dependOn(c)
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
	old, was := c.Key, c.Label
	c.Part = part
	if c.Places != nil && (parent.ID != c.Parent || markup.KeyOf(part) != lastPart(c.Key)) {
		c.Places = nil // its parts are a text of its own now
	}
	p.placeCard(&c, parent)
	if kept := c.Label.Meet(least); !kept.Equal(c.Label) {
		c.Own, c.Label = c.Own.Meet(least), kept
	}
	if !p.View().Sees(c.Label) {
		return Card{}, p.aboveRoleFault("new_name", c.Label)
	}
	if c.Key != old {
		if err := p.checkNameFree(c); err != nil {
			return Card{}, err
		}
	}
	p.planCard(ActRename, &c)
	p.openOnlyNow(c, was)
	p.releaseName(old, c.ID)
	p.made[c.Key] = c.ID
	return c, nil
}

// SetLabel gives a card its own label. Its effective label is the meet of this label with those of
// the ancestors and the name rules.
func (p *Plan) SetLabel(c Card, own access.Label) (Card, error) {
	p.dependOn(c)
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
	if c, err = p.divideBeforeOpening(c, parent, own); err != nil {
		return Card{}, err
	}
	was := c.Label
	c.Own = own
	p.placeCard(&c, parent)
	if !p.View().Sees(c.Label) {
		return Card{}, p.aboveRoleFault("level", c.Label)
	}
	p.planCard(ActLabel, &c)
	p.openOnlyNow(c, was)
	return c, nil
}

// openOnlyNow hides the earlier versions of a card that is opened, and of those that open with it: some were open
// before it was hidden.
func (p *Plan) openOnlyNow(c Card, was access.Label) {
	if was.Level >= access.LevelGM && !was.Covers(c.Label) {
		p.lastChangeOf(c.ID).HidePast = true
	}
}

// Trash puts a card, and everything below it, in the trash.
func (p *Plan) Trash(c Card) error {
	p.dependOn(c)
	if c.Codename != "" && p.world.Settings.KeepCodenames {
		return ruleFault("name", "%q has a codename, which other cards may use; remove the codename first", c.Name)
	}
	p.planCard(ActTrash, &c)
	p.gone[c.ID] = true
	p.releaseName(c.Key, c.ID)
	return p.eraseTextsOf(c)
}

// releaseName frees a key from a card, unless the plan gave the key to another card.
func (p *Plan) releaseName(key markup.Key, id CardID) {
	if p.made[key] == id {
		delete(p.made, key)
	}
}

// Restore takes a card out of the trash, with everything that was put there with it. It shows them to nobody to whom
// they were hidden: if the card above has opened meanwhile, or the name rules have changed, the card stays hidden.
func (p *Plan) Restore(c Card) (Card, error) {
	if !c.Trashed() || c.TrashRoot != c.ID {
		return Card{}, ruleFault("name", "%q went to the trash together with a card above it; restore that card", c.Name)
	}
	p.dependOn(c)
	if !c.Parent.IsZero() {
		if _, ok, err := p.Has("~" + c.Parent.String()); err != nil || !ok {
			if err != nil {
				return Card{}, err
			}
			return Card{}, ruleFault("name", "the card above %q is in the trash; restore that one first", c.Name)
		}
	}
	if err := p.keepLabel(&c); err != nil {
		return Card{}, err
	}
	if err := p.checkNameFree(c); err != nil {
		return Card{}, err
	}
	p.planCard(ActRestore, &c)
	p.made[c.Key] = c.ID
	return c, nil
}

// keepLabel gives a card that leaves the trash an own label under which neither it nor a card that went with it has
// more readers than there.
func (p *Plan) keepLabel(c *Card) error {
	went, err := p.TrashedWith(p.ctx, c.ID)
	if err != nil {
		return err
	}
	parent, err := p.parentOf(*c)
	if err != nil {
		return err
	}
	was := c.Label
	p.placeCard(c, parent)
	up := map[CardID]Card{c.ID: *c}
	least := was
	slices.SortStableFunc(went, func(a, b Card) int { return cmp.Compare(len(a.Key), len(b.Key)) })
	for _, d := range went {
		above, ok := up[d.Parent]
		if d.ID == c.ID || !ok {
			continue
		}
		was := d.Label
		if p.placeCard(&d, above); onlyMasters(was) && !onlyMasters(d.Label) && !onlyMasters(least) {
			least = least.Meet(access.NewLabel(access.LevelGM))
		}
		up[d.ID] = d
	}
	if kept := c.Label.Meet(least); !kept.Equal(c.Label) {
		c.Own, c.Label = c.Own.Meet(least), kept
	}
	return nil
}

// writeContent sets a card's content.
func (p *Plan) writeContent(c *Card, content string, file []byte) error {
	b := file
	if file == nil {
		if err := checkContent(content); err != nil {
			return err
		}
		if err := checkRefs(*c, content); err != nil {
			return err
		}
		b = []byte(content)
		p.text[c.ID] = content
	} else if len(file) > MaxFile {
		return fault.New(fault.TooLarge, "an attachment can have at most %d bytes; this one has %d", MaxFile, len(file))
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

// Purge erases the body of a version of a card and keeps its hash. Only the instance's operator may
// do that.
func (p *Plan) Purge(c Card, v Version) error {
	if !p.grant.Caller().Operator {
		return fault.New(fault.Denied, "only the instance's operator can erase content")
	}
	if v.Content == (Hash{}) || v.Purged {
		return nil
	}
	p.dependOn(c)
	p.set.Changes = append(p.set.Changes, Change{Purge: &PurgeImage{Card: c.ID, Rev: v.Rev, Body: v.Content}})
	return nil
}
