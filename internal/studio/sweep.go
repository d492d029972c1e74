package studio

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"loregate/internal/access"
	"loregate/internal/blob"
	"loregate/internal/lazyregexp"
)

// Swept is the content that no record of a run and no target refers to.
type Swept struct {
	Files []blob.Ref
	Bytes int64
}

// sweepWait bounds the time that Sweep waits for runs under way.
const sweepWait = 30 * time.Second

// Sweep removes stored content that nothing refers to and that was not used for the given time:
// artifacts of failed runs, and textures painted in dry runs. With dry set it only lists the
// content. It holds the locks of all targets, so that no run is between storing content and
// recording its reference.
func (s *Studio) Sweep(ctx context.Context, unused time.Duration, dry bool) (out Swept, err error) {
	before := s.now().Add(-unused)
	release, err := s.lockAllTargets(ctx)
	defer release()
	if err != nil {
		return out, err
	}
	named := map[blob.Sum]bool{}
	if err := s.markRunContent(ctx, named); err != nil {
		return out, err
	}
	if err := s.markTargetContent(named); err != nil {
		return out, err
	}
	err = s.blobs.Sweep(ctx, before, func(sum blob.Sum) bool { return named[sum] }, func(r blob.Ref) {
		out.Files, out.Bytes = append(out.Files, r), out.Bytes+r.Size
	}, dry)
	return out, err
}

// lockAllTargets takes the locks of all targets of all worlds.
func (s *Studio) lockAllTargets(ctx context.Context) (release func(), err error) {
	var held []func()
	release = func() {
		for _, f := range slices.Backward(held) {
			f()
		}
	}
	locks, err := filepath.Glob(filepath.Join(s.dir, "targets", "*", "*", "lock"))
	if err != nil {
		return release, err
	}
	ctx, cancel := context.WithTimeout(ctx, sweepWait)
	defer cancel()
	for _, name := range locks {
		unlock, err := lockFile(ctx, name)
		if errors.Is(err, context.DeadlineExceeded) {
			err = Fail(TargetGone, "there are runs in progress; sweep when they have ended")
		}
		if err != nil {
			return release, err
		}
		held = append(held, unlock)
	}
	return release, nil
}

// markRunContent marks the artifacts of all recorded runs as referenced.
func (s *Studio) markRunContent(ctx context.Context, named map[blob.Sum]bool) error {
	if s.queue == nil {
		return errors.New("studio: sweeping needs the queue's leave to read all records")
	}
	worlds, err := s.canon.Worlds(ctx)
	if err != nil {
		return err
	}
	for _, w := range worlds {
		err := s.queue.Act(ctx, Asker{}, w.ID, ReadQueue, func(g access.Grant) error {
			b, err := s.lockBook(ctx, g)
			if err != nil {
				return err
			}
			defer b.mu.Unlock()
			for _, e := range b.runs {
				for _, a := range e.run.Artifacts {
					named[a.SHA256] = true
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// sumForm matches the hashes of content in journals, in any field.
var sumForm = lazyregexp.New(`[0-9a-f]{64}`)

// markTargetContent marks everything in the targets' journals that looks like a hash as referenced.
func (s *Studio) markTargetContent(named map[blob.Sum]bool) error {
	err := filepath.WalkDir(filepath.Join(s.dir, "targets"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".ndjson" {
			return err
		}
		b, err := os.ReadFile(path)
		for _, text := range sumForm.FindAll(b, -1) {
			if sum, err := blob.ParseSum(string(text)); err == nil {
				named[sum] = true
			}
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil // no target was used yet
	}
	return err
}
