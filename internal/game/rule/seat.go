package rule

import (
	"fmt"
	"strconv"
)

// Seat is a place at the table, counted from 1 in the order of joining. The zero Seat is
// nobody. As text it is the player's id, "p1" to "p10".
type Seat uint8

func (s Seat) String() string {
	if s == 0 {
		return ""
	}
	return "p" + strconv.Itoa(int(s))
}

// ParseSeat reads a player's id. ok is false for anything that String does not give.
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

// MarshalText gives a seat its id.
func (s Seat) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads an id; an empty text is nobody.
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

// Places holds something for each seat; the place of seat s is s-1.
type Places[T any] [MaxSeats]T

// Of is the place of a seat. The seat must not be nobody.
func (p *Places[T]) Of(s Seat) *T { return &p[s-1] }
