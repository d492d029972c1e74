package game

import (
	"context"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/game/rule"
)

// place is a caller's part in a game.
type place struct {
	seat rule.Seat // 0: no seat
	host bool
}

// seatName returns the name of a seat in package identity: "game/player".
func seatName(game string, seat rule.Seat) string { return game + "/" + seat.String() }

// seatOf parses the output of seatName.
func seatOf(name string) (game string, seat rule.Seat, ok bool) {
	game, player, _ := strings.Cut(name, "/")
	seat, ok = rule.ParseSeat(player)
	return game, seat, ok && isGameID(game)
}

// invitationOf returns the seat of the holders of an invitation: it is no player's, so that they see
// nothing of the game, and can only join it.
func invitationOf(game string) string { return game + "/guest" }

// joinable is findGame for callers who want a seat; those of an invitation have none yet.
func (s *Service) joinable(ctx context.Context, g access.Grant, id string) (*table, place, error) {
	if g.Caller().Seat != invitationOf(id) {
		return s.findGame(ctx, g, id)
	}
	t, err := s.openGame(ctx, g, id)
	return t, place{}, err
}

// findGame returns a game and the caller's place in it. A game of another world, or one that the
// caller's seat does not belong to, is not found.
func (s *Service) findGame(ctx context.Context, g access.Grant, id string) (*table, place, error) {
	c := g.Caller()
	game, seat, bound := seatOf(c.Seat)
	switch {
	case c.Seat != "" && (!bound || game != id):
		return nil, place{}, errNoGame()
	case bound && c.Audience == "" && !c.MayUse(PlaySurface, ""):
		return nil, place{}, fault.New(fault.Denied,
			"this seat's key only reads the table, at /mcp/alignment; the host lets keys act by clients_act when "+
				"it creates a game")
	}
	t, err := s.openGame(ctx, g, id)
	if err != nil {
		return nil, place{}, err
	}
	state, _ := t.currentState()
	if bound {
		if int(seat) > state.Public.Seated {
			return nil, place{}, errNoGame()
		}
		return t, place{seat, state.Secret.Seats.Of(seat).Host}, nil
	}
	p := place{host: state.Secret.Host == string(c.Subject)}
	if state.Secret.World != g.World().String() {
		return nil, place{}, errNoGame()
	}
	return t, p, nil
}

// partOf is findGame for callers who have a place in the game.
func (s *Service) partOf(ctx context.Context, g access.Grant, id string) (*table, place, error) {
	t, p, err := s.findGame(ctx, g, id)
	if err != nil {
		return nil, p, err
	}
	if p == (place{}) {
		return nil, p, errNoGame()
	}
	return t, p, nil
}

// hostOf is findGame for the host, or a seat that hosts.
func (s *Service) hostOf(ctx context.Context, g access.Grant, id string) (*table, place, error) {
	t, p, err := s.partOf(ctx, g, id)
	if err == nil && !p.host {
		err = fault.New(fault.Denied, "only the host of this game may do that; ask the host")
	}
	return t, p, err
}

// joinSeat seats a player and returns its seat.
func (s *Service) joinSeat(ctx context.Context, g access.Grant, t *table,
	c rule.Join) (rule.Seat, canon.Receipt, error) {
	receipt, err := s.doCommand(ctx, g, t, c)
	if err != nil {
		return 0, receipt, err
	}
	for rec, err := range s.cfg.Ledgers.Records(ctx, g, t.stream, receipt.Seq) {
		if err != nil {
			return 0, receipt, err
		}
		e, err := rule.Decode(rec.Event.Type, rec.Event.Payload)
		if seated, ok := e.(*rule.Seated); ok {
			return seated.Seat, receipt, err
		}
		return 0, receipt, fault.New(fault.Internal, "record %d of a game seats nobody", rec.Seq)
	}
	return 0, receipt, fault.New(fault.Internal, "a game lost its record %d", receipt.Seq)
}

// admitTo issues the credential of a seat and revokes its previous one.
func (s *Service) admitTo(ctx context.Context, g access.Grant, t *table, seat rule.Seat,
	as rule.Played) (secret string, err error) {
	state, _ := t.currentState()
	name := seatName(t.id, seat)
	var id string
	switch as {
	case rule.ByClient:
		surfaces := []string{Surface}
		if state.Settings.ClientsAct {
			surfaces = append(surfaces, PlaySurface)
		}
		secret, id, err = s.cfg.Seats.Key(ctx, g, name, surfaces)
	case rule.ByPerson:
		secret, id, err = s.cfg.Seats.Token(ctx, g, name)
	}
	if err != nil {
		return "", err
	}
	old := state.Secret.Seats.Of(seat).Owner
	if _, err := s.doCommand(ctx, g.Unkeyed(), t, rule.Reseat{Seat: seat, Owner: id, Played: as}); err != nil {
		return "", err
	}
	if old != "" && old != id {
		return secret, s.cfg.Seats.Revoke(ctx, old)
	}
	return secret, nil
}
