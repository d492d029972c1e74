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
	"loregate/internal/event"
	"loregate/internal/fault"
	"loregate/internal/op"
	"loregate/internal/prompt"
	"loregate/internal/proposal"
	"loregate/internal/proposal/kind"
	"loregate/internal/rules"
	"loregate/internal/world"
	"loregate/internal/world/command"
	"loregate/internal/world/play"
)

// Proposals configures the gates that judge proposals.
type Proposals struct {
	PlayerMinute int           `yaml:"player_minute" default:"6" doc:"Proposals of one purpose for one player per minute."`
	PlayerHour   int           `yaml:"player_hour" default:"60" doc:"Proposals of one purpose for one player per hour."`
	KeyMinute    int           `yaml:"key_minute" default:"30" doc:"Proposals of one key per minute."`
	WorldMinute  int           `yaml:"world_minute" default:"600" doc:"Proposals in a world per minute."`
	TokensDay    int           `yaml:"tokens_day" default:"200000" doc:"Tokens in the texts of one purpose in a world per day."`
	Compared     int           `yaml:"compared" default:"500" doc:"Number of accepted proposals of the same kind and scope that a new one is compared with."`
	Within       time.Duration `yaml:"within" default:"720h" doc:"Highest age of the proposals that a new one is compared with."`
	Distance     int           `yaml:"distance" default:"3" doc:"SimHash distance up to which two texts count as nearly equal."`
	Likeness     float64       `yaml:"likeness" default:"0.85" doc:"Share of common three-word sequences from which two texts count as nearly equal."`
	Life         time.Duration `yaml:"life" default:"168h" doc:"Time for which a proposal waits for a person, before it expires."`
	Review       []string      `yaml:"review" doc:"Further kinds of proposals that wait for a person: ambience, npc_dialogue."`
	Trusted      []string      `yaml:"trusted_imports" doc:"Import formats whose text is trusted as the world's own, such as markdown. A proposal that cites text from any other import waits for a person."`
}

func (c Proposals) toLimits() proposal.Limits {
	return proposal.Limits{PlayerMinute: c.PlayerMinute, PlayerHour: c.PlayerHour, KeyMinute: c.KeyMinute,
		WorldMinute: c.WorldMinute, TokensDay: c.TokensDay,
		Compared: c.Compared, Within: c.Within, Distance: c.Distance, Likeness: c.Likeness, Life: c.Life}
}

// openProposals creates the proposal service with all kinds, and adds its operations to the surface
// world.
func (a *App) openProposals(ctx context.Context, o Options) error {
	c := a.Config.Proposals
	var err error
	if a.prompts, err = prompt.Open(filepath.Join(a.Config.Data, "prompts")); err != nil {
		return err
	}
	secret, err := a.sharedSecret(ctx, "proposals", sha256.Size)
	if err != nil {
		return err
	}
	policies := map[string]proposal.Policy{}
	for _, kind := range c.Review {
		policies[kind] = proposal.Review
	}
	a.Proposals, err = proposal.New(proposal.Config{
		Canon: a.Canon, Guard: a.Guard, Prompts: a.prompts, Kinds: append(kind.Kinds(draftWords()), play.ActionKind()),
		Contexts: contexts{a.places}, Authors: authors{a},
		Operation: func(name string) (*op.Operation, bool) { return a.Ops.Find(name) },
		LeastRole: func(o *op.Operation, w access.WorldID) access.Role { return a.Ops.LeastRole(o, w) },
		Limits:    c.toLimits(), Policies: policies, TrustedImports: c.Trusted, Meter: meter{a},
		Moderator: a.gateModerator(), Doubts: a.claimReader(), Repeats: a.repeatReader(), Secret: secret, Logger: a.logger,
		Now: a.now, NewID: o.idGenerator("proposal"),
	})
	if err != nil {
		return err
	}
	s := a.addOperations(world.Surface, append(a.Proposals.Operations(), prompt.Operations(a.prompts, world.Surface)...)...)
	s.Feeds = append(s.Feeds, a.Proposals.Feed())
	return nil
}

// SetSafetyProfile sets the safety profile that judges the texts proposed in a world.
func SetSafetyProfile(s *canon.Settings, profile string) {
	setExtra(s, proposal.ProfileSetting, profile)
}

