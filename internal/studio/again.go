package studio

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/google/uuid"

	"loregate/internal/blob"
	"loregate/internal/fault"
	"loregate/internal/markup"
)

// findRecorded returns the run's record if another worker has recorded its end in the meantime,
// else nil.
func (x *executor) findRecorded(ctx context.Context) (*Run, error) {
	b, err := x.lockBook(ctx, x.grant)
	if err != nil {
		return nil, err
	}
	ended := b.hasRun(x.run.ID)
	b.mu.Unlock()
	if !ended {
		return nil, nil
	}
	run, err := x.loadRun(ctx, x.grant, x.run.ID.String())
	return &run, err
}

// findRepeated returns the run that the request id was used for before, or nil. If that run is
// still under way, it waits for its end.
func (x *executor) findRepeated(ctx context.Context) (*Run, error) {
	if x.req.RequestID == "" {
		x.req.RequestID = x.grant.Request().IdempotencyKey
	}
	if x.req.RequestID == "" || x.req.DryRun {
		return nil, nil
	}
	id, hash, wait, err := x.findRequested(ctx)
	if err != nil || id == (uuid.UUID{}) {
		return nil, err
	}
	if hash != x.req.hash {
		return nil, fault.New(fault.Conflict, "request_id %q was used for another request; use a new one",
			markup.Shorten(x.req.RequestID, 60))
	}
	if err := wait(); err != nil {
		return nil, err
	}
	run, err := x.loadRun(ctx, x.grant, id.String())
	return &run, err
}

// findRequested returns the id of the run that used the request's id, the hash of its input, and a
// function that waits for its end. The id is zero if there is no such run.
func (x *executor) findRequested(ctx context.Context) (id uuid.UUID, hash blob.Sum, wait func() error, err error) {
	actor := string(x.grant.Caller().Subject)
	x.mu.Lock()
	for _, l := range x.live {
		if r := l.run; l.world == x.grant.World() && r.Actor == actor && r.RequestID == x.req.RequestID && !r.dry {
			x.mu.Unlock()
			return r.ID, r.InputHash, func() error { return l.wait(ctx) }, nil
		}
	}
	x.mu.Unlock()
	b, err := x.lockBook(ctx, x.grant)
	if err != nil {
		return id, hash, nil, err
	}
	defer b.mu.Unlock()
	for _, t := range b.queue {
		if t.Act == actRun && string(t.Who.Subject) == actor && t.Order.How.RequestID == x.req.RequestID {
			return t.ID, t.Order.Hash, func() error {
				_, err := x.awaitTicket(ctx, x.grant, t, x.progress)
				return err
			}, nil
		}
	}
	id = b.asked[actor+"\x00"+x.req.RequestID]
	return id, b.runs[id].run.InputHash, func() error { return nil }, nil
}

// cacheKey returns a key of everything that the artifacts of a run depend on: tool, input with
// seed, target and its state. It is "" for runs that did more than make artifacts.
func (r *Run) cacheKey() string {
	if len(r.Steps) != 1 || r.Cached != "" || r.Plan != "" {
		return ""
	}
	return r.Steps[0].cacheKey(r.Seed, r.Config, r.Audience)
}

func (st Step) cacheKey(seed int64, config, audience string) string {
	if st.Tool != "render_preview" && st.Tool != "export_asset" || st.Input == nil {
		return ""
	}
	if in, err := readRaw[ExportIn](st.Input); err != nil || in.Path != "" {
		return ""
	}
	h := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%v\x00%d\x00%s\x00%s\x00%s\x00%s", st.Tool, st.Version, st.Target,
		seed, config, audience, st.Before, st.Input))
	return hex.EncodeToString(h[:])
}

// reuseCached fills in the result and the artifacts of an earlier run that had the same cache key.
// It reports whether there was such a run.
func (x *executor) reuseCached(ctx context.Context, st *Step) (bool, error) {
	if x.run.dry || x.run.Tool != st.Tool {
		return false, nil
	}
	key := st.cacheKey(x.run.Seed, x.run.Config, x.run.Audience)
	b, err := x.lockBook(ctx, x.grant)
	if err != nil {
		return false, err
	}
	id, ok := b.same[key]
	b.mu.Unlock()
	if !ok || key == "" {
		return false, nil
	}
	earlier, err := x.loadRun(ctx, x.grant, id.String())
	if err != nil || len(earlier.Steps) != 1 {
		return false, err
	}
	for _, a := range earlier.Artifacts {
		if _, err := x.blobs.Stat(ctx, a.SHA256); err != nil {
			return false, nil // the file was swept; make it again
		}
	}
	x.run.Cached, x.run.Artifacts, x.run.Warnings = id.String(), earlier.Artifacts, earlier.Warnings
	st.Result, st.After, st.Made = earlier.Steps[0].Result, st.Before, earlier.Steps[0].Made
	return true, nil
}
