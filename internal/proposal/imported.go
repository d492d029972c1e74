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

// importPrefix is the beginning of the names of operations that import text from others:
// "import_light". The rest of the name is the format.
const importPrefix = "import_"

// citedCards are cards that a candidate rests on, and the commit that they were read as of; 0 is now.
type citedCards struct {
	cards []canon.CardID
	codes []string // codenames
	at    canon.Seq
}

// citedIn returns the cards that an answer or a payload names by id, and facts by codename.
func citedIn(value json.RawMessage, at canon.Seq) citedCards {
	c := citedCards{at: at}
	for _, t := range TextsOf("", value) {
		if id, err := uuid.Parse(t.Text); err == nil && len(t.Text) == 36 {
			c.cards = append(c.cards, canon.CardID(id))
		} else if strings.HasSuffix(t.Field, ".factId") {
			c.codes = append(c.codes, t.Text)
		}
	}
	return c
}

// restsOnImport reports whether a candidate rests on imported text: a card in a context that it
// cites, or a card that an agent's payload names. Such text may contain instructions to its reader,
// so a person looks at proposals that rest on it. In a fork, restsOnImport also returns the cards
// for which importedInOrigin has to be asked.
func (s *Service) restsOnImport(ctx context.Context, snap *canon.Snapshot,
	c *candidate) (found bool, forked []canon.CardID, err error) {
	rests := c.sources.cites
	if c.grant.Caller().Actor == access.AI {
		rests = append(slices.Clone(rests), citedIn(c.rec.Payload, 0))
	}
	for _, part := range rests {
		if found, forked, err = s.hasImportedText(ctx, snap, part, forked); found || err != nil {
			break
		}
	}
	return found, forked, err
}

// hasImportedText reports whether one of the cards holds imported text. It adds to
// forked the cards whose text was there when the world was created as a fork.
func (s *Service) hasImportedText(ctx context.Context, snap *canon.Snapshot, part citedCards,
	forked []canon.CardID) (bool, []canon.CardID, error) {
	for _, code := range part.codes {
		c, ok, err := snap.Exists(ctx, ":"+code)
		if err != nil {
			return false, forked, err
		}
		if ok {
			part.cards = append(part.cards, c.ID)
		}
	}
	if part.at == 0 {
		part.at = snap.Now()
	}
	versions, err := snap.CardsAt(ctx, part.cards, part.at)
	if err != nil || slices.ContainsFunc(versions, func(v canon.Version) bool { return s.isUntrustedImport(v.Op) }) {
		return err == nil, forked, err
	}
	for _, v := range versions {
		first := v
		if v.Rev > 1 {
			var ours bool
			if first, ours, err = s.findTextOrigin(ctx, snap, v); err != nil || !ours {
				return err == nil, forked, err
			}
		}
		if first.Rev == 1 {
			forked = append(forked, v.Card)
		}
	}
	return false, forked, nil
}

// isUntrustedImport reports whether an operation imports text that is not trusted.
func (s *Service) isUntrustedImport(operation string) bool {
	format, ok := strings.CutPrefix(operation, importPrefix)
	return ok && !slices.Contains(s.cfg.TrustedImports, format)
}

// findTextOrigin returns the version that introduced the text of a version, and reports whether no
// import introduced its content or fields.
func (s *Service) findTextOrigin(ctx context.Context, snap *canon.Snapshot,
	v canon.Version) (first canon.Version, ours bool, err error) {
	first = v
	for page := (canon.Page{Limit: 200}); ; page.Offset += page.Limit {
		list, _, err := snap.Versions(ctx, v.Card, page)
		if err != nil {
			return first, false, err
		}
		for _, old := range list {
			content := v.Content != (canon.Hash{}) && old.Content == v.Content
			if old.Rev > v.Rev || !content && (len(v.Fields) == 0 || string(old.Fields) != string(v.Fields)) {
				continue
			}
			if s.isUntrustedImport(old.Op) {
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

// importedInOrigin is restsOnImport for the world that a fork was made from, as of the fork.
func (s *Service) importedInOrigin(ctx context.Context, fork canon.World, level access.Level,
	cards []canon.CardID) (found bool, err error) {
	for origin := fork; !found && err == nil && len(cards) > 0 && !origin.Origin.IsZero(); {
		a, refused := s.cfg.Guard.Admit(ctx, access.Caller{Subject: "proposals", EveryRole: access.RoleAdmin,
			Unlimited: true},
			access.Request{Operation: "read_origin", Effect: access.Read, World: origin.Origin})
		if refused != nil {
			return false, refused
		}
		part := citedCards{cards: cards, at: origin.OriginSeq}
		err = s.cfg.Canon.Read(ctx, a.Grant.As(level), func(l *canon.Snapshot) (err error) {
			origin = l.World()
			found, cards, err = s.hasImportedText(ctx, l, part, nil)
			return err
		})
		a.Done(ctx, 0, err)
	}
	return found, err
}
