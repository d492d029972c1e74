package app

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/agent"
	"loregate/internal/fault"
	"loregate/internal/identity"
	"loregate/internal/prompt"
	"loregate/internal/proposal"
	"loregate/internal/remote"
	"loregate/internal/world/command"
)

// CreateAgentKey creates a key with which an agent acts on this server from another machine: it has the agent's subject,
// the role of its audience and its tools, and opens one world.
func (a *App) CreateAgentKey(ctx context.Context, worldName, role string) (secret, id string, err error) {
	r, err := agent.FindRole(role)
	if err != nil {
		return "", "", err
	}
	c := r.Caller()
	return a.CreateKey(ctx, identity.KeySpec{Name: "agent " + r.Name, Subject: c.Subject, Actor: c.Actor,
		MaxRole: c.EveryRole, Operations: c.Operations}, []string{worldName})
}

// RunRemoteAgent runs an agent once against another server, as an MCP client with a key. The run ends when the key is
// revoked. Places, players and characters are given by id or codename. Only the server can judge a draft that is not
// proposed: dry runs and committees are refused.
func RunRemoteAgent(ctx context.Context, c Config, o RemoteOptions, role string, order agent.Order) (out agent.Report, err error) {
	r, err := agent.FindRole(role)
	if err != nil {
		return out, err
	}
	if order.DryRun || role == "planner" || role == "aggregator" {
		return out, fault.BadField("remote", "cannot run the %s or a dry run, which judge drafts that nobody proposes; "+
			"run them on the server itself", role)
	}
	if o.Key == "" {
		return out, errNoRemoteKey(o.KeyVar)
	}
	bridge, err := remote.New(ctx, remote.Config{URL: o.URL, Key: o.Key, Role: r.Caller().EveryRole, World: o.World,
		Issuer: c.Token.Issuer, Tools: []string{"all"}})
	if err != nil {
		return out, fmt.Errorf("%s: %w", o.URL, err)
	}
	client, err := bridge.Connect(ctx)
	if err != nil {
		return out, fmt.Errorf("%s: %w", o.URL, err)
	}
	defer func() { _ = client.Close() }() // the run has its results
	cfg := agent.Config{Invoker: client, Assess: refuseToAssess}
	if cfg.Prompts, err = prompt.Open(filepath.Join(c.Data, "prompts")); err != nil {
		return out, err
	}
	a := &App{Config: c}
	if err := a.openModel(); err != nil {
		return out, err
	}
	a.useModel(&cfg)
	agents, err := agent.New(cfg)
	if err != nil {
		return out, err
	}
	defer agents.Close()
	order.Opposite = oppositeOf
	return agents.Run(ctx, access.WorldID{}, role, order, uuid.NewString())
}

// refuseToAssess stands in for the gates, which are on the server.
func refuseToAssess(context.Context, access.Caller, access.WorldID, string, string,
	json.RawMessage) ([]proposal.Assessment, error) {
	return nil, fault.New(fault.Rule, "drafts are judged on the server only; run the agent there")
}

// oppositeOf returns the direction back.
func oppositeOf(direction string) string { return string(command.Direction(direction).Opposite()) }
