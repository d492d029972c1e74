package sqlstore

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"loregate/internal/access"
)

var _ access.SeenStore = (*Service)(nil)

// The index of the access records by card has three tables. access_seen has a row for each week, card and
// reader with an answer that held the card; its columns are described where it is created. Its key begins with the week,
// so that all writes of one time go to few pages, and so that a week is forgotten by one range.
// access_readers numbers the readers. access_progress says how far each process's segments are counted.

func weekOf(t time.Time) int64 { return t.UnixMilli() / access.SeenWeek.Milliseconds() }

// AddSeen adds counts to the index of the access records by card, if it covers the process up to step.From.
func (s *Service) AddSeen(ctx context.Context, step access.SeenStep) (moved bool, err error) {
	err = s.db.Change(ctx, func(c Conn) error {
		moved = false
		at, err := QueryInt(ctx, c, "SELECT seq FROM access_progress WHERE process = $1", step.Process)
		if err != nil || uint64(at) != step.From {
			return err
		}
		readers := map[access.SeenReader]int64{}
		for _, n := range step.Counts {
			if _, known := readers[n.SeenReader]; known {
				continue
			}
			if readers[n.SeenReader], err = numberReader(ctx, c, n.SeenReader); err != nil {
				return err
			}
		}
		if err := addCounts(ctx, c, step.Counts, readers); err != nil {
			return err
		}
		_, err = c.Exec(ctx, `INSERT INTO access_progress (process, seq, done) VALUES ($1, $2, $3)
			ON CONFLICT (process) DO UPDATE SET seq = excluded.seq, done = excluded.done`, step.Process, step.To, step.Done)
		moved = err == nil
		return err
	})
	return moved, err
}

// numberReader returns the number of a reader, which it adds if it is new.
func numberReader(ctx context.Context, c Conn, r access.SeenReader) (n int64, err error) {
	const find = "SELECT reader FROM access_readers WHERE world = $1 AND subject = $2 AND role = $3 AND operation = $4"
	key := []any{r.World[:], string(r.Subject), int64(r.Role), r.Operation}
	if n, err = QueryInt(ctx, c, find, key...); err != nil || n != 0 {
		return n, err
	}
	if _, err := c.Exec(ctx,
		"INSERT INTO access_readers (world, subject, role, operation) VALUES ($1, $2, $3, $4)", key...); err != nil {
		return 0, err
	}
	return QueryInt(ctx, c, find, key...)
}

// addCounts adds counts by statements of many rows.
func addCounts(ctx context.Context, c Conn, counts []access.SeenCount, readers map[access.SeenReader]int64) error {
	for _, rows := range []int{16, 1} { // SQLite takes the square of the number of arguments to bind them
		sql := addCountsSQL(rows)
		for ; len(counts) >= rows; counts = counts[rows:] {
			args := make([]any, 0, seenColumns*rows)
			for _, n := range counts[:rows] {
				args = append(args, weekOf(n.First), int64(n.Card), readers[n.SeenReader], n.Times,
					Millis(n.First), Millis(n.Last))
			}
			if _, err := c.Exec(ctx, sql, args...); err != nil {
				return err
			}
		}
	}
	return nil
}

// seenColumns is the number of columns of access_seen.
const seenColumns = 6

func addCountsSQL(rows int) string {
	var b strings.Builder
	b.WriteString("INSERT INTO access_seen (week, card, reader, times, first_at, last_at) VALUES ")
	for i := range rows {
		if i > 0 {
			b.WriteString(", ")
		}
		for j := range seenColumns {
			fmt.Fprintf(&b, "%c$%d", "(,"[min(j, 1)], seenColumns*i+j+1)
		}
		b.WriteString(")")
	}
	b.WriteString(` ON CONFLICT (week, card, reader) DO UPDATE SET times = access_seen.times + excluded.times,
		first_at = CASE WHEN excluded.first_at < access_seen.first_at THEN excluded.first_at ELSE access_seen.first_at END,
		last_at = CASE WHEN excluded.last_at > access_seen.last_at THEN excluded.last_at ELSE access_seen.last_at END`)
	return b.String()
}

