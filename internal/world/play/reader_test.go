package play_test

import (
	"context"
	"errors"
	"testing"

	"loregate/internal/access"
	"loregate/internal/world/command"
	"loregate/internal/world/worldtest"
)

// reader reads every command as a step to the north, as long as it has no error.
type reader struct {
	err   error
	asked []string
}

func (r *reader) ReadCommand(_ context.Context, _ access.WorldID, text string) (command.Parsed, error) {
	r.asked = append(r.asked, text)
	p, err := command.ReadAs(text, []command.Act{{Verb: command.Move, Direction: "north"}}, "", "model:test")
	return p, errors.Join(err, r.err)
}

// Another reader reads only what the rules are unsure of, and the rules' reading stands in for its errors.
func TestAnotherReader(t *testing.T) {
	r := &reader{}
	s := worldtest.New(t, func(set *worldtest.Setup) { set.Reader = r })
	p := s.Joins("Mira")
	p.Does("look around").Is("results.0.verb", "look")
	if len(r.asked) != 0 {
		t.Errorf("asked for %q", r.asked)
	}
	p.Does("frobnicate the square").Is("results.0.outcome", "done", "results.0.verb", "move")
	if p.Stands() != "Square" || len(r.asked) != 1 {
		t.Errorf("the player stands at %s; asked for %q", p.Stands(), r.asked)
	}
	r.err = errors.New("no answer")
	p.Does("frobnicate the square").Is("results.#", 0, "ambiguities.0.kind", "verb")
	s.As("user").Call("parse-command", `{"text":"frobnicate the square"}`).Is("parseVersion", command.Version)
	r.err = nil
	s.As(
		"user",
	).Call(
		"parse-command",
		`{"text":"frobnicate the square"}`,
	).Is(
		"parseVersion",
		"model:test",
		"intents.0.verb",
		"move",
	)
}
