package canon

import (
	"context"
	"slices"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/lazyregexp"
)

// slugForm is the format of a world's slug, which appears in addresses and file names.
var slugForm = lazyregexp.New(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)

// NewWorld describes a world to create.
type NewWorld struct {
	Slug     string
	Title    string
	Settings Settings
	First    bool // fault.Conflict if a world exists already
}

// CreateWorld creates a world and makes the caller its admin. It needs an operator's grant.
func (c *Canon) CreateWorld(ctx context.Context, g access.Grant, n NewWorld) (World, error) {
	first, err := c.planNewWorld(ctx, g, n, World{})
	if err != nil {
		return World{}, err
	}
	id := access.WorldID(c.newID(""))
	if err := c.place(ctx, g, id, n.Slug); err != nil {
		return World{}, err
	}
	if _, err := c.commitTo(ctx, g, id, first); err != nil {
		return World{}, err
	}
	return c.World(ctx, id)
}

// planNewWorld returns the changes that create a world with the caller as its admin.
func (c *Canon) planNewWorld(ctx context.Context, g access.Grant, n NewWorld, origin World) (set ChangeSet, err error) {
	if !g.Valid() {
		return set, errClosed
	}
	if !g.Caller().Operator {
		return set, fault.New(fault.Denied, "only the instance's operator can create worlds")
	}
	if !slugForm.MatchString(n.Slug) {
		return set, fault.BadField("slug", "use 1 to 63 of a-z, 0-9 and '-'")
	}
	if err := checkSettings(n.Settings); err != nil {
		return set, err
	}
	if _, ok := c.store.(Placer); !ok { // Place finds a slug that is taken, even by a world of a database that is down
		err = c.read(ctx, func(r Reader) error {
			_, ok, err := First(r.Worlds(ctx, WorldQuery{Slug: n.Slug}))
			if err == nil && ok {
				err = takenFault(n.Slug)
			}
			return err
		})
	}
	set.Changes = []Change{
		{World: &WorldImage{Slug: n.Slug, Title: n.Title, Settings: n.Settings, Origin: origin.ID,
			OriginSeq: origin.OriginSeq}},
		{Member: &MemberImage{Subject: g.Caller().Subject, Role: access.RoleAdmin}},
	}
	if n.First {
		set.only = checkNoWorld
	}
	if !origin.ID.IsZero() {
		set.Note = forkNote
	}
	return set, err
}

// checkNoWorld refuses if another process has created a world meanwhile.
func checkNoWorld(ctx context.Context, r Reader) error {
	all, err := r.Worlds(ctx, WorldQuery{All: true})
	if err == nil && len(all) > 0 {
		err = fault.New(fault.Conflict, "there is already a world; use it, or create another one with a name")
	}
	return err
}

// World finds a world by its id. It is for wiring code that has no grant yet and must itself
// decide who may learn of the world.
func (c *Canon) World(ctx context.Context, id access.WorldID) (w World, err error) {
	err = c.read(ctx, func(r Reader) error {
		found, ok, err := finishedWorld(ctx, r, id)
		if err == nil && !ok {
			err = fault.New(fault.NotFound, "no such world")
		}
		w = found
		return err
	})
	return w, err
}

// WorldBySlug finds a world by its slug, as World does.
func (c *Canon) WorldBySlug(ctx context.Context, slug string) (w World, ok bool, err error) {
	if list, _, known := c.cachedWorlds(ctx); known {
		if i := slices.IndexFunc(list, func(w World) bool { return w.Slug == slug }); i >= 0 {
			return list[i], true, nil
		}
		return World{}, false, nil
	}
	err = c.read(ctx, func(r Reader) (err error) {
		w, ok, err = First(r.Worlds(ctx, WorldQuery{Slug: slug}))
		return err
	})
	if w.Unfinished() {
		return World{}, false, err
	}
	return w, ok, err
}

// Worlds lists all worlds, by slug. It is for wiring code and the operator.
func (c *Canon) Worlds(ctx context.Context) (list []World, err error) {
	list, mark, known := c.cachedWorlds(ctx)
	if known {
		return slices.Clone(list), nil
	}
	err = c.read(ctx, func(r Reader) (err error) {
		list, err = r.Worlds(ctx, WorldQuery{All: true})
		return err
	})
	list = slices.DeleteFunc(list, World.Unfinished)
	if err == nil && mark != (Mark{}) {
		c.worlds.Store(&worldList{mark, slices.Clone(list)})
	}
	return list, err
}

