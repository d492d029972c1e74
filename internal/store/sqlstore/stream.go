package sqlstore

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
)

// commitsAtOnce is the number of commits read before they are yielded, so that no query is open
// while the caller works.
const commitsAtOnce = 128

// Streams lists the streams of a kind by name.
func (r *Reader) Streams(ctx context.Context, kind string) ([]canon.StreamHead, error) {
	from, to := canon.StreamRange(kind)
	return queryAll(ctx, r.Conn, func(r Row) (canon.StreamHead, error) {
		return canon.StreamHead{Stream: canon.StreamID(r.Text(0)),
			Head: canon.Head{Seq: canon.Seq(r.Int(1)), Hash: ReadHash(r, 2)}}, nil
	}, "SELECT name, seq, hash FROM streams WHERE name >= $1 AND name < $2 ORDER BY name", string(from), string(to))
}

// StreamRow is a stream's number and head. The number is 0 if the stream does not exist.
type StreamRow struct {
	Stream canon.StreamID
	Number int64
	Head   canon.Head
}

// SelectStream returns the query for a stream's row by its id.
func (d *Dialect) SelectStream() string {
	return "SELECT " + d.Columns.Stream + " FROM streams WHERE name = $1"
}

// ScanStream reads the columns of Columns.Stream.
func ScanStream(s canon.StreamID, r Row) StreamRow {
	return StreamRow{s, r.Int(0), canon.Head{Seq: canon.Seq(r.Int(1)), Hash: ReadHash(r, 2)}}
}

// SetStream sets the row of a stream that the reader need not query. While a transaction holds the
// writer lock nobody else moves a head.
func (r *Reader) SetStream(at StreamRow) {
	for i := range r.heads {
		if r.heads[i].Stream == at.Stream {
			r.heads[i] = at
			return
		}
	}
	r.heads = append(r.heads, at)
}

// ForgetStreams makes the reader query the rows of streams again.
func (r *Reader) ForgetStreams() { r.heads = nil }

// StreamRow returns a stream's row.
func (r *Reader) StreamRow(ctx context.Context, s canon.StreamID) (StreamRow, error) {
	for i := range r.heads {
		if r.heads[i].Stream == s {
			return r.heads[i], ctx.Err()
		}
	}
	rows, at := r.Conn.Query(ctx, r.Dialect.SelectStream(), string(s)), StreamRow{Stream: s}
	if rows.Next() {
		at = ScanStream(s, rows)
	}
	err := rows.Close()
	if err == nil && r.writes {
		r.SetStream(at)
	}
	return at, err
}

// Head returns a stream's head.
func (r *Reader) Head(ctx context.Context, s canon.StreamID) (canon.Head, error) {
	at, err := r.StreamRow(ctx, s)
	return at.Head, err
}

func (r *Reader) queryCommits(ctx context.Context, s canon.StreamID, sql string,
	args ...any) ([]canon.StoredCommit, error) {
	return queryAll(ctx, r.Conn, func(r Row) (canon.StoredCommit, error) {
		return canon.StoredCommit{
			Stream: s, Seq: canon.Seq(r.Int(0)), ID: ReadID[uuid.UUID](r, 1), At: Time(r.Int(2)),
			By: access.Subject(r.Text(3)), Op: r.Text(4), Body: r.Bytes(5), Prev: ReadHash(r, 6), Hash: ReadHash(r, 7),
		}, nil
	}, sql, args...)
}

// Commits yields a stream's commits from a number on, in order.
func (r *Reader) Commits(ctx context.Context, s canon.StreamID, from canon.Seq) iter.Seq2[canon.StoredCommit, error] {
	return func(yield func(canon.StoredCommit, error) bool) {
		at, err := r.StreamRow(ctx, s)
		if err != nil {
			yield(canon.StoredCommit{}, err)
			return
		}
		for at.Number != 0 {
			list, err := r.queryCommits(ctx, s, r.Dialect.CommitsFrom, at.Number, uint64(from), int64(commitsAtOnce))
			for _, c := range list {
				if !yield(c, nil) {
					return
				}
				from = c.Seq + 1
			}
			if err != nil { // damage after the commits of list
				yield(canon.StoredCommit{}, err)
				return
			}
			if len(list) < commitsAtOnce {
				return
			}
		}
	}
}

// CommitByID finds the commit of a stream with an id.
func (r *Reader) CommitByID(ctx context.Context, s canon.StreamID, id uuid.UUID) (canon.StoredCommit, bool, error) {
	at, err := r.StreamRow(ctx, s)
	if err != nil || at.Number == 0 {
		return canon.StoredCommit{}, false, err
	}
	return canon.First(r.queryCommits(ctx, s, r.Dialect.CommitByID, at.Number, id[:]))
}

