package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/agent"
	"loregate/internal/canon"
	"loregate/internal/event"
	"loregate/internal/fault"
	"loregate/internal/markup"
	"loregate/internal/op"
	"loregate/internal/proposal"
	"loregate/internal/proposal/kind"
	"loregate/internal/telemetry"
	"loregate/internal/usage"
	"loregate/internal/world"
	"loregate/internal/world/command"
	"loregate/internal/world/lore"
)

// openUsage creates the recorder of the costs of models and moderation.
func (a *App) openUsage(o Options) (err error) {
	c := usage.Config{Canon: a.Canon, Guard: a.Guard, Budget: a.Config.Budgets.byPurpose(), Told: a.countUsage,
		Now: a.now, Logger: a.logger}
	if o.Deterministic {
		c.Every = usage.WhenTold
	}
	a.usage, err = usage.New(c)
	return err
}

// countUsage counts a usage event in the metrics.
func (a *App) countUsage(e usage.Event) {
	switch e.Name {
	case usage.ModelCalled:
		a.metrics.Budget(e.Purpose, e.TokensPrompt+e.TokensCompletion)
		a.metrics.Model(e.Purpose, float64(e.CostMicroUSD)/1e6, time.Duration(e.LatencyMS*float64(time.Millisecond)))
	case usage.ProposalJudged:
		a.metrics.Judged(e.Purpose, string(e.Outcome))
	}
	if e.Recall != nil {
		a.metrics.Recall(*e.Recall)
	}
}

// countTurn counts an act that was told to its player.
func (a *App) countTurn(by, text string) {
	if by != world.ByRules {
		by = "model"
	}
	a.metrics.Turn(by)
	a.metrics.Text("narration", telemetry.HashWords(text))
}

// FlushUsage writes pending usage figures, which are otherwise written periodically: see Options.Deterministic.
func (a *App) FlushUsage(ctx context.Context) error { return a.usage.Flush(ctx) }

// Budgets are the limits on tokens spent on models.
type Budgets struct {
	SoftHour int `yaml:"soft_hour" doc:"Tokens per hour for one purpose in a world, above which one warning is logged. 0: no warning."`
	HardHour int `yaml:"hard_hour" doc:"Tokens per hour for one purpose in a world, above which models are not called. 0: no limit."`
	SoftDay  int `yaml:"soft_day" doc:"As soft_hour, per day."`
	HardDay  int `yaml:"hard_day" doc:"As hard_hour, per day."`
}

func (b Budgets) byPurpose() map[string]usage.Budget {
	all := map[string]usage.Budget{}
	for _, p := range usage.Purposes() {
		all[p] = usage.Budget{SoftHour: b.SoftHour, HardHour: b.HardHour, SoftDay: b.SoftDay, HardDay: b.HardDay}
	}
	return all
}

// openAgents creates the agents. They call operations through op, like any client.
func (a *App) openAgents() (err error) {
	c := agent.Config{Invoker: invoker{a}, Prompts: a.prompts, Usage: a.usage, Intents: intentOf, Profile: a.safetyProfile,
		Assess: a.assessQuest, Now: a.now, Logger: a.logger}
	a.useModel(&c)
	a.Agents, err = agent.New(c)
	if err != nil {
		return err
	}
	tools := a.Agents.Operations(world.Surface, lore.Surface)
	a.addOperations(world.Surface, slices.Concat(tools, a.usage.Operations(world.Surface),
		a.Agents.PlannerOperations(world.Surface))...)
	a.addOperations(lore.Surface, tools...)
	return nil
}

// invoker forwards calls to a.Ops, which is created after the agents that use it.
type invoker struct{ app *App }

func (i invoker) Invoke(ctx context.Context, c access.Caller, r op.Request) (*op.Answer, error) {
	return i.app.Ops.Invoke(ctx, c, r)
}

// intentOf returns the verb of an utterance and the confidence in it, by the rules for commands.
func intentOf(utterance string) (intent string, confidence float64, unsure bool) {
	verb, confidence, unsure := command.Parse(markup.Clip(utterance, command.MaxLength)).First()
	return string(verb), confidence, unsure
}

// safetyProfile returns the safety profile of a grant's world.
func (a *App) safetyProfile(ctx context.Context, g access.Grant) (profile string, err error) {
	err = a.Canon.Read(ctx, g, func(s *canon.Snapshot) error {
		profile = s.World().Settings.Extra[proposal.ProfileSetting]
		return nil
	})
	return profile, err
}

// meter records judged proposals as usage events.
type meter struct{ app *App }

func (m meter) Judged(g access.Grant, j proposal.Measure) {
	e := usage.Event{Name: usage.ProposalJudged, Purpose: j.Purpose, Model: j.Model, TokensPrompt: j.TokensPrompt,
		TokensCompletion: j.TokensCompletion,
		LatencyMS:        float64(j.Took) / float64(time.Millisecond), Outcome: usage.Accepted, Flagged: j.Flagged,
		Template: j.Template, Gate: string(j.Gate)}
	if j.Status == proposal.Rejected || j.Status == proposal.Duplicate {
		e.Outcome = usage.Rejected
	}
	if j.Kind == "npc_dialogue" {
		e.Grams = j.Grams
		m.app.metrics.Text("dialogue", j.Words)
	}
	m.app.usage.Record(g.World(), e)
}

