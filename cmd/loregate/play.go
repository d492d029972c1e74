package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/app"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/op"
)

type playCmd struct {
	common
	World  string `env:"LOREGATE_WORLD" help:"World by slug or UUID. Default: the only world, or else the sample world, which an empty store gets." placeholder:"WORLD"`
	Name   string `help:"Name of your player, who is created unless you have one of that name." default:"Traveller"`
	Player string `help:"Player to continue with, by id, codename or name." placeholder:"ID"`
}

// playWidth is the number of columns of a narration on a terminal.
const playWidth = 78

// maxCommand is the number of bytes of a command; longer lines are refused by the operation.
const maxCommand = 64 << 10

// playHelp tells a player the acts that every world has.
const playHelp = `look, look north, look at the well     see
go north, north, n, follow the lane    move; in, out, up and down too
take, drop, give … to …, put … in …    things; inventory shows your own
talk to …, ask … about …, say …        people
use … on …, open, close, rest, wait    other acts
take the lamp then go in               several at once
quit                                   end`

// Run reads commands from standard input, a line each, until its end or quit.
func (p playCmd) Run(ctx context.Context, out io.Writer) error {
	return p.withApp(ctx, func(a *app.App) error {
		if err := p.chooseWorld(ctx, a); err != nil {
			return err
		}
		g := playSession{app: a, out: out, world: p.World, player: p.Player}
		if isTerminal(os.Stdin) {
			g.prompt = "\n> "
		}
		if err := g.begin(ctx, p.Name); err != nil {
			return err
		}
		err := g.playLines(ctx, os.Stdin)
		fmt.Fprintf(os.Stderr, "\nContinue with: loregate play %s--player %s\n", p.chosen(), g.player)
		return err
	}, app.Default{Path: "log.level", Value: "warn"}) // a game prints no log between its answers
}

// chooseWorld sets the world if none is named, and makes sure that it is there.
func (p *playCmd) chooseWorld(ctx context.Context, a *app.App) error {
	if p.World == "" {
		all, err := a.Canon.Worlds(ctx)
		if err != nil {
			return err
		}
		isSample := func(w canon.World) bool { return w.Slug == app.SampleWorld }
		if len(all) == 0 || len(all) > 1 && slices.ContainsFunc(all, isSample) {
			p.World = app.SampleWorld
		}
	}
	return ensureWorld(ctx, a, p.World)
}

// chosen returns the flags that name the store and the world as they were given, to repeat them.
func (p playCmd) chosen() string {
	flags := ""
	for _, f := range []struct{ name, value string }{{"config", p.Config}, {"data", p.Data}, {"database", p.Database},
		{"world", p.World}} {
		if f.value != "" {
			flags += "--" + f.name + " " + f.value + " "
		}
	}
	return flags
}

// playSession is one person at a terminal.
type playSession struct {
	app    *app.App
	out    io.Writer
	world  string
	player string
	prompt string
}

// invoke calls an operation as the person.
func (g *playSession) invoke(ctx context.Context, operation string, in, out any) error {
	input, err := json.Marshal(in)
	if err != nil {
		return err
	}
	caller := app.Local(access.RoleUser)
	caller.Actor = access.Person
	answer, err := g.app.Ops.Invoke(ctx, caller, op.Request{Operation: operation, Input: input, World: g.world,
		Correlation: uuid.NewString(), Transport: "cli"})
	if err != nil {
		return err
	}
	return json.Unmarshal(answer.Output, out)
}

// begin finds or creates the player, and looks around.
func (g *playSession) begin(ctx context.Context, name string) (err error) {
	if g.player != "" {
		g.player, err = g.findPlayer(ctx, g.player)
	} else {
		g.player, err = g.createPlayer(ctx, name)
	}
	if err != nil {
		return err
	}
	fmt.Fprintln(os.Stderr, "Type what you do, such as: look, go north, take the lamp. help lists more; quit ends.")
	return g.act(ctx, "look")
}

// createPlayer returns the id of a new player, or of the person's player of that name.
func (g *playSession) createPlayer(ctx context.Context, name string) (string, error) {
	var made struct{ Player struct{ ID string } }
	err := g.invoke(ctx, "create_player", map[string]string{"name": name}, &made)
	if errors.Is(err, fault.Conflict) {
		if id, e := g.findPlayer(ctx, name); e == nil {
			fmt.Fprintf(os.Stderr, "%s has been here before and goes on.\n", name)
			return id, nil
		}
	}
	return made.Player.ID, err
}

// findPlayer returns the id of a player by id, codename or name.
func (g *playSession) findPlayer(ctx context.Context, text string) (string, error) {
	var found struct{ Player struct{ ID string } }
	err := g.invoke(ctx, "get_player", map[string]string{"id": text}, &found)
	if errors.Is(err, fault.NotFound) {
		var card struct{ ID string }
		if e := g.invoke(ctx, "get_card", map[string]string{"name": text}, &card); e == nil {
			err = g.invoke(ctx, "get_player", map[string]string{"id": card.ID}, &found)
		}
	}
	if errors.Is(err, fault.NotFound) {
		err = fault.New(fault.NotFound, "you have no player %q in this world; leave --player out to create one", text)
	}
	return found.Player.ID, err
}

// act carries out a command and prints its narration. Refusals of the operation are told too; other
// errors end the game.
func (g *playSession) act(ctx context.Context, text string) error {
	var told struct {
		Narration string `json:"narration"`
	}
	err := g.invoke(ctx, "send_command", map[string]string{"id": g.player, "text": text}, &told)
	var refused *fault.Error
	switch {
	case errors.As(err, &refused) && (refused.Kind == fault.RateLimited || refused.Kind == fault.Invalid):
		told.Narration = refused.Message
	case err != nil:
		return err
	}
	for _, paragraph := range strings.Split(told.Narration, "\n") {
		fmt.Fprintln(g.out, wrapText(paragraph, playWidth))
	}
	return nil
}

func (g *playSession) playLines(ctx context.Context, in io.Reader) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxCommand)
	for {
		fmt.Fprint(g.out, g.prompt)
		if !lines.Scan() {
			return lines.Err()
		}
		text := strings.TrimSpace(strings.ToValidUTF8(lines.Text(), ""))
		switch strings.ToLower(text) {
		case "":
			continue
		case "quit", "exit", "q":
			return nil
		case "help", "?":
			fmt.Fprintln(g.out, playHelp)
			continue
		}
		if err := g.act(ctx, text); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}

// wrapText breaks a line between words so that no line is longer than columns, except single words.
func wrapText(text string, columns int) string {
	var b strings.Builder
	at := 0
	for i, word := range strings.Fields(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case at+1+n > columns:
			b.WriteByte('\n')
			at = 0
		default:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(word)
		at += n
	}
	return b.String()
}
