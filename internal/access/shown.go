package access

import (
	"encoding/base64"
	"encoding/binary"
	"iter"
	"slices"
	"sync"
	"time"
)

// CardHash stands for a card in access records, in half the bytes of the card's id. In a world of a million cards, two
// have the same one with a probability of about 1 in 10 million. AnyCard is no card's.
type CardHash uint64

// AnyCard stands for all cards of a world.
const AnyCard CardHash = 0

// HashCard returns the CardHash of a card's id. The factor is the golden ratio times 2^64: ids that differ in one half
// only have different hashes.
func HashCard(id [16]byte) CardHash {
	high, low := binary.BigEndian.Uint64(id[:8]), binary.BigEndian.Uint64(id[8:])
	return CardHash(max(1, low^high*0x9e3779b97f4a7c15))
}

// maxShown bounds the cards that an access record names. It is more than any page of a list has; answers with more
// cards are exports and the like.
const maxShown = 512

// CardList names the cards that the answer of a call held: the CardHashes in ascending order, each once, in eight bytes
// with the most significant first, all in base64 without padding. "*" stands for all cards of the world, "" for none.
type CardList string

// allCards is the CardList of an answer that held more than maxShown cards.
const allCards CardList = "*"

// Hashes yields the cards, or AnyCard alone for all of them. It yields nothing for a list that cannot be decoded.
func (l CardList) Hashes() iter.Seq[CardHash] {
	return func(yield func(CardHash) bool) {
		if l == allCards {
			yield(AnyCard)
			return
		}
		b, err := base64.RawStdEncoding.DecodeString(string(l))
		for ; err == nil && len(b) >= 8; b = b[8:] {
			if !yield(CardHash(binary.BigEndian.Uint64(b))) {
				return
			}
		}
	}
}

// newCardList returns the CardList of some cards, which it sorts.
func newCardList(cards []CardHash) CardList {
	slices.Sort(cards)
	cards = slices.Compact(cards)
	switch {
	case len(cards) == 0:
		return ""
	case len(cards) > maxShown:
		return allCards
	}
	b := make([]byte, 0, 8*len(cards))
	for _, c := range cards {
		b = binary.BigEndian.AppendUint64(b, uint64(c))
	}
	return CardList(base64.RawStdEncoding.EncodeToString(b))
}

// shownCards collects the cards that the answer of a call holds. The zero shownCards is empty and ready to use.
type shownCards struct {
	mu    sync.Mutex // guards all fields below
	cards []CardHash // in any order, with repetitions
	few   [8]CardHash
	list  CardList          // cards of an answer that was kept
	told  map[CardHash]bool // cards that records of the call name already, while it is open
	since time.Time         // when told was empty
}

// toldFor is the time after which a record of an open stream names a card again, so that the last time at which the
// stream showed the card is known to the hour.
const toldFor = time.Hour

// add adds a card. Beyond maxShown cards, all cards of the world count as shown.
func (s *shownCards) add(c CardHash) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.list == allCards:
		return
	case s.cards == nil:
		s.cards = s.few[:0]
	case len(s.cards) == 2*maxShown:
		slices.Sort(s.cards)
		if s.cards = slices.Compact(s.cards); len(s.cards) > maxShown {
			s.list, s.cards = allCards, nil
			return
		}
	}
	s.cards = append(s.cards, c)
}

// addList adds the cards of a list.
func (s *shownCards) addList(l CardList) {
	s.mu.Lock()
	if first := s.list == "" && len(s.cards) == 0; first || l == allCards {
		s.list, s.cards, l = l, nil, ""
	}
	s.mu.Unlock()
	for c := range l.Hashes() {
		s.add(c)
	}
}

// untold returns the cards that were added and that no record of the call names yet.
func (s *shownCards) untold() CardList {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.cards) > 0 && s.list != allCards {
		s.list, s.cards = newCardList(slices.AppendSeq(s.cards, s.list.Hashes())), nil
	}
	if s.told == nil || s.list == "" {
		return s.list
	}
	rest := slices.DeleteFunc(slices.Collect(s.list.Hashes()), func(c CardHash) bool { return s.told[c] })
	if len(rest) == 1 && rest[0] == AnyCard {
		return allCards
	}
	return newCardList(rest)
}

// noteTold notes that a record names the cards of a list, which untold returned.
func (s *shownCards) noteTold(l CardList, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.told == nil || now.Sub(s.since) > toldFor || len(s.told) > 2*maxShown {
		s.told, s.since = map[CardHash]bool{}, now
	}
	for c := range l.Hashes() {
		s.told[c] = true
	}
	s.list = ""
}

// NoteShown notes that the answer of the call holds a card: its text, its name in a list, or anything else of it.
// A call without an access record ignores it.
func (g Grant) NoteShown(card [16]byte) {
	if g.in != nil && g.in.call.recorded {
		g.in.call.shown.add(HashCard(card))
	}
}

// NoteShownList notes that the answer of the call holds the cards of a list: AllShown of the call that an answer was
// kept from.
func (g Grant) NoteShownList(l CardList) {
	if g.in != nil && g.in.call.recorded && l != "" {
		g.in.call.shown.addList(l)
	}
}

// NoteWorldShown notes that the answer of the call may hold every card of the world that the caller sees.
func (g Grant) NoteWorldShown() { g.NoteShownList(allCards) }

// AllShown returns the cards that the answer of the call holds, as far as they were noted; for a stream, those that no
// record of it names yet.
func (g Grant) AllShown() CardList {
	if g.in == nil {
		return ""
	}
	return g.in.call.shown.untold()
}
