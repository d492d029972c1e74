package identity

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"loregate/internal/fault"
)

// watchers are the open streams, by the key they were opened with.
type watchers struct {
	mu    sync.Mutex
	byKey map[string]map[*watcher]struct{} // guarded by mu
	doubt bool                             // guarded by mu: a key could not be read
	ended bool                             // guarded by mu
}

type watcher struct {
	done    chan struct{}
	expires time.Time // the key's; zero if it never expires. Guarded by watchers.mu
	maker   string    // the key that the key was made with; "" if there is none. Guarded by watchers.mu
}

func newWatchers() *watchers { return &watchers{byKey: map[string]map[*watcher]struct{}{}} }

// Watch returns a channel that closes when the key is revoked or expires: at once for a revocation
// in this process, within a second for one in another. Call stop when the stream ends. A key id of
// "" is never revoked.
func (s *Service) Watch(ctx context.Context, keyID string) (ended <-chan struct{}, stop func()) {
	w := &watcher{done: make(chan struct{})}
	if keyID == "" {
		return w.done, func() {}
	}
	s.watch.add(keyID, w)
	// The key may have been revoked since its authentication. If the store does not answer, the
	// poll asks it again.
	if err := s.recheckKey(ctx, keyID); err != nil {
		s.watch.setDoubt(true)
	}
	return w.done, func() { s.watch.remove(keyID, w) }
}

// poll checks for other processes' changes, until ctx ends.
func (s *Service) poll(ctx context.Context) {
	defer close(s.done)
	tick := time.NewTicker(s.cfg.Poll)
	defer tick.Stop()
	seen, failing := uint64(0), false
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		generation, err := s.cfg.Store.Generation(ctx)
		if err == nil && (generation != seen || s.watch.inDoubt()) {
			if err = s.reloadAll(ctx); err == nil {
				seen = generation
			}
		}
		s.watch.expireKeys(s.cfg.Now())
		if err != nil && !failing && ctx.Err() == nil {
			s.cfg.Logger.Error("keys and tokens cannot be read; revocations by other processes take effect late", "error", err)
		}
		failing = err != nil
	}
}

// reloadAll marks everything cached from the store as stale, and checks all watched keys again.
func (s *Service) reloadAll(ctx context.Context) error {
	s.epoch.Add(1)
	s.ring.markStale()
	s.watch.setDoubt(false)
	for _, id := range s.watch.keyIDs() {
		if err := s.recheckKey(ctx, id); err != nil {
			s.watch.setDoubt(true)
			return err
		}
	}
	return nil
}

// recheckKey ends the watches of a key that is no longer usable.
func (s *Service) recheckKey(ctx context.Context, id string) error {
	k, ok, err := s.cfg.Store.KeyByID(ctx, id)
	if err != nil {
		return err
	}
	if !ok || !k.Good(s.cfg.Now()) {
		s.watch.endKey(id)
		return nil
	}
	s.watch.setKey(id, k)
	err = s.checkMaker(ctx, k)
	if errors.Is(err, fault.Unauthorized) {
		s.watch.endKey(id)
		return nil
	}
	return err
}

func (ws *watchers) add(id string, w *watcher) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if ws.ended {
		close(w.done)
		return
	}
	if ws.byKey[id] == nil {
		ws.byKey[id] = map[*watcher]struct{}{}
	}
	ws.byKey[id][w] = struct{}{}
}

func (ws *watchers) remove(id string, w *watcher) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	delete(ws.byKey[id], w)
	if len(ws.byKey[id]) == 0 {
		delete(ws.byKey, id)
	}
}

// endKey ends the watches of a key, and of the keys that were made with it.
func (ws *watchers) endKey(id string) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for key, all := range ws.byKey {
		for w := range all {
			if key == id || w.maker == id {
				close(w.done)
				delete(all, w)
			}
		}
		if len(all) == 0 {
			delete(ws.byKey, key)
		}
	}
}

func (ws *watchers) endAll() {
	for _, id := range ws.keyIDs() {
		ws.endKey(id)
	}
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.ended = true
}

func (ws *watchers) keyIDs() []string {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	return slices.Sorted(maps.Keys(ws.byKey))
}

// setKey stores the expiry and the maker of a key in its watches.
func (ws *watchers) setKey(id string, k Key) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for w := range ws.byKey[id] {
		w.expires, w.maker = k.Expires, k.MadeWith
	}
}

// expireKeys ends the watches of expired keys.
func (ws *watchers) expireKeys(now time.Time) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for id, all := range ws.byKey {
		for w := range all {
			if !w.expires.IsZero() && !now.Before(w.expires) {
				close(w.done)
				delete(all, w)
			}
		}
		if len(all) == 0 {
			delete(ws.byKey, id)
		}
	}
}

func (ws *watchers) setDoubt(d bool) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.doubt = d
}

func (ws *watchers) inDoubt() bool {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	return ws.doubt
}
