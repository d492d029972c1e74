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
// caller's seat does not belong to, is not found. A seat is opened by the one credential that the game
// names as its owner.
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
		if !ownsSeat(&state, c, seat) {
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

// ownsSeat reports whether a caller's credential is the one that opens a seat today.
func ownsSeat(state *rule.State, c access.Caller, seat rule.Seat) bool {
	return state.Public.Taken(seat) && c.Key != "" && state.Secret.Seats.Of(seat).Owner == c.Key
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

// issued are the credentials of a seat, which are shown once.
type issued struct{ secret, recovery string }

// openSeat issues the credentials of a seat and ends the previous ones.
func (s *Service) openSeat(ctx context.Context, g access.Grant, t *table, seat rule.Seat) (out issued, err error) {
	state, _ := t.currentState()
	was, name := *state.Secret.Seats.Of(seat), seatName(t.id, seat)
	c := rule.Open{Seat: seat, Was: was.Owner}
	switch was.Played {
	case rule.ByClient:
		surfaces := []string{Surface}
		if state.Settings.ClientsAct {
			surfaces = append(surfaces, PlaySurface)
		}
		out.secret, c.Owner, err = s.cfg.Seats.Key(ctx, g, name, surfaces)
	case rule.ByPerson:
		out.secret, c.Owner, err = s.cfg.Seats.Token(ctx, g, name)
	default:
		err = fault.New(fault.Rule, "the computer plays this seat; it needs no token")
	}
	if err != nil {
		return issued{}, err
	}
	if out.recovery, c.Recovery, err = s.cfg.Seats.Recovery(ctx, g, name, reopenName); err != nil {
		return issued{}, err
	}
	if _, err := s.doCommand(ctx, g.Unkeyed(), t, c); err != nil {
		return issued{}, err
	}
	return out, s.endCredentials(ctx, &was)
}

// endCredentials ends the credentials of a seat that were replaced. The game no longer knows them: this ends what
// they open elsewhere, and their streams.
func (s *Service) endCredentials(ctx context.Context, was *rule.Hidden) error {
	for _, id := range []string{was.Owner, was.Recovery} {
		if id == "" {
			continue
		}
		if err := s.cfg.Seats.Revoke(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// seatToReopen returns the game and the seat that the caller may open anew: that of the recovery code with which it
// calls, or the one that it took itself, under its own name. A host who asks for the seat of somebody else is refused.
func (s *Service) seatToReopen(ctx context.Context, g access.Grant, id, player string) (*table, rule.Seat, error) {
	t, err := s.openGame(ctx, g, id)
	if err != nil {
		return nil, 0, err
	}
	state, _ := t.currentState()
	c := g.Caller()
	var own []rule.Seat
	switch game, seat, bound := seatOf(c.Seat); {
	case bound && game == id && state.Public.Taken(seat) && c.Key != "" && c.Key == state.Secret.Seats.Of(seat).Recovery:
		own = []rule.Seat{seat}
	case c.Seat == "" && state.Secret.World == g.World().String():
		if own, err = s.seatsOf(ctx, g, t, &state); err != nil {
			return nil, 0, err
		}
	}
	for _, seat := range own {
		if player == seat.String() || player == mineWord && len(own) == 1 {
			return t, seat, nil
		}
	}
	if c.Seat == "" && state.Secret.World == g.World().String() && (len(own) > 0 ||
		state.Secret.Host == string(c.Subject)) {
		return nil, 0, fault.New(fault.Denied, "a seat is opened anew by its player alone: with its recovery code, or "+
			"by the person who took it under the same name. The host can vacate it, in the lobby or between days")
	}
	return nil, 0, errNoGame()
}

// seatsOf returns the seats that the caller took as itself. Only a person has such seats: the key of a program can be
// replaced by others, and so can a session that somebody else let in.
func (s *Service) seatsOf(ctx context.Context, g access.Grant, t *table, state *rule.State) (own []rule.Seat,
	err error) {
	c := g.Caller()
	if c.Actor != access.Person || c.Vouched || c.Lowered {
		return nil, nil
	}
	for seat := rule.Seat(1); int(seat) <= state.Public.Seated; seat++ {
		h := state.Secret.Seats.Of(seat)
		subject := h.Subject
		if subject == "" && h.Recovery == "" && h.Played != rule.ByProgram {
			if subject, err = s.firstOwner(ctx, g, t, seat); err != nil {
				return nil, err
			}
		}
		if subject != "" && subject == string(c.Subject) {
			own = append(own, seat)
		}
	}
	return own, nil
}

// firstOwner returns the subject who took a seat in a game whose events do not name one: by the record of its first
// credential. It is "" for the seats that the host took for others.
func (s *Service) firstOwner(ctx context.Context, g access.Grant, t *table, seat rule.Seat) (string, error) {
	state, _ := t.currentState()
	for rec, err := range s.cfg.Ledgers.Records(ctx, g, t.stream, 1) {
		if err != nil {
			return "", err
		}
		e, err := rule.Decode(rec.Event.Type, rec.Event.Payload)
		if err != nil {
			return "", err
		}
		if seated, ok := e.(*rule.Seated); ok && seated.Seat == seat {
			if string(rec.By) == state.Secret.Host {
				return "", nil
			}
			return string(rec.By), nil
		}
	}
	return "", nil
}
