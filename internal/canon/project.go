package canon

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/markup"
)

// projector turns a commit's changes into rows. It is the only code that does: commits
// and rebuilds run the same, so tables always follow from the streams.
type projector struct {
	tx    Tx
	world access.WorldID
	rec   *Record
	fresh map[Hash][]byte // bodies at hand; others are read from the store
	cards []Card          // changed cards as they stand afterwards
	home  *World          // the world's row, read when first needed
	again bool            // the commit is replayed: bodies are as they are
	deep  bool            // the name rules changed: what lies below an unchanged card may not be
}

func (p *projector) all() Sight { return Sight{p.world, access.View{Level: access.LevelAll}} }

func (p *projector) apply(ctx context.Context, ch Change) (err error) {
	defer fault.Wrap(&err, "canon: commit %d", p.rec.Seq)
	switch {
	case ch.Card != nil:
		return p.card(ctx, *ch.Card)
	case ch.Link != nil:
		return p.link(ctx, *ch.Link)
	case ch.Layer != nil:
		return p.layer(ctx, *ch.Layer)
	case ch.World != nil:
		return p.worldRow(ctx, *ch.World)
	case ch.Member != nil:
		return p.tx.PutMember(ctx, Member{World: p.world, Subject: ch.Member.Subject, Role: ch.Member.Role, Player: ch.Member.Player})
	case ch.Purge != nil:
		return p.purge(ctx, *ch.Purge)
	}
	return fmt.Errorf("empty change")
}

// within checks that no changed card lies above a view.
func (p *projector) within(v access.View) error {
	for _, c := range p.cards {
		if !v.Sees(c.Label) {
			return fault.New(fault.Denied, "this call cannot write at level %s; use a key of that role", c.Label.Level).
				With("required_role", c.Label.Level.String())
		}
	}
	return nil
}

func (p *projector) settings(ctx context.Context) (Settings, error) {
	if p.home == nil {
		w, ok, err := p.tx.World(ctx, p.world)
		if err != nil || !ok {
			return Settings{}, fmt.Errorf("world row %s: present %t: %w", p.world, ok, err)
		}
		p.home = &w
	}
	return p.home.Settings, nil
}

func (p *projector) worldRow(ctx context.Context, im WorldImage) error {
	old, exists, err := p.tx.World(ctx, p.world)
	if err != nil {
		return err
	}
	w := World{ID: p.world, Slug: im.Slug, Title: im.Title, Settings: im.Settings, CreatedAt: p.rec.At, Origin: im.Origin, OriginSeq: im.OriginSeq}
	if exists {
		w.CreatedAt = old.CreatedAt
	} else if _, held, err := p.tx.WorldBySlug(ctx, im.Slug); err != nil || held {
		if err == nil {
			err = taken(im.Slug)
		}
		return err
	}
	p.home = &w
	if err := p.tx.PutWorld(ctx, w); err != nil {
		return err
	}
	if !exists || slices.Equal(old.Settings.gmParts(), im.Settings.gmParts()) {
		return nil
	}
	p.deep = true
	defer func() { p.deep = false }()
	return p.eachRoot(ctx, func(c Card) error { return p.settle(ctx, c, Card{}) })
}

// eachRoot calls f for every living card without a parent, on a stable listing.
func (p *projector) eachRoot(ctx context.Context, f func(Card) error) error {
	var roots []Card
	for page := (Page{Limit: 1000}); ; page.Offset += page.Limit {
		cards, _, err := p.tx.Cards(ctx, p.all(), Filter{Roots: true, Sort: SortCreated}, page)
		if err != nil {
			return err
		}
		roots = append(roots, cards...)
		if len(cards) < page.Limit {
			break
		}
	}
	for _, c := range roots {
		if err := f(c); err != nil {
			return err
		}
	}
	return nil
}

func (p *projector) card(ctx context.Context, im CardImage) error {
	old, exists, err := p.tx.CardByID(ctx, p.all(), im.ID)
	if err != nil {
		return err
	}
	if exists == (im.Act == ActCreate) {
		return fmt.Errorf("%s of card %s, which exists: %t", im.Act, im.ID, exists)
	}
	parent, err := p.parent(ctx, im.Parent)
	if err != nil {
		return err
	}
	settings, err := p.settings(ctx)
	if err != nil {
		return err
	}
	c := old
	c.World, c.ID, c.Part, c.Codename, c.Type = p.world, im.ID, im.Part, im.Codename, im.Type
	c.Content, c.Size, c.Length, c.Fields, c.Own = im.Content, im.Size, im.Length, im.Fields, im.Own
	placeUnder(&c, parent, settings)
	if !exists {
		c.CreatedAt, c.CreatedBy = p.rec.At, p.rec.By
	}
	switch im.Act {
	case ActTrash:
		err = p.trash(ctx, &c)
	case ActRestore:
		err = p.restore(ctx, &c)
	default:
		err = p.revise(ctx, old, &c)
	}
	p.cards = append(p.cards, c)
	return err
}

