package postgres

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

// commitsAtOnce is the number of commits read before they are yielded, so that no query is open
// while the caller works.
const commitsAtOnce = 128

// Streams lists the streams of a kind by name.
func (r *reader) Streams(ctx context.Context, kind string) (list []canon.StreamHead, err error) {
	from, to := canon.StreamRange(kind)
	err = r.c.query(ctx, func(r row) error {
		list = append(list, canon.StreamHead{Stream: canon.StreamID(r.textAt(0)),
			Head: canon.Head{Seq: canon.Seq(r.intAt(1)), Hash: hashOf(r[2])}})
		return nil
	}, "SELECT name, seq, hash FROM streams WHERE name >= $1 AND name < $2 ORDER BY name", string(from), string(to))
	return list, err
}

// tip is a stream's number and head. The number is 0 if the stream does not exist.
type tip struct {
	n    int64
	head canon.Head
}

const selectStream = "SELECT s, seq, hash FROM streams WHERE name = $1"

func readTip(r row) tip {
	return tip{r.intAt(0), canon.Head{Seq: canon.Seq(r.intAt(1)), Hash: hashOf(r[2])}}
}

func (r *reader) readStream(ctx context.Context, s canon.StreamID) (at tip, err error) {
	if at, known := r.prefetched.tips[s]; known {
		return at, nil
	}
	_, err = r.c.queryOne(ctx, func(r row) error { at = readTip(r); return nil }, selectStream, string(s))
	return at, err
}

func (r *reader) Head(ctx context.Context, s canon.StreamID) (canon.Head, error) {
	if r.writes != nil {
		at, err := r.writes.readHead(ctx, s)
		return at.head, err
	}
	at, err := r.readStream(ctx, s)
	return at.head, err
}

// readHead reads a stream's head once: while the writer lock is held nobody else moves it.
func (t *tx) readHead(ctx context.Context, s canon.StreamID) (tip, error) {
	if at, ok := t.heads[s]; ok {
		return at, nil
	}
	at, err := t.readStream(ctx, s)
	if err == nil {
		t.setTip(s, at)
	}
	return at, err
}

func (t *tx) setTip(s canon.StreamID, at tip) {
	if t.heads == nil {
		t.heads = make(map[canon.StreamID]tip, 1)
	}
	t.heads[s] = at
}

func (r *reader) queryCommits(ctx context.Context, s canon.StreamID, where string,
	args ...any) (list []canon.StoredCommit, err error) {
	err = r.c.query(ctx, func(r row) error {
		list = append(list, canon.StoredCommit{
			Stream: s, Seq: canon.Seq(r.intAt(0)), ID: readID[uuid.UUID](r[1]), At: service.Time(r.intAt(2)),
			By: access.Subject(r.textAt(3)), Op: r.textAt(4),
			Body: r.bytesAt(5), Prev: hashOf(r[6]), Hash: hashOf(r[7]),
		})
		return nil
	}, "SELECT seq, id, at, by, op, body, prev, hash FROM commits WHERE s = $1 AND "+where, args...)
	return list, err
}

