package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/front"
	"loregate/internal/identity"
	"loregate/internal/markup"
	"loregate/internal/member"
	"loregate/internal/slicesx"
	"loregate/internal/transfer"
	"loregate/internal/wait"
	"loregate/internal/witness"
	"loregate/internal/world"
)

// Streams are the standard input and output that a protocol is served on.
type Streams struct {
	In  io.Reader
	Out io.Writer
}

// runAsOperator runs f as one request of the operator in a world (the zero id for the instance).
func (a *App) runAsOperator(ctx context.Context, w access.WorldID, operation string, effect access.Effect,
	f func(access.Grant) error) error {
	return a.WithGrant(ctx, Operator(), access.Request{Operation: operation, Effect: effect, Operator: true, World: w}, f)
}

// resolveWorld resolves a world for the command line: by slug or UUID, or the only world if name is
// "".
func (a *App) resolveWorld(ctx context.Context, name string) (access.WorldID, error) {
	if name != "" {
		w, err := worlds{a.Canon}.Resolve(ctx, Operator(), name)
		if !errors.Is(err, fault.NotFound) {
			return w, err
		}
	}
	all, err := a.Canon.Worlds(ctx)
	if err != nil {
		return access.WorldID{}, err
	}
	const maxNamed = 20
	slugs := strings.Join(slicesx.Map(all[:min(len(all), maxNamed)], func(w canon.World) string { return w.Slug }), ", ")
	if n := len(all) - maxNamed; n > 0 {
		slugs += fmt.Sprintf(" and the %d others of loregate world list", n)
	}
	switch {
	case len(all) == 0:
		err = fault.New(fault.NotFound, "there is no world yet; create one with: loregate world create NAME")
	case name != "":
		err = fault.New(fault.NotFound, "there is no world %q; name one of %s", markup.Shorten(name, 64), slugs)
	case len(all) > 1:
		err = fault.BadField("world", "there are several worlds; name one of %s, with --world or in LOREGATE_WORLD", slugs)
	default:
		return all[0].ID, nil
	}
	return access.WorldID{}, err
}

// FirstWorld is the slug of the world that EnsureWorld creates in an empty store.
const FirstWorld = "main"

// EnsureWorld creates the first world if there is none. Several processes may start at once on an
// empty folder; one of them creates it.
func (a *App) EnsureWorld(ctx context.Context) error {
	all, err := a.Canon.Worlds(ctx)
	if err != nil || len(all) > 0 {
		return err
	}
	_, err = a.CreateWorld(ctx, canon.NewWorld{Slug: FirstWorld, Title: "Main", First: true})
	if errors.Is(err, fault.Conflict) {
		return nil
	}
	return err
}

// CreateWorld creates a world.
func (a *App) CreateWorld(ctx context.Context, n canon.NewWorld) (w canon.World, err error) {
	err = a.runAsOperator(ctx, access.WorldID{}, "create_world", access.Write, func(g access.Grant) error {
		w, err = a.Canon.CreateWorld(ctx, g, n)
		return err
	})
	return w, err
}

// ForkWorld creates a world that begins with the current state of another.
func (a *App) ForkWorld(ctx context.Context, source string, n canon.NewWorld) (w canon.World, err error) {
	src, err := a.resolveWorld(ctx, source)
	if err != nil {
		return w, err
	}
	err = a.runAsOperator(ctx, access.WorldID{}, "fork_world", access.Write, func(g access.Grant) error {
		w, err = a.Canon.Fork(ctx, g, src, n)
		return err
	})
	if err != nil {
		return w, err
	}
	err = a.runAsOperator(ctx, src, "fork_world", access.Read, func(from access.Grant) error {
		return a.runAsOperator(ctx, w.ID, "fork_world", access.Write, func(to access.Grant) error {
			return a.places.CarryClock(ctx, from, to)
		})
	})
	return w, err
}

// sweepForks discards the unfinished worlds of killed processes. It repeats every minute as long as
// an unfinished world remains whose process may still be writing it. stop waits for its end.
func (a *App) sweepForks(ctx context.Context) (stop func()) {
	return runBehind(ctx, func(ctx context.Context) {
		for {
			left, err := a.Canon.SweepForks(ctx)
			if err != nil && ctx.Err() == nil {
				a.logger.Error("an unfinished fork could not be discarded; it is tried again later", "error", err)
			}
			if left == 0 && err == nil || !wait.For(ctx, time.Minute) {
				return
			}
		}
	})
}

// updateWorld plans and commits a change of the operator in a world.
func (a *App) updateWorld(ctx context.Context, world, operation string, effect access.Effect,
	plan func(*canon.Plan) error) error {
	_, err := a.commitToWorld(ctx, world, access.Request{Operation: operation, Effect: effect}, plan)
	return err
}

// commitToWorld is updateWorld for a request that may be a dry run.
func (a *App) commitToWorld(ctx context.Context, world string, r access.Request,
	plan func(*canon.Plan) error) (receipt canon.Receipt, err error) {
	if r.World, err = a.resolveWorld(ctx, world); err != nil {
		return receipt, err
	}
	r.Operator = true
	err = a.WithGrant(ctx, Operator(), r, func(g access.Grant) error {
		receipt, err = a.Canon.Update(ctx, g, plan)
		return err
	})
	return receipt, err
}