func (p *projector) parent(ctx context.Context, id CardID) (Card, error) {
	if id.IsZero() {
		return Card{}, nil
	}
	c, ok, err := p.tx.CardByID(ctx, p.all(), id)
	if err != nil {
		return Card{}, err
	}
	if !ok || c.Trashed() {
		return Card{}, moved()
	}
	return c, nil
}

// revise writes a living card's new state as a new version, and lets what lies below it
// follow where its name or label has changed.
func (p *projector) revise(ctx context.Context, old Card, c *Card) error {
	p.stamp(c)
	if err := p.tx.PutCard(ctx, *c); err != nil {
		return err
	}
	if err := p.version(ctx, *c, false); err != nil {
		return err
	}
	if err := p.derive(ctx, *c); err != nil {
		return err
	}
	if old.ID.IsZero() {
		return p.adopt(ctx, *c)
	}
	if old.Name == c.Name && old.Label.Equal(c.Label) {
		return nil
	}
	return p.settleBelow(ctx, *c)
}

// stamp counts a new version of a card.
func (p *projector) stamp(c *Card) {
	c.Rev++
	c.Counts = c.Counts.raised(c.Label.Level)
	c.UpdatedAt, c.UpdatedBy, c.Seq = p.rec.At, p.rec.By, p.rec.Seq
}

func (p *projector) version(ctx context.Context, c Card, trashed bool) error {
	if c.Rev > 1 {
		if err := p.tx.EndVersion(ctx, p.world, c.ID, p.rec.Seq); err != nil {
			return err
		}
	}
	return p.tx.PutVersion(ctx, Version{
		World: p.world, Card: c.ID, Rev: c.Rev, From: p.rec.Seq, Counts: c.Counts, Label: c.Label,
		Name: c.Name, Type: c.Type, Content: c.Content, Size: c.Size, Length: c.Length, Fields: c.Fields,
		Trashed: trashed, At: p.rec.At, By: p.rec.By, Op: p.rec.Op, Change: p.rec.ID,
	})
}

// adopt gives a new card the living cards below its name that had no parent between.
func (p *projector) adopt(ctx context.Context, c Card) error {
	const page = 1000
	for from := 0; ; from += page { // adopting changes no key, so the pages stay as they are
		below, _, err := p.tx.Cards(ctx, p.all(), Filter{Prefix: c.Key}, Page{Limit: page, Offset: from})
		if err != nil {
			return err
		}
		if err := p.adoptOf(ctx, c, below); err != nil || len(below) < page {
			return err
		}
	}
}

// adoptOf takes in those of some cards below c's key that hang where c does.
func (p *projector) adoptOf(ctx context.Context, c Card, below []Card) error {
	own := markup.KeyOf(c.Part)
	for _, o := range below {
		part := markup.KeyOf(o.Part)
		if o.Parent != c.Parent || part == own || !part.HasPrefix(own) || !o.Label.Meet(c.Label).Equal(o.Label) {
			continue
		}
		o.Part = markup.Join(markup.Parts(o.Part)[len(markup.Parts(c.Part)):]...)
		if err := p.settle(ctx, o, c); err != nil {
			return err
		}
	}
	return nil
}

// settle puts a living card where its parent says, without a new version, and then what
// lies below it.
func (p *projector) settle(ctx context.Context, c, parent Card) error {
	settings, err := p.settings(ctx)
	if err != nil {
		return err
	}
	was := c
	placeUnder(&c, parent, settings)
	if c.Name == was.Name && c.Label.Equal(was.Label) && c.Parent == was.Parent {
		if p.deep {
			return p.settleBelow(ctx, c)
		}
		return nil
	}
	if utf8.RuneCountInString(c.Name) > markup.MaxNameLength {
		return ruleFault("new_name", "the name of %q below would have more than %d characters", was.Name, markup.MaxNameLength)
	}
	if err := p.relabel(ctx, was, &c); err != nil {
		return err
	}
	if err := p.tx.PutCard(ctx, c); err != nil {
		return err
	}
	if err := p.derive(ctx, c); err != nil {
		return err
	}
	return p.settleBelow(ctx, c)
}

