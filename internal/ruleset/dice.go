package ruleset

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"loregate/internal/lazyregexp"
)

// Bounds of an expression.
const (
	MaxDice  = 200
	MaxSides = 10_000
)

// Dice is an expression in dice notation, such as 2d6+3. Its zero value is the number 0.
type Dice struct {
	terms []term
}

// term is a group of dice, or a number if it has no sides.
type term struct {
	minus bool
	count int // the number of dice, or the number
	sides int
	fate  bool // dice of -1, 0 and 1
	keep  int  // how many of the highest dice count; negative: of the lowest; 0: all
	text  string
}

var termPattern = lazyregexp.New(`^([+-]?)(?:(\d{0,3})d(\d{1,5}|%|f)(?:k([hl])(\d{1,3}))?|(\d{1,6}))`)

// ParseDice reads dice notation: terms joined by + and -, each a number up to 999999 or dice such
// as d20, 4d6kh3 (keep the 3 highest), 2d20kl1, d% and 4dF. Spaces and case do not matter.
func ParseDice(text string) (Dice, error) {
	var d Dice
	dice := 0
	left := strings.ToLower(strings.Join(strings.Fields(text), ""))
	for first := true; left != "" || first; first = false {
		m := termPattern.FindStringSubmatch(left)
		if m == nil || !first && m[1] == "" {
			return Dice{}, fmt.Errorf("cannot be read at %q; write it like 2d6+3 or 4d6kh3", left)
		}
		left = left[len(m[0]):]
		t, err := readTerm(m)
		if t.sides > 0 {
			dice += t.count
		}
		if err != nil || dice > MaxDice {
			return Dice{}, fmt.Errorf("takes 1 to %d dice of 1 to %d sides; for example 2d6+3", MaxDice, MaxSides)
		}
		d.terms = append(d.terms, t)
	}
	return d, nil
}

// readTerm makes a term from a match of termPattern.
func readTerm(m []string) (term, error) {
	t := term{minus: m[1] == "-", count: 1, text: strings.TrimLeft(m[0], "+-")}
	if m[6] != "" {
		t.count, _ = strconv.Atoi(m[6]) // six digits
		return t, nil
	}
	if m[2] != "" {
		t.count, _ = strconv.Atoi(m[2])
	}
	switch m[3] {
	case "%":
		t.sides = 100
	case "f":
		t.sides, t.fate = 3, true
	default:
		t.sides, _ = strconv.Atoi(m[3])
	}
	if m[4] != "" {
		t.keep, _ = strconv.Atoi(m[5])
		t.keep = min(t.keep, t.count)
		if t.keep < 1 {
			return t, strconv.ErrRange
		}
		if m[4] == "l" {
			t.keep = -t.keep
		}
	}
	if t.count < 1 || t.sides < 1 || t.sides > MaxSides {
		return t, strconv.ErrRange
	}
	return t, nil
}

// MustDice is ParseDice for constants; it panics if the text is wrong.
func MustDice(text string) Dice {
	d, err := ParseDice(text)
	if err != nil {
		panic("ruleset: " + text + " " + err.Error())
	}
	return d
}

// String returns the notation.
func (d Dice) String() string {
	var b strings.Builder
	for i, t := range d.terms {
		if t.minus {
			b.WriteByte('-')
		} else if i > 0 {
			b.WriteByte('+')
		}
		b.WriteString(t.text)
	}
	return b.String()
}

// MarshalText implements encoding.TextMarshaler.
func (d Dice) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler. The empty text is the zero value.
func (d *Dice) UnmarshalText(text []byte) (err error) {
	if len(text) == 0 {
		*d = Dice{}
		return nil
	}
	*d, err = ParseDice(string(text))
	return err
}

// IsZero reports whether the expression has no terms.
func (d Dice) IsZero() bool { return len(d.terms) == 0 }

// Thrown is the result of one group of dice of an expression.
type Thrown struct {
	Dice  string `json:"dice"`
	Faces []int  `json:"faces,omitempty"`
	Kept  []int  `json:"kept,omitempty"` // the faces that count, if not all do
	Minus bool   `json:"minus,omitempty"`
}

