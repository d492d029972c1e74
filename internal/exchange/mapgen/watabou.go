package mapgen

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"path"
	"slices"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/decoded"
	"loregate/internal/exchange"
	"loregate/internal/exchange/record"
)

// ImportWatabou imports towns and dwellings of Watabou's generators, as JSON.
func ImportWatabou(ctx context.Context, c *canon.Canon, g access.Grant, files fs.FS,
	o exchange.Options) (exchange.Summary, error) {
	return record.Walk{Format: "watabou", Suffixes: []string{".json"},
		Empty: "no file is a town or dwelling of Watabou's generators",
		Add: func(ctx context.Context, s *record.Source, name string, data []byte) error {
			m, err := exchange.DecodeObject(name, data)
			if err != nil {
				return err
			}
			x := &watabou{s: s, file: name, title: strings.TrimSuffix(path.Base(name), path.Ext(name)),
				directions: record.UsedDirections{}}
			switch {
			case m["features"] != nil:
				return x.addTown(ctx, decoded.ObjectsOf(m["features"]))
			case m["floors"] != nil:
				return x.addDwelling(ctx, decoded.ObjectsOf(m["floors"]))
			}
			s.AddProblem(name, 0, "is neither a town nor a dwelling; left out")
			return nil
		}}.Import(ctx, c, g, files, o)
}

// watabou adds the cards of one file. The files contain no name of the town, so it is that of the file.
type watabou struct {
	s          *record.Source
	file       string
	title      string
	directions record.UsedDirections
}

func (x *watabou) addPlace(ctx context.Context, typ, key, name string, suffix string,
	fields map[string]any) (*exchange.Sheet, error) {
	return x.s.Add(ctx, record.Card{Key: []string{x.file, key}, File: x.file, Name: name, Suffixes: []string{suffix,
		key},
		Type: typ, Codename: "watabou-" + x.title + "-" + key, Fields: fields})
}

// district is a part of a town.
type district struct {
	ring  [][2]float64
	x, y  float64 // its centre
	sheet *exchange.Sheet
}

// addTown adds a town and its districts. Districts that share a border have exits to each other.
func (x *watabou) addTown(ctx context.Context, features []map[string]any) error {
	counts, values := map[string]any{}, map[string]any{}
	var list []map[string]any
	for _, f := range features {
		switch id := decoded.TextOf(f["id"]); id {
		case "values":
			values = f
		case "districts":
			list = decoded.ObjectsOf(f["geometries"])
		case "buildings", "towers", "squares", "trees":
			shapes, _ := f["coordinates"].([]any)
			counts[id] = len(shapes)
		}
	}
	town, err := x.addPlace(ctx, "Realm", "town", x.title, "town", map[string]any{"realmType": "settlement",
		"scope":   "LOCAL",
		"watabou": map[string]any{"generator": values["generator"], "version": values["version"], "counts": counts}})
	if err != nil {
		return err
	}
	if len(list) == 0 {
		x.s.AddProblem(x.file, 0, "the town has no districts; it becomes one place")
		list = []map[string]any{{"name": x.title}}
	}
	var all []*district
	for i, g := range list {
		name := decoded.TextOf(g["name"])
		if name == "" {
			name = fmt.Sprintf("%s, district %d", x.title, i+1)
		}
		sh, err := x.addPlace(ctx, "Location", fmt.Sprintf("district %d", i), name, x.title, nil)
		if err != nil {
			return err
		}
		x.s.AddEdge(x.file, "within", sh, town, nil)
		d := &district{ring: ringOf(g["coordinates"]), sheet: sh}
		d.x, d.y = centre(d.ring)
		all = append(all, d)
	}
	x.linkDistricts(all)
	return nil
}

// ringOf returns the outer ring of a polygon.
func ringOf(v any) (ring [][2]float64) {
	rings, _ := v.([]any)
	if len(rings) == 0 {
		return nil
	}
	points, _ := rings[0].([]any)
	for _, p := range points {
		if xy, _ := p.([]any); len(xy) >= 2 {
			ring = append(ring, [2]float64{decoded.FloatOf(xy[0]), decoded.FloatOf(xy[1])})
		}
	}
	return ring
}

func centre(ring [][2]float64) (x, y float64) {
	for _, p := range ring {
		x, y = x+p[0]/float64(len(ring)), y+p[1]/float64(len(ring))
	}
	return x, y
}

// metresPerHour is the speed of a walk through a town. The generator draws in metres.
const metresPerHour = 4000

// maxMeeting is the number of districts that are looked at where they meet in a corner. A town drawn without overlaps
// has a handful.
const maxMeeting = 64

// cornersOf returns how often a ring has each point, rounded to tenths. A ring that is closed has its first point
// twice.
func cornersOf(ring [][2]float64) map[[2]float64]int {
	corners := map[[2]float64]int{}
	for _, p := range ring {
		corners[[2]float64{math.Round(p[0] * 10), math.Round(p[1] * 10)}]++
	}
	return corners
}

