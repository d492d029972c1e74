package front

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/op"
)

type rollIn struct {
	Dice   string `json:"dice" minlen:"1" maxlen:"100" jsonschema:"Such as 2d6+3, 4d6kh3 (keep highest), 2d20kl1, d% or 4dF."`
	Reason string `json:"reason,omitzero" maxlen:"200" jsonschema:"What it is for."`
}

type rollOut struct {
	Total  int      `json:"total"`
	Dice   string   `json:"dice"`
	Rolls  []string `json:"rolls"`
	Reason string   `json:"reason,omitzero"`
}

func (f *Front) rollOp() *op.Operation {
	return op.Define(op.Spec{
		Name: "roll", Title: "Roll dice", Surfaces: []string{Surface}, Effect: access.Read, NoWorld: true, TextOnly: true,
		Doc:      "Throw dice, or draw a random number, for a check, damage, initiative or luck.",
		Examples: []op.Example{{Title: "Two dice and a bonus", Input: `{"dice": "2d6+3"}`}},
	}, f.roll)
}

// Bounds of a roll.
const (
	maxDice  = 200
	maxSides = 10_000
)

// term is one part of dice notation, such as -4d6kh3 or +2.
var term = regexp.MustCompile(`^([+-]?)(?:(\d{0,3})d(\d{1,5}|%|f)(?:k([hl])(\d{1,3}))?|(\d{1,6}))`)

func (f *Front) roll(_ context.Context, _ *op.Call, in rollIn) (rollOut, error) {
	out := rollOut{Dice: in.Dice, Reason: in.Reason, Rolls: []string{}}
	left := strings.ToLower(strings.Join(strings.Fields(in.Dice), ""))
	for dice := 0; left != ""; {
		m := term.FindStringSubmatch(left)
		if m == nil {
			return rollOut{}, badDice(left)
		}
		left = left[len(m[0]):]
		if left != "" && left[0] != '+' && left[0] != '-' {
			return rollOut{}, badDice(left)
		}
		sum, shown, n := f.rollTerm(m)
		if dice += n; dice > maxDice || n < 0 {
			return rollOut{}, fault.BadField("dice", "takes 1 to %d dice of 1 to %d sides; for example 2d6+3", maxDice, maxSides)
		}
		if m[1] == "-" {
			sum, shown = -sum, "-"+shown
		}
		out.Total += sum
		out.Rolls = append(out.Rolls, shown)
	}
	return out, nil
}

func badDice(at string) error {
	return fault.BadField("dice", "cannot be read at %q; write it like 2d6+3 or 4d6kh3", at)
}

// rollTerm rolls the dice of one term. n is the number of dice; -1 if their number or sides are out
// of bounds.
func (f *Front) rollTerm(m []string) (sum int, shown string, n int) {
	if m[6] != "" {
		sum, _ = strconv.Atoi(m[6]) // six digits
		return sum, m[6], 0
	}
	n = 1
	if m[2] != "" {
		n, _ = strconv.Atoi(m[2])
	}
	low, high := 1, 100
	switch m[3] {
	case "%":
	case "f":
		low, high = -1, 1
	default:
		high, _ = strconv.Atoi(m[3])
	}
	if n < 1 || n > maxDice || high < 1 || high > maxSides {
		return 0, "", -1
	}
	rolls := make([]int, n)
	for i := range rolls {
		rolls[i] = low + f.uniform(high-low+1)
	}
	kept := keepRolls(rolls, m[4], m[5])
	for _, r := range kept {
		sum += r
	}
	shown = fmt.Sprintf("%s: %s", strings.TrimLeft(m[0], "+-"), joinInts(rolls))
	if len(kept) < n {
		shown += " kept " + joinInts(kept)
	}
	return sum, shown, n
}

// keepRolls returns the highest (h) or lowest (l) rolls of a count.
func keepRolls(rolls []int, which, count string) []int {
	if which == "" {
		return rolls
	}
	sorted := slices.Sorted(slices.Values(rolls))
	n, _ := strconv.Atoi(count)
	n = min(n, len(sorted))
	if which == "l" {
		return sorted[:n]
	}
	return sorted[len(sorted)-n:]
}

// uniform returns a number from 0 to below n, each as likely: values in the last, incomplete range
// are drawn again.
func (f *Front) uniform(n int) int {
	const all = 1 << 32
	for {
		var b [4]byte
		f.cfg.Random(b[:])
		v := int64(b[0])<<24 | int64(b[1])<<16 | int64(b[2])<<8 | int64(b[3])
		if v < all-all%int64(n) {
			return int(v % int64(n))
		}
	}
}

func joinInts(list []int) string {
	words := make([]string, len(list))
	for i, n := range list {
		words[i] = strconv.Itoa(n)
	}
	return strings.Join(words, " ")
}
