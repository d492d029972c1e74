package ruleset_test

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"loregate/internal/ruleset"
)

// fixed is a Chance that rolls given numbers.
type fixed []int

func (f *fixed) Roll(int) int {
	n := (*f)[0]
	*f = (*f)[1:]
	return n
}

func TestThrow(t *testing.T) {
	for _, c := range []struct {
		dice  string
		rolls []int
		total int
		shown string
	}{
		{"2d6+3", []int{4, 5}, 12, "2d6: 4 5 3"},
		{"d20", []int{17}, 17, "d20: 17"},
		{" 4D6 kh3 ", []int{1, 5, 4, 2}, 11, "4d6kh3: 1 5 4 2 kept 2 4 5"},
		{"2d20kl1", []int{17, 3}, 3, "2d20kl1: 17 3 kept 3"},
		{"d%-10", []int{55}, 45, "d%: 55 -10"},
		{"4dF", []int{1, 2, 3, 3}, 1, "4df: -1 0 1 1"},
		{"-1d4+10", []int{3}, 7, "-1d4: 3 10"},
		{"3d6kh9", []int{1, 2, 3}, 6, "3d6kh9: 1 2 3"},
	} {
		d, err := ruleset.ParseDice(c.dice)
		if err != nil {
			t.Errorf("%s: %v", c.dice, err)
			continue
		}
		rolls := fixed(c.rolls)
		total, groups := d.Throw(&rolls)
		var shown []string
		for _, g := range groups {
			shown = append(shown, g.String())
		}
		if total != c.total || strings.Join(shown, " ") != c.shown {
			t.Errorf("%s gives %d, %q; want %d, %q", c.dice, total, shown, c.total, c.shown)
		}
	}
}

func TestBadDice(t *testing.T) {
	for _, text := range []string{"", "x", "2d", "d0", "0d6", "201d6", "150d6+100d6", "d10001", "2d6++3", "2d6kh0",
		"1234567", strings.Repeat("+1d6", 1000)} {
		if d, err := ruleset.ParseDice(text); err == nil {
			t.Errorf("%q is read as %s", text, d)
		}
	}
}

// FuzzParseDice: every expression that is read has a text that gives the same expression, and a
// total within its bounds.
func FuzzParseDice(f *testing.F) {
	for _, s := range []string{"2d6+3", "4d6kh3-1d4", "d%", "4dF", "2d20kl1", "-7"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := ruleset.ParseDice(text)
		if err != nil {
			return
		}
		again, err := ruleset.ParseDice(d.String())
		if err != nil || again.String() != d.String() {
			t.Fatalf("%q becomes %q, then %v, %v", text, d, again, err)
		}
		a, _ := d.Throw(ruleset.Seed{1}.Stream())
		b, _ := again.Throw(ruleset.Seed{1}.Stream())
		sum := d.Sum(ruleset.Seed{1}.Stream(), 1)
		least, greatest := d.Bounds()
		if a != b || a != sum || a < least || a > greatest {
			t.Fatalf("%q gives %d, %d and %d; bounds %d to %d", text, a, b, sum, least, greatest)
		}
	})
}

// TestStreamCanBeChecked computes rolls again from the seed, by the description of Stream alone.
func TestStreamCanBeChecked(t *testing.T) {
	seed := ruleset.Seed{7, 7, 7}
	stream := seed.Stream()
	var want []int
	for n := uint64(0); len(want) < 1000; n++ {
		block := sha256.Sum256(binary.BigEndian.AppendUint64(slices.Clone(seed[:]), n))
		for i := 0; i < 32; i += 4 {
			if v := binary.BigEndian.Uint32(block[i:]); v < 4294967280 { // the greatest multiple of 20
				want = append(want, int(v%20)+1)
			}
		}
	}
	for i, w := range want[:1000] {
		if got := stream.Roll(20); got != w {
			t.Fatalf("roll %d is %d, want %d", i, got, w)
		}
	}
	if want := fmt.Sprintf("%x", sha256.Sum256(seed[:])); seed.Commitment() != want {
		t.Errorf("the commitment is %s, want %s", seed.Commitment(), want)
	}
}

// TestRollsAreFair compares the counts of each side with the chi-square distribution: 19 degrees of
// freedom exceed 43.8 once in a thousand times, and the seed is fixed.
func TestRollsAreFair(t *testing.T) {
	const rolls = 200_000
	stream := ruleset.Seed{1, 2, 3}.Stream()
	var count [20]float64
	for range rolls {
		count[stream.Roll(20)-1]++
	}
	chi := 0.0
	for _, n := range count {
		d := n - rolls/20.0
		chi += d * d / (rolls / 20.0)
	}
	if chi > 43.8 {
		t.Errorf("chi-square is %.1f", chi)
	}
}

func Example() {
	seed := ruleset.Seed{42}
	fmt.Println("before:", seed.Commitment()[:16])
	total, groups := ruleset.MustDice("4d6kh3").Throw(seed.Stream())
	fmt.Println(total, groups)
	fmt.Println("after:", seed.String()[:16])
	// Output:
	// before: 12f3bb4c5076ada9
	// 13 [4d6kh3: 5 1 5 3 kept 3 5 5]
	// after: 2a00000000000000
}