// WorldChange is a change of a world's title and settings.
type WorldChange struct {
	World  string
	Edit   func(title *string, s *canon.Settings)
	DryRun bool // only check, and list in the receipt the cards that more readers would see
}

// ConfigureWorld changes a world's title and settings.
func (a *App) ConfigureWorld(ctx context.Context, world string, edit func(title *string, s *canon.Settings)) error {
	_, err := a.ChangeWorld(ctx, WorldChange{World: world, Edit: edit})
	return err
}

// ChangeWorld changes a world's title and settings. A new starter location must be visible to
// players. Other name rules may open cards, which the receipt lists.
func (a *App) ChangeWorld(ctx context.Context, c WorldChange) (canon.Receipt, error) {
	r := access.Request{Operation: "configure_world", Effect: access.Write, DryRun: c.DryRun}
	return a.commitToWorld(ctx, c.World, r, func(p *canon.Plan) error {
		w := p.World()
		before := w.Settings.Starter
		c.Edit(&w.Title, &w.Settings)
		if w.Settings.Starter != before {
			if err := world.CheckStarter(ctx, p.Snapshot, w.Settings.Starter); err != nil {
				return err
			}
		}
		return p.Configure(w.Title, w.Settings)
	})
}

// MemberSpec describes a membership.
type MemberSpec struct {
	Subject access.Subject
	Role    access.Role // RoleNone removes the member
	May     *access.May // of RoleUser; nil keeps a member's right, and lets a new one write
	Player  string      // player card that the subject is bound to; "" binds it to none
}

// SetMember makes a subject a member of a world, or changes its membership.
func (a *App) SetMember(ctx context.Context, world string, m MemberSpec) error {
	return a.updateWorld(ctx, world, "set_member", access.Write, func(p *canon.Plan) error {
		set := canon.MemberImage{Subject: m.Subject, Role: m.Role}
		if m.Player != "" {
			c, err := p.Card(m.Player)
			if err != nil {
				return err
			}
			set.Player = c.ID
		}
		if m.May != nil {
			set.May = *m.May
			return p.SetMember(set)
		}
		list, err := p.Members(ctx)
		if err != nil {
			return err
		}
		if i := slices.IndexFunc(list, func(o canon.Member) bool { return o.Subject == m.Subject }); i >= 0 {
			set.May = list[i].May
		}
		return p.SetMember(set)
	})
}

// Members lists a world's members.
func (a *App) Members(ctx context.Context, world string) (list []canon.Member, err error) {
	id, err := a.resolveWorld(ctx, world)
	if err != nil {
		return nil, err
	}
	err = a.runAsOperator(ctx, id, "list_members", access.Read, func(g access.Grant) error {
		return a.Canon.Read(ctx, g, func(s *canon.Snapshot) (err error) {
			list, err = s.Members(ctx)
			return err
		})
	})
	return list, err
}

// Invite creates an invitation to a world and returns its code. may is the right of invited users.
// good is the lifetime of the code.
func (a *App) Invite(ctx context.Context, world string, role access.Role, may access.May,
	good time.Duration) (code string, err error) {
	id, err := a.resolveWorld(ctx, world)
	if err != nil {
		return "", err
	}
	err = a.runAsOperator(ctx, id, "invite", access.Write, func(g access.Grant) error {
		_, code, err = a.Identity.Invite(ctx, identity.InvitationSpec{World: id, Role: role, May: may, By: g.Caller().Subject,
			Life: good})
		return err
	})
	return code, err
}

// CreateKey creates a key for worlds by name. Without names it opens the only world; an operator's
// key without names opens all.
func (a *App) CreateKey(ctx context.Context, spec identity.KeySpec, names []string) (secret, id string, err error) {
	if err := a.resolveWorlds(ctx, &spec, names); err != nil {
		return "", "", err
	}
	err = a.runAsOperator(ctx, access.WorldID{}, "create_key", access.Write, func(g access.Grant) error {
		spec.CreatedBy = g.Caller().Subject
		key, shown, err := a.Identity.CreateKey(ctx, spec)
		secret, id = shown, key.ID
		return err
	})
	return secret, id, err
}

// resolveWorlds fills in the worlds that a key opens. No names are the only world or, for an operator,
// all worlds.
func (a *App) resolveWorlds(ctx context.Context, spec *identity.KeySpec, names []string) error {
	spec.Worlds = map[access.WorldID]access.Role{}
	if len(names) == 0 && !spec.Operator {
		names = []string{""}
	}
	for _, name := range names {
		w, err := a.resolveWorld(ctx, name)
		if err != nil {
			return err
		}
		spec.Worlds[w] = spec.MaxRole
	}
	return nil
}

// openMembers adds the surface on which people manage a world's members and keys.
func (a *App) openMembers() {
	a.Surfaces = append(a.Surfaces, member.New(member.Config{Canon: a.Canon, Identity: a.Identity,
		Surfaces: a.programSurfaces(), Now: a.now}))
}

