package sqlite

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/store/service"
)

// streamShift leaves room for 2^40 commits in each of 2^23 streams.
const streamShift = 40

// commitsAtOnce is the number of commits read before they are yielded, so that no query is open
// while the caller works.
const commitsAtOnce = 128

// Streams lists the streams of a kind by name.
func (r *reader) Streams(ctx context.Context, kind string) (list []canon.StreamHead, err error) {
	from, to := canon.StreamRange(kind)
	err = r.c.query(ctx, func(row row) error {
		list = append(list, canon.StreamHead{Stream: canon.StreamID(row.textAt(0)),
			Head: canon.Head{Seq: canon.Seq(row.intAt(1)), Hash: readBlob[canon.Hash](row.bytesAt(2))}})
		return nil
	}, "SELECT name, seq, hash FROM streams WHERE name >= ?1 AND name < ?2 ORDER BY name", string(from), string(to))
	return list, err
}

func (r *reader) readStream(ctx context.Context, s canon.StreamID) (n int64, h canon.Head, err error) {
	_, err = r.c.queryOne(ctx, func(row row) error {
		n, h.Seq, h.Hash = row.intAt(0), canon.Seq(row.intAt(1)), readBlob[canon.Hash](row.bytesAt(2))
		return nil
	}, "SELECT "+headColumns+" FROM streams WHERE name = ?1", string(s))
	return n, h, err
}

var headColumns = unnamedColumns("s, seq, hash")

func (r *reader) Head(ctx context.Context, s canon.StreamID) (canon.Head, error) {
	_, h, err := r.readStream(ctx, s)
	return h, err
}

func (r *reader) queryCommits(ctx context.Context, s canon.StreamID, where string,
	args ...any) (list []canon.StoredCommit, err error) {
	err = r.c.query(ctx, func(row row) error {
		c := canon.StoredCommit{
			Stream: s, Seq: canon.Seq(row.intAt(0) & (1<<streamShift - 1)), At: service.Time(row.intAt(2)),
			By: access.Subject(row.textAt(3)), Op: row.textAt(4), Body: row.bytesAt(5),
			Prev: readBlob[canon.Hash](row.bytesAt(6)), Hash: readBlob[canon.Hash](row.bytesAt(7)),
		}
		c.ID = uuid.UUID(readBlob[canon.CardID](row.bytesAt(1)))
		list = append(list, c)
		return nil
	}, "SELECT n, id, at, by, op, body, prev, hash FROM commits "+where, args...)
	return list, err
}

func (r *reader) Commits(ctx context.Context, s canon.StreamID, from canon.Seq) iter.Seq2[canon.StoredCommit, error] {
	return func(yield func(canon.StoredCommit, error) bool) {
		n, _, err := r.readStream(ctx, s)
		if err != nil {
			yield(canon.StoredCommit{}, err)
			return
		}
		for n != 0 {
			list, err := r.queryCommits(ctx, s, "WHERE n >= ?1 AND n < ?2 ORDER BY n LIMIT ?3",
				n<<streamShift+int64(from), (n+1)<<streamShift, commitsAtOnce)
			if err != nil {
				yield(canon.StoredCommit{}, err)
				return
			}
			for _, c := range list {
				if !yield(c, nil) {
					return
				}
				from = c.Seq + 1
			}
			if len(list) < commitsAtOnce {
				return
			}
		}
	}
}

// SeqAt uses the index of a stream's commits by time.
func (r *reader) SeqAt(ctx context.Context, w access.WorldID, at time.Time) (canon.Seq, error) {
	n, _, err := r.readStream(ctx, canon.WorldStream(w))
	if err != nil || n == 0 {
		return 0, err
	}
	found, err := r.c.queryInt(ctx,
		"SELECT n FROM commits WHERE n >> 40 = ?1 AND at <= ?2 ORDER BY at DESC, n DESC LIMIT 1", n, service.Millis(at))
	return canon.Seq(found & (1<<streamShift - 1)), err
}

func (r *reader) CommitByID(ctx context.Context, s canon.StreamID, id uuid.UUID) (canon.StoredCommit, bool, error) {
	n, _, err := r.readStream(ctx, s)
	if err != nil || n == 0 {
		return canon.StoredCommit{}, false, err
	}
	return canon.First(r.queryCommits(ctx, s, "WHERE id = ?1 AND n >= ?2 AND n < ?3", id[:], n<<streamShift,
		(n+1)<<streamShift))
}

