package textworld

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/decoded"
	"loregate/internal/exchange"
	"loregate/internal/exchange/record"
	"loregate/internal/secrecy"
)

// circle is the import of a world of CircleMUD.
type circle struct {
	s          *record.Source
	rooms      map[int]*circleRoom
	roomOrder  []*circleRoom
	mobs, objs map[int]*circleThing
	zones      []*circleZone
	doors      map[[2]int]int // state of a door that a zone sets, by room and direction
	directions record.UsedDirections

	place, realm, item map[int]*exchange.Sheet
	lost               map[string]int // counts of the parts that are left out, by their name
}

// ImportCircle imports a world of CircleMUD or tbaMUD: the folder lib/world with its folders wld, mob,
// obj and zon, or one of their files. Zones become realms, rooms places with their exits and doors,
// mobiles characters where the zones put them, and objects items that rooms, mobiles and containers hold.
func ImportCircle(ctx context.Context, c *canon.Canon, g access.Grant, files fs.FS,
	o exchange.Options) (exchange.Summary, error) {
	return record.Import(ctx, c, g, "circlemud", o, func(s *record.Source) error {
		x := &circle{s: s, rooms: map[int]*circleRoom{}, mobs: map[int]*circleThing{}, objs: map[int]*circleThing{},
			doors: map[[2]int]int{}, directions: record.UsedDirections{}, place: map[int]*exchange.Sheet{},
			realm: map[int]*exchange.Sheet{}, item: map[int]*exchange.Sheet{}, lost: map[string]int{}}
		x.readFiles(files)
		if len(x.rooms) == 0 {
			return s.EmptyError("no file ending in .wld contains a room")
		}
		for _, step := range []func(context.Context) error{x.addZones, x.addRooms, x.addItems, x.runZones} {
			if err := step(ctx); err != nil {
				return err
			}
		}
		x.addExits()
		x.chooseStart()
		x.reportLost()
		return nil
	})
}

// readFiles reads all files of the world. A folder's index names the files that are in use.
func (x *circle) readFiles(files fs.FS) {
	p := exchange.NewPeek(files, x.s.Options.File)
	inUse := map[string]map[string]bool{}
	for _, name := range p.Paths() {
		if path.Base(name) == "index" {
			if data, ok := x.s.ReadFile(files, name); ok {
				inUse[path.Dir(name)] = map[string]bool{}
				for _, f := range strings.Fields(string(data)) {
					inUse[path.Dir(name)][f] = true
				}
			}
		}
	}
	for _, name := range p.WithSuffix(".wld", ".mob", ".obj", ".zon", ".shp", ".trg", ".qst") {
		if listed := inUse[path.Dir(name)]; listed != nil && !listed[path.Base(name)] {
			x.lost["files that the index does not name"]++
			continue
		}
		kind := path.Ext(name)
		if unread := map[string]string{".shp": "files of shops", ".trg": "files of scripts",
			".qst": "files of quests"}[kind]; unread != "" {
			x.lost[unread]++
			continue
		}
		data, ok := x.s.ReadFile(files, name)
		if !ok {
			continue
		}
		switch kind {
		case ".wld":
			x.readRooms(name, string(data))
		case ".mob":
			x.readThings(name, string(data), false, x.mobs)
		case ".obj":
			x.readThings(name, string(data), true, x.objs)
		case ".zon":
			x.readZone(name, string(data))
		}
	}
	slices.SortStableFunc(x.zones, func(a, b *circleZone) int { return cmp.Compare(a.number, b.number) })
	slices.SortStableFunc(x.roomOrder, func(a, b *circleRoom) int { return cmp.Compare(a.number, b.number) })
}

func (x *circle) addZones(ctx context.Context) (err error) {
	for _, z := range x.zones {
		if x.realm[z.number] != nil {
			x.s.AddProblem(z.file, z.line, "zone %d occurs twice; left out", z.number)
			continue
		}
		if x.realm[z.number], err = x.s.Add(ctx, record.Card{Key: []string{"zone", fmt.Sprint(z.number)},
			File: fmt.Sprintf("%s:%d", z.file, z.line), Name: cmp.Or(z.name, fmt.Sprintf("Zone %d", z.number)), Type: "Realm",
			Suffixes: []string{"zone", fmt.Sprintf("zone %d", z.number)}, Codename: fmt.Sprintf("circle-zone-%d", z.number),
			Fields: map[string]any{"realmType": "functional", "scope": "LOCAL", "circle": map[string]any{"number": z.number}},
		}); err != nil {
			return err
		}
	}
	return nil
}

