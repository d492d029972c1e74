package vector

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/wait"
)

// Source reads the worlds whose cards have vectors.
type Source interface {
	// Changed returns a channel that is closed at the next commit.
	Changed() <-chan struct{}
	Worlds(ctx context.Context) ([]access.WorldID, error)
	// Read calls f with a snapshot that shows all cards of a world.
	Read(ctx context.Context, w access.WorldID, f func(*canon.Snapshot) error) error
}

// Limits of the work in the background.
const (
	leastPause  = time.Second
	longestWait = time.Minute // until texts are tried again that could not be embedded
	restShare   = 20          // the rest after a listing of cards, relative to its time
	batchCards  = 32          // cards whose texts are embedded at once
	turn        = 20 * time.Second
	maxVectors  = 400_000 // in memory
)

// Follow makes and drops vectors as the cards of a source change, until ctx ends.
func (k *Keeper) Follow(ctx context.Context, src Source) {
	for {
		changed := src.Changed()
		listing, err := k.update(ctx, src)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			k.cfg.Logger.WarnContext(ctx, "the vectors of cards could not be updated; it is tried again", "error", err)
		}
		if !wait.For(ctx, max(leastPause, restShare*listing)) {
			return
		}
		if err == nil && k.isComplete() && !wait.Or(ctx, longestWait, changed) {
			return
		}
	}
}

// isComplete reports whether no listed card lacks a vector.
func (k *Keeper) isComplete() bool {
	k.mu.RLock()
	defer k.mu.RUnlock()
	for _, w := range k.worlds {
		for _, p := range w.levels {
			if p.missing > 0 {
				return false
			}
		}
	}
	return true
}

// update lists the cards of worlds that have changed, and makes the vectors that are missing. It returns the time that
// the listing took.
func (k *Keeper) update(ctx context.Context, src Source) (listing time.Duration, err error) {
	ids, err := src.Worlds(ctx)
	if err != nil {
		return 0, err
	}
	k.dropWorlds(ids)
	started := time.Now()
	for _, id := range ids {
		if err := k.list(ctx, src, id); err != nil {
			return time.Since(started), err
		}
	}
	listing = time.Since(started)
	until := time.Now().Add(turn)
	for level := access.LevelUser; level <= access.LevelAdmin; level++ { // lower ones never wait for higher ones
		for _, id := range ids {
			for time.Now().Before(until) {
				more, err := k.embedMissing(ctx, src, id, level)
				if err != nil {
					return listing, err
				}
				if !more {
					break
				}
			}
		}
	}
	return listing, nil
}

// dropWorlds forgets the worlds that are gone, and removes their files.
func (k *Keeper) dropWorlds(living []access.WorldID) {
	k.mu.Lock()
	maps.DeleteFunc(k.worlds, func(id access.WorldID, _ *world) bool { return !slices.Contains(living, id) })
	k.mu.Unlock()
	if k.cfg.Folder == "" {
		return
	}
	found, err := os.ReadDir(k.modelFolder())
	if err != nil {
		return // there is none yet
	}
	for _, e := range found {
		if id, err := uuid.Parse(e.Name()); err == nil && !slices.Contains(living, access.WorldID(id)) {
			if err := os.RemoveAll(filepath.Join(k.modelFolder(), e.Name())); err != nil {
				k.cfg.Logger.Warn("the vectors of a world that is gone could not be removed", "error", err)
			}
		}
	}
}

