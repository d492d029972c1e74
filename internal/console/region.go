package console

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/a-h/templ"
)

// region is a realm on a map: the cells of the places that lie in it.
type region struct {
	Name, Category string
	Link           templ.SafeURL
	Places         int
	Outline        string // the path around its cells
	X, Y           int    // of the label
	Label          string // "" if the name stands in the list of realms alone
}

// cell is a cell of the grid of a map: column and row.
type cell [2]int

// area is a set of cells.
type area map[cell]bool

func (a *area) add(c cell) {
	if *a == nil {
		*a = area{}
	}
	(*a)[c] = true
}

// Distances within a cell, in pixels. The inset of a region grows with the larger regions that it shares a cell with, so
// that outlines do not cover each other; it stays outside the boxes of the places.
const (
	regionInset = 3
	regionStep  = 4
	maxInset    = (cellWidth - placeWide) / 2
	regionRound = 12
	labelBelow  = 15 // base line of a label below the top of its cell
	labelWide   = 24 // characters
)

// drawRegions draws the areas of realms, large ones first. realms are in the order of their scopes, the smallest first.
func drawRegions(f frame, realms []mapRealm, areas []area) (list []region) {
	order := []int{}
	for i := range realms {
		if len(areas[i]) > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(len(areas[b]), len(areas[a])), cmp.Compare(b, a))
	})
	labels, deep := area{}, map[cell]int{}
	for _, i := range order {
		inset, r := 0, realms[i]
		for c := range areas[i] {
			inset = max(inset, deep[c])
		}
		for c := range areas[i] {
			deep[c] = inset + 1
		}
		inset = min(regionInset+inset*regionStep, maxInset)
		one := region{Name: r.Name, Category: r.Category, Link: f.card("w", "", r.ID), Places: len(areas[i]),
			Outline: outlineOf(areas[i], inset)}
		for _, c := range areas[i].sorted() {
			if !labels[c] {
				labels.add(c)
				one.X, one.Y = c[0]*cellWidth+cellWidth/2, c[1]*cellHeight+labelBelow
				one.Label = clipName(lastPart(r.Name), labelWide)
				break
			}
		}
		list = append(list, one)
	}
	return list
}

// sorted returns the cells by row, then by column.
func (a area) sorted() []cell {
	cells := make([]cell, 0, len(a))
	for c := range a {
		cells = append(cells, c)
	}
	slices.SortFunc(cells, func(a, b cell) int { return cmp.Or(cmp.Compare(a[1], b[1]), cmp.Compare(a[0], b[0])) })
	return cells
}

// outlineOf returns the path around an area, within it by an inset, with round corners. It follows the border clockwise,
// with the area on the right; where two cells meet at a corner alone, it turns to the right, so that they stay apart.
func outlineOf(a area, inset int) string {
	type edge struct{ from, way cell }
	border := map[edge]bool{}
	sorted := a.sorted()
	for _, c := range sorted {
		x, y := c[0], c[1]
		for _, e := range []struct{ beside, from, way cell }{{cell{x, y - 1}, cell{x, y}, cell{1, 0}},
			{cell{x + 1, y}, cell{x + 1, y}, cell{0, 1}}, {cell{x, y + 1}, cell{x + 1, y + 1}, cell{-1, 0}},
			{cell{x - 1, y}, cell{x, y + 1}, cell{0, -1}}} {
			if !a[e.beside] {
				border[edge{e.from, e.way}] = true
			}
		}
	}
	var path strings.Builder
	for _, c := range sorted {
		start := edge{c, cell{1, 0}}
		if !border[start] {
			continue
		}
		var corners []cell // in pixels
		for e := start; border[e]; {
			delete(border, e)
			to := cell{e.from[0] + e.way[0], e.from[1] + e.way[1]}
			right, left := cell{-e.way[1], e.way[0]}, cell{e.way[1], -e.way[0]}
			next := edge{to, right}
			if !border[next] && next != start {
				if next.way = e.way; !border[next] && next != start {
					next.way = left
				}
			}
			if next.way != e.way {
				into := cell{-next.way[1], next.way[0]} // the inner side of the next edge
				corners = append(corners, cell{to[0]*cellWidth + (right[0]+into[0])*inset,
					to[1]*cellHeight + (right[1]+into[1])*inset})
			}
			e = next
		}
		path.WriteString(roundPath(corners))
	}
	return path.String()
}

// roundPath returns a closed path through corners, which it rounds.
func roundPath(corners []cell) string {
	var b strings.Builder
	for i, c := range corners {
		before, after := corners[(i+len(corners)-1)%len(corners)], corners[(i+1)%len(corners)]
		from, to := towards(c, before), towards(c, after)
		command := "L"
		if i == 0 {
			command = "M"
		}
		fmt.Fprintf(&b, "%s%d %dQ%d %d %d %d", command, from[0], from[1], c[0], c[1], to[0], to[1])
	}
	return b.String() + "Z"
}

// towards returns the point at the rounding's distance from a corner on the way to the next one.
func towards(corner, next cell) cell {
	for i := range corner {
		corner[i] += min(max(next[i]-corner[i], -regionRound), regionRound)
	}
	return corner
}
