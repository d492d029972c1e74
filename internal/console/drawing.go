package console

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/a-h/templ"
)

// drawing is a picture of named marks and the lines between them, which the server lays out: it needs no
// script, and every mark is a link.
type drawing struct {
	Width, Height int
	Marks         []mark
	Lines         []line
	Regions       []region
}

type mark struct {
	ID    string // of the card
	X, Y  int
	Rows  []string // of its name
	Title string
	Link  templ.SafeURL
	Class string
	Act   string // what a player types to go there; "" for all but players
	Who   string // players who are there
}

type line struct {
	X1, Y1, X2, Y2 int
	Label          string
	Class          string
}

// Sizes of a graph: one column a step from the middle, one row a mark.
const (
	graphColumn = 300
	graphRow    = 30
	graphMargin = 20
)

// drawGraph lays out the entities around the first one: those that are a step further stand a column further
// to the right, near those that they are related to.
func drawGraph(f frame, g graph) drawing {
	d := drawing{}
	columns := [][]entity{}
	for _, n := range g.Nodes {
		for len(columns) <= n.Depth {
			columns = append(columns, nil)
		}
		columns[n.Depth] = append(columns[n.Depth], n)
	}
	tallest := 0
	for _, c := range columns {
		tallest = max(tallest, len(c))
	}
	d.Width = 2*graphMargin + len(columns)*graphColumn
	d.Height = 2*graphMargin + tallest*graphRow
	row := map[string]float64{}
	at := map[string]mark{}
	for depth, column := range columns {
		slices.SortStableFunc(column, func(a, b entity) int {
			return cmp.Or(cmp.Compare(rowOfNeighbours(a.ID, g.Relationships, row), rowOfNeighbours(b.ID, g.Relationships, row)),
				strings.Compare(a.Name, b.Name))
		})
		for i, n := range column {
			y := graphMargin + (tallest-len(column))*graphRow/2 + i*graphRow + graphRow/2
			m := mark{ID: n.ID, X: graphMargin + depth*graphColumn, Y: y, Rows: []string{n.Name}, Title: typeLabel(n.Type),
				Link: g.link(f, n.ID), Class: n.Type}
			if depth == 0 {
				m.Link = f.link("campaign", n.ID)
			}
			at[n.ID] = m
			d.Marks = append(d.Marks, m)
		}
		for i, n := range column {
			row[n.ID] = float64(i) - float64(len(column))/2
		}
	}
	for _, r := range g.Relationships {
		a, there := at[r.SourceID]
		b, also := at[r.TargetID]
		if !there || !also {
			continue
		}
		class := "bent " + r.Tone
		label := a.Rows[0] + " " + r.Type + " " + b.Rows[0]
		if knownLevel(r.KnownTo) != "" {
			class += " hidden-line"
		}
		if a.X > b.X {
			a, b = b, a
		}
		d.Lines = append(d.Lines, line{a.X + startOf(a, b), a.Y, b.X, b.Y, label, class})
	}
	return d
}

// startOf returns where a line to b starts: after the name or, within a column, at the mark.
func startOf(a, b mark) int {
	if a.X == b.X {
		return 0
	}
	return widthOf(a)
}

// widthOf returns how far a mark with its name reaches to the right, at about 7 pixels a character.
func widthOf(m mark) int { return 22 + 7*len([]rune(m.Rows[0])) }

// rowOfNeighbours returns the mean row of an entity's neighbours that have one already.
func rowOfNeighbours(id string, relationships []relationship, row map[string]float64) float64 {
	sum, n := 0.0, 0.0
	for _, r := range relationships {
		other := r.SourceID
		if other == id {
			other = r.TargetID
		} else if r.TargetID != id {
			continue
		}
		if y, placed := row[other]; placed {
			sum, n = sum+y, n+1
		}
	}
	if n == 0 {
		return 0
	}
	return sum / n
}

// Sizes of a map: a cell of the grid, and the box of a place in it.
const (
	cellWidth  = 192
	cellHeight = 96
	placeWide  = 156
	placeHigh  = 52
)

// steps are the directions as steps on the grid: to the east and to the south. Other ways, such as up and in,
// lead to a free cell beside.
var steps = map[string][2]int{"north": {0, -1}, "south": {0, 1}, "east": {1, 0}, "west": {-1, 0}, "northeast": {1, -1},
	"northwest": {-1, -1}, "southeast": {1, 1}, "southwest": {-1, 1}}

