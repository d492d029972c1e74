package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
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
	"loregate/internal/world/intent"
	"loregate/internal/world/lore"
)

// openUsage creates the recorder of the costs of models and moderation.
func (a *App) openUsage(o Options) (err error) {
	c := usage.Config{Canon: a.Canon, Guard: a.Guard, Budget: a.Config.Budgets.byPurpose(), Told: a.countUsage,
		Now: a.now, Logger: a.logger}
	agents, err := agent.Budgets()
	if err != nil {
		return err
	}
	maps.Copy(c.Budget, agents)
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

	CheapHour int `yaml:"cheap_hour" doc:"Tokens per hour in a world of all purposes that model.cheap serves. 0: no limit."`
	CheapDay  int `yaml:"cheap_day" doc:"As cheap_hour, per day."`
	RichHour  int `yaml:"rich_hour" doc:"Tokens per hour in a world of all other purposes. 0: no limit."`
	RichDay   int `yaml:"rich_day" doc:"As rich_hour, per day."`
}

func (b Budgets) byPurpose() map[string]usage.Budget {
	all := map[string]usage.Budget{}
	all[agent.TierBudget(agent.Cheap)] = usage.Budget{HardHour: b.CheapHour, HardDay: b.CheapDay}
	all[agent.TierBudget(agent.Rich)] = usage.Budget{HardHour: b.RichHour, HardDay: b.RichDay}
	for _, p := range usage.Purposes() {
		all[p] = usage.Budget{SoftHour: b.SoftHour, HardHour: b.HardHour, SoftDay: b.SoftDay, HardDay: b.HardDay}
	}
	return all
}

// openAgents creates the agents. They call operations through op, like any client.
func (a *App) openAgents() (err error) {
	c := agent.Config{Invoker: invoker{a}, Prompts: a.prompts, Usage: a.usage, Intents: intentOf, Profile: a.safetyProfile,
		Assess: a.assessDraft, SwitchedOff: a.isAgentOff,
		States: a.agentStates, Switch: a.switchAgent, Kept: a.keptTexts, VetKept: a.vetKept,
		Audited: a.metrics.Drift, Now: a.now, Logger: a.logger}
	a.useModel(&c)
	a.Agents, err = agent.New(c)
	if err != nil {
		return err
	}
	tools := a.Agents.Operations(world.Surface, lore.Surface)
	a.addOperations(world.Surface, slices.Concat(tools, a.usage.Operations(world.Surface),
		a.Agents.PlannerOperations(world.Surface), []*op.Operation{a.Agents.AuditOperation(world.Surface)},
		a.Agents.ManageOperations(world.Surface))...)
	a.addOperations(lore.Surface, tools...)
	return nil
}

// invoker forwards calls to a.Ops, which is created after the agents that use it.
type invoker struct{ app *App }

func (i invoker) Invoke(ctx context.Context, c access.Caller, r op.Request) (*op.Answer, error) {
	return i.app.Ops.Invoke(ctx, c, r)
}

