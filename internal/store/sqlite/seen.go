package sqlite

import (
	"context"
	"time"

	"loregate/internal/access"
)

// seenTables are the tables of the index of the access records by card. They follow from the records, so they are no
// part of the format of the record file: a program that does not know them can go on writing records. week is the
// number of the access.SeenWeek since 1970 in which the answers were given; card is an access.CardHash, 0 for all cards; first_at and last_at are milliseconds. done says that the process has ended.
var seenTables = []string{
	`CREATE TABLE IF NOT EXISTS access_readers (
		reader    INTEGER PRIMARY KEY,
		world     BLOB NOT NULL,
		subject   TEXT NOT NULL,
		role      INTEGER NOT NULL,
		operation TEXT NOT NULL,
		UNIQUE (world, subject, role, operation)
	)`,
	`CREATE TABLE IF NOT EXISTS access_seen (
		week     INTEGER NOT NULL,
		card     INTEGER NOT NULL,
		reader   INTEGER NOT NULL,
		times    INTEGER NOT NULL,
		first_at INTEGER NOT NULL,
		last_at  INTEGER NOT NULL,
		PRIMARY KEY (week, card, reader)
	) WITHOUT ROWID`,
	`CREATE TABLE IF NOT EXISTS access_progress (
		process TEXT PRIMARY KEY,
		seq     INTEGER NOT NULL,
		done    INTEGER NOT NULL
	) WITHOUT ROWID`,
}

// makeSeenTables creates the tables of the index in the record file, if they are missing.
func makeSeenTables(ctx context.Context, c *conn) error {
	for _, sql := range seenTables {
		if _, err := c.Exec(ctx, sql); err != nil {
			return err
		}
	}
	return nil
}

// AddSeen adds counts to the index of the access records by card, which is in the record file.
func (s *Store) AddSeen(ctx context.Context, step access.SeenStep) (bool, error) {
	return s.records.service().AddSeen(ctx, step)
}

// SeenProgress returns how far the index covers each process.
func (s *Store) SeenProgress(ctx context.Context) (map[string]access.SeenProgress, error) {
	return s.records.service().SeenProgress(ctx)
}

// Seen returns the sums of the counts of some cards of a world by reader and card.
func (s *Store) Seen(ctx context.Context, w access.WorldID, cards []access.CardHash,
	since time.Time) ([]access.SeenCount, error) {
	return s.records.service().Seen(ctx, w, cards, since)
}

// ForgetSeen removes the counts of answers that were given before a time.
func (s *Store) ForgetSeen(ctx context.Context, before time.Time) error {
	return s.records.service().ForgetSeen(ctx, before)
}