// SetLanguage sets the language that a world is written in, one of stem.Languages.
func SetLanguage(s *canon.Settings, code string) { setExtra(s, canon.LanguageSetting, code) }

// SetClockRate sets the ratio of world time to real time.
func SetClockRate(s *canon.Settings, rate string) { setExtra(s, world.RateSetting, rate) }

// SetRules sets the system of rules of a world, one of rules.Systems.
func SetRules(s *canon.Settings, system string) { setExtra(s, rules.SystemSetting, system) }

// setExtra sets an extra setting in a copy of the map, because others may hold the old map.
func setExtra(s *canon.Settings, key, value string) {
	extra := map[string]string{}
	maps.Copy(extra, s.Extra)
	extra[key] = value
	s.Extra = extra
}

// SetUnproven sets the kinds that agents may propose in a world without citing a context.
func SetUnproven(s *canon.Settings, kinds []string) {
	setExtra(s, proposal.UnprovenSetting, strings.Join(slices.DeleteFunc(slices.Clone(kinds),
		func(k string) bool { return k == "none" }), ","))
}

// addOperations adds operations to an existing surface, and returns it.
func (a *App) addOperations(surface string, operations ...*op.Operation) *op.Surface {
	i := slices.IndexFunc(a.Surfaces, func(s op.Surface) bool { return s.Name == surface })
	a.Surfaces[i].Operations = append(a.Surfaces[i].Operations, operations...)
	return &a.Surfaces[i]
}

// draftWords returns the names that the surface world uses for event types, directions and
// surfaces.
func draftWords() kind.Config {
	c := kind.Config{Surface: world.Surface, Dialogue: string(world.NPCDialogue), Ambience: string(world.AmbienceMade),
		Quest: string(world.QuestProposed), LayerEnded: string(world.LayerEnded), ExitCreated: string(world.ExitCreated),
		Private: world.PrivateLabel,
		EventType: func(name string) (access.Role, bool) {
			k, ok := world.KindOf(event.Type(name))
			return k.MinRole, ok
		}}
	for _, d := range command.Directions {
		c.Directions = append(c.Directions, string(d))
	}
	return c
}

// contexts reads context references again for the replay gate, and returns the answers in the form
// that REST and MCP's text show.
type contexts struct{ places *world.World }

func (c contexts) Reread(ctx context.Context, g access.Grant, ref string) (proposal.Reading, error) {
	read, err := c.places.Reread(ctx, g, ref)
	return proposal.Reading{Answer: agent.Answer(read.Answer), Level: read.Level, At: read.At}, err
}

// authors looks up the authors of proposals, with the rights that they have now.
type authors struct{ app *App }

func (s authors) Author(ctx context.Context, subject access.Subject, key string) (access.Caller, error) {
	if key != "" {
		return s.app.Identity.CallerOf(ctx, key)
	}
	if subject == Operator().Subject {
		return Operator(), nil
	}
	if c, ok := agent.CallerOf(subject); ok {
		return c, nil
	}
	if c, ok, err := s.app.Identity.OutsideCaller(ctx, subject); ok {
		return c, err
	}
	if name, ok := strings.CutPrefix(string(subject), "local-"); ok {
		if role, ok := access.ParseRole(name); ok {
			return Local(role), nil
		}
	}
	return access.Caller{},
		fault.New(fault.Denied, "the author of this proposal has no valid key any more; the proposal must be made again")
}

// ResumeProposals applies, in every world, the proposals that were accepted but not applied before
// a process ended.
func (a *App) ResumeProposals(ctx context.Context) error {
	all, err := a.Canon.Worlds(ctx)
	for _, w := range all {
		if err != nil {
			break
		}
		if err = a.resumeWorldProposals(ctx, w); canon.IsLost(err) {
			err = nil
		}
	}
	return err
}

func (a *App) resumeWorldProposals(ctx context.Context, w canon.World) error {
	return a.runAsOperator(ctx, w.ID, "resume_proposals", access.Propose, func(g access.Grant) error {
		n, err := a.Proposals.Resume(ctx, g)
		if n > 0 {
			a.logger.Info("proposals that were accepted before the start are applied", "world", w.Slug, "proposals", n)
		}
		if err != nil {
			return fmt.Errorf("proposals of %s: %w", w.Slug, err)
		}
		return nil
	})
}