// linkDistricts adds exits between districts that share at least two corners.
func (x *watabou) linkDistricts(all []*district) {
	type part struct{ district, times int }
	meeting, corners := map[[2]float64][]part{}, make([]map[[2]float64]int, len(all))
	for i, d := range all {
		corners[i] = cornersOf(d.ring)
		for p, times := range corners[i] {
			if len(meeting[p]) < maxMeeting {
				meeting[p] = append(meeting[p], part{i, times})
			}
		}
	}
	full := 0
	for i, a := range all {
		shared := map[int]int{}
		for p := range corners[i] {
			for _, other := range meeting[p] {
				shared[other.district] += other.times
			}
		}
		delete(shared, i)
		maps.DeleteFunc(shared, func(_, times int) bool { return times < 2 })
		for _, j := range slices.Sorted(maps.Keys(shared)) {
			if !x.addWalk(a, all[j]) {
				full++
			}
		}
	}
	if full > 0 {
		x.s.AddProblem(x.file, 0, "districts have more than twelve neighbours; %d exits are left out", full)
	}
}

// addWalk adds an exit between districts. It returns false if the first has no direction left.
func (x *watabou) addWalk(a, b *district) bool {
	east, north := b.x-a.x, a.y-b.y
	direction, ok := x.directions.Take(a.sheet, compass(east, north))
	if !ok {
		return false
	}
	minutes := math.Ceil(math.Hypot(east, north) / metresPerHour * 60)
	x.s.AddEdge(x.file, "exit", a.sheet, b.sheet, map[string]any{"direction": direction,
		"travelDurationMs": int64(minutes) * 60_000})
	return true
}

// gridCell is a cell of a floor of a dwelling.
type gridCell struct{ level, i, j int }

func cellOf(level int, v any) gridCell {
	m, _ := v.(map[string]any)
	return gridCell{level, decoded.IntOf(m["i"]), decoded.IntOf(m["j"])}
}

// sides are the steps to the neighbouring cell: i counts rows to the south, j columns to the east.
var sides = map[string]struct {
	i, j      int
	direction string
}{"n": {-1, 0, "north"}, "s": {1, 0, "south"}, "e": {0, 1, "east"}, "w": {0, -1, "west"}}

// addDwelling adds a dwelling and its rooms, with exits through doors and stairs.
func (x *watabou) addDwelling(ctx context.Context, floors []map[string]any) error {
	house, err := x.addPlace(ctx, "Realm", "dwelling", x.title, "dwelling", map[string]any{"realmType": "building",
		"scope": "MICRO"})
	if err != nil {
		return err
	}
	room := map[gridCell]*exchange.Sheet{}
	slices.SortStableFunc(floors, func(a, b map[string]any) int {
		return cmp.Compare(max(decoded.IntOf(a["level"]), -decoded.IntOf(a["level"])*2), max(decoded.IntOf(b["level"]),
			-decoded.IntOf(b["level"])*2))
	})
	for _, f := range floors {
		level := decoded.IntOf(f["level"])
		for n, r := range decoded.ObjectsOf(f["rooms"]) {
			name := decoded.TextOf(r["name"])
			if name == "" {
				name = fmt.Sprintf("%s, floor %d, room %d", x.title, level, n+1)
			}
			sh, err := x.addPlace(ctx, "Location", fmt.Sprintf("floor %d room %d", level, n), name, fmt.Sprintf("floor %d",
				level), nil)
			if err != nil {
				return err
			}
			x.s.AddEdge(x.file, "within", sh, house, nil)
			for _, c := range decoded.ObjectsOf(r["cells"]) {
				room[cellOf(level, c)] = sh
			}
		}
	}
	for _, f := range floors {
		x.addDoors(f, room)
	}
	return nil
}

// addDoors adds the exits of one floor.
func (x *watabou) addDoors(f map[string]any, room map[gridCell]*exchange.Sheet) {
	level := decoded.IntOf(f["level"])
	for _, d := range decoded.ObjectsOf(f["doors"]) {
		edge, _ := d["edge"].(map[string]any)
		from := cellOf(level, edge["cell"])
		side, ok := sides[decoded.TextOf(edge["dir"])]
		to := gridCell{level, from.i + side.i, from.j + side.j}
		if !ok || room[from] == nil || room[to] == nil || room[from] == room[to] {
			x.s.AddProblem(x.file, 0, "a door on floor %d leads to no room; left out", level)
			continue
		}
		x.addPassage(room[from], room[to], side.direction)
	}
	for _, st := range decoded.ObjectsOf(f["stairs"]) {
		at := cellOf(level, st["cell"])
		above := gridCell{level + 1, at.i, at.j}
		if st["up"] == true && room[at] != nil && room[above] != nil {
			x.addPassage(room[at], room[above], "up")
		}
	}
}

var opposite = map[string]string{"north": "south", "south": "north", "east": "west", "west": "east", "up": "down"}

// addPassage adds exits in both directions.
func (x *watabou) addPassage(a, b *exchange.Sheet, direction string) {
	for _, way := range []struct {
		from, to *exchange.Sheet
		want     string
	}{{a, b, direction}, {b, a, opposite[direction]}} {
		if given, ok := x.directions.Take(way.from, way.want); ok {
			x.s.AddEdge(x.file, "exit", way.from, way.to, map[string]any{"direction": given})
		}
	}
}
