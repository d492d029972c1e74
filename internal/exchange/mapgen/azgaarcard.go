package mapgen

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"loregate/internal/canon"
	"loregate/internal/decoded"
	"loregate/internal/exchange"
	"loregate/internal/exchange/record"
)

// azgaarCards adds the cards of one map.
type azgaarCards struct {
	*azgaarMap
	s     *record.Source
	world *exchange.Sheet
	// by their numbers
	state, province, culture, religion, burg map[int]*exchange.Sheet
	used                                     map[string]bool // notes that a card shows
	wars                                     []*war
	warAt                                    map[[3]string]*war // by name, start and end
}

// importAzgaarMap adds the cards of a map. Ids follow the map's own id, so that a later version of the map
// updates them.
func importAzgaarMap(ctx context.Context, s *record.Source, m *azgaarMap) (err error) {
	if m.id != "" {
		s.Relabel(m.id)
	}
	x := &azgaarCards{azgaarMap: m, s: s, used: map[string]bool{}, warAt: map[[3]string]*war{}}
	m.indexNotes()
	if x.world, err = s.Add(ctx, record.Card{Key: []string{"map"}, File: m.file, Name: m.title(), Type: "Realm",
		Suffixes: []string{"map"}, Codename: "azgaar-" + m.id, Fields: map[string]any{"realmType": "world",
			"scope":  "GLOBAL",
			"azgaar": map[string]any{"version": m.version, "distanceUnit": m.unit, "distanceScale": m.scale}},
	}); err != nil {
		return err
	}
	for _, step := range []func(context.Context) error{x.addCultures, x.addReligions, x.addStates, x.addProvinces,
		x.addBurgs, x.addTime, x.addMarkers, x.addRivers, x.addNotes, x.addMapPicture} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	x.linkStates()
	x.addRoutes()
	return nil
}

// kept returns the members of a thing that are kept as data: all but the pictures' and the texts'.
func kept(m map[string]any) map[string]any {
	out := map[string]any{}
	for k, v := range m {
		switch k {
		case "coa", "name", "fullName", "cells", "points", "campaigns", "military", "diplomacy", "pole", "rural", "urban":
			continue
		}
		out[k] = v
	}
	return out
}

// addThing adds the card of a thing with a number. Its note follows the given text.
func (x *azgaarCards) addThing(ctx context.Context, kind, typ string, m map[string]any, fields map[string]any,
	text string) (*exchange.Sheet, error) {
	i := decoded.IntOf(m["i"])
	name := decoded.TextOf(m["fullName"])
	if name == "" {
		name = decoded.TextOf(m["name"])
	}
	noteName, note := x.noteFor(kind, i)
	if note != "" {
		x.used[kind+strconv.Itoa(i)] = true
	}
	note, secret := x.s.Hide(x.file, record.HTML, note)
	if name == "" {
		name = noteName
	}
	if name == "" {
		name = fmt.Sprintf("%s %d", kind, i)
	}
	if short := decoded.TextOf(m["name"]); short != "" && short != name {
		fields["aliases"] = []string{short}
	}
	fields["azgaar"] = kept(m)
	return x.s.Add(ctx, record.Card{Key: []string{kind, strconv.Itoa(i)}, File: fmt.Sprintf("%s %s %d", x.file, kind, i),
		Name: name, Suffixes: []string{kind, kind + " " + strconv.Itoa(i)}, Type: typ, Fields: fields,
		Codename: fmt.Sprintf("azgaar-%s-%s-%d", x.id, kind, i),
		Text: append(record.Text(record.Paragraphs(text)+noteHTML(note)), record.Block{Text: noteHTML(secret),
			GM: true})})
}

// noteHTML returns the text of a note, which is HTML or plain.
func noteHTML(note string) string {
	if strings.Contains(note, "</") || strings.Contains(note, "<br") {
		return note
	}
	return record.PlainHTML(note)
}

// sentence joins words that are not empty with a full stop.
func sentence(format string, words ...string) string {
	args := make([]any, len(words))
	for i, w := range words {
		if w == "" {
			return ""
		}
		args[i] = w
	}
	return fmt.Sprintf(format, args...) + " "
}

func (x *azgaarCards) addCultures(ctx context.Context) (err error) {
	x.culture = map[int]*exchange.Sheet{}
	for _, m := range x.cultures {
		if decoded.IntOf(m["i"]) == 0 {
			continue
		}
		text := sentence("A culture of the type %s.", decoded.TextOf(m["type"]))
		if x.culture[decoded.IntOf(m["i"])], err = x.addThing(ctx, "culture", "Lore", m,
			map[string]any{"factType": "culture"},
			text); err != nil {
			return err
		}
	}
	return nil
}

