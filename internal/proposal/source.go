package proposal

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
)

// importing begins the names of the operations that bring in what others wrote:
// "import_light". What follows names the format.
const importing = "import_"

// cited are the cards of a part of what a candidate rests on, and the commit that they were
// read as of; 0 is now.
type cited struct {
	cards []canon.CardID
	codes []string // codenames
	at    canon.Seq
}

// citedIn finds the cards that an answer or a payload names: by their ids, and facts by
// their codenames.
func citedIn(value json.RawMessage, at canon.Seq) cited {
	c := cited{at: at}
	for _, t := range TextsOf("", value) {
		if id, err := uuid.Parse(t.Text); err == nil && len(t.Text) == 36 {
			c.cards = append(c.cards, canon.CardID(id))
		} else if strings.HasSuffix(t.Field, ".factId") {
			c.codes = append(c.codes, t.Text)
		}
	}
	return c
}

// imported reports whether a candidate rests on text that came in from elsewhere: a card
// that a context shows which it cites, or that an agent's payload names. Such text may try
// to lead who reads it, so that a person looks at what came of it.
func (s *Service) imported(ctx context.Context, c *candidate) (bool, error) {
	rests := c.rests
	if c.grant.Caller().Actor == access.AI {
		rests = append(slices.Clone(rests), citedIn(c.rec.Payload, 0))
	}
	var origin canon.World
	var forked []canon.CardID
	found := false
	err := s.cfg.Canon.Read(ctx, c.grant, func(l *canon.Snapshot) (err error) {
		origin = l.World()
		for _, part := range rests {
			if found, forked, err = s.foreign(ctx, l, part, forked); found || err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil || found || len(forked) == 0 || origin.Origin.IsZero() {
		return found, err
	}
	return s.importedBefore(ctx, origin, c.grant.View().Level, forked)
}

// foreign reports whether one of the cards holds imported text, and adds those whose text
// was there when the world was made as a fork.
func (s *Service) foreign(ctx context.Context, l *canon.Snapshot, part cited, forked []canon.CardID) (bool, []canon.CardID, error) {
	for _, code := range part.codes {
		c, ok, err := l.Exists(ctx, ":"+code)
		if err != nil {
			return false, forked, err
		}
		if ok {
			part.cards = append(part.cards, c.ID)
		}
	}
	if part.at == 0 {
		part.at = l.Now()
	}
	versions, err := l.CardsAt(ctx, part.cards, part.at)
	if err != nil || slices.ContainsFunc(versions, func(v canon.Version) bool { return s.imports(v.Op) }) {
		return err == nil, forked, err
	}
	for _, v := range versions {
		first := v
		if v.Rev > 1 {
			var ours bool
			if first, ours, err = s.writtenHere(ctx, l, v); err != nil || !ours {
				return err == nil, forked, err
			}
		}
		if first.Rev == 1 {
			forked = append(forked, v.Card)
		}
	}
	return false, forked, nil
}

// imports reports whether an operation brings in text that is not trusted.
func (s *Service) imports(operation string) bool {
	format, ok := strings.CutPrefix(operation, importing)
	return ok && !slices.Contains(s.cfg.TrustedImports, format)
}

// writtenHere finds the version by which the text of a version came in, and reports
// whether no import brought content or fields that it has.
func (s *Service) writtenHere(ctx context.Context, l *canon.Snapshot, v canon.Version) (first canon.Version, ours bool, err error) {
	first = v
	for page := (canon.Page{Limit: 200}); ; page.Offset += page.Limit {
		list, _, err := l.Versions(ctx, v.Card, page)
		if err != nil {
			return first, false, err
		}
		for _, old := range list {
			content := v.Content != (canon.Hash{}) && old.Content == v.Content
			if old.Rev > v.Rev || !content && (len(v.Fields) == 0 || string(old.Fields) != string(v.Fields)) {
				continue
			}
			if s.imports(old.Op) {
				return old, false, nil
			}
			if old.Rev < first.Rev {
				first = old
			}
		}
		if len(list) < page.Limit {
			return first, true, nil
		}
	}
}

// importedBefore asks the same of the world that a fork was made from, as it was then.
func (s *Service) importedBefore(ctx context.Context, fork canon.World, level access.Level, cards []canon.CardID) (found bool, err error) {
	for origin := fork; !found && err == nil && len(cards) > 0 && !origin.Origin.IsZero(); {
		a, refused := s.cfg.Guard.Admit(ctx, access.Caller{Subject: "proposals", EveryRole: access.RoleAdmin, Unlimited: true},
			access.Request{Operation: "read_origin", Effect: access.Read, World: origin.Origin})
		if refused != nil {
			return false, refused
		}
		part := cited{cards: cards, at: origin.OriginSeq}
		err = s.cfg.Canon.Read(ctx, a.Grant.As(level), func(l *canon.Snapshot) (err error) {
			origin = l.World()
			found, cards, err = s.foreign(ctx, l, part, nil)
			return err
		})
		a.Done(ctx, 0, err)
	}
	return found, err
}
