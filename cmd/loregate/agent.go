package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strconv"

	"loregate/internal/access"
	"loregate/internal/agent"
	"loregate/internal/app"
)

type agentCmd struct {
	Ambience agentAmbienceCmd `cmd:"" help:"Propose an ambient layer for a place that has none."`
	Run      agentRunCmd      `cmd:"" help:"Run an agent once."`
	Watch    agentWatchCmd    `cmd:"" help:"Run the agents when their triggers and schedules say so, until stopped, and print each run."`
	Key      agentKeyCmd      `cmd:"" help:"Create a key with which an agent runs against this server from elsewhere: its subject, its view and its tools, in one world."`
	Switch   agentSwitchCmd   `cmd:"" help:"Switch an agent on or off in a world. Runs of it end within a second, in every process."`
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
		role, _ := access.ParseRole(c.Role) // the tag enum allows only roles
		done, err := a.ProposeQuest(ctx, c.World, role, agent.QuestWish{Location: c.Location, Drafts: c.Committee, Seed: c.Seed,
			Reward: c.Reward})
		if err != nil {
			return err
		}
		return printValue(out, done)
	})
}

type agentRunCmd struct {
	common
	Name      string `arg:"" name:"role" help:"Agent: ${agents}."`
	DryRun    bool   `help:"Judge the drafts by the gates for texts, and propose nothing."`
	Location  string `help:"Place by name or id. Default: the place where players begin." placeholder:"PLACE"`
	Player    string `help:"Player by name or id: who acts (intent), who is spoken to (npc), who wanted to go there (world)." placeholder:"PLAYER"`
	NPC       string `help:"Character who speaks, by name or id. Default: somebody with the player." placeholder:"CHARACTER"`
	Direction string `help:"Direction of the pending exit. Default: the first of the place." placeholder:"DIRECTION"`
	Text      string `help:"Text to read (intent) or to judge (safety)." placeholder:"TEXT"`
	Committee int    `help:"Number of drafts of a quest, 1 to 5." default:"3"`
	Seed      uint64 `help:"Seed of the choices of a quest."`
	Reward    string `help:"Reward of a quest, such as 2 and the name of a coin." placeholder:"REWARD"`
	World     string `env:"LOREGATE_WORLD" help:"World by slug or UUID. Default: the only world." placeholder:"WORLD"`
	Remote    string `help:"Run it as an MCP client of another server, by the URL of its /api/mcp. Cards are then named by id or codename." placeholder:"URL"`
	APIKeyEnv string `help:"Environment variable that contains the API key for --remote, as agent key printed it." placeholder:"VAR" name:"api-key-env"`
}

func (c agentRunCmd) Run(ctx context.Context, out io.Writer) error {
	order := agent.Order{Location: c.Location, Player: c.Player, NPC: c.NPC,
		Direction: c.Direction, Text: c.Text, DryRun: c.DryRun,
		Quest: agent.QuestWish{Drafts: c.Committee, Seed: c.Seed, Reward: c.Reward}}
	if c.Remote != "" {
		cfg, err := c.loadConfig()
		if err != nil {
			return err
		}
		done, err := app.RunRemoteAgent(ctx, cfg, app.RemoteOptions{URL: c.Remote, Key: os.Getenv(c.APIKeyEnv),
			KeyVar: c.APIKeyEnv, World: c.World}, c.Name, order)
		if err != nil {
			return err
		}
		return printValue(out, done)
	}
	return c.withApp(ctx, func(a *app.App) error {
		done, err := a.RunAgent(ctx, c.World, c.Name, order)
		if err != nil {
			return err
		}
		return printValue(out, done)
	})
}

type agentWatchCmd struct {
	common
}

func (c agentWatchCmd) Run(ctx context.Context, out io.Writer) error {
	return c.withApp(ctx, func(a *app.App) error {
		fmt.Fprintln(out, "watching")
		a.WatchAgents(ctx, func(r app.AgentRun) {
			why := r.Why
			if r.Err != nil {
				r.Status, why = "failed", r.Err.Error()
			}
			fmt.Fprintf(out, "%s\t%s\t%s\t%s\t%s\n", r.Run, r.World, r.Role, r.Status, why)
		})
		return nil
	})
}

type agentKeyCmd struct {
	common
	Name  string `arg:"" name:"role" help:"Agent: ${agents}."`
	World string `env:"LOREGATE_WORLD" help:"World by slug or UUID. Default: the only world." placeholder:"WORLD"`
}

func (c agentKeyCmd) Run(ctx context.Context, out io.Writer) error {
	return c.withApp(ctx, func(a *app.App) error {
		secret, id, err := a.CreateAgentKey(ctx, c.World, c.Name)
		if err == nil {
			_, err = fmt.Fprintf(out, "%s\t%s\n", secret, id)
		}
		return err
	})
}

type agentSwitchCmd struct {
	common
	Name  string `arg:"" name:"role" help:"Agent: ${agents}."`
	To    string `arg:"" help:"on or off." enum:"on,off"`
	World string `env:"LOREGATE_WORLD" help:"World by slug or UUID. Default: the only world." placeholder:"WORLD"`
}

func (c agentSwitchCmd) Run(ctx context.Context, _ io.Writer) error {
	return c.withApp(ctx, func(a *app.App) error { return a.SwitchAgent(ctx, c.World, c.Name, c.To == "on") })
}

type agentListCmd struct {
	common
	listing
	World string `env:"LOREGATE_WORLD" help:"World by slug or UUID. Default: the only world." placeholder:"WORLD"`
}

var agentTable = table[agent.State]{"AGENT ON VIEW MODEL TIER TOKENS/HOUR TOKENS/DAY TRIGGER", func(r agent.State) []string {
	on := "off"
	if r.On {
		on = "on"
	}
	return []string{r.Name, on, r.Sees, r.Model, r.Tier, strconv.Itoa(r.Hour), strconv.Itoa(r.Day), r.Trigger}
}}

func (c agentListCmd) Run(ctx context.Context, out io.Writer) error {
	return c.withApp(ctx, func(a *app.App) error {
		list, err := a.AgentRoles(ctx, c.World)
		if err != nil {
			return err
		}
		return agentTable.print(out, c.listing, list)
	})
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