func (x *azgaarCards) addReligions(ctx context.Context) (err error) {
	x.religion = map[int]*exchange.Sheet{}
	for _, m := range x.religions {
		if decoded.IntOf(m["i"]) == 0 {
			continue
		}
		text := sentence("%s: %s.", decoded.TextOf(m["type"]), decoded.TextOf(m["form"])) +
			sentence("Deity: %s.", decoded.TextOf(m["deity"]))
		if x.religion[decoded.IntOf(m["i"])], err = x.addThing(ctx, "religion", "Lore", m,
			map[string]any{"factType": "religion"},
			text); err != nil {
			return err
		}
	}
	return nil
}

func (x *azgaarCards) addStates(ctx context.Context) error {
	x.state = map[int]*exchange.Sheet{}
	for _, m := range x.states {
		i := decoded.IntOf(m["i"])
		if i == 0 {
			continue // the lands of nobody
		}
		var text strings.Builder
		text.WriteString(sentence("%s, %s.", decoded.TextOf(m["form"]), decoded.TextOf(m["formName"])))
		for _, c := range decoded.ObjectsOf(m["campaigns"]) {
			text.WriteString(sentence("%s (from %s).", decoded.TextOf(c["name"]), decoded.TextOf(c["start"])))
			x.noteCampaign(c, i)
		}
		sh, err := x.addThing(ctx, "state", "Realm", m, map[string]any{"realmType": "political", "scope": "MACRO"},
			text.String())
		if err != nil {
			return err
		}
		x.state[i] = sh
		x.s.AddEdge(x.file, "within", sh, x.world, nil)
		if c := x.culture[decoded.IntOf(m["culture"])]; c != nil {
			x.s.AddEdge(x.file, "relationship", sh, c, map[string]any{"type": "culture"})
		}
	}
	return nil
}

func (x *azgaarCards) addProvinces(ctx context.Context) error {
	x.province = map[int]*exchange.Sheet{}
	for _, m := range x.provinces {
		i := decoded.IntOf(m["i"])
		if i == 0 {
			continue
		}
		sh, err := x.addThing(ctx, "province", "Realm", m, map[string]any{"realmType": "political", "scope": "REGIONAL"},
			"")
		if err != nil {
			return err
		}
		x.province[i] = sh
		x.s.AddEdge(x.file, "within", sh, x.realmOf(m), nil)
	}
	return nil
}

// realmOf returns the state of a thing, or the world if it has none.
func (x *azgaarCards) realmOf(m map[string]any) *exchange.Sheet {
	if sh := x.state[decoded.IntOf(m["state"])]; sh != nil {
		return sh
	}
	return x.world
}

// features are the members of a burg that say what it has.
var features = []struct{ member, name string }{{"citadel", "a citadel"}, {"walls", "walls"}, {"plaza",
	"a marketplace"},
	{"temple", "a temple"}, {"shanty", "a shanty town"}, {"port", "a port"}}

func (x *azgaarCards) addBurgs(ctx context.Context) error {
	x.burg = map[int]*exchange.Sheet{}
	for _, m := range x.burgs {
		i := decoded.IntOf(m["i"])
		if i == 0 {
			continue
		}
		people := int(decoded.FloatOf(m["population"]) * x.people)
		text := fmt.Sprintf("%d inhabitants. ", people)
		if decoded.FloatOf(m["capital"]) > 0 {
			text = "A capital of " + text
		}
		var has []string
		for _, f := range features {
			if decoded.FloatOf(m[f.member]) > 0 {
				has = append(has, f.name)
			}
		}
		if len(has) > 0 {
			text += "It has " + strings.Join(has, ", ") + "."
		}
		sh, err := x.addThing(ctx, "burg", "Location", m, map[string]any{"population": people}, text)
		if err != nil {
			return err
		}
		x.burg[i] = sh
		in := x.realmOf(m)
		if x.provinceAt != nil {
			if p := x.province[x.provinceAt(decoded.IntOf(m["cell"]))]; p != nil {
				in = p
			}
		}
		x.s.AddEdge(x.file, "within", sh, in, nil)
	}
	return nil
}

func (x *azgaarCards) addMarkers(ctx context.Context) error {
	for _, m := range x.markers {
		m["name"] = strings.TrimSpace(decoded.TextOf(m["name"]))
		if name, _ := x.noteFor("marker", decoded.IntOf(m["i"])); name != "" {
			m["name"] = name
		} else if m["name"] == "" {
			m["name"] = strings.ReplaceAll(decoded.TextOf(m["type"]), "-", " ")
		}
		sh, err := x.addThing(ctx, "marker", "Location", m, map[string]any{"placeType": m["type"]}, "")
		if err != nil {
			return err
		}
		in := x.world
		if x.provinceAt != nil {
			if p := x.province[x.provinceAt(decoded.IntOf(m["cell"]))]; p != nil {
				in = p
			}
		}
		x.s.AddEdge(x.file, "within", sh, in, nil)
	}
	return nil
}