func (r *reader) Repeat(ctx context.Context, account, key string) (p canon.Repeat, found bool, err error) {
	found, err = r.c.queryOne(ctx, func(row row) error {
		p = canon.Repeat{Account: account, Key: key, Stream: canon.StreamID(row.textAt(1)), Seq: canon.Seq(row.intAt(2)),
			Expires: service.Time(row.intAt(3))}
		copy(p.InputHash[:], row.bytesAt(0))
		return nil
	}, "SELECT input, stream, seq, expires FROM repeats WHERE account = ?1 AND key = ?2", account, key)
	return p, found, err
}

// streamHead is a stream's number and head. The number is 0 if the stream has no commit.
type streamHead struct {
	stream canon.StreamID
	n      int64
	head   canon.Head
}

// Head returns a stream's head and caches it: the caller usually appends the next commit.
func (t *tx) Head(ctx context.Context, s canon.StreamID) (canon.Head, error) {
	h, err := t.readHead(ctx, s)
	return h.head, err
}

func (t *tx) readHead(ctx context.Context, s canon.StreamID) (streamHead, error) {
	if t.head.stream == s {
		return t.head, ctx.Err()
	}
	n, head, err := t.readStream(ctx, s)
	if err == nil {
		t.head = streamHead{s, n, head}
	}
	return t.head, err
}

// Append adds a commit to its stream. It refuses a commit that does not follow the head.
func (t *tx) Append(ctx context.Context, c canon.StoredCommit) error {
	at, err := t.readHead(ctx, c.Stream)
	if err != nil {
		return err
	}
	n, head := at.n, at.head
	if c.Seq != head.Seq+1 || c.Prev != head.Hash || c.Seq >= 1<<streamShift {
		return fmt.Errorf("sqlite: commit %d does not follow commit %d of stream %s", c.Seq, head.Seq, c.Stream)
	}
	if n == 0 {
		if n, err = t.c.insert(ctx, "INSERT INTO streams (name, seq) VALUES (?1, 0)", string(c.Stream)); err != nil {
			return err
		}
	}
	t.head = streamHead{}
	body := c.Body
	if body == nil {
		body = []byte{}
	}
	if _, err := t.c.exec(ctx,
		"INSERT INTO commits (n, id, at, by, op, body, prev, hash) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
		n<<streamShift+int64(c.Seq), c.ID[:], service.Millis(c.At), string(c.By), c.Op, body, hashBlob(c.Prev),
		hashBlob(c.Hash)); err != nil {
		return err
	}
	if _, err = t.c.exec(ctx, "UPDATE streams SET seq = ?2, hash = ?3, mark = ?2 WHERE s = ?1", n, uint64(c.Seq),
		hashBlob(c.Hash)); err == nil {
		t.head = streamHead{c.Stream, n, canon.Head{Seq: c.Seq, Hash: c.Hash}}
	}
	return err
}

// keptAfterExpiry: an old key is deleted if it expires this much earlier than a new key. Comparing
// the keys' times avoids a clock here; no key lives for a week.
const keptAfterExpiry = 7 * 24 * time.Hour

// PutRepeat stores a used key and deletes a few that expired long ago.
func (t *tx) PutRepeat(ctx context.Context, p canon.Repeat) error {
	if _, err := t.c.exec(ctx, `INSERT INTO repeats (account, key, input, stream, seq, expires) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
		ON CONFLICT DO UPDATE SET input = ?3, stream = ?4, seq = ?5, expires = ?6`,
		p.Account, p.Key, p.InputHash[:], string(p.Stream), uint64(p.Seq), service.Millis(p.Expires)); err != nil {
		return err
	}
	_, err := t.c.exec(ctx, `DELETE FROM repeats WHERE (account, key) IN
		(SELECT account, key FROM repeats WHERE expires < ?1 ORDER BY expires LIMIT 4)`, service.Millis(p.Expires.Add(-keptAfterExpiry)))
	return err
}

// Stale lists worlds whose tables must be rebuilt from their streams.
func (r *reader) Stale(ctx context.Context) (list []access.WorldID, err error) {
	err = r.c.query(ctx, func(row row) error {
		list = append(list, readBlob[access.WorldID](row.bytesAt(0)))
		return nil
	}, "SELECT i.id FROM stale s JOIN world_ids i ON i.w = s.w ORDER BY i.id")
	return list, err
}
