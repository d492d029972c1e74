package mapgen

import (
	"cmp"
	"container/heap"
	"maps"
	"math"
	"slices"

	"loregate/internal/decoded"
	"loregate/internal/exchange/record"
)

// speeds are the kilometres that a traveller makes in an hour, by the group of a route.
var speeds = map[string]float64{"roads": 5, "trails": 3.5, "searoutes": 8}

// slowest is the speed on a route of another group, in kilometres an hour.
const slowest = 3.5

// cellPoint is a point of a route. Routes meet where they share a cell.
type cellPoint struct{ x, y float64 }

// way is a piece of a route between two cells.
type way struct {
	to     int
	pixels float64
	group  string
}

// roadMap is the graph of all routes.
type roadMap struct {
	at    map[int]cellPoint
	ways  map[int][]way
	steps int // that the search for trips may still make
}

// readRoutes reads the routes of the map: lists of points with x, y and a cell.
func (m *azgaarMap) readRoutes() *roadMap {
	r := &roadMap{at: map[int]cellPoint{}, ways: map[int][]way{}, steps: maxSteps}
	for _, route := range m.routes {
		group := decoded.TextOf(route["group"])
		points, _ := route["points"].([]any)
		last := -1
		for _, v := range points {
			p, _ := v.([]any)
			if len(p) < 3 {
				continue
			}
			cell := decoded.IntOf(p[2])
			if _, ok := r.at[cell]; !ok {
				r.at[cell] = cellPoint{decoded.FloatOf(p[0]), decoded.FloatOf(p[1])}
			}
			if last >= 0 && last != cell {
				d := math.Hypot(r.at[cell].x-r.at[last].x, r.at[cell].y-r.at[last].y)
				r.ways[last] = append(r.ways[last], way{cell, d, group})
				r.ways[cell] = append(r.ways[cell], way{last, d, group})
			}
			last = cell
		}
	}
	for cell, ways := range r.ways {
		if len(ways) > maxWays {
			slices.SortStableFunc(ways, func(a, b way) int { return cmp.Compare(a.pixels, b.pixels) })
			r.ways[cell] = ways[:maxWays]
		}
	}
	r.steps += stepsPerCell * len(r.at)
	return r
}

// trip is a way from one burg to another, along routes and past no third burg.
type trip struct {
	from, to int
	hours    float64
	group    string // of its last piece
}

// Limits of the search for trips: a map of a thousand burgs needs a million steps, and some thousand cells for each. A
// cell has a few ways.
const (
	maxSteps     = 2_000_000
	stepsPerCell = 200
	maxCells     = 20_000
	maxWays      = 64
)

// maxTrips is the number of nearest burgs that are looked at from each: on a sea every port leads to
// every other.
const maxTrips = 64

// tripsFrom returns the trips from the burg at a cell, the shortest first.
func (r *roadMap) tripsFrom(start int, burgAt map[int]int, kilometres func(float64) float64) (trips []trip) {
	done := map[int]bool{}
	queue := &tripQueue{{to: start}}
	for queue.Len() > 0 && len(trips) < maxTrips && r.steps > 0 && len(done) < maxCells {
		t, _ := heap.Pop(queue).(trip)
		if done[t.to] {
			continue
		}
		done[t.to] = true
		if burg, ok := burgAt[t.to]; ok && t.to != start {
			trips = append(trips, trip{to: burg, hours: t.hours, group: t.group})
			continue
		}
		r.steps -= 1 + len(r.ways[t.to])
		for _, w := range r.ways[t.to] {
			if !done[w.to] {
				heap.Push(queue, trip{0, w.to, t.hours + kilometres(w.pixels)/cmp.Or(speeds[w.group], slowest), w.group})
			}
		}
	}
	return trips
}

// tripQueue is a heap of trips, the shortest first.
type tripQueue []trip

func (q tripQueue) Len() int { return len(q) }
func (q tripQueue) Less(i, j int) bool {
	return q[i].hours < q[j].hours || q[i].hours == q[j].hours && q[i].to < q[j].to
}
func (q tripQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }

// Push and Pop implement heap.Interface.
func (q *tripQueue) Push(v any) { t, _ := v.(trip); *q = append(*q, t) }