// KeepAmbience has the agent for ambience check a place. The agent acts as a user, because it
// writes for players.
func (a *App) KeepAmbience(ctx context.Context, worldName, location string) (agent.Ambience, error) {
	w, err := a.resolveWorld(ctx, worldName)
	if err != nil {
		return agent.Ambience{}, err
	}
	if location, err = a.placeNamed(ctx, w, Local(access.RoleUser), location); err != nil {
		return agent.Ambience{}, err
	}
	return a.Agents.KeepAmbience(ctx, Local(access.RoleUser), w, location, uuid.NewString())
}

// assessQuest judges the payload of a quest that is not proposed.
func (a *App) assessQuest(ctx context.Context, c access.Caller, w access.WorldID, correlation string,
	payload json.RawMessage) (list []proposal.Assessment, err error) {
	r := access.Request{Operation: "assess_quest", World: w, MinRole: access.RoleUser, Correlation: correlation}
	err = runAdmitted(ctx, a.Guard, c, r, func(g access.Grant) (err error) {
		list, err = a.Proposals.Assess(ctx, g, "quest", payload)
		return err
	})
	return list, err
}

// ProposeQuest has the planner and its committee propose a quest, with the rights and the view of a role.
func (a *App) ProposeQuest(ctx context.Context, worldName string, role access.Role,
	wish agent.QuestWish) (agent.Committee, error) {
	w, err := a.resolveWorld(ctx, worldName)
	if err != nil {
		return agent.Committee{}, err
	}
	if wish.Location, err = a.placeNamed(ctx, w, Local(role), wish.Location); err != nil {
		return agent.Committee{}, err
	}
	return a.Agents.ProposeQuest(ctx, Local(role), w, wish, uuid.NewString())
}

// placeNamed returns the id of the card that a caller sees under a name. A name of no card is
// returned unchanged, because it may be an id.
func (a *App) placeNamed(ctx context.Context, w access.WorldID, c access.Caller, name string) (string, error) {
	if name == "" {
		return "", nil
	}
	err := a.WithGrant(
		ctx,
		c,
		access.Request{Operation: "find_place", World: w, MinRole: access.RoleUser},
		func(g access.Grant) error {
			return a.Canon.Read(ctx, g, func(s *canon.Snapshot) error {
				c, err := s.Find(ctx, name)
				if err == nil {
					name = c.ID.String()
				}
				return err
			})
		},
	)
	if errors.Is(err, fault.NotFound) {
		err = nil
	}
	return name, err
}

// Agents configures the work that agents do without being asked.
type Agents struct {
	Ambience bool `yaml:"ambience" doc:"Propose an ambient layer for each changed place that has none, as the command agent ambience does for one place."`
}

// agentHandlers returns the event handlers of the agents.
func (a *App) agentHandlers() []event.Handler {
	list := []event.Handler{{Name: "places", Types: []event.Type{world.GenerationHint}, Handle: a.onPendingExit}}
	if a.Config.Agents.Ambience {
		list = append(
			list,
			event.Handler{Name: "ambience", Types: []event.Type{world.LocationChanged}, Handle: a.onChangedPlace},
		)
	}
	return list
}

// generateOff is the default of the setting for places behind pending exits.
const generateOff = "off"

// SetGenerate sets whether places behind pending exits are drafted in a world: off, propose (a person decides), or live.
func SetGenerate(s *canon.Settings, value string) { setExtra(s, kind.GenerateSetting, value) }

// generateOf returns the setting for places behind pending exits.
func generateOf(s canon.Settings) string { return cmp.Or(s.Extra[kind.GenerateSetting], generateOff) }

// onPendingExit has the place drafted to which a player wanted to go, if the world wants that and everybody sees the
// place before it.
func (a *App) onPendingExit(ctx context.Context, g access.Grant, e canon.StoredEvent) error {
	var hint struct {
		PlayerID   string
		LocationID string
		Direction  command.Direction
	}
	wanted := generateOff
	err := a.Canon.Read(ctx, g, func(s *canon.Snapshot) error {
		wanted = generateOf(s.World().Settings)
		return nil
	})
	if err != nil || wanted == generateOff || e.Label.Level > access.LevelUser ||
		json.Unmarshal(e.Payload, &hint) != nil || !hint.Direction.Valid() {
		return err
	}
	_, err = a.Agents.DraftPlace(ctx, Local(access.RoleUser), g.World(), agent.PlaceWish{Location: hint.LocationID,
		Direction: string(hint.Direction), Opposite: string(hint.Direction.Opposite()), Player: hint.PlayerID}, e.ID.String())
	if k := fault.KindOf(err); k == fault.NotFound || k == fault.Invalid {
		return nil // the place was deleted or hidden meanwhile, or the hint was enqueued with other data
	}
	return err
}

// onChangedPlace gives a changed place ambience if players can see it.
func (a *App) onChangedPlace(ctx context.Context, g access.Grant, e canon.StoredEvent) error {
	_, place, ok := world.ParseScope(e.Scope)
	if !ok || place.IsZero() || e.Label.Level > access.LevelUser {
		return nil
	}
	done, err := a.Agents.KeepAmbience(ctx, Local(access.RoleUser), g.World(), place.String(), e.ID.String())
	if errors.Is(err, fault.NotFound) {
		return nil // the place was deleted or hidden meanwhile
	}
	if err == nil && done.Rejection != nil && done.Rejection.Retryable {
		err = fault.New(fault.Unavailable, "the gates refused it: %s", done.Rejection.Code)
	}
	return err
}
