package proposal

import (
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
)

// Policy decides between acceptance and review of a proposal that passed the gates.
type Policy string

// The policies.
const (
	Auto   Policy = "auto"   // accepted at once
	Review Policy = "review" // waits for a person
)

// UnprovenSetting is the key in a world's extra settings that lists the kinds which agents may
// propose without a context, separated by commas. Proposals of other kinds without a context wait
// for a person.
const UnprovenSetting = "unproven_kinds"

// Unproven returns the kinds that a world's settings let agents propose without a context.
func Unproven(s canon.Settings) []string {
	return strings.FieldsFunc(s.Extra[UnprovenSetting], func(r rune) bool { return r == ',' })
}

// policyOf returns the policy that applies to a kind.
func (s *Service) policyOf(k *Kind) Policy {
	if p, ok := s.cfg.Policies[k.Name]; ok {
		return p
	}
	return k.Policy
}

// decideStatus accepts a candidate that passed all gates, or lets it wait for a person. A refused
// one stays refused.
func (s *Service) decideStatus(c *candidate) {
	if c.rec.Status == Rejected {
		return
	}
	c.rec.Status = Accepted
	why := s.reviewReason(c)
	if why != "" && s.exceptionReason(c) == "" {
		if g, ok := c.ledger.findStandingApproval(c); ok {
			c.rec.Standing, why = g.ID, ""
		}
	}
	if why != "" {
		c.rec.Status, c.rec.Issues = Pending, []Issue{{Error: why}}
	}
}

// reviewReason returns why a person must look at a candidate, or "" if it needs no review.
func (s *Service) reviewReason(c *candidate) string {
	if s.policyOf(c.kind) == Review && !c.live || c.rec.Diverted {
		return "waits for a person, as every " + c.kind.Name + " does"
	}
	return s.exceptionReason(c)
}

// exceptionReason returns why a person must look at a candidate regardless of the policy of its
// kind, or "" for no reason.
func (s *Service) exceptionReason(c *candidate) string {
	agent := c.grant.Caller().Actor != access.Person
	seen := c.rec.Author.Level > access.LevelUser && agent
	bare := !c.common.Provenance.citesContext()
	switch {
	case c.finding.Review != "":
		return c.finding.Review
	case c.imported:
		return "waits for a person: it is based on imported text"
	case c.sources.level > max(access.LevelUser, c.finding.Label.Level):
		return "waits for a person: its context contained more than its readers may see"
	case seen && bare && c.finding.Label.Level < c.rec.Author.Level:
		return "waits for a person: its author sees more than its readers, and it cites no context; " +
			"a text that cites the contextRef of an answer without hidden parts need not wait"
	case agent && bare && !c.unproven && s.policyOf(c.kind) == Auto && !c.rec.Diverted:
		return "waits for a person: it cites no context; a text that cites the contextRef of a context tool's answer need not wait"
	}
	return ""
}