// programSurfaces returns the surfaces with tools, to which people can limit a program.
func (a *App) programSurfaces() (names []string) {
	for _, s := range a.Surfaces {
		if s.Name != member.Surface && s.Name != transfer.Surface && s.Name != front.Surface {
			names = append(names, s.Name)
		}
	}
	return names
}

// Purge erases the body of a version of a card.
func (a *App) Purge(ctx context.Context, world, card string, version uint32) error {
	return a.updateWorld(ctx, world, "purge", access.Destroy, func(p *canon.Plan) error {
		c, err := p.Card(card)
		if err != nil {
			return err
		}
		v, err := p.VersionOf(ctx, c, version)
		if err != nil {
			return err
		}
		return p.Purge(c, v)
	})
}

// Rebuild recreates the tables of a world, or of all worlds for "", from their streams.
func (a *App) Rebuild(ctx context.Context, world string, repair canon.Repair) (list []canon.Rebuilt, err error) {
	all, err := a.Canon.Worlds(ctx)
	if err != nil {
		return nil, err
	}
	if world != "" {
		id, err := a.resolveWorld(ctx, world)
		if err != nil {
			return nil, err
		}
		all = []canon.World{{ID: id}}
	}
	err = a.runAsOperator(ctx, access.WorldID{}, "rebuild", access.Write, func(g access.Grant) error {
		if err := a.requireSoundStore(ctx); err != nil {
			return err
		}
		for _, w := range all {
			r, err := a.Canon.Rebuild(ctx, g, w.ID, repair)
			if err != nil {
				return err
			}
			list = append(list, r)
		}
		return nil
	})
	return list, err
}

// rebuildStale rebuilds the tables that an upgrade of the store left to be rebuilt. If that fails,
// the old tables stay in use: they show less than they could, and never more.
func (a *App) rebuildStale(ctx context.Context) error {
	list, err := a.Canon.Stale(ctx)
	if err != nil || len(list) == 0 {
		return err
	}
	return a.runAsOperator(ctx, access.WorldID{}, "rebuild", access.Write, func(g access.Grant) error {
		for _, w := range list {
			a.logger.Info("the store was upgraded: rebuilding the tables of a world from its stream", "world", w)
			if _, err := a.Canon.Rebuild(ctx, g, w, canon.KeepRebuilt); err != nil {
				a.logger.Error(
					"the tables could not be rebuilt; former names stay hidden until loregate rebuild --repair succeeds",
					"world",
					w,
					"error",
					err,
				)
			}
		}
		return nil
	})
}

// requireSoundStore returns an error if the store itself is damaged. A rebuild compares its result
// with the readable part of the store, so damage outside that part would be reported as identical.
func (a *App) requireSoundStore(ctx context.Context) error {
	faults, err := a.store.Verify(ctx)
	if err != nil {
		return err
	}
	if len(faults) > 0 {
		return fault.New(fault.Unavailable, "the store is damaged (%s), and a rebuild cannot repair that: %s", faults[0],
			repairAdvice(a.Config))
	}
	_, err = canon.VerifyStreams(ctx, a.store)
	return err
}

// Verify verifies every chain: the streams of the canon and the segments of access records. With
// against, a file or folder of statements that were written outside the store (Witness), it also
// checks that the store still has all that they state. Its error names the first broken link.
func (a *App) Verify(ctx context.Context, against string) (report string, err error) {
	if err := a.log.Flush(ctx); err != nil {
		return "", err
	}
	var b strings.Builder
	stated := &witness.Stated{}
	if against != "" {
		if stated, err = a.readStatements(ctx, against, &b); err != nil {
			return "", err
		}
	}
	err = a.runAsOperator(ctx, access.WorldID{}, "audit_verify", access.Read, func(g access.Grant) error {
		streams, err := a.Canon.Verify(ctx, g, stated.Streams)
		for _, s := range streams {
			fmt.Fprintf(&b, "%s: %d commits, chain intact%s\n", s.Stream, s.Commits, s.Gaps)
		}
		broken := canon.BrokenIn(err)
		if err != nil && len(broken) == 0 {
			return err
		}
		names, slugs := a.nameStreams(ctx)
		for _, one := range broken {
			fmt.Fprintf(&b, "%s: BROKEN: %s: %s\n", one.Stream, names(one.Stream), one.Lost())
		}
		if len(broken) > 0 {
			err = fmt.Errorf("%w\n%s", err, lostAdvice(broken, slugs))
		}
		v, failed := access.VerifySegments(ctx, a.store, stated.Records)
		if failed == nil {
			fmt.Fprintf(&b, "access records: %d in %d segments of %d processes, chains intact\n", v.Records, v.Segments,
				v.Processes)
		}
		return errors.Join(err, failed)
	})
	return b.String(), err
}

// AccessTail yields the latest access records, oldest first. With TailOptions.Follow it goes on
// with new records.
func (a *App) AccessTail(ctx context.Context, o access.TailOptions) iter.Seq2[access.Record, error] {
	return access.Tail(ctx, a.store, o)
}
