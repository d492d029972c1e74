package play

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/op"
	"loregate/internal/world"
	"loregate/internal/world/command"
)

// Config configures a Host. World and Canon are required.
type Config struct {
	World *world.World
	Canon *canon.Canon // that of World
	// Tokens issues the tokens that players play with. If it is nil, no player can be created.
	Tokens Tokens
	// Pace limits how often a player may act; zero fields mean the contract's numbers.
	Pace Pace
	// Reader reads commands that the rules are unsure of; nil: the rules' reading is used.
	Reader Reader
	// Settle decides uncertain acts; nil: commands that the grammar does not know are not acts.
	Settle Settle
	// Narrator phrases the results of acts; nil: templates do. A command waits for it for at most Patience (2.5 s when
	// zero).
	Narrator Narrator
	Patience time.Duration
	// Told is called with each act that was told, once: the name of the narrator, or world.ByRules, and the text. It may
	// be nil and must not block.
	Told func(by, text string)
	Now  func() time.Time // time.Now when nil
}

// Reader is another reader of commands, such as a language model.
type Reader interface {
	// ReadCommand returns a reading of a command; see [command.ReadAs]. After an error the reading of the rules
	// is used.
	ReadCommand(ctx context.Context, w access.WorldID, text string) (command.Parsed, error)
}

// Tokens issues the tokens that players play with.
type Tokens interface {
	IssuePlayer(ctx context.Context, by access.Grant, player canon.CardID) (token string, err error)
}

// Host implements the operations that people play with. It is safe for concurrent use.
type Host struct {
	world  *world.World
	canon  *canon.Canon
	tokens Tokens
	reader Reader
	settle Settle
	pace   *access.Limits

	narrator Narrator
	patience time.Duration
	told     func(by, text string)
}

// New returns a Host with the given configuration.
func New(c Config) (*Host, error) {
	if c.World == nil || c.Canon == nil {
		return nil, errors.New("play: a World and its Canon are needed")
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return &Host{world: c.World, canon: c.Canon, tokens: c.Tokens, reader: c.Reader, settle: c.Settle,
		pace: c.Pace.newLimits(c.Now), narrator: c.Narrator, patience: cmp.Or(c.Patience, patience),
		told: c.Told}, nil
}

// onWorld names the surface of the operations of this package.
var onWorld = []string{world.Surface}

// Surface returns the part of the surface world that this package declares.
func (h *Host) Surface() op.Surface {
	return op.Surface{Name: world.Surface,
		Operations: slices.Concat([]*op.Operation{h.parseOperation()}, h.playOperations(),
			[]*op.Operation{h.advanceOperation(), h.forgetOperation()}),
		Feeds: []*op.Feed{h.playerFeed()}}
}

// audiencePlay is the audience of the tokens to play with; see identity.AudiencePlay.
const audiencePlay = "play"

// playOperations declares the operations that people play with. They are served over HTTP, never over
// MCP.
func (h *Host) playOperations() []*op.Operation {
	return []*op.Operation{
		op.Define(op.Spec{
			Name: "create_player", Title: "Create a player",
			Doc: "Create a player at the place where players begin, and a token that plays as that player and gives no " +
				"other access. The token is shown once.",
			Surfaces: onWorld, Effect: access.Write, Plays: true, MinRole: access.RoleUser, NoTool: true,
			Route:  "POST /api/players",
			Status: 201, Target: "name",
			Examples: []op.Example{{Title: "A player", Input: `{"name": "Mira Lowtide"}`}},
		}, h.createPlayer),
		op.Define(op.Spec{
			Name: "get_player", Title: "Read a player",
			Doc:      "Read a player's place, clock and inventory. A token to play with reads only its own player.",
			Surfaces: onWorld, Effect: access.Read, MinRole: access.RoleUser, NoTool: true, Audience: audiencePlay,
			Route: "GET /api/players/{id}", Target: "id", Player: "id",
			Examples: []op.Example{{Title: "One player", Input: `{"id": "0190a8e0-0000-7000-8000-000000000000"}`}},
		}, h.getPlayer),
		op.Define(op.Spec{
			Name: "send_command", Title: "Act as a player",
			Doc: "Carry out a player's text: up to eight acts, each recorded when it is done. An act that cannot be done is " +
				"answered in the words of the story and changes nothing. " +
				"A player moves at most 30 times and looks at most 60 times a minute.",
			Surfaces: onWorld, Effect: access.Write, Plays: true, MinRole: access.RoleUser, Class: access.ClassCommand,
			NoTool:   true,
			Audience: audiencePlay, Waits: true, // for a model that narrates
			Route: "POST /api/players/{id}/commands", Target: "id", Player: "id",
			Examples: []op.Example{{Title: "Two acts",
				Input: `{"id": "0190a8e0-0000-7000-8000-000000000000", "text": "go north then look at the well"}`}},
		}, h.sendCommand),
	}
}

// Pace bounds how often a player may act, per minute. Zero fields mean the contract's numbers,
// negative ones no limit.
type Pace struct {
	Moves int // 30
	Looks int // 60
}

// The classes in which a player's acts are counted.
const (
	classMove access.Class = "move"
	classLook access.Class = "look"
)

func (p Pace) newLimits(now func() time.Time) *access.Limits {
	p.Moves = cmp.Or(p.Moves, 30)
	p.Looks = cmp.Or(p.Looks, 60)
	return access.NewLimits(access.LimitConfig{Profiles: map[string]access.Profile{
		access.ProfileDefault: {classMove: {PerMinute: p.Moves}, classLook: {PerMinute: p.Looks}},
	}}, now)
}

// Limits returns the counters of the acts of players, for sharing them between processes.
func (h *Host) Limits() *access.Limits { return h.pace }

// spendPace uses up one of a player's moves or looks. If none is left, the error is
// fault.RateLimited.
func (h *Host) spendPace(player canon.CardID, verb command.Verb) error {
	class := access.Class("")
	switch verb {
	case command.Move, command.Flee:
		class = classMove
	case command.Look, command.Examine, command.Inventory, command.Quests, command.Price, command.Ask:
		class = classLook
	default:
		return nil
	}
	wait, ok := h.pace.Take(player.String(), "", class)
	if ok {
		return nil
	}
	e := fault.New(fault.RateLimited, "too many acts of class %s; wait %d s and repeat the command", class,
		fault.RetrySeconds(wait))
	e.RetryAfter = wait
	return e.With("limit", string(class))
}