func (r *reader) Commits(ctx context.Context, s canon.StreamID, from canon.Seq) iter.Seq2[canon.StoredCommit, error] {
	return func(yield func(canon.StoredCommit, error) bool) {
		at, err := r.readStream(ctx, s)
		if err != nil {
			yield(canon.StoredCommit{}, err)
			return
		}
		for n := at.n; n != 0; {
			list, err := r.queryCommits(ctx, s, "seq >= $2 ORDER BY seq LIMIT $3", n, uint64(from), int64(commitsAtOnce))
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

func (r *reader) CommitByID(ctx context.Context, s canon.StreamID, change uuid.UUID) (canon.StoredCommit, bool, error) {
	at, err := r.readStream(ctx, s)
	if err != nil || at.n == 0 {
		return canon.StoredCommit{}, false, err
	}
	return canon.First(r.queryCommits(ctx, s, "id = $2 ORDER BY seq LIMIT 1", at.n, uuidOf(change)))
}

// SeqAt uses the index of a stream's commits by time.
func (r *reader) SeqAt(ctx context.Context, w access.WorldID, at time.Time) (canon.Seq, error) {
	n, err := r.c.queryInt(ctx, `SELECT c.seq FROM streams s JOIN commits c ON c.s = s.s WHERE s.name = $1 AND c.at <= $2
		ORDER BY c.at DESC, c.seq DESC LIMIT 1`, string(canon.WorldStream(w)), service.Millis(at))
	return canon.Seq(n), err
}

const selectRepeat = "SELECT input, stream, seq, expires FROM repeats WHERE account = $1 AND key = $2"

func readRepeat(account, key string, r row) canon.Repeat {
	return canon.Repeat{Account: account, Key: key, InputHash: hashOf(r[0]), Stream: canon.StreamID(r.textAt(1)),
		Seq: canon.Seq(r.intAt(2)), Expires: service.Time(r.intAt(3))}
}

func (r *reader) Repeat(ctx context.Context, account, key string) (p canon.Repeat, found bool, err error) {
	if p, known := r.prefetched.repeats[repeatRef{account, key}]; known {
		if p == nil {
			return canon.Repeat{}, false, nil
		}
		return *p, true, nil
	}
	found, err = r.c.queryOne(ctx, func(r row) error { p = readRepeat(account, key, r); return nil }, selectRepeat,
		account, key)
	return p, found, err
}

// Append adds a commit to its stream. It refuses a commit that does not follow the head.
func (t *tx) Append(ctx context.Context, c canon.StoredCommit) error {
	at, err := t.readHead(ctx, c.Stream)
	if err != nil {
		return err
	}
	n, head := at.n, at.head
	if c.Seq != head.Seq+1 || c.Prev != head.Hash {
		return fmt.Errorf("postgres: commit %d does not follow commit %d of stream %s", c.Seq, head.Seq, c.Stream)
	}
	if n == 0 {
		if n, err = t.c.queryInt(ctx, "INSERT INTO streams (name, seq) VALUES ($1, 0) RETURNING s",
			string(c.Stream)); err != nil {
			return err
		}
	}
	body := c.Body
	if body == nil {
		body = []byte{}
	}
	t.c.enqueue("INSERT INTO commits (s, seq, id, at, by, op, body, prev, hash) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
		n, uint64(c.Seq), uuidOf(c.ID), service.Millis(c.At), string(c.By), c.Op, body, hashBytes(c.Prev), hashBytes(c.Hash))
	t.c.enqueue("UPDATE streams SET seq = $2, hash = $3 WHERE s = $1", n, uint64(c.Seq), hashBytes(c.Hash))
	t.setTip(c.Stream, tip{n, canon.Head{Seq: c.Seq, Hash: c.Hash}})
	return nil
}

// keptAfterExpiry: an old key is deleted if it expires this much earlier than a new key. Comparing
// the keys' times avoids a clock here; no key lives for a week.
const keptAfterExpiry = 7 * 24 * time.Hour

// PutRepeat stores a used key and deletes a few that expired long ago.
func (t *tx) PutRepeat(_ context.Context, p canon.Repeat) error {
	delete(t.prefetched.repeats, repeatRef{p.Account, p.Key})
	t.c.enqueue(`INSERT INTO repeats (account, key, input, stream, seq, expires) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (account, key) DO UPDATE SET input = $3, stream = $4, seq = $5, expires = $6`,
		p.Account, p.Key, p.InputHash[:], string(p.Stream), uint64(p.Seq), service.Millis(p.Expires))
	t.c.enqueue(`DELETE FROM repeats WHERE (account, key) IN
		(SELECT account, key FROM repeats WHERE expires < $1 ORDER BY expires LIMIT 4)`, service.Millis(p.Expires.Add(-keptAfterExpiry)))
	return nil
}

// Stale lists worlds whose tables must be rebuilt from their streams.
func (r *reader) Stale(ctx context.Context) (list []access.WorldID, err error) {
	err = r.c.query(ctx, func(r row) error {
		list = append(list, readID[access.WorldID](r[0]))
		return nil
	}, "SELECT i.id FROM stale s JOIN world_ids i ON i.w = s.w ORDER BY i.id")
	return list, err
}