// intentOf returns the verb of an utterance and the confidence in it, by package intent.
func intentOf(utterance string) (verb string, confidence float64, unsure bool) {
	a := intent.Classify(command.Parse(markup.Clip(utterance, command.MaxLength)))
	return string(a.Verb), a.Confidence, a.Unsure
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

// KeepAmbience has the narrator check a place. It acts as a user, because it writes for players.
func (a *App) KeepAmbience(ctx context.Context, worldName, location string) (out agent.Ambience, err error) {
	r, err := a.RunAgent(ctx, worldName, "narrator", agent.Order{Location: location})
	out, _ = r.Result.(agent.Ambience) // missing after an error
	return out, err
}

// assessDraft judges the payload of a kind that is not proposed. No allow-list of tools has this.
func (a *App) assessDraft(ctx context.Context, c access.Caller, w access.WorldID, correlation, kind string,
	payload json.RawMessage) (list []proposal.Assessment, err error) {
	c.Operations = nil
	r := access.Request{Operation: "assess_draft", World: w, MinRole: access.RoleUser, Correlation: correlation}
	err = runAdmitted(ctx, a.Guard, c, r, func(g access.Grant) (err error) {
		list, err = a.Proposals.Assess(ctx, g, kind, payload)
		return err
	})
	return list, err
}

// ProposeQuest has the planner and its committee propose a quest, from the view of a role.
func (a *App) ProposeQuest(ctx context.Context, worldName string, role access.Role,
	wish agent.QuestWish) (out agent.Committee, err error) {
	r, err := a.RunAgent(ctx, worldName, "planner", agent.Order{Location: wish.Location, Quest: wish,
		GM: role >= access.RoleGM})
	out, _ = r.Result.(agent.Committee) // missing after an error
	return out, err
}

// RunAgent runs an agent once in a world. Places, players and characters may be given by name.
func (a *App) RunAgent(ctx context.Context, worldName, role string, o agent.Order) (r agent.Report, err error) {
	w, err := a.resolveWorld(ctx, worldName)
	if err != nil {
		return r, err
	}
	found, err := agent.FindRole(role)
	if err != nil {
		return r, err
	}
	c := found.Caller()
	c.Operations = nil // a name is looked up in the view of the agent, with no tool of it
	if o.GM {
		c.EveryRole = access.RoleGM
	}
	for _, name := range []*string{&o.Location, &o.Player, &o.NPC} {
		if *name, err = a.placeNamed(ctx, w, c, *name); err != nil {
			return r, err
		}
	}
	o.Quest.Location = o.Location
	return a.runAgent(ctx, w, role, o, uuid.NewString())
}

// runAgent runs an agent once and reports the run to the watcher.
func (a *App) runAgent(ctx context.Context, w access.WorldID, role string, o agent.Order,
	run string) (agent.Report, error) {
	o.Opposite = oppositeOf
	r, err := a.Agents.Run(ctx, w, role, o, run)
	if a.ranAgent != nil {
		a.ranAgent(AgentRun{World: w, Report: r, Err: err})
	}
	return r, err
}

// AgentRun is a run that has ended.
type AgentRun struct {
	World access.WorldID
	agent.Report
	Err error
}

// WatchAgents runs the agents when their triggers and schedules say so, beside all servers on the store, until ctx ends.
// ran is called after each run of this process.
func (a *App) WatchAgents(ctx context.Context, ran func(AgentRun)) {
	a.ranAgent = ran
	a.Events.Run(ctx)
}

// agentSetting returns the name of a world's extra setting that switches an agent.
func agentSetting(role string) string { return "agent." + role }

// SwitchAgent switches an agent on or off in a world. Runs of it in any process end within a second.
func (a *App) SwitchAgent(ctx context.Context, worldName, role string, on bool) error {
	if _, err := agent.FindRole(role); err != nil {
		return err
	}
	return a.ConfigureWorld(ctx, worldName, func(_ *string, s *canon.Settings) {
		setExtra(s, agentSetting(role), switchNames[on])
	})
}

// switchAgent is SwitchAgent with the rights of a grant.
func (a *App) switchAgent(ctx context.Context, g access.Grant, role string, on bool) error {
	_, err := a.Canon.Update(ctx, g, func(p *canon.Plan) error {
		w := p.World()
		setExtra(&w.Settings, agentSetting(role), switchNames[on])
		return p.Configure(w.Title, w.Settings)
	})
	return err
}

var switchNames = map[bool]string{true: "on", false: "off"}

// isAgentOff reports whether an agent was switched off in a world.
func (a *App) isAgentOff(ctx context.Context, w access.WorldID, role string) (bool, error) {
	found, err := a.Canon.World(ctx, w)
	return found.Settings.Extra[agentSetting(role)] == switchNames[false], err
}

// isAgentOn reports whether the triggers of an agent are on in a world.
func (a *App) isAgentOn(ctx context.Context, w access.WorldID, r agent.Role) (bool, error) {
	found, err := a.Canon.World(ctx, w)
	if set := found.Settings.Extra[agentSetting(r.Name)]; set != "" {
		return set == switchNames[true], err
	}
	return !r.Off, err
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
	Audit    time.Duration `yaml:"audit" default:"24h" doc:"Time between two audits of the layers and lines that are kept in a world, at least 1s; 0s for none. One process makes each of them."`
	Ambience bool          `yaml:"ambience" doc:"Propose an ambient layer for each changed place that has none, as the command agent ambience does for one place."`
}

// validate returns an error for settings with invalid values.
func (c Agents) validate() error {
	if c.Audit != 0 && c.Audit < time.Second {
		return fmt.Errorf("agents.audit: %s is out of range; set at least 1s, or 0s for no audits", c.Audit)
	}
	return nil
}

// keptTexts lists the texts that are kept at some places and characters.
func (a *App) keptTexts(ctx context.Context, g access.Grant, offset, limit int) (out []agent.Kept, total int, err error) {
	var list []world.Kept
	err = a.Canon.Read(ctx, g, func(s *canon.Snapshot) (err error) {
		list, total, err = a.places.KeptTexts(ctx, s, offset, limit)
		return err
	})
	for _, k := range list {
		one := agent.Kept{Kind: string(k.Kind), CardID: k.Card.ID.String(), Name: k.Card.Title(), Text: k.Text,
			Level: k.Level.String(), Written: k.Written.UTC(), Offset: k.Offset}
		if k.Kind == world.KeptLayer {
			one.LayerID = uuid.UUID(k.Layer).String()
		}
		out = append(out, one)
	}
	return out, total, err
}

// keptKind is the kind by which the gates judge kept texts.
var keptKind = kind.KeptKind(draftWords())

// vetKept judges a kept text as its readers see the canon.
func (a *App) vetKept(ctx context.Context, g access.Grant, k agent.Kept) (*proposal.Rejection, error) {
	of := map[string]string{"level": k.Level, "text": k.Text}
	if k.LayerID != "" {
		of["locationId"] = k.CardID
	} else {
		of["npcId"] = k.CardID
	}
	payload, err := json.Marshal(of)
	if err != nil {
		return nil, err
	}
	return a.Proposals.Vet(ctx, g, keptKind, payload)
}

// agentHandlers returns the event handlers of the agents.
func (a *App) agentHandlers() []event.Handler {
	list := []event.Handler{
		{Name: "places", Types: []event.Type{world.GenerationHint}, Handle: a.onPendingExit},
		{Name: "arrivals", Types: []event.Type{world.PlayerMove}, Aside: true, Handle: a.onArrival},
		{Name: "fights", Types: []event.Type{world.PlayerAct}, Aside: true, Handle: a.onHostileAct},
	}
	if every := a.Config.Agents.Audit; every > 0 {
		list = append(list, event.Handler{Name: "audit", Every: every, Handle: a.onAuditDue})
	}
	if a.Config.Agents.Ambience {
		list = append(
			list,
			event.Handler{Name: "ambience", Types: []event.Type{world.LocationChanged}, Handle: a.onChangedPlace},
		)
	}
	return list
}

// runTriggered runs an agent because of an event, if it is on and everybody may see the event.
func (a *App) runTriggered(ctx context.Context, g access.Grant, e canon.StoredEvent, role string,
	o agent.Order) (agent.Report, error) {
	r, err := agent.FindRole(role)
	if err != nil {
		return agent.Report{}, err
	}
	if on, err := a.isAgentOn(ctx, g.World(), r); err != nil || !on {
		return agent.Report{}, err
	}
	out, err := a.runAgent(ctx, g.World(), role, o, e.ID.String())
	switch fault.KindOf(err) {
	case fault.NotFound, fault.Invalid, fault.Rule:
		err = nil // its subject was deleted or hidden, or the agent switched off meanwhile
	}
	return out, err
}

// onAuditDue has the kept texts of a world audited.
func (a *App) onAuditDue(ctx context.Context, g access.Grant, e canon.StoredEvent) error {
	_, err := a.runTriggered(ctx, g, e, "canonicality", agent.Order{})
	return err
}

// onArrival has somebody at the place speak to a player who arrives.
func (a *App) onArrival(ctx context.Context, g access.Grant, e canon.StoredEvent) error {
	var act world.Action
	if e.Label.Level > access.LevelUser || json.Unmarshal(e.Payload, &act) != nil || act.To == nil {
		return nil
	}
	_, err := a.runTriggered(ctx, g, e, "npc", agent.Order{Player: act.PlayerID.String()})
	return err
}

// onHostileAct leaves a trace of a fight at its place.
func (a *App) onHostileAct(ctx context.Context, g access.Grant, e canon.StoredEvent) error {
	var act world.Action
	_, place, ok := world.ParseScope(e.Scope)
	if !ok || e.Label.Level > access.LevelUser || json.Unmarshal(e.Payload, &act) != nil || act.Verb != command.Attack {
		return nil
	}
	_, err := a.runTriggered(ctx, g, e, "encounter", agent.Order{Location: place.String()})
	return err
}

// generateOff is the default of the setting for places behind pending exits.
const generateOff = "off"

// SetGenerate sets whether places behind pending exits are drafted in a world: off, propose (a person decides), or live.
func SetGenerate(s *canon.Settings, value string) { setExtra(s, kind.GenerateSetting, value) }

// SetDrift sets the handling of layers that the canon denies in a world: propose (a person decides) or live.
func SetDrift(s *canon.Settings, value string) { setExtra(s, kind.DriftSetting, value) }

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
	_, err = a.runTriggered(ctx, g, e, "world", agent.Order{Location: hint.LocationID,
		Direction: string(hint.Direction), Player: hint.PlayerID})
	return err
}

// onChangedPlace gives a changed place ambience if players can see it.
func (a *App) onChangedPlace(ctx context.Context, g access.Grant, e canon.StoredEvent) error {
	_, place, ok := world.ParseScope(e.Scope)
	if !ok || place.IsZero() || e.Label.Level > access.LevelUser {
		return nil
	}
	done, err := a.runTriggered(ctx, g, e, "narrator", agent.Order{Location: place.String()})
	if n := len(done.Proposals); err == nil && n > 0 {
		if r := done.Proposals[n-1].Rejection; r != nil && r.Retryable {
			err = fault.New(fault.Unavailable, "the gates refused it: %s", r.Code)
		}
	}
	return err
}

// SpendTokens takes tokens from a budget: that of a purpose, or of an agent's runs.
func (a *App) SpendTokens(ctx context.Context, w access.WorldID, budget string, tokens int) error {
	return a.usage.Take(ctx, w, budget, tokens)
}
