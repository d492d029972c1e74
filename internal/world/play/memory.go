package play

import (
	"encoding/json"
	"slices"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/world"
)

// bond is what somebody feels for the player and remembers of it, as planned so far.
type bond struct {
	other world.Card
	link  canon.Link
	world.Regard
}

// bondWith reads the bond of somebody with the player. The plan depends on it.
func (s *turn) bondWith(other world.Card) (b bond, err error) {
	b.other = other
	b.link, b.Regard, err = s.RegardOf(s.ctx, other.ID, s.player.ID)
	s.plan.DependOnLink(b.link)
	return b, err
}

// changeBond plans the change of a bond by deeds.
func (s *turn) changeBond(b bond, deeds ...world.Deed) (err error) {
	for _, d := range deeds {
		b.Attitude = b.After(d)
	}
	l := b.link
	if l.Label, err = s.privateLabel(b.other); err != nil {
		return err
	}
	if l.Attrs, err = json.Marshal(b.Regard); err != nil {
		return err
	}
	_, err = s.plan.Link(l)
	return err
}

// privateLabel returns the label of data between the player and somebody.
func (s *turn) privateLabel(other world.Card) (access.Label, error) {
	player, _, err := s.ByID(s.ctx, s.player.ID)
	return world.PrivateLabel(player).Meet(s.label).Meet(other.Label), err
}

// remember plans that somebody keeps an exchange with the player, and the change of the attitude by deeds.
func (s *turn) remember(b bond, x world.Exchange, deeds ...world.Deed) error {
	label, err := s.privateLabel(b.other)
	if err != nil {
		return err
	}
	h, err := s.storeText(x, label)
	if err != nil {
		return err
	}
	before := b.Contents()
	b.Recent, b.Promises = slices.Clone(b.Recent), slices.Clone(b.Promises)
	if old := b.Keep(h, x.Promise, s.presence.Clock); len(old) > 0 {
		if b.Summary, err = s.sumUp(b, old, label); err != nil {
			return err
		}
	}
	now := b.Contents()
	for _, h := range before {
		if !slices.Contains(now, h) {
			if err := s.plan.EraseText(canon.TextRef{Content: h, Label: label}); err != nil {
				return err
			}
		}
	}
	return s.changeBond(b, deeds...)
}

// rememberDeed is remember for somebody whose bond was not read.
func (s *turn) rememberDeed(other world.Card, x world.Exchange, deeds ...world.Deed) error {
	if !world.IsAlive(other) || other.IsType(world.TypePlayer) {
		return nil
	}
	b, err := s.bondWith(other)
	if err != nil {
		return err
	}
	return s.remember(b, x, deeds...)
}

func (s *turn) storeText(v any, l access.Label) (canon.Hash, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return canon.Hash{}, err
	}
	return s.plan.StoreText(string(text), l)
}

// sumUp stores the summary of the earlier summary and the oldest exchanges of a bond.
func (s *turn) sumUp(b bond, old []canon.Hash, l access.Label) (canon.Hash, error) {
	sum, err := s.ReadMemory(s.ctx, b.Summary)
	if err != nil {
		return canon.Hash{}, err
	}
	lines := sum.Lines
	for _, h := range old {
		x, ok, err := s.ReadExchange(s.ctx, h)
		if err != nil {
			return canon.Hash{}, err
		}
		if ok {
			lines = append(lines, x.Recall(s.player.Title(), b.other.Title()))
		}
	}
	return s.storeText(world.Memory{Lines: world.SumUp(lines), By: world.ByRules}, l)
}