// worldList caches all finished worlds, by slug, while the store keeps the same mark. A caller with
// a role in every world, such as that of stdio, lists them at each call.
type worldList struct {
	mark Mark // mark of the store before the worlds were read
	list []World
}

// cachedWorlds returns the cached worlds, if they are current, and the store's mark; without a mark
// it returns the zero Mark. Calls under a Basis bypass the cache, because the basis must record the
// read.
func (c *Canon) cachedWorlds(ctx context.Context) (list []World, mark Mark, known bool) {
	mark, ok := c.storeMark()
	if !ok {
		return nil, Mark{}, false
	}
	if b, _ := ctx.Value(basisKey{}).(*ReadSet); b != nil {
		return nil, mark, false
	}
	if l := c.worlds.Load(); l != nil && l.mark == mark {
		return l.list, mark, true
	}
	return nil, mark, false
}

// Moved returns the heads of the worlds whose streams do not end at the heads in seen. It leaves out
// worlds whose commits are lost. It is for wiring code and reads nothing else.
func (c *Canon) Moved(ctx context.Context, seen map[access.WorldID]Head) (moved map[access.WorldID]Head, err error) {
	moved = map[access.WorldID]Head{}
	err = c.read(ctx, func(r Reader) error {
		streams, err := r.Streams(ctx, worldKind)
		if err != nil {
			return err
		}
		for _, s := range streams {
			w, ok := StreamWorld(s.Stream)
			if !ok || seen[w] == s.Head || c.checkLost(s.Stream) != nil {
				continue
			}
			_, ok, err = finishedWorld(ctx, r, w)
			if err != nil {
				return err
			}
			if ok {
				moved[w] = s.Head
			}
		}
		return nil
	})
	return moved, err
}

// Memberships lists the worlds that a subject is a member of.
func (c *Canon) Memberships(ctx context.Context, s access.Subject) (list []Member, err error) {
	err = c.read(ctx, func(r Reader) (err error) {
		list, err = r.Members(ctx, MemberQuery{Subject: s})
		return err
	})
	return list, err
}

// Configure changes the world's title and settings. The rest of the plan is made under these. Cards that other name
// rules open to players have their texts divided.
func (p *Plan) Configure(title string, s Settings) error {
	if p.grant.Role() < access.RoleAdmin {
		return fault.New(fault.Denied, "only the world's admin can configure it").With("required_role", "admin")
	}
	if err := checkSettings(s); err != nil {
		return err
	}
	if err := p.divideBeforeRules(s); err != nil {
		return err
	}
	p.set.Changes = append(p.set.Changes, Change{World: &WorldImage{
		Slug: p.world.Slug, Title: title, Settings: s, Origin: p.world.Origin, OriginSeq: p.world.OriginSeq,
	}})
	return nil
}

func checkSettings(s Settings) error {
	if s.BatchRole != "" {
		if _, ok := access.ParseRole(s.BatchRole); !ok {
			return fault.BadField("batch_role", "use user, gm or admin")
		}
	}
	if s.GMRights != "" && s.GMRights != GMRightsCampaign && s.GMRights != GMRightsAll {
		return fault.BadField("gm_rights", "use campaign or all")
	}
	if len(s.GMParts) > 50 {
		return fault.BadField("gm_parts", "at most 50 parts")
	}
	for _, part := range s.GMParts {
		if err := checkName("gm_parts", part); err != nil {
			return err
		}
	}
	return nil
}

// SetMember gives a subject a role in the world, or removes it with RoleNone. May is kept for the role user only.
func (p *Plan) SetMember(m MemberImage) error {
	if p.grant.Role() < access.RoleAdmin {
		return fault.New(fault.Denied, "only the world's admin can manage its members").With("required_role", "admin")
	}
	if err := access.CheckSubject(m.Subject); err != nil {
		return fault.BadField("subject", "%v", err)
	}
	if !m.Player.IsZero() {
		if _, ok, err := p.ByID(p.ctx, m.Player); err != nil || !ok {
			if err != nil {
				return err
			}
			return fault.BadField("player", "there is no such card")
		}
	}
	m.May = m.May.For(m.Role)
	p.set.Changes = append(p.set.Changes, Change{Member: &m})
	return nil
}
