package agent_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/agent"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/op"
	"loregate/internal/prompt"
	"loregate/internal/proposal"
	"loregate/internal/proposal/kind"
	"loregate/internal/store/sqlite/sqlitetest"
	"loregate/internal/usage"
	"loregate/internal/world"
)

// scene is a world with one place, its services, and an agent that uses them as a client.
type scene struct {
	*agent.Agents
	t      *testing.T
	canon  *canon.Canon
	guard  *access.Guard
	ops    *op.Local
	usage  *usage.Recorder
	places *world.World
	world  access.WorldID
	place  canon.CardID
	called []string // operations, in order
}

// Invoke forwards to the operations and records their names.
func (s *scene) Invoke(ctx context.Context, c access.Caller, r op.Request) (*op.Answer, error) {
	s.called = append(s.called, r.Operation)
	return s.ops.Invoke(ctx, c, r)
}

func (s *scene) Resolve(context.Context, access.Caller, string) (access.WorldID, error) {
	return s.world, nil
}
func (s *scene) Names(context.Context, access.Caller) ([]string, error) { return []string{"main"}, nil }

func (s *scene) Reread(ctx context.Context, g access.Grant, ref string) (proposal.Reading, error) {
	read, err := s.places.Reread(ctx, g, ref)
	return proposal.Reading{Answer: agent.Answer(read.Answer), Level: read.Level}, err
}

func (s *scene) grant(effect access.Effect) access.Grant {
	s.t.Helper()
	a, err := s.guard.Admit(s.t.Context(), access.Caller{Subject: "keeper", EveryRole: access.RoleAdmin, Operator: true},
		access.Request{Operation: "scene", Effect: effect, World: s.world})
	if err != nil {
		s.t.Fatal(err)
	}
	return a.Grant
}

var player = access.Caller{Subject: "ai-narrator", Key: "k", Actor: access.AI, EveryRole: access.RoleUser}

func newScene(t *testing.T, provider agent.Provider, with ...func(*agent.Config)) *scene {
	t.Helper()
	store := sqlitetest.Open(t)
	s := &scene{t: t, guard: access.NewGuard(access.Config{})}
	s.canon = canon.New(canon.Config{Store: store, Ledgers: map[string][]string{proposal.LedgerKind: {canon.AnySurface},
		usage.LedgerKind: {canon.AnySurface}}})
	w, err := s.canon.CreateWorld(t.Context(), s.grant(access.Write), canon.NewWorld{Slug: "main", Title: "Main"})
	must(t, err)
	s.world, s.place = w.ID, canon.CardID(uuid.MustParse("01900000-0000-7000-8000-000000000001"))
	_, err = s.canon.Update(t.Context(), s.grant(access.Write), func(p *canon.Plan) error {
		_, err := p.Create(canon.NewCard{ID: s.place, Name: "Rent Quay", Type: "Location", Content: "<p>Black stone.</p>",
			Fields: []byte(`{"tags":["riverbank"]}`)})
		return err
	})
	must(t, err)
	prompts, err := prompt.Open("")
	must(t, err)
	s.places, err = world.New(world.Config{Canon: s.canon})
	must(t, err)
	surfaces := []op.Surface{s.places.Surface()}
	gates, err := proposal.New(proposal.Config{Canon: s.canon, Guard: s.guard, Prompts: prompts, Contexts: s,
		Kinds: kind.Kinds(words()),
		Limits: proposal.Limits{PlayerMinute: 1 << 20, PlayerHour: 1 << 20, KeyMinute: 1 << 20, WorldMinute: 1 << 20,
			TokensDay: 1 << 30}})
	must(t, err)
	s.usage, err = usage.New(usage.Config{Canon: s.canon, Guard: s.guard, Every: time.Hour,
		Budget: map[string]usage.Budget{"classification": {HardHour: 4000}, "ambience": {HardHour: 6000}}})
	must(t, err)
	t.Cleanup(func() { _ = s.usage.Close(context.Background()) })
	c := agent.Config{Invoker: s, Prompts: prompts, Provider: provider, Usage: s.usage,
		Intents: func(string) (string, float64, bool) { return "move", 0.9, false }}
	for _, f := range with {
		f(&c)
	}
	s.Agents, err = agent.New(c)
	must(t, err)
	surfaces[0].Operations = append(surfaces[0].Operations, append(gates.Operations(), s.Operations("world")...)...)
	s.ops, err = op.NewLocal(op.Config{Guard: s.guard, Surfaces: surfaces, Worlds: s})
	must(t, err)
	return s
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func words() kind.Config {
	return kind.Config{
		Surface:     "world",
		Private:     func(canon.Card) access.Label { return access.NewLabel(access.LevelUser) },
		Dialogue:    "NPC.Dialogue",
		Ambience:    "World.Ambience.Generated",
		Quest:       "Quest.Proposed",
		ExitCreated: "World.Exit.Created",
		Directions:  []string{"north", "south", "up", "down"},
		EventType:   func(string) (access.Role, bool) { return access.RoleUser, true },
	}
}

// layers returns the texts of the place's layers.
func (s *scene) layers() (texts []string) {
	s.t.Helper()
	must(s.t, s.canon.Read(s.t.Context(), s.grant(access.Read), func(l *canon.Snapshot) error {
		list, err := l.Layers(s.t.Context(), canon.LayerQuery{Card: s.place})
		for _, one := range list {
			texts = append(texts, one.Text)
		}
		return err
	}))
	return texts
}

// script is a model that answers from a list, and then fails.
type script struct {
	lines []string
	asked int
}

func (*script) Model() string { return "script-1" }

func (m *script) Complete(context.Context, agent.Request) (agent.Completion, error) {
	if m.asked++; m.asked > len(m.lines) {
		return agent.Completion{}, fault.New(fault.Unavailable, "no more lines")
	}
	return agent.Completion{Text: m.lines[m.asked-1], TokensPrompt: 100, TokensCompletion: 20, CostMicroUSD: 5}, nil
}
