package sentence

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"

	"loregate/internal/fault"
	"loregate/internal/studio/build"
	"loregate/internal/studio/noise"
	"loregate/internal/studio/spec"
)

// Reading is a place in words as a scene.
type Reading struct {
	Scene   *spec.Scene
	Setting string // the noun of the place
	Phrases []Phrase
	Unknown []string // words of the caller that name something and became nothing
	Unread  []string // the same of the card's text
}

// Assumed lists the assumptions.
func (r *Reading) Assumed() []string {
	var list []string
	for _, p := range r.Phrases {
		if p.Assumed != "" {
			list = append(list, fmt.Sprintf("%q: %s", p.Words, p.Assumed))
		}
	}
	return list
}

// ErrNothing is the error of words that name nothing that can be built.
var ErrNothing = fault.New(fault.Invalid, "the words name nothing that can be built")

// Read turns a description into a scene. The caller's words are read after the card's, so that their
// numbers replace earlier ones. If nothing is named that can be built, the error is ErrNothing, and the
// reading has only the words that were not understood.
func Read(b Brief) (*Reading, error) {
	v, err := loadVocabulary()
	if err != nil {
		return nil, err
	}
	r := &reader{vocabulary: v}
	r.readText(b.Text, fromText)
	unread := r.unknown
	r.unknown = nil
	r.readTitle(b.Title)
	r.unknown = nil
	r.readText(b.Words, fromWords)
	r.resolveVague()
	out := &Reading{Unknown: r.unknown, Unread: unread}
	if !slices.ContainsFunc(r.mentions, isBuilt) && !v.hasTerrain(b.Terrain) {
		for _, m := range r.mentions {
			out.Unknown = append(out.Unknown, m.words)
		}
		for _, one := range r.creatures {
			out.Unknown = append(out.Unknown, one.words)
		}
		r.accountWords(out)
		return out, ErrNothing
	}
	c := &composer{reader: r, out: out, seed: b.Seed, scene: &spec.Scene{Version: spec.Version, Name: makeName(b),
		Title: b.Title, Seed: int64(b.Seed), Parts: map[string]*spec.Part{}, Define: map[string]*spec.Part{}}}
	c.scene.Light.Time = cmp.Or(b.Style, r.light)
	c.chooseSetting(b.Terrain)
	if err := c.compose(); err != nil {
		return nil, err
	}
	r.accountWords(out)
	text, err := c.scene.Encode()
	if err != nil {
		return nil, err
	}
	out.Scene, err = spec.Decode(text) // fills in defaults, and checks
	return out, err
}

// The texts in the order of their weight.
const (
	fromText = iota
	fromTitle
	fromWords
)

// isBuilt reports whether a mention is something that a scene shows.
func isBuilt(m *mention) bool {
	return !m.left && (m.class == isThing || m.class == isSetting || m.class == isSurface)
}

// readTitle reads the name of a card: only the kind of place counts, not the things in its name.
func (r *reader) readTitle(title string) {
	before := len(r.mentions)
	r.readText(title, fromTitle)
	r.mentions = append(r.mentions[:before:before],
		slices.DeleteFunc(slices.Clone(r.mentions[before:]), func(m *mention) bool {
			return m.class != isSetting && r.Things[m.name].Stands != asHouse
		})...)
}

func (v *vocabulary) hasTerrain(terrain string) bool {
	return terrain != "" && slices.ContainsFunc(keysOf(v.Settings),
		func(k string) bool { return v.Settings[k].Terrain == terrain })
}

// makeName makes the prefix of all names from the title, or from the first words.
func makeName(b Brief) string {
	text := b.Title
	if text == "" {
		words := strings.Fields(b.Words)
		text = strings.Join(words[:min(len(words), 5)], " ")
	}
	name := []byte{}
	for _, c := range []byte(strings.ToLower(strings.TrimPrefix(text, "The "))) {
		switch {
		case c >= 'a' && c <= 'z' || c >= '0' && c <= '9':
			name = append(name, c)
		case len(name) > 0 && name[len(name)-1] != '_':
			name = append(name, '_')
		}
	}
	short := strings.Trim(string(name[:min(len(name), 24)]), "_")
	if short == "" || short[0] < 'a' {
		return "scene"
	}
	return short
}

