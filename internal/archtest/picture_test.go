package archtest

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "draw docs/images/packages.svg again")

// unpictured are the packages that the picture leaves out: many others import the first five,
// and only tests need the last.
var unpictured = []string{"fault", "access", "markup", "wait", "slicesx", "lazyregexp", "raceenabled"}

// drawnAsOne are the packages that the picture shows together with the packages below them.
var drawnAsOne = []string{"app", "exchange", "game", "mcpd", "studio"}

// TestPictureShowsImports compares the picture in ARCHITECTURE.md with the imports of the code.
func TestPictureShowsImports(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "images", "packages.svg")
	drawn := drawHouse(collectImports(t))
	if *update {
		if err := os.WriteFile(path, []byte(drawn), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(kept) != drawn {
		t.Error("the imports have changed; go test ./internal/archtest -update draws the picture again")
	}
}

// house maps each box of the picture to the boxes that it imports.
type house map[string]map[string]bool

// boxOf returns the box of a package, or "" if the picture leaves it out.
func boxOf(pkg string) string {
	top, _, _ := strings.Cut(pkg, "/")
	switch {
	case slices.Contains(unpictured, pkg) || strings.HasSuffix(pkg, "test"):
		return ""
	case slices.Contains(drawnAsOne, top):
		return top
	}
	return pkg
}

// collectImports returns the house of the code.
func collectImports(t *testing.T) house {
	h := house{}
	each(t, "../..", func(path string) {
		pkg, imports := importsOf(t, path)
		from := boxOf(pkg)
		if from == "" {
			return
		}
		if h[from] == nil {
			h[from] = map[string]bool{}
		}
		for _, im := range imports {
			if to := boxOf(im); to != "" && to != from {
				h[from][to] = true
			}
		}
	})
	delete(h, "app") // it imports all others
	return h
}

// floor returns the length of the longest chain of imports below a package.
func (h house) floor(pkg string) int {
	floor := 0
	for im := range h[pkg] {
		floor = max(floor, h.floor(im)+1)
	}
	return floor
}

// reaches reports whether a package imports another through others.
func (h house) reaches(from, to string) bool {
	for im := range h[from] {
		if im == to || h.reaches(im, to) {
			return true
		}
	}
	return false
}

// direct lists the imports of a package that it has not through another import as well.
func (h house) direct(pkg string) []string {
	var list []string
	for _, im := range slices.Sorted(maps.Keys(h[pkg])) {
		implied := false
		for other := range h[pkg] {
			implied = implied || h.reaches(other, im)
		}
		if !implied {
			list = append(list, im)
		}
	}
	return list
}

// colour returns the colour of a package: one for stores, one for packages that know the canon and
// declare operations, one for packages that know operations alone, and one for all others.
func (h house) colour(pkg string) string {
	switch {
	case strings.HasPrefix(pkg, "store/"):
		return storeColour
	case h[pkg]["op"] && h[pkg]["canon"]:
		return surfaceColour
	case h[pkg]["op"]:
		return operationColour
	}
	return "#ffffff"
}

const (
	storeColour     = "#dfeadf"
	surfaceColour   = "#f6e3c5"
	operationColour = "#dde6f2"
)

// The measures of the picture in pixels.
const (
	boxHeight   = 30
	floorHeight = 96
	letterWidth = 8
	boxGap      = 16
	pictureEdge = 20
)

// box is the place of a package in the picture.
type box struct{ x, y, width int }

// drawHouse returns the picture: a package stands above all that it imports, and a line leads to
// each import that is not implied by another. The roof is app.
func drawHouse(h house) string {
	floors, width := arrangeFloors(h)
	boxes := map[string]box{}
	for i, floor := range floors {
		x := pictureEdge + (width-floorWidth(floor))/2
		for _, pkg := range floor {
			boxes[pkg] = box{x, pictureEdge + floorHeight/2 + (len(floors)-1-i)*floorHeight, boxWidth(pkg)}
			x += boxWidth(pkg) + boxGap
		}
	}
	var b strings.Builder
	bottom := pictureEdge + floorHeight/2 + (len(floors)-1)*floorHeight + boxHeight
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="monospace" font-size="13">`+"\n",
		width+2*pictureEdge, bottom+floorHeight/2+pictureEdge)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" fill="#fdfcf8"/>`+"\n")
	drawBox(&b, box{pictureEdge, pictureEdge, width}, "#ffffff", "app: puts all parts together")
	for _, pkg := range slices.Sorted(maps.Keys(boxes)) {
		from := boxes[pkg]
		for _, im := range h.direct(pkg) {
			to := boxes[im]
			x1, y1, x2, y2 := from.x+from.width/2, from.y+boxHeight, to.x+to.width/2, to.y
			fmt.Fprintf(&b, `<path d="M%d %dC%d %d %d %d %d %d" fill="none" stroke="#9a8f7a"/>`+"\n",
				x1, y1, x1, y1+floorHeight/2, x2, y2-floorHeight/2, x2, y2)
		}
	}
	for _, pkg := range slices.Sorted(maps.Keys(boxes)) {
		drawBox(&b, boxes[pkg], h.colour(pkg), pkg)
	}
	x := pictureEdge
	for _, key := range [][2]string{{storeColour, "stores"}, {surfaceColour, "operations on the canon"},
		{operationColour, "operations alone"}, {"#fdfcf8", "not drawn: " + strings.Join(unpictured, ", ")}} {
		drawBox(&b, box{x, bottom + floorHeight/2 - boxHeight/2, boxWidth(key[1])}, key[0], key[1])
		x += boxWidth(key[1]) + boxGap
	}
	return b.String() + "</svg>\n"
}