// relabel lets the current version of a card follow its effective label. Levels that
// come to see the card count this version; older versions keep their labels.
func (p *projector) relabel(ctx context.Context, was Card, c *Card) error {
	if was.Label.Equal(c.Label) {
		return nil
	}
	for l := c.Label.Level; l < was.Label.Level; l++ {
		c.Counts[l-1]++
	}
	v, ok, err := p.tx.VersionByRev(ctx, p.world, c.ID, c.Rev)
	if err != nil || !ok {
		return fmt.Errorf("version %d of card %s: present %t: %w", c.Rev, c.ID, ok, err)
	}
	v.Label, v.Counts = c.Label, c.Counts
	return p.tx.PutVersion(ctx, v)
}

func (p *projector) settleBelow(ctx context.Context, c Card) error {
	var children []Card
	for page := (Page{Limit: 1000}); ; page.Offset += page.Limit {
		cards, _, err := p.tx.Descendants(ctx, p.all(), c.ID, 1, page)
		if err != nil {
			return err
		}
		children = append(children, cards...)
		if len(cards) < page.Limit {
			break
		}
	}
	for _, child := range children {
		if err := p.settle(ctx, child, c); err != nil {
			return err
		}
	}
	return nil
}

// trash takes a card and everything below it out of sight.
func (p *projector) trash(ctx context.Context, c *Card) error {
	p.stamp(c)
	if err := p.version(ctx, *c, true); err != nil {
		return err
	}
	below, err := p.below(ctx, *c)
	if err != nil {
		return err
	}
	c.TrashedAt, c.TrashRoot = p.rec.At, c.ID
	for _, d := range append([]Card{*c}, below...) {
		d.TrashedAt, d.TrashRoot = p.rec.At, c.ID
		if err := p.tx.PutCard(ctx, d); err != nil {
			return err
		}
		if err := p.forget(ctx, d); err != nil {
			return err
		}
	}
	return nil
}

func (p *projector) below(ctx context.Context, c Card) ([]Card, error) {
	var list []Card
	for page := (Page{Limit: 1000}); ; page.Offset += page.Limit {
		cards, _, err := p.tx.Descendants(ctx, p.all(), c.ID, maxNesting, page)
		if err != nil {
			return nil, err
		}
		list = append(list, cards...)
		if len(cards) < page.Limit {
			return list, nil
		}
	}
}

// maxNesting bounds how deep cards lie: a name has at most 255 characters.
const maxNesting = 128

// restore brings a card back with everything that went to the trash with it.
func (p *projector) restore(ctx context.Context, c *Card) error {
	went, err := p.tx.TrashedWith(ctx, p.world, c.ID)
	if err != nil {
		return err
	}
	c.TrashedAt, c.TrashRoot = time.Time{}, CardID{}
	p.stamp(c)
	if err := p.tx.PutCard(ctx, *c); err != nil {
		return err
	}
	if err := p.version(ctx, *c, false); err != nil {
		return err
	}
	if err := p.derive(ctx, *c); err != nil {
		return err
	}
	up := map[CardID]Card{c.ID: *c}
	settings, err := p.settings(ctx)
	if err != nil {
		return err
	}
	for _, d := range went {
		parent, ok := up[d.Parent]
		if d.ID == c.ID || !ok {
			continue
		}
		was := d
		d.TrashedAt, d.TrashRoot = time.Time{}, CardID{}
		placeUnder(&d, parent, settings)
		if err := p.relabel(ctx, was, &d); err != nil {
			return err
		}
		if err := p.tx.PutCard(ctx, d); err != nil {
			return err
		}
		if err := p.derive(ctx, d); err != nil {
			return err
		}
		up[d.ID] = d
	}
	return nil
}

// derive writes what follows from a card's content: references and the search index.
func (p *projector) derive(ctx context.Context, c Card) error {
	content := ""
	kind := TextOf(c.Type)
	if kind != TextFile && c.Content != (Hash{}) {
		b, ok := p.fresh[c.Content]
		if !ok {
			var err error
			if b, err = p.body(ctx, c); err != nil {
				return err
			}
		}
		content = string(b)
	}
	return p.deriveFrom(ctx, c, kind, content)
}

