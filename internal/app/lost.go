package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
)

// refuseLostStreams verifies the chains of all streams. It makes the Canon refuse streams of which commits are
// lost, and logs each. Its error is a *canon.Broken if no world is whole.
func (a *App) refuseLostStreams(ctx context.Context, s canon.Store) error {
	whole, err := canon.VerifyStreams(ctx, s)
	broken := canon.BrokenIn(err)
	if err != nil && len(broken) == 0 {
		return err
	}
	names, slugs := a.nameStreams(ctx)
	isWorld := func(s canon.StreamID) bool { _, ok := canon.StreamWorld(s); return ok }
	if len(broken) > 0 && !slices.ContainsFunc(whole, func(v canon.Verified) bool { return isWorld(v.Stream) }) &&
		slices.ContainsFunc(broken, func(b *canon.Broken) bool { return isWorld(b.Stream) }) {
		return (&fault.Error{Kind: fault.Unavailable, RetryAfter: time.Minute,
			Message: "the store is damaged: commits of every world are lost; ask the operator to repair it"}).
			Because(fmt.Errorf("%s: %w", lostAdvice(broken, slugs), err))
	}
	lost := map[canon.StreamID]error{}
	for _, b := range broken {
		lost[b.Stream] = (&fault.Error{Kind: fault.Unavailable, RetryAfter: time.Minute,
			Message: fmt.Sprintf("%s is damaged: %s cannot be read or do not fit, so nothing of it is read or changed; "+
				"all else is served. Ask the operator: %s", names(b.Stream), b.Lost(), lostAdvice([]*canon.Broken{b}, slugs))}).
			Because(b)
		a.logger.Error("a part of the store is damaged and not served; all else is", "lost", names(b.Stream), "commits",
			b.Lost(), "why", b.Why, "do", lostAdvice([]*canon.Broken{b}, slugs))
	}
	a.Canon.SetLost(lost)
	a.lostStreams.Store(int64(len(lost)))
	return nil
}

// nameStreams returns a function that names streams for people, and the slugs of all worlds.
func (a *App) nameStreams(ctx context.Context) (names func(canon.StreamID) string, slugs map[access.WorldID]string) {
	slugs = worldSlugs(ctx, a.store)
	return func(s canon.StreamID) string { return streamName(s, slugs) }, slugs
}

// worldSlugs returns the slugs of all worlds. If the table of worlds cannot be read, they come from the streams.
func worldSlugs(ctx context.Context, s canon.Store) map[access.WorldID]string {
	slugs := map[access.WorldID]string{}
	// Worlds without a slug are named by their ids.
	err := s.Read(ctx, func(r canon.Reader) error {
		list, err := r.Worlds(ctx, canon.WorldQuery{All: true})
		for _, w := range list {
			slugs[w.ID] = w.Slug
		}
		return err
	})
	if err == nil {
		return slugs
	}
	_ = s.Read(ctx, func(r canon.Reader) error {
		heads, err := r.Streams(ctx, "")
		for _, h := range heads {
			if w, ok := canon.StreamWorld(h.Stream); ok {
				slugs[w] = canon.SlugInStream(ctx, r, w)
			}
		}
		return err
	})
	return slugs
}

// streamName names a stream for people.
func streamName(s canon.StreamID, slugs map[access.WorldID]string) string {
	if w, ok := canon.StreamWorld(s); ok {
		return "the world " + worldName(w, slugs)
	}
	kind, _, _ := strings.Cut(string(s), ":")
	if w := ledgerWorld(s); !w.IsZero() {
		return fmt.Sprintf("the ledger %s of the world %s", kind, worldName(w, slugs))
	}
	return "the ledger " + string(s)
}

func worldName(w access.WorldID, slugs map[access.WorldID]string) string {
	if slug := slugs[w]; slug != "" {
		return slug
	}
	return w.String()
}

// ledgerWorld returns the world that a ledger is named after; the zero id if it is named after none.
func ledgerWorld(s canon.StreamID) (w access.WorldID) {
	_, id, _ := strings.Cut(string(s), ":")
	name, _, _ := strings.Cut(id, "/")
	if w.UnmarshalText([]byte(name)) != nil {
		return access.WorldID{}
	}
	return w
}

// lostAdvice gives the commands for a store that lacks commits of some streams.
func lostAdvice(broken []*canon.Broken, slugs map[access.WorldID]string) string {
	var names []string
	ledgers := ""
	for _, b := range broken {
		if w, ok := canon.StreamWorld(b.Stream); ok {
			names = append(names, worldName(w, slugs))
		} else {
			ledgers = " --accept-loss"
		}
	}
	worlds := ""
	if len(names) > 0 {
		worlds = " --world " + strings.Join(names, ",")
	}
	return "restore a backup, or stop the server and run loregate repair" + worlds + ledgers +
		", which keeps the readable cards and records the loss; loregate copy --worlds whole copies the whole worlds to another store"
}

// nameLostWorlds adds to the error of a store that is too damaged to be opened which worlds are whole and which are
// lost.
func nameLostWorlds(ctx context.Context, c Config, damage error) error {
	s, err := openStore(ctx, c, Options{Damaged: true})
	if err != nil {
		return damage
	}
	defer func() { _ = s.Close() }() // it was only read
	whole, err := canon.VerifyStreams(ctx, s)
	broken := canon.BrokenIn(err)
	if err != nil && len(broken) == 0 {
		return damage
	}
	slugs := worldSlugs(ctx, s)
	var kept, lost []string
	for _, v := range whole {
		if w, ok := canon.StreamWorld(v.Stream); ok {
			kept = append(kept, worldName(w, slugs))
		}
	}
	for _, b := range broken {
		lost = append(lost, streamName(b.Stream, slugs)+" ("+b.Lost()+")")
	}
	text := "worlds with whole chains: " + orNone(kept)
	if len(lost) > 0 {
		text += "; lost: " + orNone(lost) + "; " + lostAdvice(broken, slugs)
	}
	return fmt.Errorf("%w; %s", damage, text)
}

func orNone(list []string) string {
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, ", ")
}

// isDamage reports whether an error says that stored data are damaged.
func isDamage(err error) bool { return errors.Is(err, canon.ErrDamaged) }
