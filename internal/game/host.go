package game

import (
	"context"
	"fmt"
	"sync"
	"time"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/game/player"
	"loregate/internal/game/rule"
	"loregate/internal/game/view"
	"loregate/internal/wait"
)

// Dial connects to the MCP endpoint as the seat of a game, like any other client. The caller is
// bound to the seat and opens nothing else.
type Dial func(ctx context.Context, c access.Caller, uri string) (Link, error)

// Run hosts all open games until ctx ends: it ends phases when their time is up and plays the seats
// of AI players. Any number of processes may run at once. AI players read their tables through dial
// before they speak; with a nil dial they are silent.
func (s *Service) Run(ctx context.Context, dial Dial) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.life, cancel)()
	var games sync.WaitGroup
	defer games.Wait()
	hosted := map[string]bool{}
	for {
		changed, news := s.cfg.Ledgers.Changed(), s.news.waitChan()
		var open []entry
		err := s.polls.poll(ctx, func(g access.Grant) (found bool, err error) {
			open, err = s.readDirectory(ctx, g, func(e *entry) bool { return !e.closed && !hosted[e.Game] })
			return len(open) > 0, err
		})
		if err != nil && ctx.Err() == nil {
			s.cfg.Logger.Warn("cannot read the directory of games", "error", err)
		}
		for _, e := range open {
			hosted[e.Game] = true
			games.Go(func() { s.hostGame(ctx, e, dial) })
		}
		if !wait.For(ctx, followPause) {
			return
		}
		select {
		case <-changed:
		case <-news:
		case <-ctx.Done():
			return
		}
	}
}

// hostGame hosts one game to its end.
func (s *Service) hostGame(ctx context.Context, e entry, dial Dial) {
	t := s.openBegun(ctx, e.Game)
	if t == nil {
		return
	}
	h := &hosting{s: s, t: t, world: e.World, dial: dial, seats: map[rule.Seat]*program{}, ctx: ctx}
	defer h.close()
	for ctx.Err() == nil {
		bell := t.bell.waitChan()
		state, _ := t.currentState()
		if state.Public.Phase == rule.Over {
			h.closeGame(e)
			return
		}
		next := h.actDue(&state)
		wait.Or(ctx, time.Duration(max(next-s.nowMillis(), 1))*time.Millisecond, bell)
	}
}

// A game is listed in the directory before its first event is stored. If that event does not follow
// soon, the process that created the game was stopped in between.
const (
	beginTries = 50
	lookGap    = 200 * time.Millisecond
)

// openBegun opens a game that the directory lists; nil if the game never began, or ctx ended.
func (s *Service) openBegun(ctx context.Context, id string) *table {
	for absent := 0; absent < beginTries; {
		var t *table
		err := s.polls.poll(ctx, func(g access.Grant) (found bool, err error) {
			t, err = s.openGame(ctx, g, id)
			if err != nil && fault.KindOf(err) == fault.NotFound {
				absent++
				return false, nil
			}
			return err == nil, err
		})
		if t != nil && err == nil {
			return t
		}
		if !wait.For(ctx, lookGap) {
			return nil
		}
	}
	return nil
}

// hosting is one game hosted by this process.
type hosting struct {
	s     *Service
	t     *table
	world access.WorldID
	dial  Dial
	ctx   context.Context //nolint:containedctx // of the host loop, which starts and ends the speeches
	seats map[rule.Seat]*program
	talks sync.WaitGroup
}

// program is one seat that this process plays.
type program struct {
	core  *player.Core
	brain *player.Brain
	read  *reading
	moved moment // the moment of its last moves
	spoke int    // number of its last cue
}

// moment is a point in a game at which programs move.
type moment struct {
	day, part, version int
	phase              rule.Phase
}

// idleWake is the longest wait in a phase without an end; a command wakes the host earlier.
const idleWake = 60_000

// actDue does everything that is due now, and returns the time at which something is due next.
func (h *hosting) actDue(state *rule.State) rule.Millis {
	now, ends := h.s.nowMillis(), state.Public.Ends
	if ends != 0 && now >= ends {
		h.doCommand(clockCaller, rule.Tick{})
		return now + 100 // the change wakes the host earlier, unless the store refuses it
	}
	next := now + idleWake
	if ends != 0 {
		next = min(next, ends)
	}
	length := state.Length()
	for seat := rule.Seat(1); int(seat) <= state.Public.Seated && length > 0; seat++ {
		if state.Secret.Seats.Of(seat).Played == rule.ByProgram {
			next = min(next, h.playSeat(state, seat, ends-length, length))
		}
	}
	return next
}

// moveAt are the shares of a phase after which AI players move, and move again to react to the
// others.
var moveAt = [...]float64{0.45, 0.85}

// playSeat does everything that is due for one seat, and returns the time at which something is due
// next for it.
func (h *hosting) playSeat(state *rule.State, seat rule.Seat, began, length rule.Millis) rule.Millis {
	p := h.programOf(state, seat)
	v := view.BriefOf(state, seat)
	p.core.Listen(&v.Table, &state.Public)
	now, next := h.s.nowMillis(), state.Public.Ends
	for _, c := range p.core.Cues(&v, state.Public.Extended, time.Duration(length)*time.Millisecond) {
		switch at := began + rule.Millis(c.After.Milliseconds()); {
		case c.Number <= p.spoke || c.Number <= state.Secret.Seats.Of(seat).Cue:
		case now < at:
			next = min(next, at)
		default:
			p.spoke = c.Number
			h.startSpeech(p, seat, func(ctx context.Context) rule.Command {
				return rule.Chat{From: seat, Text: p.brain.Speak(ctx, c), Cue: c.Number}
			})
		}
	}
	for part, share := range moveAt {
		at := began + rule.Millis((share+0.1*p.core.Habit())*float64(length))
		if now < at {
			return min(next, at)
		}
		m := moment{state.Public.Day, part, state.Public.Rounds, state.Public.Phase}
		if p.moved.isBefore(m) {
			p.moved = m
			h.makeMoves(p, seat, &v)
		}
	}
	return next
}