// body is a card's stored content. That of an erased version is nothing, even where the
// same bytes have come to be stored again for another card.
func (p *projector) body(ctx context.Context, c Card) ([]byte, error) {
	v, ok, err := p.tx.VersionByRev(ctx, p.world, c.ID, c.Rev)
	if err != nil || ok && v.Purged {
		return nil, err
	}
	b, _, err := p.tx.Body(ctx, p.world, c.Content)
	return b, err
}

func (p *projector) deriveFrom(ctx context.Context, c Card, kind TextKind, content string) error {
	if err := p.tx.PutRefs(ctx, p.world, c.ID, refsOf(c, kind, content)); err != nil {
		return err
	}
	names := strings.Join(append([]string{c.Name}, c.Aliases()...), "\n")
	return p.tx.Index(ctx, c, &SearchDoc{Name: names, Text: PlainText(c.Type, content), Derived: kind != TextFile})
}

func (p *projector) forget(ctx context.Context, c Card) error {
	if err := p.tx.PutRefs(ctx, p.world, c.ID, nil); err != nil {
		return err
	}
	return p.tx.Index(ctx, c, nil)
}

// PlainText is a card's content as it is searched and excerpted: readable text without
// markup.
func PlainText(typ, content string) string {
	switch TextOf(typ) {
	case TextHTML, TextItems, TextMarkdown:
		return markup.Text(content)
	case TextFile:
		return ""
	}
	return content
}

// tagPart is the key of the part under which a card's tags are kept: X+tags.
const tagPart = "tag"

func refsOf(c Card, kind TextKind, content string) []Ref {
	if kind == TextData || kind == TextFile || content == "" {
		return nil
	}
	var refs []Ref
	add := func(kind RefKind, target string) {
		name := markup.Resolve(target, c.Name)
		if key := markup.KeyOf(name); key != "" && len(name) <= 1024 {
			refs = append(refs, Ref{From: c.ID, Kind: kind, Target: key, Name: name, Order: len(refs)})
		}
	}
	for _, r := range markup.Refs(content) {
		switch {
		case r.External:
		case r.Kind == markup.NestRef:
			add(RefNest, r.Target)
		default:
			add(RefLink, r.Target)
		}
	}
	parts := c.Key.Parts()
	if len(parts) > 1 && parts[len(parts)-1] == tagPart {
		for _, item := range markup.Items(content) {
			add(RefTag, item)
		}
	}
	return refs
}

func (p *projector) link(ctx context.Context, im LinkImage) error {
	// Whether there is one is not asked: a link to what is in the trash is found by no query.
	if err := p.tx.EndLink(ctx, p.world, im.ID, p.rec.Seq); err != nil || im.Gone {
		return err
	}
	return p.tx.PutLink(ctx, Link{World: p.world, ID: im.ID, Kind: im.Kind, From: im.From, To: im.To,
		Attrs: im.Attrs, Label: im.Label, Since: p.rec.Seq, At: p.rec.At})
}

func (p *projector) layer(ctx context.Context, im LayerImage) error {
	if err := p.tx.EndLayer(ctx, p.world, im.ID, p.rec.Seq); err != nil || im.Gone {
		return err
	}
	return p.tx.PutLayer(ctx, Layer{World: p.world, ID: im.ID, Card: im.Card, Kind: im.Kind, Text: im.Text,
		FromTick: im.FromTick, ToTick: im.ToTick, Label: im.Label, At: p.rec.At, Since: p.rec.Seq})
}

// purge marks a version's body as erased; the bytes go when nothing else holds them. What
// was derived from the body of a living card's present version goes with it. A replay
// leaves bodies alone: what is not to be there is not, and what a later commit stores
// again is.
func (p *projector) purge(ctx context.Context, im PurgeImage) error {
	v, ok, err := p.tx.VersionByRev(ctx, p.world, im.Card, im.Rev)
	if err != nil || !ok {
		return fmt.Errorf("version %d of card %s: present %t: %w", im.Rev, im.Card, ok, err)
	}
	v.Purged = true
	if err := p.tx.PutVersion(ctx, v); err != nil {
		return err
	}
	c, ok, err := p.tx.CardByID(ctx, p.all(), im.Card)
	if err != nil {
		return err
	}
	if ok && !c.Trashed() && c.Rev == im.Rev {
		if err := p.deriveFrom(ctx, c, TextOf(c.Type), ""); err != nil {
			return err
		}
	}
	if p.again {
		return nil
	}
	used, err := p.tx.BodyInUse(ctx, p.world, im.Body)
	if err != nil || used {
		return err
	}
	return p.tx.EraseBody(ctx, p.world, im.Body)
}