// composer makes a scene of the mentions.
type composer struct {
	*reader
	out    *Reading
	scene  *spec.Scene
	seed   uint64
	place  setting
	also   []setting // ways and waters that join the place
	room   *[3]float64
	boxes  []*box
	sizes  map[*mention]*box // at the origin
	stands map[*mention][]*box
	main   *mention // the first building
	far    float64  // half the length of the road
	housed bool     // the words name the building around the room
}

// chooseSetting chooses the place around the things: that of the caller's words, of the title, or of
// the text; else of the terrain; else a room for things of a household, or open ground.
func (c *composer) chooseSetting(terrain string) {
	var best *mention
	for _, m := range c.mentions {
		if m.class != isSetting || m.left || c.isLedTo(m) {
			continue
		}
		if best == nil || m.from > best.from || m.from == best.from && best.landmark && !m.landmark &&
			best.relation == "" &&
			c.Settings[m.name].Indoor == nil {
			best = m
		}
	}
	name, assumed := "", ""
	switch inside := c.insideOf(best); {
	case inside != "":
		name, assumed = inside, "the inside of the building"
	case best != nil:
		name = best.name
	case c.hasTerrain(terrain):
		name, assumed = c.settingOf(terrain), "from the terrain of the card"
	case slices.ContainsFunc(c.mentions, c.meansRoom) && !c.isOutdoors() ||
		slices.ContainsFunc(c.mentions, func(m *mention) bool {
			return c.isLedTo(m) && c.Settings[m.name].Indoor != nil
		}):
		name, assumed = "room", "the words name things of a room and no place"
	default:
		name, assumed = "plain", "the words name no place"
	}
	c.place = c.Settings[name]
	c.out.Setting = c.place.Words[0]
	if assumed != "" {
		c.out.Phrases = append(c.out.Phrases, Phrase{Words: c.out.Setting,
			Became: "the place is " + c.out.Setting, Assumed: assumed})
	}
	if best != nil && best.scale > 0 && c.place.Indoor != nil {
		size := *c.place.Indoor
		for i := range 2 {
			size.Size[i] *= best.scale
		}
		c.place.Indoor = &size
	}
	if best != nil && best.material != "" {
		c.paintPlace(best.material)
	}
	for _, m := range c.mentions {
		s := c.Settings[m.name]
		switch {
		case m.class != isSetting || m == best || m.left:
		case m.name == name, m.name == "room" && c.place.Indoor != nil, m.name == "plain" && c.place.Indoor == nil:
		case s.Indoor == nil && c.place.Indoor == nil:
			c.also = append(c.also, s)
		default:
			c.standForPlace(m)
		}
	}
	c.addImplied()
}

// standForPlace shows a second place by its entrance, its view or its building.
func (c *composer) standForPlace(m *mention) {
	inside := c.Settings[m.name].Indoor != nil
	m.class = isThing
	switch {
	case c.place.Indoor == nil:
		m.name = "house"
		m.assume("a scene has one place; a building stands for this one")
	case inside:
		m.name = "arch"
		m.assume("a scene has one place; an opening leads to this one")
	default:
		m.name = "window"
		m.assume("it is outside; a window looks out to it")
	}
}

// isLedTo reports whether a place is only where something leads to.
func (c *composer) isLedTo(place *mention) bool {
	return place.class == isSetting && slices.ContainsFunc(c.mentions, func(m *mention) bool {
		return m.to == place && m.relation == "leading to" && m.class == isThing
	})
}

// paintPlace makes the walls of a room, or the ground, of a material.
func (c *composer) paintPlace(material string) {
	switch {
	case c.place.Indoor != nil:
		size := *c.place.Indoor
		size.Wall = material
		c.place.Indoor = &size
	case material == "timber": // an oak grove, a pine forest
	case c.place.Way != "":
		c.place.Way = material
	default:
		c.place.Ground = material
	}
}

func (c *composer) settingOf(terrain string) string {
	for _, k := range keysOf(c.Settings) {
		if c.Settings[k].Terrain == terrain {
			return k
		}
	}
	return "plain"
}

// insideOf returns the setting of the rooms of a building, if the words are about its inside.
func (c *composer) insideOf(place *mention) string {
	if place != nil && c.Settings[place.name].Indoor != nil {
		return ""
	}
	for _, m := range c.mentions {
		if m.class != isThing || c.Things[m.name].Inside == "" || m.count != 1 {
			continue
		}
		if c.inner || m.landmark && c.isEntered(m) || place == nil && c.isAround(m) {
			m.class, m.left = isSetting, false
			m.name = c.Things[m.name].Inside
			return m.name
		}
	}
	if c.inner {
		return "cave"
	}
	return ""
}

