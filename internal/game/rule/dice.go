package rule

import (
	"encoding/binary"
	"math/rand/v2"
)

// Seed is the source of a game's randomness. It is a secret of the game: it allows predicting all
// outcomes.
type Seed [32]byte

// Dice are the randomness of one decision, determined by the seed and the number of the decision
// alone. Outcomes do not reveal the seed (ChaCha8). Zero Dice have the zero seed.
type Dice struct {
	seed Seed
	r    *rand.Rand // created at the first throw, since most decisions need no dice
}

// NewDice returns the dice of a decision.
func NewDice(seed Seed, number int) *Dice {
	binary.LittleEndian.PutUint64(seed[24:], binary.LittleEndian.Uint64(seed[24:])^uint64(number))
	return &Dice{seed: seed}
}

func (d *Dice) rand() *rand.Rand {
	if d.r == nil {
		d.r = rand.New(rand.NewChaCha8(d.seed))
	}
	return d.r
}

// N returns a number from 0 to n-1; n must be positive.
func (d *Dice) N(n int) int { return d.rand().IntN(n) }

// Chance returns true once in n times on average.
func (d *Dice) Chance(n int) bool { return d.N(n) == 0 }

// pickOne returns a random element of a list that is not empty.
func pickOne[T any](d *Dice, list []T) T { return list[d.N(len(list))] }

// shuffle puts a list in random order.
func shuffle[T any](d *Dice, list []T) {
	d.rand().Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
}