// findZones returns the zone of each room, in the order of roomOrder, which is sorted: the first zone whose numbers
// include the room's.
func (x *circle) findZones() []*circleZone {
	zones, next := make([]*circleZone, len(x.roomOrder)), make([]int, len(x.roomOrder)+1)
	for i := range next {
		next[i] = i // the first room from here on that has no zone yet, or leads to it
	}
	free := func(i int) int {
		for next[i] != i {
			next[i] = next[next[i]]
			i = next[i]
		}
		return i
	}
	for _, z := range x.zones {
		from, _ := slices.BinarySearchFunc(x.roomOrder, z.bottom,
			func(r *circleRoom, bottom int) int { return cmp.Compare(r.number, bottom) })
		for i := free(from); i < len(zones) && x.roomOrder[i].number <= z.top; i = free(i) {
			zones[i], next[i] = z, i+1
		}
	}
	return zones
}

var sectors = []string{"inside", "city", "field", "forest", "hills", "mountains", "shallow water", "deep water",
	"air", "underwater"}

// ruleGods is the rule that hides the rooms that only gods may enter.
const ruleGods = "rooms of the gods"

func (x *circle) addRooms(ctx context.Context) (err error) {
	zones := x.findZones()
	for i, r := range x.roomOrder {
		z := zones[i]
		fields := map[string]any{"circle": map[string]any{"number": r.number, "extras": r.extras}}
		if r.sector >= 0 && r.sector < len(sectors) {
			fields["terrain"] = sectors[r.sector]
		}
		card := record.Card{Key: []string{"room", fmt.Sprint(r.number)}, File: fmt.Sprintf("%s:%d", r.file, r.line),
			Name: cmp.Or(strings.TrimSpace(r.name), fmt.Sprintf("Room %d", r.number)), Type: "Location", Form: record.Plain,
			Codename: fmt.Sprintf("circle-room-%d", r.number), Fields: fields,
			Text: record.Text(r.text)}
		if z != nil {
			card.Suffixes = []string{z.name}
		}
		card.Suffixes = append(card.Suffixes, fmt.Sprint(r.number))
		if r.flags&roomGods != 0 {
			card.Marks = []secrecy.Mark{{Rule: ruleGods}}
		}
		if r.flags&roomDeath != 0 {
			card.Text = append(card.Text, record.Block{Text: "Whoever enters this room dies.", GM: true})
		}
		if x.place[r.number], err = x.s.Add(ctx, card); err != nil {
			return err
		}
		if z != nil {
			x.s.AddEdge(r.file, "within", x.place[r.number], x.realm[z.number], nil)
		}
		if r.scripts > 0 {
			x.lost["scripts of rooms, mobiles and objects"] += r.scripts
		}
	}
	return nil
}

func (x *circle) addItems(ctx context.Context) (err error) {
	for _, n := range sortedNumbers(x.objs) {
		o := x.objs[n]
		x.lost["scripts of rooms, mobiles and objects"] += o.scripts
		if x.item[n], err = x.s.Add(ctx, record.Card{Key: []string{"object", fmt.Sprint(n)},
			File: fmt.Sprintf("%s:%d", o.file, o.line), Name: o.title("Object"), Suffixes: []string{fmt.Sprintf("object %d",
				n)},
			Type: "Item", Codename: fmt.Sprintf("circle-object-%d", n), Form: record.Plain, Fields: map[string]any{
				"portable": o.portable, "keywords": strings.Fields(o.keywords),
				"circle": map[string]any{"number": n, "kind": o.kind, "extras": o.extras}},
			Text: record.Text(o.seen)}); err != nil {
			return err
		}
	}
	return nil
}

func (t *circleThing) title(kind string) string {
	return cmp.Or(strings.TrimSpace(t.name), strings.TrimSpace(t.keywords), fmt.Sprintf("%s %d", kind, t.number))
}

