package ranvier

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"loregate/internal/exchange"
	"loregate/internal/exchange/record"
)

// buildCards adds the cards and links of all areas.
func (x *reader) buildCards(ctx context.Context) error {
	for _, a := range x.areas {
		if err := x.addCards(ctx, a); err != nil {
			return err
		}
	}
	placed := x.countPlacements()
	for _, a := range x.areas {
		for _, r := range a.rooms {
			x.s.AddEdge(r.file, "within", r.sheet, a.sheet, nil)
			x.addListedExits(r)
			x.linkItems(&r.entity, r.sheet, r.Items)
			if err := x.addCharacters(ctx, r, placed); err != nil {
				return err
			}
		}
		x.addGridExits(a)
		for _, i := range a.items {
			x.linkItems(&i.entity, i.sheet, i.Items)
		}
	}
	return x.addUnplaced(ctx, placed)
}

// addCards adds the cards of an area and of its rooms, items and quests.
func (x *reader) addCards(ctx context.Context, a *area) (err error) {
	title := stripColours(a.Title)
	if record.CardName(title) == "" {
		title = a.name
	}
	fields := map[string]any{"realmType": "functional", "scope": "LOCAL", "ranvier": jsonMap(a.Rest)}
	if a.sheet, err = x.s.Add(ctx, record.Card{Key: []string{"area", a.name}, File: a.file, Name: title,
		Suffixes: []string{"area"}, Type: "Realm",
		Codename: "ranvier-" + a.name, Fields: fields}); err != nil {
		return err
	}
	for _, r := range a.rooms {
		if r.sheet, err = x.s.Add(ctx, r.toRecord("room", "Location", nil)); err != nil {
			return err
		}
	}
	for _, i := range a.items {
		more := map[string]any{"portable": !i.Meta.NoPickup}
		if len(i.Meta.Rest) > 0 {
			more["metadata"] = jsonMap(i.Meta.Rest)
		}
		seen := ""
		if stripColours(i.RoomDesc) != i.displayName() {
			seen = stripColours(i.RoomDesc)
		}
		if i.sheet, err = x.s.Add(ctx, i.toRecord("item", "Item", more, seen)); err != nil {
			return err
		}
	}
	for _, q := range a.quests {
		if _, err = x.s.Add(ctx, q.toRecord("quest", "Quest", map[string]any{"requires": q.Requires},
			stripColours(q.Completion))); err != nil {
			return err
		}
	}
	return nil
}

// countPlacements counts how often rooms list each npc definition.
func (x *reader) countPlacements() map[string]int {
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

// addCharacters adds the characters of a room. A definition that is placed more than once becomes
// one character for each placement, named after the room.
func (x *reader) addCharacters(ctx context.Context, r *room, placed map[string]int) error {
	again := map[string]int{}
	for _, p := range r.NPCs {
		npc := x.npcs[p.ID]
		if npc == nil {
			x.s.AddProblem(r.file, r.line, "room %q: npc %q does not exist", r.ref, p.ID)
			continue
		}
		again[p.ID]++
		rec := x.characterRecord(npc)
		if placed[p.ID] > 1 {
			here := r.ref
			if n := again[p.ID]; n > 1 {
				here = fmt.Sprintf("%s %d", here, n)
			}
			rec.Key = append(rec.Key, here)
			rec.Codename += "-" + here
			rec.Name += " (" + r.displayName() + ")"
			rec.Suffixes = []string{here}
			rec.Fields = record.WithField(rec.Fields, "aliases", []string{npc.displayName()})
		}
		sh, err := x.s.Add(ctx, rec)
		if err != nil {
			return err
		}
		x.s.AddEdge(r.file, "at", sh, r.sheet, nil)
		x.linkItems(&npc.entity, sh, npc.Items)
	}
	return nil
}

func (x *reader) characterRecord(n *npc) record.Card {
	more := map[string]any{}
	if len(n.Quests) > 0 {
		more["quests"] = n.Quests
	}
	return n.toRecord("npc", "Character", more)
}

// addUnplaced adds and reports the npcs that no room lists.
func (x *reader) addUnplaced(ctx context.Context, placed map[string]int) error {
	for _, a := range x.areas {
		for _, n := range a.npcs {
			if placed[n.ref] > 0 {
				continue
			}
			x.s.AddProblem(n.file, n.line, "npc %q is in no room", n.ref)
			sh, err := x.s.Add(ctx, x.characterRecord(n))
			if err != nil {
				return err
			}
			x.linkItems(&n.entity, sh, n.Items)
		}
	}
	return nil
}

// linkItems links a holder with its items. An item listed several times gets that quantity.
func (x *reader) linkItems(by *entity, holder *exchange.Sheet, items []placement) {
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
			x.s.AddProblem(by.file, by.line, "%q: item %q does not exist", by.ref, ref)
			continue
		}
		x.s.AddEdge(by.file, "holds", holder, item.sheet, map[string]any{"quantity": count[ref]})
	}
}

// addListedExits adds the exits that a room lists.
func (x *reader) addListedExits(r *room) {
	for _, e := range r.Exits {
		to := x.rooms[e.Room]
		if to == nil {
			x.s.AddProblem(r.file, r.line, "room %q: the exit %s leads to %q, which does not exist; left out", r.ref,
				e.Direction, e.Room)
			continue
		}
		want := strings.ToLower(strings.TrimSpace(e.Direction))
		direction, ok := x.directions.Take(r.sheet, want)
		if !ok {
			x.s.AddProblem(r.file, r.line, "room %q has more than twelve exits; the one to %q is left out", r.ref, e.Room)
			continue
		}
		if direction != want {
			x.s.AddProblem(r.file, r.line, "room %q: the direction %q of the exit to %q is now %q", r.ref, e.Direction, e.Room, direction)
		}
		x.addExit(r, to, direction, stripColours(e.Leave))
	}
}

// addGridExits adds exits to the adjacent rooms on the area's grid, in directions that have no exit
// yet.
func (x *reader) addGridExits(a *area) {
	at := map[[3]int]*room{} // the first room of each place
	for _, r := range slices.Backward(a.rooms) {
		if len(r.Coordinates) == 3 {
			at[[3]int(r.Coordinates)] = r
		}
	}
	for _, r := range a.rooms {
		if len(r.Coordinates) != 3 {
			continue
		}
		for direction, step := range record.GridSteps() {
			to := at[[3]int{r.Coordinates[0] + step[0], r.Coordinates[1] + step[1], r.Coordinates[2] + step[2]}]
			if to != nil && !x.directions[r.sheet][direction] {
				x.directions.Take(r.sheet, direction)
				x.addExit(r, to, direction, "")
			}
		}
	}
}

func (x *reader) addExit(r, to *room, direction, leave string) {
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
		attrs["key"] = key.sheet.Codename
	}
	x.s.AddEdge(r.file, "exit", r.sheet, to.sheet, attrs)
}