// isEntered reports whether nothing that stands outside is named besides a building that is around
// all other things.
func (c *composer) isEntered(house *mention) bool {
	in := false
	for _, m := range c.mentions {
		if m.class == isThing && m != house &&
			slices.Contains([]string{asHouse, asLand, asPlant}, c.Things[m.name].Stands) {
			return false
		}
		in = in || m.to == house && m.relation == "in"
	}
	return in
}

// isAround reports whether things that belong into a room are named besides one building only.
func (c *composer) isAround(house *mention) bool {
	in := false
	for _, m := range c.mentions {
		if m == house || m.left {
			continue
		}
		if m.class == isThing && slices.Contains([]string{asHouse, asLand, asPlant, isAfloat}, c.Things[m.name].Stands) {
			return false
		}
		in = in || c.meansRoom(m) && m.owner == nil && m.name != "wall" && !slices.Contains(c.Portable, m.name)
	}
	return in
}

// isOutdoors reports whether the words name buildings, land or plants, and of the things of a room only those that also
// stand outdoors.
func (c *composer) isOutdoors() bool {
	out := false
	for _, m := range c.mentions {
		if c.meansRoom(m) && (m.class != isThing || !slices.Contains(c.Portable, m.name)) {
			return false
		}
		out = out || m.class == isThing &&
			slices.Contains([]string{asHouse, asLand, asPlant, isAfloat}, c.Things[m.name].Stands)
	}
	return out
}

func (c *composer) meansRoom(m *mention) bool {
	return m.class == isSurface && m.owner == nil && m.name != "roof" && m.head != "ground" ||
		m.class == isThing && slices.Contains(c.Household, m.name)
}

// addImplied adds the things that belong to the place, unless the words name them.
func (c *composer) addImplied() {
	for _, s := range append([]setting{c.place}, c.also...) {
		for _, name := range keysOf(s.Adds) {
			if slices.ContainsFunc(c.mentions, func(m *mention) bool {
				return m.class == isThing &&
					m.name == name
			}) {
				continue
			}
			m := &mention{class: isThing, name: name, words: s.Words[0], count: s.Adds[name], implied: true}
			m.assume("%d %s belong to the place", m.count, c.Things[name].Words[0])
			c.mentions = append(c.mentions, m)
		}
	}
}

// compose makes the parts of the scene. A room that is too small for its things is made larger.
func (c *composer) compose() error {
	c.paintSurfaces()
	var things []*mention
	for _, m := range c.mentions {
		if m.class != isThing || m.left {
			continue
		}
		if c.place.Indoor != nil && slices.Contains([]string{asHouse, asLand}, c.Things[m.name].Stands) &&
			!c.fitIntoRoom(m) {
			continue
		}
		things = append(things, m)
	}
	c.out.Unknown = c.unknown
	for try := range 5 {
		full, err := c.placeAll(things, 1+0.3*float64(try))
		if err != nil {
			return err
		}
		if !full || c.place.Indoor == nil {
			break
		}
	}
	c.emitAll(things)
	c.addMarkers()
	c.addCamera()
	return nil
}

// fitIntoRoom reports whether a building or a hill is shown in a room: small works are. The first house is around the
// room; of others the answer says that they are not shown.
func (c *composer) fitIntoRoom(m *mention) bool {
	t := c.Things[m.name]
	switch {
	case t.Stands == asHouse && t.Inside == "":
		m.assume("it is as small as the room needs")
		return true
	case t.Inside != "" && m.count == 1 && m.relation == "" && !c.housed:
		c.housed = true
		m.class, m.name = isSetting, t.Inside
		m.assume("the scene is inside of it")
	default:
		c.addUnknown(m.words)
		m.left = true
		m.assume("it does not fit into a room")
	}
	return false
}

