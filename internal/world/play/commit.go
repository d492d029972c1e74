package play

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/world/command"
)

// committedAct is a committed act: its receipt, and the changes that set the player to the time of
// the place before the act (waited) and after it (met).
type committedAct struct {
	canon.Receipt
	waited, met uuid.UUID
}

// dueClocks names the clocks that must be set before an act. As an error of the act's plan it stops
// the commit.
type dueClocks struct{ clock, player bool }

func (dueClocks) Error() string { return "world: the clocks must be put right first" }

// commitAct plans and commits one act. An act that was already done under the same idempotency key
// is not done or counted again.
func (h *Host) commitAct(ctx context.Context,
	part func(suffix string) access.Grant, player canon.CardID, i command.Intent) (done committedAct, err error) {
	paced, met := false, false
	act := func(timely bool) (err error) {
		done.Receipt, err = h.canon.Update(ctx, part(""), func(p *canon.Plan) error {
			if !paced {
				if err := h.spendPace(player, i.Verb); err != nil {
					return err
				}
				paced = true
			}
			s, err := newTurn(ctx, h.world, p, player, i)
			if err != nil {
				return err
			}
			if err := s.planAction(); err != nil {
				return err
			}
			if first := s.findDueClocks(); !timely && first != (dueClocks{}) {
				return first
			}
			met = s.meets
			return p.Event(s.event)
		})
		return err
	}
	var first dueClocks
	if err = act(false); errors.As(err, &first) {
		if first.clock {
			if err := h.world.StepClockIfDue(ctx, part("-clock")); err != nil {
				return done, err
			}
		}
		if first.player {
			r, err := h.reconcilePlayer(ctx, part("-wait"), player)
			if err != nil {
				return done, err
			}
			done.waited = r.Change
		}
		err = act(true)
	}
	switch {
	case err != nil || done.DryRun:
		return done, err
	case done.Replayed:
		if done.waited, err = h.findReconciliation(ctx, part("-wait")); err == nil {
			done.met, err = h.findReconciliation(ctx, part("-met"))
		}
	case met:
		var r canon.Receipt
		r, err = h.reconcilePlayer(ctx, part("-met"), player)
		done.met = r.Change
	}
	return done, err
}

// findDueClocks returns the clocks that must be set before the act. An act that not everybody may
// learn of does not move the world's clock.
func (s *turn) findDueClocks() dueClocks {
	everyones := s.event.Label.Equal(access.NewLabel(access.LevelUser))
	return dueClocks{clock: everyones && s.clock.DueStep(s.plan.Clock(), s.World().Settings) != "",
		player: s.waits}
}
