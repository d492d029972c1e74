package canon

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/secrecy"
	"loregate/internal/slicesx"
)

// VersionContent returns the content of a card's version as Content does: with the hidden parts as they were when the
// version was replaced.
func (s *Snapshot) VersionContent(ctx context.Context, c Card, v Version) (string, error) {
	return s.ContentAt(ctx, c, v, s.lastOf(v))
}

// ContentAt returns the content of a card's version, with the hidden parts as they were after a commit.
func (s *Snapshot) ContentAt(ctx context.Context, c Card, v Version, at Seq) (string, error) {
	if !c.showsParts(s.View()) {
		return s.Body(ctx, v.Content)
	}
	then, err := s.holdersAt(ctx, c, at)
	if err != nil {
		return "", err
	}
	t, err := s.versionParts(ctx, v, then)
	return t.Whole(), err
}

// VersionFields returns the fields of a card's version, with the hidden ones that the view sees as they were when the
// version was replaced.
func (s *Snapshot) VersionFields(ctx context.Context, c Card, v Version) (json.RawMessage, error) {
	open := s.FieldsOf(v.Type, v.Fields)
	if !c.showsParts(s.View()) {
		return open, nil
	}
	then, err := s.holdersAt(ctx, c, s.lastOf(v))
	if err != nil {
		return nil, err
	}
	return withHidden(open, slicesx.Map(then, Version.holder))
}

// holder returns the fields of a version of a card that holds hidden parts and fields.
func (v Version) holder() Card { return Card{Fields: v.Fields, Places: v.Places} }

// lastOf returns the last commit after which a version was current.
func (s *Snapshot) lastOf(v Version) Seq {
	if v.To == 0 {
		return s.Now()
	}
	return v.To - 1
}

// versionParts returns the text of a card's version with the hidden parts that cards held then.
func (s *Snapshot) versionParts(ctx context.Context, v Version, holders []Version) (t secrecy.Text, err error) {
	if t.Open, err = s.Body(ctx, v.Content); err != nil {
		return t, err
	}
	for _, h := range holders {
		if err := s.addParts(ctx, &t, v.TextKind(), v.Content, h); err != nil {
			return t, err
		}
	}
	t.Sort()
	return t, nil
}

// holdersAt returns the cards that hold hidden parts of a card, as they were after a commit.
func (s *Snapshot) holdersAt(ctx context.Context, c Card, at Seq) ([]Version, error) {
	holders, err := s.holders(ctx, c)
	if err != nil {
		return nil, err
	}
	then, err := s.CardsAt(ctx, slicesx.Map(holders, func(h Card) CardID { return h.ID }), at)
	return slices.DeleteFunc(then, func(h Version) bool { return h.Places == nil }), err
}

// VersionsOf lists a card's visible versions, latest first. Game masters are shown one more for each change of its
// hidden parts and fields.
func (s *Snapshot) VersionsOf(ctx context.Context, c Card, p Page) ([]Version, Total, error) {
	if !s.countsParts(c) {
		return s.Versions(ctx, c.ID, p)
	}
	all, err := s.wholeVersions(ctx, c)
	from := min(p.Offset, len(all))
	return all[from:min(from+p.Limit, len(all))], Total{Count: len(all)}, err
}

// VersionOf finds a card's version by the number that is shown to the view.
func (s *Snapshot) VersionOf(ctx context.Context, c Card, n uint32) (v Version, err error) {
	ok := false
	if s.countsParts(c) {
		var all []Version
		all, err = s.wholeVersions(ctx, c)
		for _, one := range all {
			if s.Number(c, one) == n {
				v, ok = one, true
			}
		}
	} else {
		v, ok, err = s.r.VersionByCount(ctx, s.visibility, c.ID, n)
	}
	if err == nil && !ok {
		err = fault.New(fault.NotFound, "%q has no version %d; list its versions with get_card_history", c.Name, n)
	}
	return v, err
}

// countsParts reports whether a change of a card's hidden parts gives the card another version number for the view.
func (s *Snapshot) countsParts(c Card) bool {
	return c.Parts != NoParts && s.View().Level >= access.LevelGM
}

// wholeVersions returns the versions of a card together with those of its hidden parts, latest first. The stored
// number of a version counts all changes of parts until it was replaced.
func (s *Snapshot) wholeVersions(ctx context.Context, c Card) (all []Version, err error) {
	own, err := Collect(s.AllVersions(ctx, c.ID))
	if err != nil {
		return nil, err
	}
	changes, err := s.partChanges(ctx, c)
	if err != nil {
		return nil, err
	}
	for _, v := range own {
		n, last := s.Number(c, v), v.To
		for len(changes) > 0 && v.To != 0 && changes[0].From >= v.To {
			changes = changes[1:]
		}
		for len(changes) > 0 && changes[0].From > v.From {
			x := changes[0]
			w := v
			w.From, w.To, w.At, w.By, w.Op, w.Change = x.From, last, x.At, x.By, x.Op, x.Change
			w.Counts, w.parts, last = Counts{n, n, n}, x.From, x.From
			all = append(all, w)
			for ; len(changes) > 0 && changes[0].From == x.From; n-- {
				changes = changes[1:]
			}
		}
		v.To, v.Counts = last, Counts{n, n, n}
		if len(changes) > 0 {
			v.parts = changes[0].From
		}
		all = append(all, v)
	}
	return all, nil
}

// partChanges returns the versions of the cards that hold hidden parts of a card, each of which the version number
// of the card counts, latest first.
func (s *Snapshot) partChanges(ctx context.Context, c Card) (all []Version, err error) {
	holders, err := s.holders(ctx, c)
	if err != nil {
		return nil, err
	}
	for _, h := range holders {
		list, err := Collect(s.AllVersions(ctx, h.ID))
		if err != nil {
			return nil, err
		}
		for i, v := range list {
			if v.Places != nil || i+1 < len(list) && list[i+1].Places != nil {
				all = append(all, v)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Version) int { return cmp.Compare(b.From, a.From) })
	return all, nil
}

// SameContent reports whether two versions of a card have the same content, with its hidden parts.
func (v Version) SameContent(o Version) bool { return v.Content == o.Content && v.parts == o.parts }