// placeAll finds the places of all things. Full reports that there was no room for one of them.
func (c *composer) placeAll(things []*mention, size float64) (full bool, err error) {
	c.boxes, c.room, c.main, c.far = nil, nil, nil, 0
	c.sizes, c.stands = map[*mention]*box{}, map[*mention][]*box{}
	if in := c.place.Indoor; in != nil {
		c.room = &[3]float64{in.Size[0] * size, in.Size[1] * size, in.Size[2]}
		if in.Canal {
			c.boxes = append(c.boxes, &box{half: [3]float64{1.1, c.room[1] / 2, 1}, hard: true})
		}
	}
	for _, m := range c.inOrder(things) {
		if err := c.measure(m); err != nil {
			return false, err
		}
	}
	c.planRoad(things)
	for _, m := range c.inOrder(things) {
		if !c.placeMention(m) {
			full = true
		}
	}
	return full, nil
}

// inOrder returns the things in the order in which they find their places: landmarks before the
// things beside them, large ones before small ones.
func (c *composer) inOrder(things []*mention) []*mention {
	rank := map[string]int{asHouse: 0, asLand: 1, atCentre: 2, atHead: 2, isFlat: 3, inRows: 4, onWall: 5,
		isAfloat: 5,
		onFloor:  6, onCeiling: 7, onTable: 8, asPlant: 9}
	list := slices.Clone(things)
	slices.SortStableFunc(list, func(a, b *mention) int {
		return cmp.Or(boolInt(a.implied)-boolInt(b.implied), c.depth(a, 0)-c.depth(b, 0),
			boolInt(a.relation == "")-boolInt(b.relation == ""),
			rank[c.Things[a.name].Stands]-rank[c.Things[b.name].Stands])
	})
	return list
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// depth returns the number of landmarks that must stand before a thing.
func (c *composer) depth(m *mention, seen int) int {
	if m.to == nil || m.to.class != isThing || seen > 8 {
		return 0
	}
	d := 1 + c.depth(m.to, seen+1)
	if m.and != nil {
		d = max(d, 1+c.depth(m.and, seen+1))
	}
	return d
}

// paintSurfaces applies what the words say of walls, floors and roofs.
func (c *composer) paintSurfaces() {
	for _, m := range slices.Clone(c.mentions) {
		if m.class != isSurface || m.left {
			continue
		}
		if m.owner == nil && c.place.Indoor == nil && m.name != "floor" && !(m.name == "wall" && m.exact) {
			m.owner = c.firstBuilding()
		}
		if c.paintRole(m) {
			continue
		}
		in := c.place.Indoor
		switch {
		case in != nil:
			size := *in
			switch material := m.material; {
			case material == "":
			case m.name == "floor":
				size.Floor = material
			case m.name == "wall":
				size.Wall = material
			default:
				m.assume("only walls and floors have a material of their own")
			}
			c.place.Indoor = &size
		case m.name == "wall":
			m.class, m.name = isThing, "wall"
			m.count = max(m.count, 1)
		case m.name == "floor":
			c.place.Ground = cmp.Or(m.material, c.place.Ground)
		default:
			m.left = true
			c.addUnknown(m.words)
		}
	}
}

// firstBuilding returns the first building with walls.
func (c *composer) firstBuilding() *mention {
	for _, m := range c.mentions {
		if m.class == isThing && !m.left && m.name != "wall" && c.isBuilding(m) {
			return m
		}
	}
	return nil
}

// paintRole applies what the words say of the roof or the walls of a building.
func (c *composer) paintRole(m *mention) bool {
	o := m.owner
	if o == nil || o.class != isThing {
		return false
	}
	house, tower := bodiesOf(c.parts[o.name])
	if house == nil && tower == nil && c.Things[o.name].Has == nil {
		return false
	}
	switch {
	case m.material == "":
	case m.name == "roof" && m.material == "thatch" && house != nil:
		o.setFeature("thatch", 1)
	case m.name == "wall":
		o.material = m.material
	default:
		o.setRole(m.name, m.material)
	}
	return true
}

// partOf returns the part of a mention, with its material, size and features.
func (c *composer) partOf(m *mention) *spec.Part {
	p := *c.parts[m.name]
	if m.material != "" {
		p.Material = m.material
	}
	p.Scale = m.scale
	if len(m.roles) > 0 {
		p.Materials = maps.Clone(p.Materials)
		if p.Materials == nil {
			p.Materials = map[string]string{}
		}
		maps.Copy(p.Materials, m.roles)
	}
	if m.name == "wall" {
		p.Is = "wall"
	}
	if p.Column != nil && c.room != nil {
		column := *p.Column
		column.Height = c.room[2]
		p.Column = &column
	}
	if p.House != nil {
		h := *p.House
		h.Roof = pick(m.features, "thatch", "thatch", h.Roof)
		h.Chimney = h.Chimney || isSet(m.features, "chimney")
		h.Frame = h.Frame || isSet(m.features, "frame")
		h.Lit = isSet(m.features, "lit")
		if n, ok := m.features["windows"]; ok && n > 0 {
			h.Windows = min(n, 20)
		}
		if n := m.features["storeys"]; n > 0 {
			h.Storeys = min(n, 8)
		}
		p.House = &h
	}
	if p.Tower != nil {
		p.Tower = c.fitTower(*p.Tower, m)
	}
	return &p
}

func pick(features map[string]int, name, yes, no string) string {
	if isSet(features, name) {
		return yes
	}
	return no
}

func isSet(features map[string]int, name string) bool { _, ok := features[name]; return ok }

// fitTower applies features to a tower. Slits count for the whole tower: its floors share them.
func (c *composer) fitTower(t spec.Tower, m *mention) *spec.Tower {
	t.Top = pick(m.features, "spire", "spire", t.Top)
	t.Stair = pick(m.features, "stair", "outside", t.Stair)
	t.Lit = isSet(m.features, "lit")
	if n := m.features["storeys"]; n > 0 {
		t.Storeys = min(n, 20)
	}
	if n, ok := m.features["slits"]; ok {
		if n == 0 {
			n = t.Storeys
		}
		for t.Storeys > 1 && n%t.Storeys != 0 {
			t.Storeys--
		}
		t.Slits = min(n/t.Storeys, 24)
	}
	if n, ok := m.features["windows"]; ok {
		t.Windows = max(1, min(n/max(t.Storeys-1, 1), 24))
	}
	return &t
}

// bodySizes are the boxes of parts: width, depth and height, by their JSON form.
var bodySizes sync.Map

// measure fills in the size of a mention's part, from its built body.
func (c *composer) measure(m *mention) error {
	p := c.partOf(m)
	p.Scale = 0
	key, err := json.Marshal(p)
	if err != nil {
		return err
	}
	low, high, err := boundsOf(p, string(key))
	if err != nil {
		return fmt.Errorf("sentence: %s: %w", m.name, err)
	}
	scale := cmp.Or(m.scale, 1)
	if m.height > 0 {
		scale = min(max(m.height/max(high[2], 0.1), 0.05), 20)
		m.scale = scale
	}
	if c.room != nil {
		most := min((c.room[2]-0.02)/high[2], 0.7*c.room[0]/(high[0]-low[0]), 0.7*c.room[1]/(high[1]-low[1]))
		if c.Things[m.name].Stands != asHouse {
			most = (c.room[2] - 0.02) / high[2]
		}
		if scale > most && most > 0 {
			scale = most
			m.scale = scale
		}
	}
	b := &box{item: m, name: m.name}
	for i := range 3 {
		b.half[i] = (high[i] - low[i]) / 2 * scale
		b.off[i] = (high[i] + low[i]) / 2 * scale
	}
	b.tall = high[2] * scale
	c.sizes[m] = b
	return nil
}

// boundsOf builds a part alone and returns the corners of its box.
func boundsOf(p *spec.Part, key string) (low, high [3]float64, err error) {
	if found, ok := bodySizes.Load(key); ok {
		pair := found.([2][3]float64)
		return pair[0], pair[1], nil
	}
	s := &spec.Scene{Version: spec.Version, Name: "one", Parts: map[string]*spec.Part{"one": p}}
	text, err := s.Encode()
	if err != nil {
		return low, high, err
	}
	if s, err = spec.Decode(text); err != nil {
		return low, high, err
	}
	m, err := build.Build(s, nil)
	if err != nil {
		return low, high, err
	}
	for _, t := range m.Things {
		if t.Inside < 0 {
			low, high = t.Box.Low, t.Box.High
		}
	}
	bodySizes.Store(key, [2][3]float64{low, high})
	return low, high, nil
}

// emitAll adds the land, the room and the things to the scene, and reports each phrase.
func (c *composer) emitAll(things []*mention) {
	c.addPlace()
	for _, m := range c.mentions {
		p := Phrase{Words: m.words, Became: c.describeMention(m), Assumed: strings.Join(m.assumed, "; "), own: !m.implied}
		switch {
		case m.left && m.count == 0 && m.class == isThing:
			p.Became = "left out, as the words say"
		case m.left:
			p.Became = "nothing"
		case m.class == isThing:
			p.Path = c.emit(m)
			p.Kind, p.Count, p.Material = m.name, m.count, m.material
			if isSet(m.features, "thatch") {
				p.Material = cmp.Or(p.Material, "thatch")
			}
			if m.pattern == "row" && m.relation == "" {
				p.Relation = "in rows"
			}
			c.describeRelation(&p, m)
			if len(m.features) > 0 {
				p.Became += " with " + strings.Join(keysOf(m.features), ", ")
			}
			p.Assumed = strings.Join(m.assumed, "; ")
		case m.class == isSetting, m.class == isSurface, m.class == isLight && m.count > 0:
			p.Kind, p.Count, p.Material = m.name, m.count, m.material
			if m.class == isSetting {
				c.admitPlace(m)
				p.Assumed = strings.Join(m.assumed, "; ")
			}
			c.describeRelation(&p, m)
		}
		c.out.Phrases = append(c.out.Phrases, p)
	}
}

func (c *composer) describeRelation(p *Phrase, m *mention) {
	if m.relation != "" {
		p.Relation = strings.TrimSpace(strings.Replace(m.relation, "at each end", "at the end", 1) + " " + c.landmarkName(m))
		p.Became += ", " + p.Relation
	}
}

func (c *composer) landmarkName(m *mention) string {
	if m.to == nil {
		return m.toNoun
	}
	name := m.to.noun
	if m.toNoun != "" {
		name = m.toNoun
	}
	if m.and != nil {
		name += " and " + m.and.head
	}
	return name
}

// emit adds the parts of a mention and returns their path.
func (c *composer) emit(m *mention) string {
	p, list := c.partOf(m), c.stands[m]
	name := c.freeName(m.name, len(list))
	if len(list) == 1 {
		c.scene.Parts[name] = list[0].place(*p)
		return name
	}
	if len(list) == 0 {
		c.scene.Parts[name] = c.scatter(m, *p)
		return name
	}
	c.scene.Define[name] = p
	group := &spec.Part{Parts: map[string]*spec.Part{}}
	for i, b := range list {
		group.Parts[fmt.Sprintf("%s_%d", m.name, i+1)] = b.place(spec.Part{Use: name, Scale: p.Scale})
	}
	c.scene.Parts[name] = group
	return name
}

// freeName returns a name of a part that the scene does not have yet.
func (c *composer) freeName(name string, members int) string {
	if members != 1 {
		switch {
		case strings.HasSuffix(name, "s"):
			name += "es"
		case strings.HasSuffix(name, "ch"), strings.HasSuffix(name, "sh"), strings.HasSuffix(name, "x"):
			name += "es"
		default:
			name += "s"
		}
	}
	for i, base := 2, name; c.scene.Parts[name] != nil; i++ {
		name = fmt.Sprintf("%s_%d", base, i)
	}
	return name
}

// scatter returns the part of many plants at free spots around the place.
func (c *composer) scatter(m *mention, p spec.Part) *spec.Part {
	core := c.coreRadius()
	far := core + 22 + math.Sqrt(float64(m.count))*3
	area := [4]float64{-far, -far * 0.7, far, far}
	avoid := []spec.AvoidDisc{{0, 0, min(core+2, far*0.6)}}
	if c.room != nil {
		area = [4]float64{-c.room[0]/2 + 0.6, -c.room[1]/2 + 1, c.room[0]/2 - 0.6, c.room[1]/2 - 0.6}
		avoid = nil
	}
	if c.wet() {
		area[1] = shoreLine + 2
	}
	for _, w := range c.ways() {
		for i := range 30 {
			at := pointAlong(w.Along, float64(i)/29)
			avoid = append(avoid, spec.AvoidDisc{at[0], at[1], w.Width/2 + 1.4})
		}
	}
	p.Repeat = &spec.Repeat{Scatter: &spec.Scatter{Area: area, Count: m.count,
		Apart: max(2.3*max(c.sizes[m].half[0], c.sizes[m].half[1]), 0.3), Avoid: avoid[:min(len(avoid), 100)]},
		Vary: spec.Vary{Scale: 0.2}}
	return &p
}

// seedOf returns the source of random numbers of a thing.
func (c *composer) seedOf(m *mention) *noise.Source { return noise.NewSource(c.seed, m.name) }
