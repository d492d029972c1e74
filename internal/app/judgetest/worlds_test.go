package judgetest

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"loregate/internal/access"
	"loregate/internal/app"
	"loregate/internal/canon"
	"loregate/internal/op"
)

// A fixtureWorld is the canon that the claims of a world are judged against. A card, link or layer with the
// level gm is hidden from players.
type fixtureWorld struct {
	ID, World, Title, Source, Licence string
	Cards                             []fixtureCard
	Links                             []fixtureLink
	Layers                            []fixtureLayer
}

type fixtureCard struct {
	ID, Name, Type, Text, Level, Codename string
	Fields                                map[string]any
	Aliases                               []string
}

type fixtureLink struct {
	Kind, From, To, Level string
	Attrs                 json.RawMessage
}

type fixtureLayer struct{ On, Kind, Text, Level string }

// withoutHidden returns the world without its hidden part.
func (w fixtureWorld) withoutHidden() fixtureWorld {
	open := fixtureWorld{World: w.World, Title: w.Title}
	for _, c := range w.Cards {
		if c.Level == "" {
			open.Cards = append(open.Cards, c)
		}
	}
	for _, l := range w.Links {
		if l.Level == "" {
			open.Links = append(open.Links, l)
		}
	}
	for _, l := range w.Layers {
		if l.Level == "" {
			open.Layers = append(open.Layers, l)
		}
	}
	return open
}

// A stage is a world of the product that holds a fixture, and a player in it.
type stage struct {
	app    *app.App
	slug   string
	cards  map[string]canon.CardID
	player canon.CardID

	factNames map[string]string // by codename, as far as they were asked for
}

const playerName = "Wanderer"

// setWorld creates a world that holds the fixture. Its player stands at the named place.
func setWorld(t testing.TB, a *app.App, slug string, w fixtureWorld, place string) *stage {
	t.Helper()
	ctx := t.Context()
	made, err := a.CreateWorld(ctx, canon.NewWorld{Slug: slug, Title: w.Title})
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{app: a, slug: slug, cards: map[string]canon.CardID{}}
	write := access.Request{Operation: "set_world", Effect: access.Write, World: made.ID}
	err = a.WithGrant(ctx, app.Local(access.RoleAdmin), write, func(g access.Grant) error {
		_, err := a.Canon.Update(ctx, g, func(p *canon.Plan) error { return s.plan(p, w, place) })
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *stage) plan(p *canon.Plan, w fixtureWorld, place string) error {
	for _, c := range w.Cards {
		if err := s.planCard(p, c); err != nil {
			return err
		}
	}
	if err := s.planCard(p, fixtureCard{Name: playerName, Type: "Player", Text: "A traveller."}); err != nil {
		return err
	}
	s.player = s.cards[playerName]
	links := append([]fixtureLink{{Kind: "at", From: playerName, To: place}}, w.Links...)
	for _, l := range links {
		if _, err := p.Link(canon.Link{Kind: l.Kind, From: s.cards[l.From], To: s.cards[l.To], Attrs: l.Attrs,
			Label: labelOf(l.Level)}); err != nil {
			return fmt.Errorf("link %s: %w", l.From, err)
		}
	}
	for _, l := range w.Layers {
		if _, err := p.Layer(canon.Layer{Card: s.cards[l.On], Kind: l.Kind, Text: l.Text,
			Label: labelOf(l.Level)}); err != nil {
			return fmt.Errorf("layer %s: %w", l.On, err)
		}
	}
	return nil
}

func (s *stage) planCard(p *canon.Plan, c fixtureCard) error {
	fields := map[string]any{}
	for k, v := range c.Fields {
		fields[k] = v
	}
	if len(c.Aliases) > 0 {
		fields["aliases"] = c.Aliases
	}
	raw, err := json.Marshal(fields)
	if err != nil {
		return err
	}
	label := labelOf(c.Level)
	made, err := p.Create(canon.NewCard{Name: c.Name, Type: c.Type, Content: "<p>" + c.Text + "</p>", Fields: raw,
		Codename: c.Codename, Label: &label})
	if err != nil {
		return fmt.Errorf("card %s: %w", c.Name, err)
	}
	s.cards[c.Name] = made.ID
	return nil
}

func labelOf(level string) access.Label {
	if level == "gm" {
		return access.NewLabel(access.LevelGM)
	}
	return access.NewLabel(access.LevelUser)
}

// call makes a call as a player's agent and decodes the answer.
func (s *stage) call(ctx context.Context, operation string, in map[string]any, out any) error {
	input, err := json.Marshal(in)
	if err != nil {
		return err
	}
	answer, err := s.app.Ops.Invoke(ctx, author(), op.Request{Operation: operation, Input: input, World: s.slug,
		Transport: "mcp"})
	if err != nil {
		return err
	}
	return json.Unmarshal(answer.Output, out)
}

// mustCall is call for operations that must succeed. A failure does not show the input, which may be a locked case.
func (s *stage) mustCall(t testing.TB, operation string, in map[string]any, out any) {
	t.Helper()
	if err := s.call(t.Context(), operation, in, out); err != nil {
		t.Fatalf("%s: %v", operation, err)
	}
}

// author is an agent that writes for players.
func author() access.Caller {
	return access.Caller{Subject: "narrator", Key: "narrator", Actor: access.AI, EveryRole: access.RoleUser,
		Unlimited: true}
}
