package proposal

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/op"
	"loregate/internal/safety"
)

// Gate is the name of a gate.
type Gate string

// The gates, in the order in which a proposal passes them. GateReview marks a refusal by a person,
// not by a gate.
const (
	GateSchema      Gate = "schema"
	GateSafety      Gate = "safety"
	GateInvariant   Gate = "invariant"
	GateDuplication Gate = "duplication"
	GateReplay      Gate = "replay"
	GateRate        Gate = "rate"
	GateAudit       Gate = "audit"
	GateReview      Gate = "review"
)

// refusalCodes maps each gate to the error code of its refusals.
var refusalCodes = map[Gate]string{
	GateSchema: "SCHEMA_INVALID", GateSafety: "SAFETY_BLOCKED", GateInvariant: "INVARIANT_BROKEN",
	GateDuplication: "NEAR_DUPLICATE",
	GateReplay:      "REPLAY_MISMATCH", GateRate: "RATE_EXCEEDED", GateAudit: "AUDIT_UNAVAILABLE",
	GateReview: "REVIEW_REJECTED",
}

// ProfileSetting is the key in a world's extra settings that names the profile of its safety
// policy.
const ProfileSetting = "safety_profile"

// UnprovenSetting is the key in a world's extra settings that lists the kinds which agents may
// propose without a context, separated by commas. Proposals of other kinds without a context wait
// for a person.
const UnprovenSetting = "unproven_kinds"

// Unproven returns the kinds that a world's settings let agents propose without a context.
func Unproven(s canon.Settings) []string {
	return strings.FieldsFunc(s.Extra[UnprovenSetting], func(r rune) bool { return r == ',' })
}

// candidate is a proposal on its way through the gates.
type candidate struct {
	kind      *Kind
	grant     access.Grant
	common    Common
	draft     Draft  // nil if the schema gate refused the payload
	texts     []Text // the draft's
	sig       signature
	finding   Finding
	flags     []string // of the safety gate
	context   access.Level
	cites     []citedCards // the cards that it cites
	foreign   bool         // it rests on imported text
	unproven  bool         // the world lets agents propose it without a context
	replay    outcome      // of the replay gate, computed before its turn
	prompt    string       // rendered again from the provenance
	reach     touched      // the cards that the dry run changes
	rec       judgedEvent
	transport string // of the call that proposed
}

// outcome is the result of a gate.
type outcome struct {
	input   canon.Hash // hash of the gate's input
	refused *Rejection
	issues  []Issue
}

// addVerdict adds a gate's verdict and reports whether the gate lets the proposal through.
func (c *candidate) addVerdict(g Gate, version string, o outcome) bool {
	v := Verdict{Gate: g, Version: version, Input: o.input, Passed: o.refused == nil}
	if g == GateSafety {
		v.Flags = c.flags
	}
	if o.refused != nil {
		o.refused.Gate, o.refused.Code = g, refusalCodes[g]
		o.refused.Fallback.Text = c.kind.pickFallback(g, c.texts)
		if o.refused.Details == nil {
			o.refused.Details = map[string]any{}
		}
		v.Code = o.refused.Code
		c.rec.Status, c.rec.Refused, c.rec.Issues = Rejected, o.refused, o.issues
	}
	c.rec.Verdicts = append(c.rec.Verdicts, v)
	return v.Passed
}

// pickFallback picks a fallback sentence for readers. The choice depends only on the kind, the gate
// and the texts, so it reveals nothing hidden.
func (k *Kind) pickFallback(g Gate, texts []Text) string {
	if len(k.Fallbacks) == 0 {
		return "For a moment something seemed about to change; then it was as before."
	}
	h := sha256.New()
	_, _ = fmt.Fprintf(h, "%s\x00%s", k.Name, g)
	for _, t := range texts {
		_, _ = fmt.Fprintf(h, "\x00%s", t.Text)
	}
	return k.Fallbacks[int(h.Sum(nil)[0])%len(k.Fallbacks)]
}

// checkStateless runs the gates that do not need the ledger: schema, safety and invariant. It also
// computes the replay gate's outcome. It reports whether all three gates let the candidate through.
// Its error is a failure, never a refusal.
func (s *Service) checkStateless(ctx context.Context, c *candidate) (bool, error) {
	if !c.addVerdict(GateSchema, c.kind.Schema(), s.checkSchema(c)) {
		return false, nil
	}
	c.texts = c.draft.Texts()
	c.sig = signatureOf(c.texts)
	c.rec.Scope, c.rec.Player, c.rec.Tokens = c.draft.Scope(), c.draft.Player(), tokensOf(c.texts)
	var held outcome
	profile := ""
	err := s.cfg.Canon.Read(ctx, c.grant, func(l *canon.Snapshot) (err error) {
		settings := l.World().Settings
		c.rec.World, profile = l.Now(), settings.Extra[ProfileSetting]
		c.unproven = slices.Contains(Unproven(settings), c.kind.Name)
		if c.rec.About, err = namesIn(ctx, l, c.rec.Scope); err != nil {
			return err
		}
		held, err = s.checkInvariant(ctx, c, State{Snapshot: l})
		return err
	})
	if err != nil {
		return false, err
	}
	judged, err := s.checkSafety(ctx, c, profile)
	if err != nil || !c.addVerdict(GateSafety, s.cfg.Policy.Version, judged) {
		return false, err
	}
	if c.replay, err = s.checkReplay(ctx, c); err != nil {
		return false, err
	}
	if held.refused == nil && c.replay.refused == nil && s.exceptionReason(c) == "" {
		if c.foreign, err = s.restsOnImport(ctx, c); err != nil {
			return false, err
		}
	}
	if held.refused == nil && s.reviewReason(c) != "" {
		err = s.dryRunCandidate(ctx, c, &held)
	}
	if err != nil || !c.addVerdict(GateInvariant, "invariant/1", held) {
		return false, err
	}
	c.rec.Outcome = c.finding.Label
	return true, nil
}