// beside are the cells that a place is put in if its own is taken, or if its way has no direction.
var beside = [][2]int{{1, -1}, {1, 1}, {-1, 1}, {-1, -1}, {1, 0}, {0, 1}, {-1, 0}, {0, -1}}

// drawMap lays out places by their directions from the one in the middle. players are those at each place.
func drawMap(f frame, id, name string, around surroundings, players map[string][]string) drawing {
	d := drawing{}
	cells := map[string][2]int{"": {0, 0}} // by path
	taken := map[[2]int]bool{{0, 0}: true}
	names := map[string]near{"": {ID: id, Name: name, InRealms: around.InRealms}}
	order := []string{""}
	for _, p := range around.Neighbors {
		path := strings.Join(p.Path, "/")
		parent := strings.Join(p.Path[:len(p.Path)-1], "/")
		from := cells[parent]
		way := p.Path[len(p.Path)-1]
		cell := freeCell(taken, from, steps[way])
		taken[cell], cells[path], names[path] = true, cell, p
		order = append(order, path)
	}
	least, most := [2]int{}, [2]int{}
	for cell := range taken {
		for i := range cell {
			least[i], most[i] = min(least[i], cell[i]), max(most[i], cell[i])
		}
	}
	d.Width, d.Height = (most[0]-least[0]+1)*cellWidth, (most[1]-least[1]+1)*cellHeight
	middle := func(path string) (x, y int) {
		c := cells[path]
		return (c[0]-least[0])*cellWidth + cellWidth/2, (c[1]-least[1])*cellHeight + cellHeight/2
	}
	areas := make([]area, len(around.Realms))
	for _, path := range order {
		x, y := middle(path)
		p := names[path]
		for _, i := range p.InRealms {
			areas[i].add(cell{cells[path][0] - least[0], cells[path][1] - least[1]})
		}
		m := mark{ID: p.ID, X: x, Y: y, Rows: wrapName(lastPart(p.Name)), Title: strings.ReplaceAll(path, "/", ", "),
			Link: f.link("places") + query(f, "at", p.ID), Class: "place", Who: namesText(players[p.ID])}
		if path == "" {
			m.Class = "place here"
		} else {
			parent := ""
			if i := strings.LastIndex(path, "/"); i >= 0 {
				parent = path[:i]
			}
			m.Act = "go " + strings.Join(p.Path, " then go ")
			px, py := middle(parent)
			way := p.Path[len(p.Path)-1]
			l := line{X1: px, Y1: py, X2: x, Y2: y}
			if _, flat := steps[way]; !flat {
				l.Label, l.Class = way, "steep"
			}
			d.Lines = append(d.Lines, l)
		}
		d.Marks = append(d.Marks, m)
	}
	d.Regions = drawRegions(f, around.Realms, areas)
	return d
}

// namesText names the first of some players, as there is room for on a map.
func namesText(names []string) string {
	const wide = 20
	text := strings.Join(names, ", ")
	if len([]rune(text)) > wide && len(names) > 1 {
		return fmt.Sprintf("%d players", len(names))
	}
	return clipName(text, wide)
}

// clipName cuts a name to a number of characters.
func clipName(name string, wide int) string {
	if r := []rune(name); len(r) > wide {
		return string(r[:wide-1]) + "…"
	}
	return name
}

// freeCell returns the nearest free cell in a direction; without one, a free cell beside.
func freeCell(taken map[[2]int]bool, from, step [2]int) [2]int {
	for n := 1; ; n++ {
		ways := beside
		if step != [2]int{} {
			ways = append([][2]int{step}, beside...)
		}
		for _, w := range ways {
			if c := [2]int{from[0] + w[0]*n, from[1] + w[1]*n}; !taken[c] {
				return c
			}
		}
	}
}

// wrapName breaks a name into at most two rows of a box.
func wrapName(name string) []string {
	const wide = 18
	if len([]rune(name)) <= wide {
		return []string{name}
	}
	rows := []string{"", ""}
	for _, word := range strings.Fields(name) {
		i := 0
		if rows[1] != "" || len([]rune(rows[0]+word)) >= wide {
			i = 1
		}
		rows[i] = strings.TrimSpace(rows[i] + " " + word)
	}
	rows[1] = clipName(rows[1], wide)
	if rows[0] == "" {
		return rows[1:]
	}
	return rows
}
