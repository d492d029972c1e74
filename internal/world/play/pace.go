package play

import (
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/world/command"
)

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
	if p.Moves == 0 {
		p.Moves = 30
	}
	if p.Looks == 0 {
		p.Looks = 60
	}
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
	case command.Look, command.Examine, command.Inventory:
		class = classLook
	default:
		return nil
	}
	wait, ok := h.pace.Take(player.String(), "", class)
	if ok {
		return nil
	}
	e := fault.New(fault.RateLimited, "too many acts of the kind %s; wait %d s and repeat the command", class,
		fault.RetrySeconds(wait))
	e.RetryAfter = wait
	return e.With("limit", string(class))
}
