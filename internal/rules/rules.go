package rules

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/lazyregexp"
	"loregate/internal/op"
	"loregate/internal/ruleset"
	"loregate/internal/ruleset/fifth"
	"loregate/internal/ruleset/freeform"
	"loregate/internal/slicesx"
)

// Surface is the surface's name, Ledger the kind of the ledgers of encounters.
const (
	Surface = "rules"
	Ledger  = "encounter"
	worlds  = "world" // the surface that shows the operations too
)

// SystemSetting is the key, among the extra settings of a world, of its system of rules: srd-5.1,
// which is the default, or freeform.
const SystemSetting = "rules.system"

// Systems are the systems of rules that a world can choose.
func Systems() []ruleset.System { return []ruleset.System{fifth.System{}, freeform.System{}} }

// Config configures the surface. All fields are required.
type Config struct {
	Canon  *canon.Canon
	Key    [32]byte // makes the seeds of encounters; all processes on one store share it
	Random func([]byte)
}

// Service is the surface.
type Service struct{ cfg Config }

// New returns a Service.
func New(c Config) (*Service, error) {
	if c.Canon == nil || c.Random == nil {
		return nil, errors.New("rules: Canon and Random are needed")
	}
	return &Service{c}, nil
}

// Surface returns the surface.
func (s *Service) Surface() op.Surface {
	return op.Surface{Name: Surface, Title: "Rules",
		Doc: "Dice, checks, characters, rests and encounters by a world's system of rules.",
		Operations: []*op.Operation{s.rollDice(), s.checkAbility(), s.lookUp(), s.buildCharacter(), s.rest(),
			s.suggestEncounter(), s.generateLoot(), s.startEncounter(), s.encounterAct(), s.castSpell(), s.getEncounter()}}
}

// define declares an operation of the surface.
func define[In, Out any](s op.Spec, handle func(context.Context, *op.Call, In) (Out, error)) *op.Operation {
	s.Surfaces, s.MinRole, s.Audience = []string{Surface, worlds}, max(s.MinRole, access.RoleUser), "play"
	return op.Define(s, handle)
}

// systemOf returns the system of rules of a call's world.
func (s *Service) systemOf(ctx context.Context, c *op.Call) (sys ruleset.System, err error) {
	err = s.cfg.Canon.Read(ctx, c.Grant, func(l *canon.Snapshot) error {
		sys = systemIn(l.World().Settings)
		return nil
	})
	return sys, err
}

// systemIn returns the system of rules that a world's settings choose.
func systemIn(settings canon.Settings) ruleset.System {
	for _, one := range Systems() {
		if one.Name() == settings.Extra[SystemSetting] {
			return one
		}
	}
	return fifth.System{}
}

// Settle decides an uncertain act by a world's system. bonus is the person's number in the skill;
// nil: that of somebody untrained. level names the difficulty; an unknown name is the first that the
// system has. It returns the seed of the dice too.
func (s *Service) Settle(settings canon.Settings, _ string, bonus *int, level string,
	m ruleset.Mode) (ruleset.Outcome, string) {
	sys, seed := systemIn(settings), s.newSeed()
	c := ruleset.Check{Skill: sys.Untrained(), Difficulty: sys.Difficulties()[0].Value, Mode: m}
	if bonus != nil {
		c.Skill = *bonus
	}
	for _, d := range sys.Difficulties() {
		if d.Name == level {
			c.Difficulty = d.Value
		}
	}
	return sys.Check(c, seed.Stream()), seed.String()
}

// newSeed returns a seed that nobody knows.
func (s *Service) newSeed() (seed ruleset.Seed) {
	s.cfg.Random(seed[:])
	return seed
}

// parseSeed reads a seed that an answer has shown; the empty text is a new seed.
func (s *Service) parseSeed(text string) (seed ruleset.Seed, err error) {
	if text == "" {
		return s.newSeed(), nil
	}
	b, err := hex.DecodeString(text)
	if err != nil || len(b) != len(seed) {
		return seed, fault.BadField("seed", "must be the 64 hexadecimal digits of an earlier answer")
	}
	return ruleset.Seed(b), nil
}

// seedOf returns the seed of an encounter. It follows from the store's key, so no record shows it.
func (s *Service) seedOf(world access.WorldID, id string) (seed ruleset.Seed) {
	h := hmac.New(sha256.New, s.cfg.Key[:])
	h.Write([]byte(world.String() + "/" + id))
	copy(seed[:], h.Sum(nil))
	return seed
}

var fieldPattern = lazyregexp.New(`^([a-z_]+):? (.*)$`)

// asFault turns an error of the rules, which begins with the name of a field, into a fault.
func asFault(err error) error {
	if err == nil {
		return nil
	}
	if m := fieldPattern.FindStringSubmatch(err.Error()); m != nil {
		return fault.BrokenRule(m[1], "%s", m[2])
	}
	return fault.New(fault.Rule, "%s", err)
}

func showThrown(list []ruleset.Thrown) []string { return slicesx.Map(list, ruleset.Thrown.String) }

func joinNames(list []string) string { return strings.Join(list, ", ") }
