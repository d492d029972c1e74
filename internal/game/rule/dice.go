package rule

import (
	"encoding/binary"
	"math/rand/v2"
)

// Seed is what a game's randomness comes from. It is a secret of the game: who knows it
// can tell what comes.
type Seed [32]byte

// Dice are the randomness of one decision: a function of the seed and the number of the
// decision alone. Outcomes tell nothing of the seed (ChaCha8). Zero Dice are of the zero
// seed.
type Dice struct {
	seed Seed
	r    *rand.Rand // made at the first throw, since most decisions need none
}

// NewDice makes the dice of a decision.
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

// N is one of 0 to n-1; n must be positive.
func (d *Dice) N(n int) int { return d.rand().IntN(n) }

// Chance is true once in n times.
func (d *Dice) Chance(n int) bool { return d.N(n) == 0 }

// pick is one of a list that is not empty.
func pick[T any](d *Dice, list []T) T { return list[d.N(len(list))] }

// shuffle puts a list in any order.
func shuffle[T any](d *Dice, list []T) {
	d.rand().Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
}
