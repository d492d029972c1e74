package play

import (
	"strings"

	"loregate/internal/markup"
	"loregate/internal/world"
)

// planTalk speaks to somebody, or to nobody.
func (s *turn) planTalk() error {
	s.action.Detail = markup.Clip(strings.Join(s.intent.Modifiers, " "), 200)
	if s.intent.DirectObject == "" {
		return s.finishTurn(world.PlayerAct)
	}
	to, err := s.findPersonHere(s.intent.DirectObject)
	if err != nil {
		return err
	}
	target := world.NewObjectRef(to, 0)
	s.action.Target = &target
	var f world.Speaker
	world.DecodeFields(to.Fields, &f)
	if n := len(f.Says); n > 0 && !to.IsType(world.TypePlayer) {
		s.action.Line = int(s.presence.Clock/world.Minute)%n + 1
	}
	return s.finishTurn(world.PlayerAct)
}