// SeqAt uses the index of a stream's commits by time.
func (r *Reader) SeqAt(ctx context.Context, w access.WorldID, at time.Time) (canon.Seq, error) {
	stream, err := r.StreamRow(ctx, canon.WorldStream(w))
	if err != nil || stream.Number == 0 {
		return 0, err
	}
	n, err := QueryInt(ctx, r.Conn, r.Dialect.CommitAt, stream.Number, Millis(at))
	return canon.Seq(n), err
}

// SelectRepeat is the query for an idempotency key by its account and text.
const SelectRepeat = "SELECT input, stream, seq, expires FROM repeats WHERE account = $1 AND key = $2"

// ScanRepeat reads the columns of SelectRepeat.
func ScanRepeat(account, key string, r Row) canon.Repeat {
	return canon.Repeat{Account: account, Key: key, InputHash: ReadHash(r, 0), Stream: canon.StreamID(r.Text(1)),
		Seq: canon.Seq(r.Int(2)), Expires: Time(r.Int(3))}
}

// Repeat finds the use of an account's idempotency key.
func (r *Reader) Repeat(ctx context.Context, account, key string) (p canon.Repeat, found bool, err error) {
	rows := r.Conn.Query(ctx, SelectRepeat, account, key)
	if found = rows.Next(); found {
		p = ScanRepeat(account, key, rows)
	}
	return p, found, rows.Close()
}

// Append adds a commit to its stream. It refuses a commit that does not follow the head.
func (t Tx) Append(ctx context.Context, c canon.StoredCommit) error {
	at, err := t.r.StreamRow(ctx, c.Stream)
	if err != nil {
		return err
	}
	if !at.Head.Precedes(c) || c.Seq >= maxCommits {
		return fmt.Errorf("%s: commit %d does not follow commit %d of stream %s", t.r.Dialect.Name, c.Seq, at.Head.Seq,
			c.Stream)
	}
	if at.Number == 0 {
		if at.Number, err = QueryInt(ctx, t.r.Conn, "INSERT INTO streams (name, seq) VALUES ($1, 0) RETURNING s",
			string(c.Stream)); err != nil {
			return err
		}
	}
	body := c.Body
	if body == nil {
		body = []byte{}
	}
	err = t.r.Conn.Put(ctx, t.r.Dialect.InsertCommit, at.Number, uint64(c.Seq), c.ID[:], Millis(c.At), string(c.By),
		c.Op, body, HashValue(c.Prev), HashValue(c.Hash))
	if err == nil {
		err = t.r.Conn.Put(ctx, t.r.Dialect.UpdateHead, at.Number, uint64(c.Seq), HashValue(c.Hash))
	}
	if err != nil {
		t.r.ForgetStreams()
		return err
	}
	at.Head = canon.Head{Seq: c.Seq, Hash: c.Hash}
	t.r.SetStream(at)
	return nil
}

// Rewind removes the commits of a stream after a head, and the idempotency keys that led to them.
func (t Tx) Rewind(ctx context.Context, s canon.StreamID, to canon.Head) error {
	at, err := t.r.StreamRow(ctx, s)
	if err != nil {
		return err
	}
	t.r.ForgetStreams()
	if err := t.r.Conn.Put(ctx, t.r.Dialect.RewindCommits, at.Number, uint64(to.Seq)); err != nil {
		return err
	}
	if err := t.r.Conn.Put(ctx, "DELETE FROM repeats WHERE stream = $1 AND seq > $2", string(s),
		uint64(to.Seq)); err != nil {
		return err
	}
	return t.r.Conn.Put(ctx, t.r.Dialect.UpdateHead, at.Number, uint64(to.Seq), HashValue(to.Hash))
}

// maxCommits is the number of commits that a stream has room for: SQLite numbers a commit by its
// stream and its place in it, in one integer.
const maxCommits = 1 << 40

// keptAfterExpiry: an old key is deleted if it expires this much earlier than a new key. Comparing
// the keys' times avoids a clock here; no key lives for a week.
const keptAfterExpiry = 7 * 24 * time.Hour

// PutRepeat stores a used key and deletes a few that expired long ago.
func (t Tx) PutRepeat(ctx context.Context, p canon.Repeat) error {
	if err := t.r.Conn.Put(ctx, putRepeat, p.Account, p.Key, p.InputHash[:], string(p.Stream), uint64(p.Seq),
		Millis(p.Expires)); err != nil {
		return err
	}
	return t.r.Conn.Put(ctx, `DELETE FROM repeats WHERE (account, key) IN
		(SELECT account, key FROM repeats WHERE expires < $1 ORDER BY expires LIMIT 4)`,
		Millis(p.Expires.Add(-keptAfterExpiry)))
}
