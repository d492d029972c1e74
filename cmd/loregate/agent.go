package main

import (
	"context"
	"io"
	"strconv"

	"loregate/internal/access"
	"loregate/internal/agent"
	"loregate/internal/app"
)

type agentCmd struct {
	Ambience agentAmbienceCmd `cmd:"" help:"Propose an ambient layer for a place that has none."`
	List     agentListCmd     `cmd:"" help:"List the agents: what triggers them, their models and budgets, and whether they are on."`
	Explain  agentExplainCmd  `cmd:"" help:"Print the trace of a run: its calls, its proposals with their verdicts, and the costs meanwhile."`
	Quest    agentQuestCmd    `cmd:"" help:"Draft quests, have a committee judge them, and propose the best one."`
}

type agentAmbienceCmd struct {
	common
	Location string `help:"Place by name or id. Default: the place where players begin." placeholder:"PLACE"`
	World    string `env:"LOREGATE_WORLD" help:"World by slug or UUID. Default: the only world." placeholder:"WORLD"`
}

func (c agentAmbienceCmd) Run(ctx context.Context, out io.Writer) error {
	return c.withApp(ctx, func(a *app.App) error {
		done, err := a.KeepAmbience(ctx, c.World, c.Location)
		if err != nil {
			return err
		}
		return printValue(out, done)
	})
}

type agentQuestCmd struct {
	common
	Location  string `help:"Place of the giver, by name or id. Default: the place where players begin." placeholder:"PLACE"`
	Committee int    `help:"Number of drafts, 1 to 5." default:"3"`
	Seed      uint64 `help:"Seed of the choices. The same seed in the same world gives the same drafts."`
	Role      string `help:"Role whose view the drafts are made from: user or gm. A quest from a GM's view may show hidden canon to those who decide." enum:"user,gm" default:"user"`
	Reward    string `help:"Reward, such as 2 and the name of a coin. Default: words of thanks." placeholder:"REWARD"`
	World     string `env:"LOREGATE_WORLD" help:"World by slug or UUID. Default: the only world." placeholder:"WORLD"`
}

func (c agentQuestCmd) Run(ctx context.Context, out io.Writer) error {
	return c.withApp(ctx, func(a *app.App) error {
		role, _ := access.ParseRole(c.Role) // the flag allows only roles
		done, err := a.ProposeQuest(ctx, c.World, role, agent.QuestWish{Location: c.Location, Drafts: c.Committee, Seed: c.Seed,
			Reward: c.Reward})
		if err != nil {
			return err
		}
		return printValue(out, done)
	})
}

type agentListCmd struct {
	common
	listing
}

var agentTable = table[app.AgentRole]{"AGENT ON MODEL TOKENS/HOUR TOKENS/DAY READS TRIGGER", func(r app.AgentRole) []string {
	on := "off"
	if r.On {
		on = "on"
	}
	return []string{r.Name, on, r.Model, strconv.Itoa(r.Hour), strconv.Itoa(r.Day), strconv.Itoa(r.Calls), r.Trigger}
}}

func (c agentListCmd) Run(ctx context.Context, out io.Writer) error {
	return c.withApp(ctx, func(a *app.App) error { return agentTable.print(out, c.listing, a.AgentRoles()) })
}

type agentExplainCmd struct {
	common
	RunID string `arg:"" name:"run" help:"Run, as agent quest printed it."`
	World string `env:"LOREGATE_WORLD" help:"World by slug or UUID. Default: the only world." placeholder:"WORLD"`
}

func (c agentExplainCmd) Run(ctx context.Context, out io.Writer) error {
	return c.withApp(ctx, func(a *app.App) error {
		trace, err := a.ExplainRun(ctx, c.World, c.RunID)
		if err != nil {
			return err
		}
		return printValue(out, trace)
	})
}