// isBefore reports whether m belongs to another phase than o or to a later part of the same phase.
func (o moment) isBefore(m moment) bool {
	part := m.part
	m.part = o.part
	return o != m || o.part < part || o == (moment{})
}

// makeMoves makes the seat's moves. The answer to the question of the day needs language, so the
// brain gives it.
func (h *hosting) makeMoves(p *program, seat rule.Seat, v *view.Own) {
	caller := seatCaller(h.t.id, seat)
	for _, c := range p.core.Moves(v) {
		h.doCommand(caller, c)
	}
	if v.Phase == string(rule.PulseCheck) && v.Self.Pulse == "" && v.Players[seat.String()].Alive {
		claim := p.core.PulseClaim(v)
		h.startSpeech(p, seat, func(ctx context.Context) rule.Command {
			return rule.AnswerPulse{Seat: seat, Text: p.brain.Answer(ctx, claim)}
		})
	}
}

// startSpeech says something once it is thought of, while the game continues.
func (h *hosting) startSpeech(p *program, seat rule.Seat, think func(context.Context) rule.Command) {
	if h.dial == nil {
		return
	}
	h.talks.Go(func() {
		switch c := think(h.ctx).(type) {
		case rule.Chat:
			if c.Text != "" {
				h.doCommand(seatCaller(h.t.id, seat), c)
			}
		case rule.AnswerPulse:
			if c.Text != "" {
				h.doCommand(seatCaller(h.t.id, seat), c)
			}
		}
	})
}

// doCommand decides a command of the program's own. It ignores refusals: the command was chosen on
// an earlier state.
func (h *hosting) doCommand(c access.Caller, cmd rule.Command) {
	err := h.s.admitAs(h.ctx, c, access.Request{Operation: nameOf(cmd), World: h.world, Target: h.t.id},
		func(g access.Grant) error {
			_, err := h.s.doCommand(h.ctx, g, h.t, cmd)
			if k := fault.KindOf(err); err != nil && (k == fault.Rule || k == fault.Invalid) {
				return nil
			}
			return err
		})
	if err != nil && h.ctx.Err() == nil {
		h.s.cfg.Logger.Warn("cannot act in a game", "game", h.t.id, "error", err)
	}
}

// closeGame records that a game is over, so that no process hosts it again.
func (h *hosting) closeGame(e entry) {
	err := h.s.admitAs(h.ctx, clockCaller, access.Request{Operation: "close_game", World: h.world, Target: e.Game},
		func(g access.Grant) error {
			return h.s.appendEntry(h.ctx, g, "closed", entry{Game: e.Game})
		})
	if err != nil && h.ctx.Err() == nil {
		h.s.cfg.Logger.Warn("cannot close a game", "game", e.Game, "error", err)
	}
}

// programOf returns the program of a seat, and creates it at the first use.
func (h *hosting) programOf(state *rule.State, seat rule.Seat) *program {
	if p := h.seats[seat]; p != nil {
		return p
	}
	r := &reading{dial: h.dial, caller: seatCaller(h.t.id, seat), uri: uriStart + h.t.id}
	p := &program{core: player.NewCore(state.Seed, seat), read: r,
		brain: &player.Brain{Reader: r, Model: h.worldModel(), Moderate: h.s.cfg.Moderate,
			Seed: player.SeedOf(state.Seed, seat), Now: h.s.cfg.Now}}
	h.seats[seat] = p
	return p
}

// worldModel returns the model of the game's AI players; nil: they use phrases.
func (h *hosting) worldModel() player.Model {
	if h.s.cfg.Model == nil {
		return nil
	}
	return h.s.cfg.Model(h.world)
}

func (h *hosting) close() {
	h.talks.Wait()
	for _, p := range h.seats {
		p.read.close()
	}
}

// seatCaller returns the caller of an AI player: bound to its seat like any client over MCP.
func seatCaller(game string, seat rule.Seat) access.Caller {
	name := seatName(game, seat)
	return access.Caller{Subject: access.Subject("seat-" + name), Actor: access.AI, Seat: name,
		Surfaces: []string{Surface}, Unlimited: true}
}

// reading is a connection to the MCP endpoint. It connects at the first read, and again after a
// failure.
type reading struct {
	dial   Dial
	caller access.Caller
	uri    string

	mu   sync.Mutex
	link Link // nil: not connected. Guarded by mu
}

// Read reads the table as the seat sees it.
func (r *reading) Read(ctx context.Context) (view.Table, error) {
	link, err := r.connectedLink(ctx)
	if err != nil {
		return view.Table{}, err
	}
	t, err := link.Read(ctx)
	if err != nil {
		r.close()
		return t, fmt.Errorf("game: reading over MCP: %w", err)
	}
	return t, nil
}

func (r *reading) connectedLink(ctx context.Context) (Link, error) {
	r.mu.Lock()
	link := r.link
	r.mu.Unlock()
	if link != nil {
		return link, nil
	}
	link, err := r.dial(ctx, r.caller, r.uri)
	if err != nil {
		return nil, fmt.Errorf("game: connecting over MCP: %w", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.link == nil {
		r.link = link
	} else {
		defer link.Close()
	}
	return r.link, nil
}

func (r *reading) close() {
	r.mu.Lock()
	link := r.link
	r.link = nil
	r.mu.Unlock()
	if link != nil {
		link.Close()
	}
}