func sortedNumbers[V any](m map[int]V) (all []int) {
	for n := range m {
		all = append(all, n)
	}
	slices.Sort(all)
	return all
}

// directionNames are the directions by their numbers.
var directionNames = []string{"north", "east", "south", "west", "up", "down", "northwest", "northeast", "southeast",
	"southwest"}

// States of doors.
const (
	doorClosed = 1
	doorLocked = 2
)

// addExits adds the exits of all rooms. Doors of the kinds 3 and 4 are hidden, and so for the GM.
func (x *circle) addExits() {
	var dead []string
	for _, r := range x.roomOrder {
		for _, e := range r.exits {
			to := x.place[e.to]
			if e.to <= 0 && x.rooms[e.to] == nil || e.to == 0 || e.to == 65535 {
				continue // a text without an exit
			}
			if to == nil || e.direction < 0 || e.direction >= len(directionNames) {
				dead = append(dead, fmt.Sprintf("%d to %d", r.number, e.to))
				continue
			}
			direction, ok := x.directions.Take(x.place[r.number], directionNames[e.direction])
			if !ok {
				dead = append(dead, fmt.Sprintf("%d to %d", r.number, e.to))
				continue
			}
			attrs := x.exitAttrs(r, e, direction)
			if e.door == 3 || e.door == 4 {
				x.lost["hidden doors, which are for the GM"]++
				x.s.AddGMEdge(r.file, "exit", x.place[r.number], to, attrs)
			} else {
				x.s.AddEdge(r.file, "exit", x.place[r.number], to, attrs)
			}
		}
	}
	if len(dead) > 0 {
		x.s.AddProblem("exits", 0, "%d exits lead to rooms that are not there; left out: %s", len(dead),
			exchange.FirstNames(dead))
	}
}

func (x *circle) exitAttrs(r *circleRoom, e circleExit, direction string) map[string]any {
	attrs := map[string]any{"direction": direction}
	if text := strings.TrimSpace(e.text); text != "" {
		attrs["description"] = text
	}
	if e.door > 0 {
		attrs["door"], attrs["lockState"] = "open", "unlocked"
		state, known := x.doors[[2]int{r.number, e.direction}]
		if known && state >= doorClosed {
			attrs["door"] = "closed"
		}
		if known && state == doorLocked {
			attrs["lockState"] = "locked"
		}
		if k := x.item[e.key]; k != nil && e.key > 0 {
			attrs["key"] = k.Codename
		}
	}
	return attrs
}

// placement is where a zone puts a mobile, and how many of it.
type placement struct {
	mob, room int
	count     int
	holds     map[int]int // objects by number
	line      int
	file      string
}

// runZones carries out the commands of all zones: mobiles and objects are put into rooms, objects into
// mobiles and containers, and doors are closed. A command that depends on the one before it belongs to
// the mobile or object that was put last.
func (x *circle) runZones(ctx context.Context) error {
	var all []*placement
	held := map[int]map[int]int{} // number of an object by the room that holds it
	inside := map[[2]int]int{}    // number of objects by container and object
	for _, z := range x.zones {
		var last *placement
		for _, c := range z.commands {
			a := func(i int) int { return numberAt(c.args, i) }
			switch c.letter {
			case 'M':
				last = &placement{mob: a(1), room: a(3), count: 1, holds: map[int]int{}, line: c.line, file: z.file}
				all = append(all, last)
			case 'O':
				if held[a(3)] == nil {
					held[a(3)] = map[int]int{}
				}
				held[a(3)][a(1)]++
			case 'G', 'E':
				if last != nil {
					last.holds[a(1)]++
				}
			case 'P':
				inside[[2]int{a(3), a(1)}]++
			case 'D':
				x.doors[[2]int{a(1), a(2)}] = a(3)
			}
		}
	}
	for _, room := range sortedNumbers(held) {
		x.hold(x.place[room], held[room])
	}
	for _, pair := range slices.SortedFunc(mapKeys(inside), func(a, b [2]int) int {
		return cmp.Or(a[0]-b[0],
			a[1]-b[1])
	}) {
		x.hold(x.item[pair[0]], map[int]int{pair[1]: 1})
	}
	return x.addMobiles(ctx, mergePlacements(all))
}

