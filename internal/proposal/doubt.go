package proposal

import (
	"context"
	"fmt"
	"time"

	"loregate/internal/access"
	"loregate/internal/markup"
)

// Doubt is a text whose claims a check could not settle, with all that the readers of the text may know of them. It is
// a question to a second reader.
type Doubt struct {
	Field  string
	Claims []string // the sentences that are in doubt, or of which the check understood nothing
	Canon  []string // what the readers' canon tells of them, a sentence each
	Said   string   // the whole text
	By     string   // who says it, "" for a narrator
	At     string   // where it is said or seen, "" if unknown
}

// DoubtReader answers doubts. It sees nothing but the doubt.
type DoubtReader interface {
	// ReadDoubt returns which of a doubt's claims its canon denies. An error leaves the doubt as it is.
	ReadDoubt(ctx context.Context, w access.WorldID, d Doubt) (Opinion, error)
}

// Opinion is the answer to a doubt. Numbers count from 1.
type Opinion struct {
	By      string `json:"by"`      // who answered: a model and a template
	Denied  int    `json:"denied"`  // the claim that the canon denies; 0 for none
	Because int    `json:"because"` // the line of the canon that denies it; 0 for none
}

// doubtTimeout is the time that a proposal waits for an opinion.
const doubtTimeout = 10 * time.Second

// maxDenial is the length of a quotation in the reason of a refusal, in characters.
const maxDenial = 160

// askDoubtReader returns an opinion on the claims that a check could not settle; nil for none. It can only lead to a
// refusal: a text that it does not refuse is judged as without it. A recorded proposal keeps its opinion.
func (s *Service) askDoubtReader(ctx context.Context, c *candidate) *Opinion {
	switch {
	case c.recorded != nil:
		for _, v := range c.recorded.judged.Verdicts {
			if v.Gate == GateInvariant {
				return v.Opinion
			}
		}
		return nil
	case s.cfg.Doubts == nil:
		return nil
	}
	d := c.finding.doubt()
	if d == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, doubtTimeout)
	defer cancel()
	opinion, err := s.cfg.Doubts.ReadDoubt(ctx, c.grant.World(), *d)
	if err != nil {
		s.cfg.Logger.DebugContext(
			ctx,
			"the claims of a text got no second reading; they are judged without one",
			"error",
			err,
		)
		return nil
	}
	return &opinion
}

func (f *Finding) doubt() *Doubt {
	if f.Doubt == nil {
		return nil
	}
	return f.Doubt()
}

// findDenial returns the issue of the claim that is denied according to an opinion. ok is false if the opinion names
// none, or no line of the canon that the doubt has.
func (f *Finding) findDenial(o *Opinion) (i Issue, ok bool) {
	if o == nil {
		return i, false
	}
	d := f.doubt()
	if d == nil || o.Denied < 1 || o.Denied > len(d.Claims) || o.Because < 1 || o.Because > len(d.Canon) {
		return i, false
	}
	quote := func(s string) string { return "\u201c" + markup.Shorten(markup.OneLine(s), maxDenial) + "\u201d" }
	return Issue{d.Field, fmt.Sprintf("claims %s, but the canon says %s; correct it, or tell it as rumour",
		quote(d.Claims[o.Denied-1]), quote(d.Canon[o.Because-1]))}, true
}