// Pop removes the last trip.
func (q *tripQueue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

// addRoutes adds exits between burgs along the routes, with travel times. Before version 1.99 maps have
// no routes.
func (x *azgaarCards) addRoutes() {
	if len(x.routes) == 0 {
		x.s.AddProblem(x.file, 0,
			"the map has no routes (version %s; maps have them from 1.99 on); its places have no exits",
			x.version)
		return
	}
	if _, known := map[string]bool{"mi": true, "km": true, "lg": true, "vr": true, "nmi": true,
		"nlg": true}[x.unit]; !known {
		x.s.AddProblem(x.file, 0, "the unit of distance %q is not known; travel times take it for kilometres", x.unit)
	}
	roads, burgAt := x.readRoutes(), map[int]int{}
	byNumber := map[int]map[string]any{}
	for _, m := range x.burgs {
		if x.burg[decoded.IntOf(m["i"])] != nil {
			burgAt[decoded.IntOf(m["cell"])] = decoded.IntOf(m["i"])
			byNumber[decoded.IntOf(m["i"])] = m
		}
	}
	all, alone := roads.allTrips(burgAt, x.kilometres)
	directions, full := record.UsedDirections{}, 0
	for _, t := range roads.chooseTrips(all) {
		for _, e := range []trip{t, {t.to, t.from, t.hours, t.group}} {
			if !x.addTrip(directions, byNumber[e.from], byNumber[e.to], e) {
				full++
			}
		}
	}
	if alone > 0 {
		x.s.AddProblem(x.file, 0, "%d burgs are on no route; they have no exits", alone)
	}
	if roads.steps < 0 {
		x.s.AddProblem(x.file, 0, "the map has more routes than can be searched for ways; some places have no exits")
	}
	if full > 0 {
		x.s.AddProblem(x.file, 0, "%d ways are left out, because a place has only twelve exits", full)
	}
}

// allTrips returns the trips between burgs, once for each pair, the shortest first, and the number of
// burgs without any.
func (r *roadMap) allTrips(burgAt map[int]int, kilometres func(float64) float64) (all []trip, alone int) {
	for _, cell := range slices.Sorted(maps.Keys(burgAt)) {
		trips := r.tripsFrom(cell, burgAt, kilometres)
		if len(trips) == 0 {
			alone++
		}
		for _, t := range trips {
			if t.from = burgAt[cell]; t.from < t.to {
				all = append(all, t)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b trip) int {
		return cmp.Or(cmp.Compare(a.hours, b.hours), cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to))
	})
	return all, alone
}

// detour is how much longer a way over other burgs may be for a direct way to be left out.
const detour = 1.3

// chooseTrips leaves out a trip if shorter ones lead to the same burg with a small detour. Without this
// rule the ports of a sea would use up all exits.
func (r *roadMap) chooseTrips(all []trip) (chosen []trip) {
	from := map[int][]trip{}
	for _, t := range all {
		if r.isReached(from, t.from, t.to, t.hours*detour) {
			continue
		}
		chosen = append(chosen, t)
		from[t.from] = append(from[t.from], t)
		from[t.to] = append(from[t.to], trip{t.to, t.from, t.hours, t.group})
	}
	return chosen
}

// isReached reports whether trips lead from one burg to another within a time. Without steps it reports true.
func (r *roadMap) isReached(from map[int][]trip, a, b int, hours float64) bool {
	done, queue := map[int]bool{}, &tripQueue{{to: a}}
	for queue.Len() > 0 {
		t, _ := heap.Pop(queue).(trip)
		if r.steps -= 1 + len(from[t.to]); r.steps < 0 || t.to == b {
			return true
		}
		if done[t.to] {
			continue
		}
		done[t.to] = true
		for _, next := range from[t.to] {
			if !done[next.to] && t.hours+next.hours <= hours {
				heap.Push(queue, trip{to: next.to, hours: t.hours + next.hours})
			}
		}
	}
	return false
}

// addTrip adds the exit of one trip. It returns false if the place has no direction left.
func (x *azgaarCards) addTrip(directions record.UsedDirections, from, to map[string]any, t trip) bool {
	a, b := x.burg[decoded.IntOf(from["i"])], x.burg[decoded.IntOf(to["i"])]
	want := compass(decoded.FloatOf(to["x"])-decoded.FloatOf(from["x"]), decoded.FloatOf(from["y"])-decoded.FloatOf(to["y"]))
	direction, ok := directions.Take(a, want)
	if !ok {
		return false
	}
	by := map[string]string{"roads": "by road", "trails": "by a trail", "searoutes": "by ship"}[t.group]
	x.s.AddEdge(x.file, "exit", a, b, map[string]any{"direction": direction,
		"travelDurationMs": int64(math.Round(t.hours*60)) * 60_000, "description": cmp.Or(by, "by "+t.group)})
	return true
}

// compass returns the direction of a step to the east and to the north.
func compass(east, north float64) string {
	names := []string{"east", "northeast", "north", "northwest", "west", "southwest", "south", "southeast"}
	angle := math.Atan2(north, east)
	return names[(int(math.Round(angle/(math.Pi/4)))+len(names))%len(names)]
}