func mapKeys[K comparable, V any](m map[K]V) func(func(K) bool) {
	return func(yield func(K) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// hold links a holder with its objects.
func (x *circle) hold(holder *exchange.Sheet, objects map[int]int) {
	for _, n := range sortedNumbers(objects) {
		if holder == nil || x.item[n] == nil || x.item[n] == holder {
			x.lost["commands of zones about things that are not there"]++
			continue
		}
		x.s.AddEdge(holder.File, "holds", holder, x.item[n], map[string]any{"quantity": objects[n]})
	}
}

// mergePlacements joins the placements of a mobile in one room.
func mergePlacements(all []*placement) (merged []*placement) {
	seen := map[[2]int]*placement{}
	for _, p := range all {
		key := [2]int{p.mob, p.room}
		if old := seen[key]; old != nil {
			old.count++
			for n, count := range p.holds {
				old.holds[n] = max(old.holds[n], count)
			}
			continue
		}
		seen[key] = p
		merged = append(merged, p)
	}
	return merged
}

// addMobiles adds a character for each room that a mobile is put into. A mobile that is in several rooms
// is named after them.
func (x *circle) addMobiles(ctx context.Context, all []*placement) error {
	rooms, visible := map[int]int{}, map[int]int{}
	for _, p := range all {
		if rooms[p.mob]++; x.place[p.room] != nil && x.place[p.room].EffectiveLevel() <= access.LevelUser {
			visible[p.mob]++
		}
	}
	for _, p := range all {
		mob, at := x.mobs[p.mob], x.place[p.room]
		if mob == nil || at == nil {
			x.lost["commands of zones about things that are not there"]++
			continue
		}
		card := x.mobileCard(mob)
		card.Level = at.EffectiveLevel() // its name must not show a room that is hidden
		if visible[p.mob] > 1 || card.Level > access.LevelUser {
			card.Key = append(card.Key, fmt.Sprint(p.room))
			card.Codename += fmt.Sprintf("-%d", p.room)
			card.Fields["aliases"] = []string{card.Name}
			card.Name += " (" + x.rooms[p.room].name + ")"
			card.Suffixes = []string{fmt.Sprint(p.room)}
		}
		if p.count > 1 {
			card.Fields["count"] = p.count
		}
		sh, err := x.s.Add(ctx, card)
		if err != nil {
			return err
		}
		x.s.AddEdge(p.file, "at", sh, at, nil)
		x.hold(sh, p.holds)
	}
	for _, n := range sortedNumbers(x.mobs) {
		x.lost["scripts of rooms, mobiles and objects"] += x.mobs[n].scripts
		if rooms[n] == 0 {
			x.lost["mobiles that no zone puts anywhere; they are in no room"]++
			if _, err := x.s.Add(ctx, x.mobileCard(x.mobs[n])); err != nil {
				return err
			}
		}
	}
	return nil
}

func (x *circle) mobileCard(m *circleThing) record.Card {
	return record.Card{Key: []string{"mobile", fmt.Sprint(m.number)}, File: fmt.Sprintf("%s:%d", m.file, m.line),
		Name: m.title("Mobile"), Suffixes: []string{fmt.Sprintf("mobile %d", m.number)}, Type: "Character",
		Codename: fmt.Sprintf("circle-mobile-%d", m.number), Form: record.Plain, Fields: map[string]any{
			"keywords": strings.Fields(m.keywords), "circle": map[string]any{"number": m.number, "level": m.level}},
		Text: record.Text(strings.TrimSpace(m.seen + "\n\n" + m.text))}
}

// startRoom is the room where new players begin in CircleMUD.
const startRoom = 3001

// chooseStart makes the game's own start the starter place.
func (x *circle) chooseStart() {
	if at := x.place[startRoom]; at != nil {
		x.s.BeginAt(at)
		x.s.Say("Room %d is where the game begins.", startRoom)
	}
}

func (x *circle) reportLost() {
	for _, what := range decoded.SortedKeys(x.lost) {
		if x.lost[what] > 0 {
			x.s.AddProblem("world", 0, "%d %s", x.lost[what], what)
		}
	}
}
