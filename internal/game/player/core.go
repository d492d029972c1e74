package player

import (
	"math/bits"
	"slices"
	"strings"

	"loregate/internal/game/rule"
	"loregate/internal/game/view"
)

// Core is the strategy of one seat. Create it with NewCore, call Hear with the chat in order, and
// ask it for moves. Only one goroutine may use it at a time.
type Core struct {
	seed uint64
	seat rule.Seat

	heard     int
	accusers  rule.Places[seats] // the seats that have accused each seat
	mentioned mention            // the last mention of this seat by another
}

// seats is a set of seats, one bit for each.
type seats uint16

func (s seats) withSeat(seat rule.Seat) seats { return s | 1<<seat }

func (s seats) countSeats() int { return bits.OnesCount16(uint16(s)) }

// mention is the time and kind of a message that names the seat.
type mention struct {
	day     int
	phase   string
	accuses bool
}

// NewCore returns the core of a seat.
func NewCore(seed rule.Seed, seat rule.Seat) *Core {
	return &Core{seed: mix(foldSeed(seed), uint64(seat)), seat: seat}
}

func foldSeed(seed rule.Seed) uint64 {
	x := uint64(0)
	for i, b := range seed {
		x ^= uint64(b) << (i % 8 * 8)
		if i%8 == 7 {
			x = mix(x, uint64(i))
		}
	}
	return x
}

// mix is one step of SplitMix64, which is random enough here.
func mix(x, y uint64) uint64 {
	x += 0x9e3779b97f4a7c15 * (y + 1)
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// roll returns a number in 0..1 for a purpose on a day; the same arguments give the same number.
func (c *Core) roll(day int, purpose string, more ...int) float64 {
	x := mix(c.seed, uint64(day))
	for _, b := range []byte(purpose) {
		x = mix(x, uint64(b))
	}
	for _, n := range more {
		x = mix(x, uint64(n))
	}
	return float64(x>>11) / (1 << 53)
}

// Hear processes the chat after the last message heard. A speaker counts once per game against a
// player, even if it repeats the claim in other words: otherwise the loudest player would decide
// the table's deactivations.
func (c *Core) Hear(t *view.Table, chat []view.Message) {
	me := t.Players[c.seat.String()].Name
	for _, m := range chat {
		if m.ID <= c.heard {
			continue
		}
		c.heard = m.ID
		if m.Player == nil || *m.Player == c.seat.String() {
			continue
		}
		text := strings.ToLower(m.Text)
		speaker, known := rule.ParseSeat(*m.Player)
		against := isAccusation(text)
		for s := rule.Seat(1); int(s) <= len(t.Players); s++ {
			if against && known && s != speaker && strings.Contains(text, strings.ToLower(t.Players[s.String()].Name)) {
				*c.accusers.Of(s) = c.accusers.Of(s).withSeat(speaker)
			}
		}
		if me != "" && strings.Contains(text, strings.ToLower(me)) {
			c.mentioned = mention{m.Day, m.Phase, against}
		}
	}
}

// Listen is Hear for callers with the whole public state.
func (c *Core) Listen(t *view.Table, p *rule.Public) { c.Hear(t, view.Messages(p, c.heard)) }

// Habit returns a number in 0..1 that makes seats differ in how soon they act.
func (c *Core) Habit() float64 { return c.roll(0, "habit") }

// isAccusation reports whether a text, in small letters, speaks against somebody.
func isAccusation(text string) bool {
	return slices.ContainsFunc([]string{"trust", "suspect", "watch", "suspicious", "nominate", "lying", "convert"},
		func(w string) bool {
			return strings.Contains(text, w)
		})
}

// perAccuser is the amount that one accuser adds to a suspicion.
const perAccuser = 0.03

// suspicionOf estimates how likely a player belongs to the AI side, about 0..1.
func (c *Core) suspicionOf(v *view.Own, s rule.Seat) float64 {
	x := 0.45 * c.roll(0, "prior", int(s))
	x += 0.15 * c.roll(v.Day, "mood", int(s))
	x += min(perAccuser*float64(c.accusers.Of(s).countSeats()), 0.2)
	tokens, n := 0, 0
	for _, p := range v.Players {
		if p.Alive {
			tokens, n = tokens+p.Tokens, n+1
		}
	}
	x += 0.06 * (float64(v.Players[s.String()].Tokens) - float64(tokens)/float64(max(n, 1)))
	return x
}

// livingOthers returns the other seats still in the game, in order.
func (c *Core) livingOthers(v *view.Own) []rule.Seat {
	var seats []rule.Seat
	for s := rule.Seat(1); int(s) <= len(v.Players); s++ {
		if s != c.seat && v.Players[s.String()].Alive {
			seats = append(seats, s)
		}
	}
	return seats
}

// isFriend reports whether a player is known to be on the seat's own side, the AI side.
func (c *Core) isFriend(v *view.Own, s rule.Seat) bool {
	return slices.Contains(v.Self.Side, s.String())
}

// isMachine reports whether the seat belongs to the AI side.
func (c *Core) isMachine(v *view.Own) bool { return len(v.Self.Side) > 0 }

// bestSeat returns the seat with the highest score; the zero Seat for an empty list.
func bestSeat(seats []rule.Seat, score func(rule.Seat) float64) rule.Seat {
	var found rule.Seat
	most := 0.0
	for _, s := range seats {
		if x := score(s); found == 0 || x > most {
			found, most = s, x
		}
	}
	return found
}
