package rule

import (
	"fmt"
	"strconv"
)

// Seat is a place at the table, counted from 1 in the order of joining. The zero Seat is no player.
// Its text is the player's id, "p1" to "p10".
type Seat uint8

func (s Seat) String() string {
	if s == 0 {
		return ""
	}
	return "p" + strconv.Itoa(int(s))
}

// ParseSeat parses a player's id. ok is false for any text that String does not produce.
func ParseSeat(id string) (s Seat, ok bool) {
	n, err := strconv.Atoi(trimP(id))
	if err != nil || n < 1 || n > MaxSeats || Seat(n).String() != id {
		return 0, false
	}
	return Seat(n), true
}

func trimP(id string) string {
	if len(id) > 1 && id[0] == 'p' {
		return id[1:]
	}
	return ""
}

// MarshalText returns the seat's id.
func (s Seat) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText parses an id; an empty text is the zero Seat.
func (s *Seat) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*s = 0
		return nil
	}
	seat, ok := ParseSeat(string(text))
	if !ok {
		return fmt.Errorf("rule: %q is no seat", text)
	}
	*s = seat
	return nil
}

// Places holds a value for each seat; index s-1 is that of seat s.
type Places[T any] [MaxSeats]T

// Of returns the value of a seat. The seat must not be zero.
func (p *Places[T]) Of(s Seat) *T { return &p[s-1] }