func drawBox(b *strings.Builder, at box, colour, text string) {
	fmt.Fprintf(b, `<rect x="%d" y="%d" width="%d" height="%d" rx="5" fill="%s" stroke="#4a4436"/>`,
		at.x, at.y, at.width, boxHeight, colour)
	fmt.Fprintf(b, `<text x="%d" y="%d" text-anchor="middle" fill="#2b2720">%s</text>`+"\n",
		at.x+at.width/2, at.y+20, text)
}

// arrangeFloors returns the packages by floor, each floor ordered so that lines cross little, and
// the width of the widest floor.
func arrangeFloors(h house) (floors [][]string, width int) {
	for _, pkg := range slices.Sorted(maps.Keys(h)) {
		floor := h.floor(pkg)
		for len(floors) <= floor {
			floors = append(floors, nil)
		}
		floors[floor] = append(floors[floor], pkg)
	}
	for range 8 {
		centre := map[string]float64{}
		for _, floor := range floors {
			x := -float64(floorWidth(floor)) / 2
			for _, pkg := range floor {
				centre[pkg] = x + float64(boxWidth(pkg))/2
				x += float64(boxWidth(pkg) + boxGap)
			}
		}
		for _, floor := range floors {
			slices.SortStableFunc(floor, func(a, b string) int {
				return cmp.Compare(meanCentre(h, centre, a), meanCentre(h, centre, b))
			})
		}
	}
	for _, floor := range floors {
		width = max(width, floorWidth(floor))
	}
	return floors, width
}

// meanCentre returns the mean place of the packages to which a package has a line.
func meanCentre(h house, centre map[string]float64, pkg string) float64 {
	sum, n := 0.0, 0
	for other := range h {
		if slices.Contains(h.direct(pkg), other) || slices.Contains(h.direct(other), pkg) {
			sum, n = sum+float64(int(centre[other])), n+1
		}
	}
	if n == 0 {
		return centre[pkg]
	}
	return sum / float64(n)
}

func boxWidth(pkg string) int { return len(pkg)*letterWidth + 2*boxGap }

func floorWidth(floor []string) int {
	width := -boxGap
	for _, pkg := range floor {
		width += boxWidth(pkg) + boxGap
	}
	return width
}
