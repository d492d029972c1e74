package exchange

import (
	"context"
	"fmt"
	"strings"
)

// build makes the cards and links of all areas.
func (x *ranvier) build(ctx context.Context) error {
	for _, a := range x.areas {
		if err := x.cards(ctx, a); err != nil {
			return err
		}
	}
	placed := x.placings()
	for _, a := range x.areas {
		for _, r := range a.rooms {
			x.s.tie(r.file, "within", r.sheet, a.sheet, nil)
			x.written(r)
			x.hold(&r.ranvierThing, r.sheet, r.Items)
			if err := x.settle(ctx, r, placed); err != nil {
				return err
			}
		}
		for _, r := range a.rooms {
			x.beside(r)
		}
		for _, i := range a.items {
			x.hold(&i.ranvierThing, i.sheet, i.Items)
		}
	}
	return x.unplaced(ctx, placed)
}

// cards makes the cards of an area, of its rooms, items and quests.
func (x *ranvier) cards(ctx context.Context, a *ranvierArea) (err error) {
	title := plain(a.Title)
	if recordName(title) == "" {
		title = a.name
	}
	fields := map[string]any{"realmType": "functional", "scope": "LOCAL", "ranvier": jsonable(a.Rest)}
	if a.sheet, err = x.s.add(ctx, record{key: []string{"area", a.name}, file: a.file, name: title, or: []string{"area"}, typ: "Realm",
		codename: "ranvier-" + a.name, fields: fields, body: func(context.Context) string { return "" }}); err != nil {
		return err
	}
	for _, r := range a.rooms {
		if r.sheet, err = x.s.add(ctx, r.record("room", "Location", nil)); err != nil {
			return err
		}
	}
	for _, i := range a.items {
		more := map[string]any{"portable": !i.Meta.NoPickup}
		if len(i.Meta.Rest) > 0 {
			more["metadata"] = jsonable(i.Meta.Rest)
		}
		seen := ""
		if plain(i.RoomDesc) != i.called() {
			seen = plain(i.RoomDesc)
		}
		if i.sheet, err = x.s.add(ctx, i.record("item", "Item", more, seen)); err != nil {
			return err
		}
	}
	for _, q := range a.quests {
		if _, err = x.s.add(ctx, q.record("quest", "Quest", map[string]any{"requires": q.Requires}, plain(q.Completion))); err != nil {
			return err
		}
	}
	return nil
}

// placings counts the rooms that each kind of npc is placed in.
func (x *ranvier) placings() map[string]int {
	count := map[string]int{}
	for _, a := range x.areas {
		for _, r := range a.rooms {
			for _, p := range r.NPCs {
				count[p.ID]++
			}
		}
	}
	return count
}

// settle makes the characters of a room. A kind that stands in several rooms is as many
// characters, each named after its room.
func (x *ranvier) settle(ctx context.Context, r *ranvierRoom, placed map[string]int) error {
	again := map[string]int{}
	for _, p := range r.NPCs {
		npc := x.npcs[p.ID]
		if npc == nil {
			x.s.c.problem(r.file, r.line, "room %q: npc %q is not there", r.ref, p.ID)
			continue
		}
		again[p.ID]++
		rec := x.character(npc)
		if placed[p.ID] > 1 {
			here := r.ref
			if n := again[p.ID]; n > 1 {
				here = fmt.Sprintf("%s %d", here, n)
			}
			rec.key = append(rec.key, here)
			rec.codename += "-" + here
			rec.name += " (" + r.called() + ")"
			rec.or = []string{here}
			rec.fields = with(rec.fields, "aliases", []string{npc.called()})
		}
		sh, err := x.s.add(ctx, rec)
		if err != nil {
			return err
		}
		x.s.tie(r.file, "at", sh, r.sheet, nil)
		x.hold(&npc.ranvierThing, sh, npc.Items)
	}
	return nil
}

func (x *ranvier) character(n *ranvierNPC) record {
	more := map[string]any{}
	if len(n.Quests) > 0 {
		more["quests"] = n.Quests
	}
	return n.record("npc", "Character", more)
}

// unplaced makes characters of the kinds that stand in no room, and says so.
func (x *ranvier) unplaced(ctx context.Context, placed map[string]int) error {
	for _, a := range x.areas {
		for _, n := range a.npcs {
			if placed[n.ref] > 0 {
				continue
			}
			x.s.c.problem(n.file, n.line, "npc %q stands in no room", n.ref)
			sh, err := x.s.add(ctx, x.character(n))
			if err != nil {
				return err
			}
			x.hold(&n.ranvierThing, sh, n.Items)
		}
	}
	return nil
}

// hold links a holder with items, those named several times in a number.
func (x *ranvier) hold(by *ranvierThing, holder *sheet, items []placing) {
	count := map[string]int{}
	var order []string
	for _, p := range items {
		if count[p.ID]++; count[p.ID] == 1 {
			order = append(order, p.ID)
		}
	}
	for _, ref := range order {
		item := x.items[ref]
		if item == nil {
			x.s.c.problem(by.file, by.line, "%q: item %q is not there", by.ref, ref)
			continue
		}
		x.s.tie(by.file, "holds", holder, item.sheet, map[string]any{"quantity": count[ref]})
	}
}

// written makes the exits that a room lists.
func (x *ranvier) written(r *ranvierRoom) {
	for _, e := range r.Exits {
		to := x.rooms[e.Room]
		if to == nil {
			x.s.c.problem(r.file, r.line, "room %q: the exit %s leads to %q, which is not there; left out", r.ref, e.Direction, e.Room)
			continue
		}
		want := strings.ToLower(strings.TrimSpace(e.Direction))
		direction, ok := x.ways.take(r.sheet, want)
		if !ok {
			x.s.c.problem(r.file, r.line, "room %q has more than twelve exits; the one to %q is left out", r.ref, e.Room)
			continue
		}
		if direction != want {
			x.s.c.problem(r.file, r.line, "room %q: the exit %q to %q is %q now", r.ref, e.Direction, e.Room, direction)
		}
		x.exit(r, to, direction, plain(e.Leave))
	}
}

// beside makes the exits to rooms that lie next to one on the area's grid, where nothing
// else lies in that direction.
func (x *ranvier) beside(r *ranvierRoom) {
	for _, d := range directions {
		if len(r.Coordinates) != 3 || d.steps == [3]int{} || x.ways[r.sheet][d.name] {
			continue
		}
		for _, to := range r.area.rooms {
			if len(to.Coordinates) == 3 && to.Coordinates[0] == r.Coordinates[0]+d.steps[0] &&
				to.Coordinates[1] == r.Coordinates[1]+d.steps[1] && to.Coordinates[2] == r.Coordinates[2]+d.steps[2] {
				x.ways.take(r.sheet, d.name)
				x.exit(r, to, d.name, "")
				break
			}
		}
	}
}

func (x *ranvier) exit(r, to *ranvierRoom, direction, leave string) {
	attrs := map[string]any{"direction": direction}
	if leave != "" {
		attrs["leaveMessage"] = leave
	}
	door, ok := r.Doors[to.ref]
	if !ok {
		door, ok = to.Doors[r.ref]
	}
	switch {
	case ok && door.Locked:
		attrs["lockState"] = "locked"
	case ok:
		attrs["lockState"] = "unlocked"
	}
	if ok && door.Closed {
		attrs["door"] = "closed"
	}
	if key := x.items[door.LockedBy]; ok && key != nil {
		attrs["key"] = key.sheet.codename
	}
	x.s.tie(r.file, "exit", r.sheet, to.sheet, attrs)
}
