package phrase

import (
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// formats are the formats of an export by the words for them.
var formats = map[string]string{"glb": "glb", "gltf": "gltf", "obj": "obj", "fbx": "fbx"}

// foreignFormats are formats that no tool writes.
var foreignFormats = []string{"stl", "usd", "usdz", "ply", "dae", "blend", "vrml", "3ds", "abc", "png", "jpg", "pdf", "collada",
	"alembic", "step"}

// nameAfter returns the name that stands after tokens of a class, and removes both.
func nameAfter(in []token, class string) (name string, rest []token) {
	for i, t := range in {
		if !t.has(class) || i+1 >= len(in) {
			continue
		}
		if in[i+1].has("named") && i+2 < len(in) {
			in = slices.Delete(slices.Clone(in), i+1, i+2)
		}
		next := in[i+1]
		if next.kind == kindQuote || next.kind == kindName || next.kind == kindWord &&
			(isCapital(next.text) || !next.has("prep") && !next.has("det")) {
			n, end := readName(in[i+1:])
			return n, slices.Concat(in[:i], in[i+1+end:])
		}
	}
	return "", in
}

// readName reads a name at the start of tokens: a quotation, or words that begin with a capital or
// have a digit or a low line, with the number after them.
func readName(in []token) (name string, n int) {
	if len(in) == 0 {
		return "", 0
	}
	if in[0].kind == kindQuote || in[0].kind == kindName {
		return in[0].text, 1
	}
	parts := []string{strings.TrimSuffix(strings.ReplaceAll(in[0].text, "’", "'"), "'s")}
	for n = 1; n < len(in); n++ {
		t := in[n]
		if t.kind == kindNumber && n+1 <= len(in) && !(n+1 < len(in) && (in[n+1].has("unit") || in[n+1].has("by") ||
			in[n+1].low == ",")) || t.kind == kindWord && isCapital(t.text) && isCapital(in[0].text) && t.is == nil {
			parts = append(parts, t.text)
			continue
		}
		break
	}
	return strings.Join(parts, " "), n
}

// isCapital reports whether a word begins with a capital letter.
func isCapital(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsUpper(r)
}

// length is a number of the request in metres.
type length struct {
	value float64
	unit  bool
	next  int // index of the token after it
}

// readLength reads a number and its unit.
func readLength(in []token, at int) (l length, ok bool) {
	if at >= len(in) || !in[at].isNumber() {
		return l, false
	}
	l = length{value: in[at].num, next: at + 1}
	if l.next < len(in) && in[l.next].has("unit") {
		l.value *= parseNumber(in[l.next].is["unit"])
		l.unit, l.next = true, l.next+1
	}
	return l, true
}

// readVector reads 2 to 4 numbers in a row, with units and the names of axes. The unit of the last
// number counts for numbers without one.
func readVector(in []token, at int, most int) (v []float64, next int) {
	var units []bool
	scale := 1.0
	i, measured := at, false // measured: "2 m by 3 m", which no comma continues
	for i < len(in) && len(v) < most {
		for i < len(in) && (in[i].low == "(" || in[i].low == "[" || in[i].low == "=" || in[i].low == ":" ||
			isAxis(in, i)) {
			i++
		}
		l, ok := readLength(in, i)
		if !ok {
			break
		}
		if l.unit && in[l.next-1].has("unit") {
			scale = parseNumber(in[l.next-1].is["unit"])
		}
		v, units, next = append(v, l.value), append(units, l.unit), l.next
		i = l.next
		for i < len(in) && (in[i].low == "," || in[i].low == ")" || in[i].low == "]" || in[i].has("by") ||
			in[i].low == "to" || in[i].has("and") && !isAxis(in, i)) {
			if measured && in[i].low == "," {
				break
			}
			measured = measured || in[i].has("by")
			i++
		}
	}
	for k := range v {
		if !units[k] {
			v[k] *= scale
		}
	}
	return v, next
}

// isAxis reports whether a token names the axis of the number that follows.
func isAxis(in []token, i int) bool {
	return (in[i].low == "x" || in[i].low == "y" || in[i].low == "z") && i+1 < len(in) &&
		(in[i+1].isNumber() || in[i+1].low == "=" || in[i+1].low == ":")
}

// cutVector finds numbers behind a class and removes them.
func cutVector(in []token, class string, most int) (v []float64, rest []token) {
	for i, t := range in {
		if !t.has(class) {
			continue
		}
		at := i + 1
		for at < len(in) && (in[at].low == "of" || in[at].low == "to" || in[at].low == "von" || in[at].low == "de") {
			at++
		}
		if v, next := readVector(in, at, most); len(v) > 0 {
			return v, slices.Concat(in[:i], in[next:])
		}
	}
	return nil, in
}

// cutMeasure finds a length beside a class: "4 m wide", "width 4 m". It removes both.
func cutMeasure(in []token, class string) (value float64, ok bool, rest []token) {
	for i := range in {
		l, found := readLength(in, i)
		if found && l.next+1 < len(in) && l.unit && isOf(in[l.next]) && in[l.next+1].has(class) {
			l.next++ // "50 cm in radius"
		}
		if found && l.next < len(in) && in[l.next].has(class) {
			return l.value, true, slices.Concat(in[:i], in[l.next+1:])
		}
	}
	for i, t := range in {
		if !t.has(class) {
			continue
		}
		at := i + 1
		if at < len(in) && in[at].has("prep") {
			at++
		}
		if l, found := readLength(in, at); found {
			return l.value, true, slices.Concat(in[:i], in[l.next:])
		}
	}
	return 0, false, in
}

// isOf reports whether a token joins a length and its name.
func isOf(t token) bool { return slices.Contains([]string{"of", "in", "de", "d'", "von", "im"}, t.low) }

// vectorOf makes three coordinates of one to three numbers.
func vectorOf(v []float64) []float64 {
	if len(v) == 1 {
		return []float64{v[0], v[0], v[0]}
	}
	out := []float64{0, 0, 0}
	copy(out, v)
	return out
}

// spacing is the distance between several objects that one phrase adds, in metres.
const spacing = 3.0

// readObject adds the add_object calls of a clause.
func (r *Reading) readObject(in []token) {
	a := Act{Tool: "add_object", With: map[string]any{}}
	count := 1
	for i, t := range in {
		if kind := objectType(t); kind != "" {
			a.With["object_type"] = kind
			for _, before := range in[:i] {
				if before.isNumber() {
					count = int(before.num)
				}
			}
			r.ignoreRest(slices.DeleteFunc(slices.Clone(in[:i]), token.isNumber))
			in = in[i+1:]
			break
		}
	}
	name, in := nameAfter(in, "named")
	if name == "" && len(in) > 0 && isLabel(in[0]) { // "put cone A at …"
		var n int
		name, n = readName(in)
		in = in[n:]
	}
	text, in := nameAfter(in, "sayings")
	in = r.readSize(&a, in)
	if text == "" && a.With["object_type"] == "text" {
		if i := slices.IndexFunc(in, func(t token) bool { return t.kind == kindQuote }); i >= 0 {
			text, in = in[i].text, slices.Delete(slices.Clone(in), i, i+1)
		}
	}
	if text != "" {
		a.With["text"] = text
	}
	apart, ok, in := cutMeasure(in, "apart")
	if !ok {
		apart = spacing
	}
	if i := slices.IndexFunc(in, isOddPlace); i > 0 && i+2 < len(in) && in[i-1].has("prep") &&
		in[i+1].low == "," && in[i+2].isNumber() {
		r.ask(AboutTask, "%q is no coordinate: a position is three numbers, in metres.", in[i].text)
	}
	places, in := r.readLocations(&a, in)
	in = r.readMaterial(&a, in)
	r.ignoreRest(in)
	r.addObjects(a, name, spread(&a, places, max(count, 1), apart))
}

// spread returns the positions of several objects. If the words give fewer, the others stand side by
// side along X.
func spread(a *Act, places [][]float64, count int, apart float64) [][]float64 {
	if len(places) < count && count > 1 {
		a.Assumed = append(a.Assumed, "the objects stand "+formatNumber(apart)+" m apart along X")
	}
	for last := places[len(places)-1]; len(places) < min(count, maxObjects+1); {
		last = []float64{last[0] + apart, last[1], last[2]}
		places = append(places, last)
	}
	return places
}

// isLabel reports whether a token names the object before it: "A", "Crate".
func isLabel(t token) bool {
	return t.kind == kindWord && isCapital(t.text) && (t.is == nil || len(t.text) == 1)
}

// isOddPlace reports whether a token cannot be a coordinate.
func isOddPlace(t token) bool { return t.kind == kindWord && t.is == nil }

// addObjects adds one call for each position.
func (r *Reading) addObjects(a Act, name string, places [][]float64) {
	if len(places) > maxObjects {
		r.ask(AboutTask, "A plan has at most %d calls; scatter places many instances of one object.", maxObjects)
		return
	}
	defer func() { r.labels = nil }()
	for i, at := range places {
		one := a
		one.With = maps.Clone(a.With)
		one.With["location"] = at
		if name != "" {
			one.With["name"] = name
			if len(places) > 1 {
				one.With["name"] = name + " " + formatNumber(float64(i+1))
			}
		}
		if len(r.labels) == len(places) {
			one.With["name"] = r.labels[i]
		}
		if i > 0 {
			one.Assumed = nil
		}
		r.Acts = append(r.Acts, one)
	}
}

// maxObjects bounds the objects that one phrase adds.
const maxObjects = 40

// solid is the size of a solid of add_object, in metres.
const solid = 2.0

// readSize reads scale, rotation and lengths of an object.
func (r *Reading) readSize(a *Act, in []token) []token {
	v, in := cutVector(in, "scale", 3)
	if v != nil {
		a.With["scale"] = vectorOf(v)
	}
	if v, in = cutVector(in, "rotation", 3); v == nil {
		if turn, ok, rest := cutMeasure(in, "degrees"); ok {
			v, in = []float64{turn}, rest
		}
	}
	if v != nil {
		turn := []float64{0, 0, v[0]}
		if len(v) == 3 {
			turn = v
		} else if i := slices.IndexFunc(in, func(t token) bool {
			return t.low == "x" || t.low == "y" || t.low == "z"
		}); i >= 0 {
			turn = []float64{0, 0, 0}
			turn[in[i].low[0]-'x'] = v[0]
			in = slices.Delete(slices.Clone(in), i, i+1)
		}
		a.With["rotation"] = turn
		in = slices.DeleteFunc(slices.Clone(in), func(t token) bool {
			return strings.HasPrefix(t.low, "degree") || t.low == "grad" || t.low == "degres" || t.low == "grados" ||
				t.low == "axis" || t.low == "about"
		})
	}
	scale := []float64{1, 1, 1}
	sized, in := cutDimensions(scale, in)
	in = repeatMeasures(in)
	if i := slices.IndexFunc(in, func(t token) bool { return t.has("times") }); i >= 0 {
		by := parseNumber(in[i].is["times"])
		scale, sized, in = []float64{by, by, by}, true, slices.Concat(in[:i], in[i+1:])
	}
	for _, m := range []struct {
		class string
		axes  []int
		by    float64
	}{{"radius", []int{0, 1, 2}, 1}, {"diameter", []int{0, 1, 2}, solid}, {"edge", []int{0, 1, 2}, solid}, {"wide", []int{0}, solid}, {"deep", []int{1}, solid},
		{"tall", []int{2}, solid}} {
		value, ok, rest := cutMeasure(in, m.class)
		if !ok {
			continue
		}
		in, sized = rest, true
		for _, i := range m.axes {
			scale[i] = value / m.by
		}
	}
	for i, t := range in { // "a cube of 4 m"
		if l, ok := readLength(in, i+1); ok && l.unit && (t.low == "of" || t.low == "von" || t.low == "de") &&
			(l.next == len(in) || in[l.next].has("prep") || in[l.next].low == ",") {
			by := l.value / solid
			scale, sized, in = []float64{by, by, by}, true, slices.Concat(in[:i], in[l.next:])
			break
		}
	}
	if sized {
		a.With["scale"] = scale
	}
	return in
}

// cutDimensions reads the sides of an object, "12 m by 8 m", into a scale.
func cutDimensions(scale []float64, in []token) (found bool, rest []token) {
	for i := range in {
		v, next := readVector(in, i, 3)
		if len(v) > 1 && joinsBy(in[i:next]) {
			for k := range v {
				scale[k] = v[k] / solid
			}
			from := i
			for from > 0 && in[from-1].low == "of" {
				from--
			}
			return true, slices.Concat(in[:from], in[next:])
		}
	}
	return false, in
}

// joinsBy reports whether numbers are joined by "by" or "x", and not by the names of axes.
func joinsBy(in []token) bool {
	for i, t := range in[1:] {
		if t.has("by") && (in[i].isNumber() || in[i].has("unit")) {
			return true
		}
	}
	return false
}

// repeatMeasures repeats a length before each of its names: "4 m wide, deep and high".
func repeatMeasures(in []token) (out []token) {
	var length []token
	for i, t := range in {
		measure := t.hasAny("wide", "deep", "tall")
		switch n := len(out); {
		case measure && n > 1 && out[n-1].has("unit") && out[n-2].isNumber():
			length = slices.Clone(out[n-2:])
		case measure && i > 1 && length != nil && (in[i-1].has("and") || in[i-1].low == ",") &&
			(i+1 == len(in) || !in[i+1].isNumber()):
			out = append(out, length...)
		case !measure && !t.has("and") && t.low != ",":
			length = nil
		}
		out = append(out, t)
	}
	return out
}

// readLocations reads the positions of objects: coordinates, or distances in directions.
func (r *Reading) readLocations(a *Act, in []token) (places [][]float64, rest []token) {
	var labels []string
	for again := true; again; {
		again = false
		for i := range in {
			if v, next := readVector(in, i, 3); len(v) > 1 {
				rest := dropAround(in, i, next)
				if from := i - (len(in) - len(rest) - (next - i)); from > 0 && isPlaceLabel(in, from) {
					labels = append(labels, in[from-1].text)
					rest = slices.Delete(slices.Clone(rest), from-1, from)
				}
				places, in, again = append(places, vectorOf(v)), rest, true
				break
			}
		}
	}
	at, found := []float64{0, 0, 0}, len(places) > 0
	if i := slices.IndexFunc(in, func(t token) bool { return t.has("same_place") }); i >= 0 && len(r.Acts) > 0 {
		if last, ok := r.Acts[len(r.Acts)-1].With["location"].([]float64); ok {
			return [][]float64{slices.Clone(last)}, dropAround(in, i, i+1)
		}
	}
	for again := true; again; {
		again = false
		for i := range in {
			l, ok := readLength(in, i)
			if !ok || l.next >= len(in) || !in[l.next].has("side") {
				continue
			}
			side := in[l.next].is["side"]
			if side[1] == '-' {
				l.value = -l.value
			}
			at[side[0]-'x'] += l.value
			in, again = dropAround(in, i, l.next+1), true
			found = true
			break
		}
	}
	if !found && !slices.ContainsFunc(in, func(t token) bool {
		return strings.HasPrefix(t.low, "origin") ||
			t.low == "ursprung"
	}) {
		at[2] = 1
		a.Assumed = append(a.Assumed, "the "+a.With["object_type"].(string)+" stands at the origin")
	}
	if len(places) == 0 {
		places = append(places, at)
	} else {
		for k, d := range at { // "2 m above the ground at 4, 4"
			if places[0][k] == 0 {
				places[0][k] = d
			}
		}
	}
	if len(labels) == len(places) && len(labels) > 1 {
		r.labels = labels
	}
	return places, in
}

// isPlaceLabel reports whether the token before an index names the object at a position: "Left at 0, 0, 1".
func isPlaceLabel(in []token, at int) bool {
	t := in[at-1]
	return t.kind == kindWord && isCapital(t.text) && !t.hasAny("noun", "named") && (!t.has("article") ||
		len(t.text) == 1) &&
		(at == 1 || in[at-2].hasAny("and") || in[at-2].kind == kindMark)
}

// dropAround removes tokens and the prepositions and words for a position before them.
func dropAround(in []token, from, to int) []token {
	for from > 0 && (in[from-1].has("prep") || in[from-1].low == "position" || in[from-1].low == "location" ||
		in[from-1].low == "coordinates" || in[from-1].low == "(" || in[from-1].low == "point" ||
		in[from-1].low == "posicion") {
		from--
	}
	return slices.Concat(in[:from], in[to:])
}

// readMaterial reads the material of an object: "with material Oak".
func (r *Reading) readMaterial(a *Act, in []token) []token {
	for i, t := range in {
		if t.low == "material" && i+1 < len(in) {
			name, n := readName(in[i+1:])
			a.With["material"] = name
			return slices.Concat(in[:i], in[i+1+n:])
		}
	}
	return in
}

// ignoreRest records words that no argument took.
func (r *Reading) ignoreRest(in []token) {
	for _, t := range in {
		if t.kind == kindWord && !t.hasAny("prep", "det", "lead") && !t.has("pron") && !t.has("and") &&
			!t.hasAny("then", "side", "named", "unit", "idle") && !slices.Contains(idleWords, t.low) ||
			t.kind == kindQuote || t.kind == kindPath {
			r.Ignored, r.Unsure = append(r.Ignored, t.text), r.Unsure || t.is == nil
		}
	}
}

// idleWords are words that carry nothing in the arguments of a tool.
var idleWords = strings.Fields("does do run runs is performance game position location coordinates point origin the's hinzu ein dort there here scene world level small " +
	"single new please ursprung origine origen degrees object file format as files asset detail details with size is posicion " +
	"row line apart picture image preview big resolution quality set area everything")