// list lists the cards of a world if it has changed.
func (k *Keeper) list(ctx context.Context, src Source, id access.WorldID) error {
	k.mu.RLock()
	old := k.worlds[id]
	k.mu.RUnlock()
	next := &world{levels: map[access.Level]*partition{}}
	same := false
	err := src.Read(ctx, id, func(snap *canon.Snapshot) error {
		next.head = snap.Now()
		if same = old != nil && old.head == next.head; same {
			return nil
		}
		for c, err := range snap.AllCards(ctx, canon.Filter{}) {
			if err != nil {
				return err
			}
			p := next.levels[c.Label.Level]
			if p == nil {
				p = &partition{cards: map[canon.CardID]key{}, vectors: map[key][]vector{}}
				next.levels[c.Label.Level] = p
			}
			p.cards[c.ID] = keyOf(&c)
		}
		return nil
	})
	if err != nil || same {
		return err
	}
	for level, p := range next.levels {
		if err := k.takeOver(id, level, p, old); err != nil {
			return err
		}
	}
	if old != nil {
		for level := range old.levels {
			if next.levels[level] == nil && k.cfg.Folder != "" {
				_ = os.Remove(k.fileOf(id, level)) // it is removed at the next start otherwise
			}
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.worlds[id] = next
	return nil
}

// takeOver gives a partition the vectors that are known: those of the world's last listing, or else those in its file.
// Vectors that no card has any more are dropped from the file too.
func (k *Keeper) takeOver(id access.WorldID, level access.Level, p *partition, old *world) error {
	known, whole := map[key][]vector(nil), true
	file := k.fileOf(id, level)
	switch {
	case old != nil && old.levels[level] != nil:
		known = old.levels[level].vectors
	case file != "":
		var err error
		if known, whole, err = readFile(file); err != nil {
			return err
		}
	}
	for _, of := range p.cards {
		if list, ok := known[of]; ok {
			p.vectors[of] = list
			p.size += len(list)
		} else {
			p.missing++
		}
	}
	if file != "" && (!whole || len(p.vectors) < len(known)) {
		return replaceFile(file, p.vectors)
	}
	return nil
}

// embedMissing makes the vectors of some cards of a level that have none. more is false if there are no others.
func (k *Keeper) embedMissing(ctx context.Context, src Source, id access.WorldID, level access.Level) (more bool,
	err error) {
	missing, room := k.missingOf(id, level)
	if len(missing) == 0 {
		return false, nil
	}
	var cards []canon.Card
	var texts []string
	var counts []int
	err = src.Read(ctx, id, func(snap *canon.Snapshot) error {
		found, err := snap.ByIDs(ctx, missing)
		if err != nil {
			return err
		}
		for _, c := range found {
			content, err := snap.Content(ctx, c)
			if err != nil {
				return err
			}
			pieces := piecesOf(&c, canon.PlainText(c.TextKind(), content))
			pieces = pieces[:min(len(pieces), room)]
			cards, texts, counts = append(cards, c), append(texts, pieces...), append(counts, len(pieces))
		}
		return nil
	})
	if err != nil {
		return false, err
	}
	var got [][]float32
	if len(texts) > 0 {
		if got, err = k.embed(ctx, texts); err != nil {
			return false, err
		}
		if share, ok := sampleRecall(got); ok && k.cfg.Recall != nil && level == access.LevelUser {
			k.cfg.Recall(id, share)
		}
	}
	return true, k.store(id, level, missing, cards, counts, got)
}

// missingOf returns some cards of a level without vectors, and the number of vectors that a card may still have.
func (k *Keeper) missingOf(id access.WorldID, level access.Level) (list []canon.CardID, room int) {
	k.mu.RLock()
	defer k.mu.RUnlock()
	total := 0
	for _, w := range k.worlds {
		for l, p := range w.levels {
			if l <= level { // hidden cards never take the room of others
				total += p.size
			}
		}
	}
	room = max(0, min(maxPieces, (maxVectors-total)/batchCards))
	p := k.worlds[id].levels[level]
	if p == nil || p.missing == 0 {
		return nil, room
	}
	for card, of := range p.cards {
		if _, ok := p.vectors[of]; !ok {
			if list = append(list, card); len(list) == batchCards {
				break
			}
		}
	}
	return list, room
}

// store keeps the vectors of cards. A card that has changed since it was listed, or is gone, waits for the next
// listing.
func (k *Keeper) store(id access.WorldID, level access.Level, asked []canon.CardID, cards []canon.Card, counts []int,
	got [][]float32) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	p := k.worlds[id].levels[level]
	var records []byte
	for i, c := range cards {
		list := make([]vector, 0, counts[i])
		for _, at := range got[:counts[i]] {
			list = append(list, toVector(at))
		}
		got = got[counts[i]:]
		asked = slices.DeleteFunc(asked, func(id canon.CardID) bool { return id == c.ID })
		of := p.cards[c.ID]
		switch {
		case of != keyOf(&c) || c.Label.Level != level:
			list = nil
		case len(list) > 0:
			records = appendRecord(records, of, list)
		}
		p.vectors[of] = list
		p.size += len(list)
		p.missing--
	}
	for _, gone := range asked {
		p.vectors[p.cards[gone]] = nil
		p.missing--
	}
	file := k.fileOf(id, level)
	if file == "" || len(records) == 0 {
		return nil
	}
	return appendFile(file, records)
}
