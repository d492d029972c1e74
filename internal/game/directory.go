package game

import (
	"context"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/game/rule"
)

// The directory is a separate ledger, "game:directory", that lists all games. Each game has an
// event "opened" {game, world, host}, written before the game's first event, and at least one event
// "closed" {game} after its end.
var directoryStream = canon.LedgerStream(Ledger, "directory")

// entry is a game in the directory.
type entry struct {
	Game  string         `json:"game"`
	World access.WorldID `json:"world,omitzero"`
	Host  access.Subject `json:"host,omitzero"`

	closed bool
}

// directory is the fold of the directory's ledger. The zero directory has read nothing.
type directory struct {
	seq    canon.Seq
	order  []string
	byGame map[string]*entry
}

// readDirectory reads the directory to its end, and returns the entries that keep accepts, newest first.
func (s *Service) readDirectory(ctx context.Context, g access.Grant, keep func(*entry) bool) ([]entry, error) {
	s.mu.Lock()
	from := s.list.seq + 1
	s.mu.Unlock()
	var records []canon.Record
	for rec, err := range s.cfg.Ledgers.Records(ctx, g, directoryStream, from) {
		if err != nil {
			return nil, err
		}
		records = append(records, rec)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, rec := range records {
		if err := s.list.foldRecord(rec); err != nil {
			return nil, err
		}
	}
	var found []entry
	for _, id := range slices.Backward(s.list.order) {
		if e := s.list.byGame[id]; keep(e) {
			found = append(found, *e)
		}
	}
	return found, nil
}

func (d *directory) foldRecord(rec canon.Record) error {
	if rec.Seq <= d.seq {
		return nil // another reader was first
	}
	var e entry
	if err := json.Unmarshal(rec.Event.Payload, &e); err != nil {
		return fmt.Errorf("game: directory: record %d: %w", rec.Seq, err)
	}
	d.seq = rec.Seq
	if d.byGame == nil {
		d.byGame = map[string]*entry{}
	}
	switch known := d.byGame[e.Game]; {
	case known != nil && rec.Event.Type == "closed":
		known.closed = true
	case known == nil && rec.Event.Type == "opened":
		d.byGame[e.Game] = &e
		d.order = append(d.order, e.Game)
	}
	return nil
}

// appendEntry appends an event to the directory.
func (s *Service) appendEntry(ctx context.Context, g access.Grant, eventType string, e entry) error {
	payload, err := json.Marshal(e)
	if err != nil {
		return err
	}
	for range tries {
		if _, err = s.readDirectory(ctx, g, func(*entry) bool { return false }); err != nil {
			return err
		}
		s.mu.Lock()
		seq := s.list.seq
		s.mu.Unlock()
		_, err = s.cfg.Ledgers.Append(ctx, g, directoryStream, seq,
			[]canon.Event{{Type: eventType, Scope: string(directoryStream), Payload: payload}})
		if !canon.Moved(err) {
			return err
		}
	}
	return err
}

// addGame creates a game. It lists the game in the directory first.
func (s *Service) addGame(ctx context.Context, g access.Grant, settings rule.Settings) (*table, error) {
	var seed rule.Seed
	s.cfg.Random(seed[:])
	host := g.Caller().Subject
	c := rule.Create{ID: canon.LedgerName(g, idPrefix, s.cfg.Random), World: g.World().String(), Host: string(host), Settings: settings, Seed: seed}
	if _, err := rule.Decide(rule.State{}, c, s.nowMillis(), rule.NewDice(seed, 0)); err != nil {
		return nil, err // before anything is stored
	}
	part := g.Part("directory", g.Request().InputHash)
	if err := s.appendEntry(ctx, part, "opened", entry{Game: c.ID, World: g.World(), Host: host}); err != nil {
		return nil, err
	}
	t := newTable(c.ID)
	if _, err := s.doCommand(ctx, g, t, c); err != nil {
		return nil, err
	}
	return s.keepTable(t), nil
}

// idPrefix begins the ids of games.
const idPrefix = "g-"

func isGameID(id string) bool { return canon.IsLedgerName(idPrefix, id) }