func (x *azgaarCards) addRivers(ctx context.Context) error {
	river := map[int]*exchange.Sheet{}
	for _, m := range x.rivers {
		length := x.kilometres(decoded.FloatOf(m["length"]))
		sh, err := x.addThing(ctx, "river", "Lore", m, map[string]any{"factType": "geography"},
			fmt.Sprintf("%s, %.0f km long.", decoded.TextOf(m["type"]), length))
		if err != nil {
			return err
		}
		river[decoded.IntOf(m["i"])] = sh
	}
	for _, m := range x.rivers {
		into, from := river[decoded.IntOf(m["parent"])], river[decoded.IntOf(m["i"])]
		if into != nil && into != from {
			x.s.AddEdge(x.file, "relationship", from, into, map[string]any{"type": "flows into"})
		}
	}
	return nil
}

// addNotes adds the notes that describe none of the imported things, such as regiments.
func (x *azgaarCards) addNotes(ctx context.Context) error {
	for _, n := range x.notes {
		id := decoded.TextOf(n["id"])
		text, _ := n["legend"].(string)
		if id == "" || x.used[id] || strings.TrimSpace(text) == "" {
			continue
		}
		x.used[id] = true
		if _, err := x.s.Add(ctx, record.Card{Key: []string{"note", id}, File: x.file + " note " + id, Type: "Lore",
			Name: decoded.TextOf(n["name"]), Suffixes: []string{id}, Codename: "azgaar-" + x.id + "-" + id,
			Fields: map[string]any{"factType": "note", "azgaar": map[string]any{"id": id}},
			Text:   record.Text(text), Render: func(_ *exchange.Sheet,
				text string) string {
				return noteHTML(text)
			}}); err != nil {
			return err
		}
	}
	return nil
}

// mapStyle has the rules that a picture needs from the generator's page, which a map does not hold: lines are not
// filled, and areas end at the coast.
const mapStyle = `<style>
#map { fill-rule: evenodd }
#coastline, #borders, #routes, #statesHalo, #population, #cells, #compass { fill: none }
#coastline, #borders, #statesHalo, #statesBody, #provincesBody, #relig, #biomes, #cults { stroke-linejoin: round }
#landmass, #statesBody, #provincesBody, #relig, #cults, #rivers { mask: url(#land) }
#lakes { mask: url(#water) }
#rivers { stroke: none; fill-rule: nonzero }
#labels { text-anchor: middle; dominant-baseline: central }
</style>`

// standalonePicture returns the picture of a map with the rules of its page.
func standalonePicture(svg []byte) []byte {
	end := bytes.IndexByte(svg, '>') + 1
	return slices.Concat(svg[:end], []byte(mapStyle), svg[end:])
}

func (x *azgaarCards) addMapPicture(ctx context.Context) error {
	if len(x.svg) == 0 || len(x.svg)+len(mapStyle) > canon.MaxFile {
		return nil
	}
	pins := []any{}
	for _, m := range x.burgs {
		if sh := x.burg[decoded.IntOf(m["i"])]; sh != nil {
			pins = append(pins, map[string]any{"x": m["x"], "y": m["y"], "card": sh.ID.String()})
		}
	}
	fields := map[string]any{"file_name": x.title() + ".svg", "pins": pins}
	if len(decoded.EncodeFields(fields)) > canon.MaxFields {
		x.s.AddProblem(x.file, 0, "the map has more pins than a card holds; the picture has none")
		delete(fields, "pins")
	}
	_, err := x.s.Add(ctx, record.Card{Key: []string{"picture"}, File: x.file, Name: "map", Above: x.world,
		Type: canon.TypeImage, Data: func() ([]byte, error) { return standalonePicture(x.svg), nil }, Fields: fields})
	return err
}

// relations are the words of diplomacy that become links between states.
var relations = map[string]string{"Ally": "allied_with", "Enemy": "at_war_with"}

// linkStates links states with their neighbours, allies and enemies.
func (x *azgaarCards) linkStates() {
	for _, m := range x.states {
		from := x.state[decoded.IntOf(m["i"])]
		if from == nil {
			continue
		}
		near, _ := m["neighbors"].([]any)
		for _, v := range near {
			if to := x.state[decoded.IntOf(v)]; to != nil && to != from {
				x.s.AddEdge(x.file, "borders", from, to, nil)
			}
		}
		diplomacy, _ := m["diplomacy"].([]any)
		for i, v := range diplomacy {
			word, _ := v.(string)
			if to := x.state[i]; to != nil && relations[word] != "" {
				x.s.AddEdge(x.file, relations[word], from, to, nil)
			}
		}
	}
	for _, m := range x.burgs {
		if sh := x.burg[decoded.IntOf(m["i"])]; sh != nil {
			if c := x.culture[decoded.IntOf(m["culture"])]; c != nil {
				x.s.AddEdge(x.file, "relationship", sh, c, map[string]any{"type": "culture"})
			}
		}
	}
}
