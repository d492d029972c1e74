package ruleset

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
)

// Chance is a source of dice.
type Chance interface {
	// Roll returns a number from 1 to sides, each equally likely. sides is at least 1 and less than 2^31.
	Roll(sides int) int
}

// Seed determines a stream of dice. A host that publishes Commitment before the first roll and the
// Seed after the last proves that no roll was chosen.
type Seed [32]byte

// Commitment returns the SHA-256 hash of the seed in hexadecimal.
func (s Seed) Commitment() string {
	sum := sha256.Sum256(s[:])
	return hex.EncodeToString(sum[:])
}

// String returns the seed in hexadecimal.
func (s Seed) String() string { return hex.EncodeToString(s[:]) }

// Stream is the stream of dice of a seed. It draws words of 32 bits, big-endian, from the blocks
// SHA-256(seed ‖ n), where n counts from 0 as 8 bytes, big-endian. A roll of k sides is the word
// modulo k, plus 1; words of the last, incomplete range of k are skipped, so that every side is
// equally likely. A Stream is for one goroutine.
type Stream struct {
	input [40]byte
	block [sha256.Size]byte
	used  int    // bytes of the block
	next  uint64 // number of the next block
}

// Stream returns the stream of dice from its beginning.
func (s Seed) Stream() *Stream {
	st := &Stream{used: sha256.Size}
	copy(st.input[:], s[:])
	return st
}

// Roll implements Chance.
func (s *Stream) Roll(sides int) int {
	k := uint64(sides)
	for {
		if v := uint64(s.word()); v < 1<<32-(1<<32)%k {
			return int(v%k) + 1
		}
	}
}

func (s *Stream) word() uint32 {
	if s.used == len(s.block) {
		binary.BigEndian.PutUint64(s.input[32:], s.next)
		s.block, s.used = sha256.Sum256(s.input[:]), 0
		s.next++
	}
	w := binary.BigEndian.Uint32(s.block[s.used:])
	s.used += 4
	return w
}