// SeenProgress returns how far the index covers each process.
func (s *Service) SeenProgress(ctx context.Context) (map[string]access.SeenProgress, error) {
	all := map[string]access.SeenProgress{}
	err := s.db.Snapshot(ctx, func(c Conn) error {
		return Each(ctx, c, func(r Row) error {
			all[r.Text(0)] = access.SeenProgress{To: uint64(r.Int(1)), Done: r.Int(2) != 0}
			return nil
		}, "SELECT process, seq, done FROM access_progress")
	})
	return all, err
}

// seenCards is the number of cards that a query asks for at once.
const seenCards = 128

// Seen returns the sums of the counts of some cards of a world by reader and card.
func (s *Service) Seen(ctx context.Context, w access.WorldID, cards []access.CardHash,
	since time.Time) (all []access.SeenCount, err error) {
	err = s.db.Snapshot(ctx, func(c Conn) error {
		weeks, err := weeksSince(ctx, c, since)
		if err != nil || weeks == "" {
			return err
		}
		for len(cards) > 0 {
			part := cards[:min(len(cards), seenCards)]
			cards = cards[len(part):]
			list, err := sumSeen(ctx, c, w, part, weeks, since)
			if err != nil {
				return err
			}
			all = append(all, list...)
		}
		return nil
	})
	return all, err
}

// weeksSince lists the weeks that have counts since a time, in SQL; "" for none.
func weeksSince(ctx context.Context, c Conn, since time.Time) (string, error) {
	least, err := QueryInt(ctx, c, "SELECT coalesce(min(week), 0) FROM access_seen")
	if err != nil {
		return "", err
	}
	most, err := QueryInt(ctx, c, "SELECT coalesce(max(week), -1) FROM access_seen")
	if !since.IsZero() {
		least = max(least, weekOf(since))
	}
	var b strings.Builder
	for week := least; week <= most; week++ {
		if week > least {
			b.WriteByte(',')
		}
		b.WriteString(strconv.FormatInt(week, 10))
	}
	return b.String(), err
}

func sumSeen(ctx context.Context, c Conn, w access.WorldID, cards []access.CardHash, weeks string,
	since time.Time) ([]access.SeenCount, error) {
	args := []any{w[:], ceilMillis(since)}
	marks := make([]string, len(cards))
	for i, card := range cards {
		args = append(args, int64(card))
		marks[i] = "$" + strconv.Itoa(len(args))
	}
	read := func(r Row) (access.SeenCount, error) {
		who := access.SeenReader{World: w, Subject: access.Subject(r.Text(1)), Role: access.Role(r.Int(2)),
			Operation: r.Text(3)}
		return access.SeenCount{SeenReader: who, Card: access.CardHash(r.Int(0)), Times: int(r.Int(4)),
			First: Time(r.Int(5)), Last: Time(r.Int(6))}, nil
	}
	return queryAll(ctx, c, read, `SELECT n.card, r.subject, r.role, r.operation, n.times, n.first_at, n.last_at FROM (
			SELECT card, reader, CAST(sum(times) AS bigint) AS times, min(first_at) AS first_at, max(last_at) AS last_at
			FROM access_seen WHERE week IN (`+weeks+`) AND card IN (`+strings.Join(marks, ", ")+`) AND last_at >= $2
			GROUP BY card, reader) n
		JOIN access_readers r ON r.reader = n.reader WHERE r.world = $1 ORDER BY n.card, n.reader`, args...)
}

// ForgetSeen removes the weeks of time that end before a time.
func (s *Service) ForgetSeen(ctx context.Context, before time.Time) error {
	return s.db.Change(ctx, func(c Conn) error {
		_, err := c.Exec(ctx, "DELETE FROM access_seen WHERE week < $1", weekOf(before))
		return err
	})
}
