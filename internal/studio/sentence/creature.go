package sentence

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"loregate/internal/meaning"
	"loregate/internal/studio/spec"
)

// creatures are people or animals that the words name. A scene shows no bodies of them; a game gets markers.
type creatures struct {
	words string
	noun  string
	count int
	to    *mention // the thing beside which they are
}

// maxMarkers bounds the markers of one scene.
const maxMarkers = 40

// noteCreatures notes the people or animals of a phrase; false: it names none.
func (r *reader) noteCreatures(p *nounPhrase) bool {
	noun := meaning.Lemma(p.head, meaning.Noun)
	kind, _ := meaning.Ancestor(noun, meaning.Noun, 0, func(w string) bool { return r.Kinds[w] != "" })
	if r.none || kind != "person" && kind != "animal" {
		return false
	}
	one := creatures{words: p.words, noun: noun, count: max(min(int(p.number), maxMarkers), 1)}
	if p.number == 0 && p.plural {
		one.count = defaultMany
	}
	if l := r.link; l != nil && l.inverse {
		one.to = l.to
	} else if r.front != nil {
		one.to = r.front.to
	}
	r.creatures = append(r.creatures, one)
	return true
}

// placeCreatures gives people and animals a landmark: "two guards beside the gate".
func (r *reader) placeCreatures(m *mention) {
	if k := len(r.creatures); k > 0 && r.creatures[k-1].to == nil && m.class == isThing {
		r.creatures[k-1].to = m
	}
}

// addMarkers marks where people and animals are.
func (c *composer) addMarkers() {
	c.scene.Markers = map[string]spec.Marker{}
	for _, one := range c.creatures {
		x, y, near := 0.0, -2.0, 1.0
		if one.to != nil && len(c.stands[one.to]) > 0 {
			u0, v0, u1, v1 := c.stands[one.to][0].extent()
			x, y, near = (u0+u1)/2, (v0+v1)/2, math.Hypot(u1-u0, v1-v0)/2+0.6
		}
		marked := 0
		for range one.count {
			at, ok := c.findStandingSpot(x, y, near)
			if !ok || len(c.scene.Markers) >= maxMarkers {
				break
			}
			marked++
			c.scene.Markers[c.markerName(one.noun)] = spec.Marker{Kind: "point", At: at, Note: one.words}
		}
		c.out.Phrases = append(c.out.Phrases, Phrase{Words: one.words, Became: fmt.Sprintf("%d markers for a game", marked),
			own:     true,
			Assumed: fmt.Sprintf("a scene has no bodies of people and animals; %q are markers", one.words)})
	}
}

// findStandingSpot returns a free spot for one person, as near to a point as a distance allows.
func (c *composer) findStandingSpot(x, y, near float64) ([]float64, bool) {
	for k := range 96 {
		sin, cos := math.Sincos(-math.Pi/2 + float64(k)*2.4)
		far := near + 0.09*float64(k)
		b := &box{half: [3]float64{0.35, 0.35, 0.9}, off: [3]float64{0, 0, 0.9}, tall: 1.8,
			at: [3]float64{x + far*cos, y + far*sin}}
		x0, y0, x1, y1 := b.extent()
		dry := !c.wet() || y0 > shoreLine
		for _, w := range c.ways() {
			dry = dry && !(w.Material == "water" && touchesWay(w, x0, y0, x1, y1))
		}
		if dry && c.isFree(b) {
			c.boxes = append(c.boxes, b)
			return []float64{round(b.at[0]), round(b.at[1])}, true
		}
	}
	return nil, false
}

// markerName returns a free name of a marker.
func (c *composer) markerName(noun string) string {
	letters := strings.FieldsFunc(noun, func(r rune) bool { return r < 'a' || r > 'z' })
	base := strings.Join(slices.Concat([]string{"place"}, letters), "_")
	base = base[:min(len(base), 30)]
	for i := 1; ; i++ {
		if name := fmt.Sprintf("%s_%d", base, i); c.scene.Markers[name].Kind == "" {
			return name
		}
	}
}
