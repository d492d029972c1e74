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

// Dial connects to the MCP endpoint as the seat of a game, as any other client does. The
// caller is bound to the seat and opens nothing else.
type Dial func(ctx context.Context, c access.Caller, uri string) (Link, error)

// Run hosts all games that are under way until ctx ends: phases end when their time is
// up, and seats of AI players are played. Any number of processes may run at once. dial
// connects the language of AI players; nil leaves them silent.
func (s *Service) Run(ctx context.Context, dial Dial) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.life, cancel)()
	var games sync.WaitGroup
	defer games.Wait()
	hosted := map[string]bool{}
	for {
		changed, news := s.cfg.Ledgers.Changed(), s.news.wait()
		var open []entry
		err := s.looking.look(ctx, func(g access.Grant) (found bool, err error) {
			open, err = s.lookUp(ctx, g, func(e *entry) bool { return !e.closed && !hosted[e.Game] })
			return len(open) > 0, err
		})
		if err != nil && ctx.Err() == nil {
			s.cfg.Logger.Warn("cannot read the directory of games", "error", err)
		}
		for _, e := range open {
			hosted[e.Game] = true
			games.Go(func() { s.host(ctx, e, dial) })
		}
		if !wait.For(ctx, restful) {
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

// host hosts one game to its end.
func (s *Service) host(ctx context.Context, e entry, dial Dial) {
	t := s.begun(ctx, e.Game)
	if t == nil {
		return
	}
	h := &hosting{s: s, t: t, world: e.World, dial: dial, seats: map[rule.Seat]*program{}, ctx: ctx}
	defer h.close()
	for ctx.Err() == nil {
		bell := t.bell.wait()
		state, _ := t.now()
		if state.Public.Phase == rule.Over {
			h.closeGame(e)
			return
		}
		next := h.act(&state)
		wait.Or(ctx, time.Duration(max(next-s.now(), 1))*time.Millisecond, bell)
	}
}

// A game is named in the directory before its first event is kept. Where that does not
// come soon, its maker was stopped in between.
const (
	soon    = 50
	lookGap = 200 * time.Millisecond
)

// begun opens a game that the directory names; nil where it never began, or ctx ended.
func (s *Service) begun(ctx context.Context, id string) *table {
	for absent := 0; absent < soon; {
		var t *table
		err := s.looking.look(ctx, func(g access.Grant) (found bool, err error) {
			t, err = s.open(ctx, g, id)
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

// hosting is one game as it is hosted here.
type hosting struct {
	s     *Service
	t     *table
	world access.WorldID
	dial  Dial
	ctx   context.Context //nolint:containedctx // of the host loop, which starts and ends the speeches
	seats map[rule.Seat]*program
	talks sync.WaitGroup
}

// program is one seat that is played here.
type program struct {
	core  *player.Core
	brain *player.Brain
	read  *reading
	moved moment // when it last moved
	spoke int    // number of its last cue
}

// moment is a point in a game that moves are made at.
type moment struct {
	day, part, version int
	phase              rule.Phase
}

// idleWake is how long a game without a time is left alone; a command wakes it before.
const idleWake = 60_000

// act does what is due now, and gives the time at which something is due next.
func (h *hosting) act(state *rule.State) rule.Millis {
	now, ends := h.s.now(), state.Public.Ends
	if ends != 0 && now >= ends {
		h.do(clock, rule.Tick{})
		return now + 100 // the change wakes us before, unless the store refuses
	}
	next := now + idleWake
	if ends != 0 {
		next = min(next, ends)
	}
	length := state.Length()
	for seat := rule.Seat(1); int(seat) <= state.Public.Seated && length > 0; seat++ {
		if state.Secret.Seats.Of(seat).Played == rule.ByProgram {
			next = min(next, h.play(state, seat, ends-length, length))
		}
	}
	return next
}

// Shares of a phase after which AI players move, and move again to follow the others.
var moveAt = [...]float64{0.45, 0.85}

// play lets one seat do what is due, and gives the time of what is due next for it.
func (h *hosting) play(state *rule.State, seat rule.Seat, began, length rule.Millis) rule.Millis {
	p := h.program(state, seat)
	v := view.BriefOf(state, seat)
	p.core.Listen(&v.Table, &state.Public)
	now, next := h.s.now(), state.Public.Ends
	for _, c := range p.core.Cues(&v, state.Public.Extended, time.Duration(length)*time.Millisecond) {
		switch at := began + rule.Millis(c.After.Milliseconds()); {
		case c.Number <= p.spoke || c.Number <= state.Secret.Seats.Of(seat).Cue:
		case now < at:
			next = min(next, at)
		default:
			p.spoke = c.Number
			h.speak(p, seat, func(ctx context.Context) rule.Command {
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
		if p.moved.before(m) {
			p.moved = m
			h.move(p, seat, &v)
		}
	}
	return next
}

// before reports whether m is of another phase than o or of an earlier part of it.
func (o moment) before(m moment) bool {
	part := m.part
	m.part = o.part
	return o != m || o.part < part || o == (moment{})
}

// move makes the seat's moves. The answer to the question of the day takes language.
func (h *hosting) move(p *program, seat rule.Seat, v *view.Own) {
	caller := seatCaller(h.t.id, seat)
	for _, c := range p.core.Moves(v) {
		h.do(caller, c)
	}
	if v.Phase == string(rule.PulseCheck) && v.Self.Pulse == "" && v.Players[seat.String()].Alive {
		h.speak(p, seat, func(ctx context.Context) rule.Command {
			return rule.AnswerPulse{Seat: seat, Text: p.brain.Answer(ctx)}
		})
	}
}

// speak says something once it is thought of, while the game goes on.
func (h *hosting) speak(p *program, seat rule.Seat, think func(context.Context) rule.Command) {
	if h.dial == nil {
		return
	}
	h.talks.Go(func() {
		switch c := think(h.ctx).(type) {
		case rule.Chat:
			if c.Text != "" {
				h.do(seatCaller(h.t.id, seat), c)
			}
		case rule.AnswerPulse:
			if c.Text != "" {
				h.do(seatCaller(h.t.id, seat), c)
			}
		}
	})
}

// do decides a command of the program's own. What is refused was decided on a state that
// has passed.
func (h *hosting) do(c access.Caller, cmd rule.Command) {
	err := h.s.as(h.ctx, c, access.Request{Operation: nameOf(cmd), World: h.world, Target: h.t.id}, func(g access.Grant) error {
		_, err := h.s.do(h.ctx, g, h.t, cmd)
		if k := fault.KindOf(err); err != nil && (k == fault.Rule || k == fault.Invalid) {
			return nil
		}
		return err
	})
	if err != nil && h.ctx.Err() == nil {
		h.s.cfg.Logger.Warn("cannot act in a game", "game", h.t.id, "error", err)
	}
}

// closeGame notes that a game is over, so that nobody hosts it again.
func (h *hosting) closeGame(e entry) {
	err := h.s.as(h.ctx, clock, access.Request{Operation: "close_game", World: h.world, Target: e.Game}, func(g access.Grant) error {
		return h.s.enlist(h.ctx, g, "closed", entry{Game: e.Game})
	})
	if err != nil && h.ctx.Err() == nil {
		h.s.cfg.Logger.Warn("cannot close a game", "game", e.Game, "error", err)
	}
}

// program is what plays a seat, made when it is first needed.
func (h *hosting) program(state *rule.State, seat rule.Seat) *program {
	if p := h.seats[seat]; p != nil {
		return p
	}
	r := &reading{dial: h.dial, caller: seatCaller(h.t.id, seat), uri: uriStart + h.t.id}
	p := &program{core: player.NewCore(state.Seed, seat), read: r,
		brain: &player.Brain{Reader: r, Model: h.model(), Moderate: h.s.cfg.Moderate, Seed: player.SeedOf(state.Seed, seat), Now: h.s.cfg.Now}}
	h.seats[seat] = p
	return p
}

// model is what the game's AI players speak by; nil: phrases.
func (h *hosting) model() player.Model {
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

// seatCaller is who an AI player is: bound to its seat like any client over MCP.
func seatCaller(game string, seat rule.Seat) access.Caller {
	name := seatName(game, seat)
	return access.Caller{Subject: access.Subject("seat-" + name), Actor: access.AI, Seat: name, Surfaces: []string{Surface}, Unlimited: true}
}

// reading is a connection to the MCP endpoint, made when it is first read from and made
// anew after it failed.
type reading struct {
	dial   Dial
	caller access.Caller
	uri    string

	mu   sync.Mutex
	link Link // nil: not connected. Guarded by mu
}

// Read reads the table as the seat sees it.
func (r *reading) Read(ctx context.Context) (view.Table, error) {
	link, err := r.connected(ctx)
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

func (r *reading) connected(ctx context.Context) (Link, error) {
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