// String returns the group as text, such as "4d6kh3: 1 5 4 2 kept 2 4 5".
func (t Thrown) String() string {
	s := t.Dice
	if t.Minus {
		s = "-" + s
	}
	if len(t.Faces) > 0 {
		s += ": " + joinInts(t.Faces)
	}
	if len(t.Kept) > 0 {
		s += " kept " + joinInts(t.Kept)
	}
	return s
}

func joinInts(list []int) string {
	words := make([]string, len(list))
	for i, n := range list {
		words[i] = strconv.Itoa(n)
	}
	return strings.Join(words, " ")
}

// Throw rolls the dice and returns the sum and the groups in order.
func (d Dice) Throw(c Chance) (total int, groups []Thrown) {
	groups = make([]Thrown, 0, len(d.terms))
	for _, t := range d.terms {
		sum, g := t.throw(c)
		if t.minus {
			sum = -sum
		}
		total += sum
		groups = append(groups, g)
	}
	return total, groups
}

func (t term) throw(c Chance) (sum int, g Thrown) {
	g = Thrown{Dice: t.text, Minus: t.minus}
	if t.sides == 0 {
		return t.count, g
	}
	g.Faces = make([]int, t.count)
	for i := range g.Faces {
		g.Faces[i] = t.rollDie(c)
	}
	kept := g.Faces
	if t.keep != 0 {
		kept = slices.Sorted(slices.Values(g.Faces))
		if t.keep < 0 {
			kept = kept[:-t.keep]
		} else {
			kept = kept[len(kept)-t.keep:]
		}
		if len(kept) < len(g.Faces) {
			g.Kept = kept
		}
	}
	for _, n := range kept {
		sum += n
	}
	return sum, g
}

func (t term) rollDie(c Chance) int {
	if t.fate {
		return c.Roll(3) - 2
	}
	return c.Roll(t.sides)
}

// Sum rolls the dice times times, adds the numbers once, and returns the sum alone: the damage of a
// critical hit is Sum(c, 2).
func (d Dice) Sum(c Chance, times int) (total int) {
	for _, t := range d.terms {
		sum := 0
		switch {
		case t.sides == 0:
			sum = t.count
		case t.keep != 0:
			for range times {
				s, _ := t.throw(c)
				sum += s
			}
		default:
			for range t.count * times {
				sum += t.rollDie(c)
			}
		}
		if t.minus {
			sum = -sum
		}
		total += sum
	}
	return total
}

// Bounds returns the least and the greatest total.
func (d Dice) Bounds() (least, greatest int) {
	for _, t := range d.terms {
		n := t.count
		if t.keep != 0 {
			n = max(t.keep, -t.keep)
		}
		low, high := t.count, t.count
		switch {
		case t.fate:
			low, high = -n, n
		case t.sides > 0:
			low, high = n, n*t.sides
		}
		if t.minus {
			low, high = -high, -low
		}
		least, greatest = least+low, greatest+high
	}
	return least, greatest
}

// Plus returns the expression with a number added.
func (d Dice) Plus(n int) Dice {
	if n == 0 {
		return d
	}
	t := term{count: n, text: strconv.Itoa(n)}
	if n < 0 {
		t = term{minus: true, count: -n, text: strconv.Itoa(-n)}
	}
	return Dice{terms: append(slices.Clone(d.terms), t)}
}

// Minus returns the dice and the number that d has more than another expression of the same sides,
// such as 1d6 of 9d6 and 8d6; the zero value if they do not match term by term.
func (d Dice) Minus(o Dice) (out Dice) {
	if len(d.terms) != len(o.terms) {
		return Dice{}
	}
	for i, t := range d.terms {
		p := o.terms[i]
		if t.sides != p.sides || t.minus != p.minus || t.keep != 0 || t.fate || t.count < p.count {
			return Dice{}
		}
		if t.count -= p.count; t.count == 0 {
			continue
		}
		if t.text = strconv.Itoa(t.count); t.sides > 0 {
			t.text = fmt.Sprintf("%dd%d", t.count, t.sides)
		}
		out.terms = append(out.terms, t)
	}
	return out
}
