package memory

import (
	"bytes"
	"cmp"
	"context"
	"iter"
	"slices"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
)

// reader reads one state.
type reader struct{ s *state }

var _ canon.Reader = reader{}

func (r reader) Worlds(_ context.Context, q canon.WorldQuery) (out []canon.World, err error) {
	for _, w := range r.s.worlds.all() {
		if q.All || w.ID == q.ID || w.Slug == q.Slug {
			out = append(out, w)
		}
	}
	slices.SortFunc(out, func(a, b canon.World) int { return cmp.Compare(a.Slug, b.Slug) })
	return out, nil
}

func (r reader) Members(_ context.Context, q canon.MemberQuery) (out []canon.Member, err error) {
	for _, m := range r.s.members.all() {
		if m.World == q.World || q.World.IsZero() && m.Subject == q.Subject {
			out = append(out, m)
		}
	}
	slices.SortFunc(out, func(a, b canon.Member) int {
		return cmp.Or(bytes.Compare(a.World[:], b.World[:]), cmp.Compare(a.Subject, b.Subject))
	})
	return out, nil
}

func (r reader) Body(_ context.Context, w access.WorldID, h canon.Hash) ([]byte, bool, error) {
	b, ok := r.s.bodies.get(bodyKey{w, h})
	return bytes.Clone(b), ok, nil
}

func (r reader) Streams(_ context.Context, kind string) (out []canon.StreamHead, err error) {
	from, to := canon.StreamRange(kind)
	for id, commits := range r.s.streams.all() {
		if from <= id && id < to {
			out = append(out, canon.StreamHead{Stream: id, Head: headOf(commits)})
		}
	}
	slices.SortFunc(out, func(a, b canon.StreamHead) int { return cmp.Compare(a.Stream, b.Stream) })
	return out, nil
}

func (r reader) Head(_ context.Context, id canon.StreamID) (canon.Head, error) {
	commits, _ := r.s.streams.get(id)
	return headOf(commits), nil
}

func headOf(commits []canon.StoredCommit) canon.Head {
	if len(commits) == 0 {
		return canon.Head{}
	}
	last := commits[len(commits)-1]
	return canon.Head{Seq: last.Seq, Hash: last.Hash}
}

func (r reader) Commits(_ context.Context, id canon.StreamID, from canon.Seq) iter.Seq2[canon.StoredCommit, error] {
	return func(yield func(canon.StoredCommit, error) bool) {
		commits, _ := r.s.streams.get(id)
		for _, c := range commits {
			if c.Seq >= from && !yield(c, nil) {
				return
			}
		}
	}
}

func (r reader) CommitByID(_ context.Context, id canon.StreamID, change uuid.UUID) (canon.StoredCommit, bool, error) {
	commits, _ := r.s.streams.get(id)
	for _, c := range commits {
		if c.ID == change {
			return c, true, nil
		}
	}
	return canon.StoredCommit{}, false, nil
}

// Stale returns nil: a store in memory is never of an older version.
func (r reader) Stale(context.Context) ([]access.WorldID, error) { return nil, nil }

func (r reader) Repeat(_ context.Context, account, key string) (canon.Repeat, bool, error) {
	rep, ok := r.s.repeats.get(repeatKey{account, key})
	return rep, ok, nil
}

// cutPage returns a page of all rows.
func cutPage[T any](all []T, p canon.Page) ([]T, canon.Total) {
	from := min(max(p.Offset, 0), len(all))
	size := min(max(p.Limit, 0), len(all)-from)
	return all[from : from+size], canon.Total{Count: len(all)}
}