func hashOf(parts ...[]byte) canon.Hash {
	h := sha256.New()
	for _, p := range parts {
		_, _ = fmt.Fprintf(h, "%d:", len(p))
		h.Write(p)
	}
	return canon.Hash(h.Sum(nil))
}

// checkSchema is the first gate: it decodes the payload and lists every fault.
func (s *Service) checkSchema(c *candidate) outcome {
	o := outcome{input: hashOf(c.rec.Payload)}
	draft, err := c.kind.decode(c.rec.Payload)
	if err == nil {
		c.draft = draft
		return o
	}
	o.issues = issuesOf(err)
	list := make([]string, len(o.issues))
	for i, is := range o.issues {
		list[i] = is.Field
	}
	o.refused = &Rejection{Message: fmt.Sprintf("the payload is not what %s asks for (%s); mend what the issues list and propose again", c.kind.Schema(), strings.Join(list, ", ")),
		Details: map[string]any{"schema": c.kind.Schema(), "issues": o.issues}}
	return o
}

// issuesOf returns an error's faults, one per field.
func issuesOf(err error) []Issue {
	var f *fault.Error
	if !errors.As(err, &f) {
		return []Issue{{Error: "could not be read"}}
	}
	if len(f.Fields) == 0 {
		return []Issue{{Error: f.Message}}
	}
	list := make([]Issue, len(f.Fields))
	for i, field := range f.Fields {
		list[i] = Issue(field)
	}
	return list
}

// checkSafety is the second gate. It judges the texts by the world's profile. If an external
// moderator does not answer, the gate refuses.
func (s *Service) checkSafety(ctx context.Context, c *candidate, profile string) (outcome, error) {
	texts := make([]string, len(c.texts))
	for i, t := range c.texts {
		texts[i] = t.Text
	}
	b, err := json.Marshal(texts)
	if err != nil {
		return outcome{}, err
	}
	o := outcome{input: hashOf(b)}
	j := s.cfg.Policy.Judge(profile, texts...)
	c.flags = j.Categories
	if slices.ContainsFunc(j.Categories, func(c string) bool { return c == "secrets" || c == "personal" }) {
		c.rec.Payload = json.RawMessage("null") // the ledger must not keep secrets or personal data
	}
	if j.Action == safety.Block {
		o.refused = &Rejection{Message: "the text falls under what this world does not take (" +
			strings.Join(j.Categories, ", ") + "); write it otherwise",
			Details: map[string]any{"categories": j.Categories, "policyVersion": s.cfg.Policy.Version}}
		return o, nil
	}
	if s.cfg.Moderator == nil || len(texts) == 0 {
		return o, nil
	}
	more, err := s.cfg.Moderator.Moderate(ctx, safety.Passage{World: c.grant.World().String(), Profile: profile,
		Texts: texts})
	if err != nil {
		o.refused = &Rejection{Message: "the moderator does not answer, and nothing passes without it; try again shortly",
			Retryable: true, RetryAfterSeconds: 5}
		return o, nil
	}
	if len(more) > 0 {
		c.flags = append(c.flags, more...)
		o.refused = &Rejection{Message: "the moderator refused the text (" + strings.Join(more, ", ") +
			"); write it otherwise",
			Details: map[string]any{"categories": more, "policyVersion": s.cfg.Policy.Version}}
	}
	return o, nil
}

// checkInvariant is the third gate: the length of each text, the token budget, and the kind's own
// checks against the world.
func (s *Service) checkInvariant(ctx context.Context, c *candidate, world State) (outcome, error) {
	// The commit is recorded next to the hash and not hashed. A reader who knows the payload could
	// otherwise find the commit number by trying, and from it the amount of hidden changes.
	o := outcome{input: hashOf(c.rec.Payload)}
	for _, t := range c.texts {
		if n := utf8.RuneCountInString(t.Text); t.Max > 0 && n > t.Max {
			o.issues = append(o.issues, Issue{t.Field, fmt.Sprintf("has %d characters; at most %d are taken", n, t.Max)})
		}
	}
	if c.kind.Tokens > 0 && c.rec.Tokens > c.kind.Tokens {
		o.issues = append(o.issues, Issue{"", fmt.Sprintf("holds about %d tokens; the budget of %s is %d", c.rec.Tokens,
			c.kind.Name, c.kind.Tokens)})
	}
	found, err := c.draft.Check(ctx, world)
	if err != nil {
		return o, err
	}
	c.finding = found
	o.issues = append(o.issues, found.Issues...)
	if len(o.issues) == 0 {
		return o, nil
	}
	first := o.issues[0].Error
	if o.issues[0].Field != "" {
		first = o.issues[0].Field + ": " + first
	}
	o.refused = &Rejection{Message: "it does not fit the world (" + first + "); change that and propose again",
		Details: map[string]any{"issues": o.issues}}
	return o, nil
}

// payloadHash identifies a payload of a kind: SHA-256 over the schema's name and the canonical
// JSON.
func payloadHash(k *Kind, payload json.RawMessage) canon.Hash {
	if b, err := op.Canonical(payload); err == nil {
		payload = b
	}
	return hashOf([]byte(k.Schema()), payload)
}
