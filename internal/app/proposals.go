package app

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"loregate/internal/access"
	"loregate/internal/agent"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/op"
	"loregate/internal/prompt"
	"loregate/internal/proposal"
	"loregate/internal/proposal/kind"
	"loregate/internal/world"
)

// Proposals are the numbers of the gates.
type Proposals struct {
	PlayerMinute int           `yaml:"player_minute" default:"6" doc:"Proposals of one purpose for one player a minute."`
	PlayerHour   int           `yaml:"player_hour" default:"60" doc:"Proposals of one purpose for one player an hour."`
	KeyMinute    int           `yaml:"key_minute" default:"30" doc:"Proposals of one key a minute."`
	WorldMinute  int           `yaml:"world_minute" default:"600" doc:"Proposals in a world a minute."`
	TokensDay    int           `yaml:"tokens_day" default:"200000" doc:"Tokens in the texts of one purpose in a world a day."`
	Compared     int           `yaml:"compared" default:"500" doc:"Accepted proposals of a kind and scope that a new one is compared with."`
	Within       time.Duration `yaml:"within" default:"720h" doc:"How old those may be."`
	Distance     int           `yaml:"distance" default:"3" doc:"SimHash distance up to which two texts are near the same."`
	Likeness     float64       `yaml:"likeness" default:"0.85" doc:"Share of three-word runs from which two texts are near the same."`
	Life         time.Duration `yaml:"life" default:"168h" doc:"How long a proposal waits for a person."`
	Review       []string      `yaml:"review" doc:"Kinds that wait for a person, besides those that do by themselves: ambience, npc_dialogue."`
	Trusted      []string      `yaml:"trusted_imports" doc:"Formats whose imports are the world's own text, such as markdown. A proposal that rests on text from any other import waits for a person."`
}

func (c Proposals) limits() proposal.Limits {
	return proposal.Limits{PlayerMinute: c.PlayerMinute, PlayerHour: c.PlayerHour, KeyMinute: c.KeyMinute, WorldMinute: c.WorldMinute, TokensDay: c.TokensDay,
		Compared: c.Compared, Within: c.Within, Distance: c.Distance, Likeness: c.Likeness, Life: c.Life}
}

// openProposals makes the gates, with the kinds that there are, and puts their operations
// on the surface world.
func (a *App) openProposals(ctx context.Context, o Options) error {
	c := a.Config.Proposals
	var err error
	if a.prompts, err = prompt.Open(filepath.Join(a.Config.Data, "prompts")); err != nil {
		return err
	}
	secret, err := a.secret(ctx, "proposals", sha256.Size)
	if err != nil {
		return err
	}
	policies := map[string]proposal.Policy{}
	for _, kind := range c.Review {
		policies[kind] = proposal.Review
	}
	a.Proposals, err = proposal.New(proposal.Config{
		Canon: a.Canon, Guard: a.Guard, Prompts: a.prompts, Kinds: append(kind.Kinds(draftWords()), world.ActionKind()), Contexts: contexts{a.places}, Authors: authors{a},
		Operation: func(name string) (*op.Operation, bool) { return a.Ops.Find(name) },
		Limits:    c.limits(), Policies: policies, TrustedImports: c.Trusted, Meter: meter{a.usage}, Moderator: a.gateModerator(), Secret: secret, Now: a.now, NewID: o.ids("proposal"),
	})
	if err != nil {
		return err
	}
	a.offer(world.Surface, append(a.Proposals.Operations(), prompt.Operations(a.prompts, world.Surface)...)...)
	return nil
}

// SetSafetyProfile says by which profile the texts that are proposed in a world are judged.
func SetSafetyProfile(s *canon.Settings, profile string) {
	setExtra(s, proposal.ProfileSetting, profile)
}

// SetLanguage says in which language a world is written, of stem.Languages.
func SetLanguage(s *canon.Settings, code string) { setExtra(s, canon.LanguageSetting, code) }

// SetClockRate says how much world time passes in a unit of real time.
func SetClockRate(s *canon.Settings, rate string) { setExtra(s, world.RateSetting, rate) }

// setExtra sets an extra setting, and leaves the map that others may hold.
func setExtra(s *canon.Settings, key, value string) {
	extra := map[string]string{}
	maps.Copy(extra, s.Extra)
	extra[key] = value
	s.Extra = extra
}

// SetUnproven says which kinds agents may propose in a world without a context.
func SetUnproven(s *canon.Settings, kinds []string) {
	setExtra(s, proposal.UnprovenSetting, strings.Join(slices.DeleteFunc(slices.Clone(kinds), func(k string) bool { return k == "none" }), ","))
}

// offer adds operations to a surface that is there.
func (a *App) offer(surface string, operations ...*op.Operation) {
	i := slices.IndexFunc(a.Surfaces, func(s op.Surface) bool { return s.Name == surface })
	a.Surfaces[i].Operations = append(a.Surfaces[i].Operations, operations...)
}

// draftWords is what the surface world calls things.
func draftWords() kind.Config {
	c := kind.Config{Surface: world.Surface, Dialogue: string(world.NPCDialogue), Ambience: string(world.AmbienceMade),
		Quest: string(world.QuestProposed), ExitCreated: string(world.ExitCreated),
		EventType: func(name string) (access.Role, bool) {
			k, ok := world.KindOf(world.EventType(name))
			return k.MinRole, ok
		}}
	for _, d := range world.Directions {
		c.Directions = append(c.Directions, string(d))
	}
	return c
}

// contexts reads context references again for the replay gate, and gives the answers as
// REST and MCP's text show them.
type contexts struct{ places *world.World }

func (c contexts) Reread(ctx context.Context, g access.Grant, ref string) (proposal.Reading, error) {
	view, err := c.places.View(g, ref)
	if err != nil {
		return proposal.Reading{}, err
	}
	at, err := c.places.Position(g, ref)
	if err != nil {
		return proposal.Reading{}, err
	}
	answer, err := c.places.Reread(ctx, g, ref)
	return proposal.Reading{Answer: agent.Answer(answer), Level: view.Level, At: at}, err
}

// authors gives those who proposed as they are today.
type authors struct{ app *App }

func (s authors) Author(ctx context.Context, subject access.Subject, key string) (access.Caller, error) {
	if key != "" {
		return s.app.Identity.CallerOf(ctx, key)
	}
	if subject == Operator().Subject {
		return Operator(), nil
	}
	if c, ok, err := s.app.Identity.OutsideCaller(ctx, subject); ok {
		return c, err
	}
	if name, ok := strings.CutPrefix(string(subject), "local-"); ok {
		if role, ok := access.ParseRole(name); ok {
			return Local(role), nil
		}
	}
	return access.Caller{}, fault.New(fault.Denied, "whoever asked for this is not known any more; it must be asked for anew")
}

// ResumeProposals carries out what was accepted before a process ended, in every world.
func (a *App) ResumeProposals(ctx context.Context) error {
	all, err := a.Canon.Worlds(ctx)
	for _, w := range all {
		if err != nil {
			break
		}
		err = a.resume(ctx, w)
	}
	return err
}

func (a *App) resume(ctx context.Context, w canon.World) error {
	return a.operate(ctx, w.ID, "resume_proposals", access.Propose, func(g access.Grant) error {
		n, err := a.Proposals.Resume(ctx, g)
		if n > 0 {
			a.logger.Info("what was accepted before is carried out", "world", w.Slug, "proposals", n)
		}
		if err != nil {
			return fmt.Errorf("proposals of %s: %w", w.Slug, err)
		}
		return nil
	})
}
