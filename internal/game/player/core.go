package player

import (
	"slices"

	"loregate/internal/game/rule"
	"loregate/internal/game/view"
)

// Core is the strategy of one seat. Create it with NewCore, call Hear with the chat in order, and
// ask it for moves. Only one goroutine may use it at a time.
type Core struct {
	seed uint64
	seat rule.Seat

	heard memory
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

// Hear processes the chat after the last message heard.
func (c *Core) Hear(t *view.Table, chat []view.Message) { c.heard.hear(t, chat) }

// Listen is Hear for callers with the whole public state.
func (c *Core) Listen(t *view.Table, p *rule.Public) { c.Hear(t, view.Messages(p, c.heard.last)) }

// Habit returns a number in 0..1 that makes seats differ in how soon they act.
func (c *Core) Habit() float64 { return c.roll(0, "habit") }

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

// livingFriends returns the living others of the seat's side, the AI side.
func (c *Core) livingFriends(v *view.Own) []rule.Seat {
	return slices.DeleteFunc(c.livingOthers(v), func(s rule.Seat) bool { return !c.isFriend(v, s) })
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
