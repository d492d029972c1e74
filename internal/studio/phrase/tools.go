package phrase

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// readTerrain adds a generate_terrain.
func (r *Reading) readTerrain(in []token) {
	a := Act{Tool: "generate_terrain", With: map[string]any{}}
	if name, rest := nameAfter(in, "named"); name != "" {
		a.With["name"], in = name, rest
	}
	in = r.readAmplitude(&a, in)
	width, height := 0.0, 0.0
	given := false
	for _, m := range []struct {
		class string
		to    *float64
	}{{"wide", &width}, {"deep", &height}} {
		if v, ok, rest := cutMeasure(in, m.class); ok {
			*m.to, in, given = v, rest, true
		}
	}
	for i := range in { // "800 m from west to east"
		l, ok := readLength(in, i)
		if !ok || l.next+1 >= len(in) || !in[l.next].has("prep") || !in[l.next+1].has("side") {
			continue
		}
		if given = true; in[l.next+1].is["side"][0] == 'x' {
			width = l.value
		} else {
			height = l.value
		}
	}
	for i := range in {
		if v, next := readVector(in, i, 2); len(v) > 0 && width == 0 {
			if next > i && next < len(in) && in[next].low == "square" || len(v) == 1 {
				v = []float64{v[0], v[0]}
			}
			width, height, given = v[0], v[1], true
			break
		}
	}
	r.readDetail(&a, in)
	if !given {
		width, height = 200, 200
		a.Assumed = append(a.Assumed, landSize)
	} else if width*height == 0 && min(width, height) == 0 && max(width, height) > 0 && hasZero(in) {
		r.ask(AboutTask, "Land of %s m by %s m has no area: give both sides in metres.",
			formatNumber(width), formatNumber(height))
	}
	width = cmp.Or(width, height)
	height = cmp.Or(height, width)
	a.With["width"], a.With["height"] = width, height
	if a.With["detail_level"] == nil {
		a.With["detail_level"] = "low"
		a.Assumed = append(a.Assumed, landDetail)
	}
	r.Acts = append(r.Acts, a)
}

// hasZero reports whether tokens hold the number 0.
func hasZero(in []token) bool {
	return slices.ContainsFunc(in, func(t token) bool { return t.isNumber() && t.num == 0 })
}

// readAmplitude reads the height of the hills of a terrain: "5 m high", "hills up to 40 m".
func (r *Reading) readAmplitude(a *Act, in []token) []token {
	for _, class := range []string{"amplitude", "tall"} {
		i := slices.IndexFunc(in, func(t token) bool { return t.has(class) })
		if i >= 0 && class == "tall" && in[i].has("level") && i+1 < len(in) && in[i+1].has("detail") {
			continue
		}
		if v, ok, rest := cutMeasure(in, class); ok {
			a.With["amplitude"], in = v, rest
		}
	}
	for i, t := range in {
		if !t.has("bump") || a.With["amplitude"] != nil {
			continue
		}
		at := i + 1
		for at < len(in) && (in[at].hasAny("most", "prep", "not", "tall") || in[at].low == "higher") {
			at++
		}
		if l, ok := readLength(in, at); ok && at > i+1 &&
			(l.next == len(in) || !in[l.next].has("by") && in[l.next].low != "square") {
			a.With["amplitude"], in = l.value, slices.Concat(in[:i], in[l.next:])
		}
	}
	if a.With["amplitude"] == nil && anyHas(in, "flat") {
		a.With["amplitude"] = 0.0
	}
	return in
}

// readDetail reads the level of detail of a terrain. It asks if there is no such level.
func (r *Reading) readDetail(a *Act, in []token) {
	for i, t := range in {
		if t.has("level") && !(t.isNumber() && i+1 < len(in) && in[i+1].has("unit")) {
			a.With["detail_level"] = t.is["level"]
		}
		if !t.has("detail") || i == 0 {
			continue
		}
		if before := in[i-1]; before.kind == kindWord && before.is == nil {
			r.ask(AboutTask, "There is no level of detail %q: it is low, medium or high.", r.spanOf(in[max(0, i-2):i]))
		}
	}
}

// readTexture adds a generate_texture: "paint X with stone", "give X a stone texture", "make X look
// like metal", "put grass on X".
func (r *Reading) readTexture(verb string, in []token) {
	a := Act{Tool: "generate_texture", With: map[string]any{}}
	if v, ok, rest := cutMeasure(in, "pixels"); ok {
		a.With["size"], in = v, rest
	} else {
		in = cutSize(&a, in)
	}
	object, material := "", ""
	var unknown []token
	for i, t := range in {
		switch {
		case t.has("object") && i+1 < len(in):
		case t.has("material") && material == "" && (i > 0 || isPaint(in) || verb == "add") && !(t.kind == kindQuote) &&
			!(i > 0 && object == "" && (in[i-1].has("object") || in[i-1].has("named")) && isCapital(t.text)):
			material = t.is["material"]
		case (t.kind == kindQuote || t.kind == kindName || t.kind == kindWord && (isCapital(t.text) || i > 0 &&
			in[i-1].has("object"))) &&
			object == "" && !t.has("prep") && !t.has("look"):
			object, _ = readName(in[i:])
		case t.kind == kindWord && !t.has("det") && !t.has("prep") && t.is["noun"] != "texture" && !t.has("lead") &&
			!t.has("pron") && !t.has("look") && !strings.Contains(object, t.text) && !slices.Contains(idleWords, t.low):
			unknown = append(unknown, t)
		}
	}
	if object == "" && len(unknown) > 0 && material != "" && !unknown[0].has("vague") {
		object, unknown = unknown[0].text, unknown[1:]
	}
	if object == "" && material != "" && anyHas(in, "pron") {
		object = r.lastObject()
	}
	if object == "" {
		r.ask(AboutTask, "Which object gets the surface in %q? Name it.", r.spanOf(in))
		return
	}
	if material == "" {
		r.ask(AboutTask, "There is no surface %q: a texture is one of %s.",
			r.spanOf(unknown), strings.Join(materials(), ", "))
		return
	}
	r.ignoreRest(unknown)
	a.With["object_name"], a.With["texture_type"] = object, material
	r.Acts = append(r.Acts, a)
}

// lastObject returns the name of the object that the act before adds, or "". An object without a name
// gets one.
func (r *Reading) lastObject() string {
	if len(r.Acts) == 0 {
		return ""
	}
	with := r.Acts[len(r.Acts)-1].With
	switch r.Acts[len(r.Acts)-1].Tool {
	case "generate_terrain":
		if name, ok := with["name"].(string); ok {
			return name
		}
		return "Terrain"
	case "add_object":
	default:
		return ""
	}
	if with["name"] == nil {
		kind := with["object_type"].(string)
		with["name"] = strings.ToUpper(kind[:1]) + kind[1:] + " 1"
	}
	return with["name"].(string)
}

// cutSize reads a size in pixels without a unit, as in "at 512" or "1k".
func cutSize(a *Act, in []token) []token {
	for i, t := range in {
		if t.kind != kindNumber || i == 0 || !in[i-1].has("prep") && !in[i-1].has("scale") {
			continue
		}
		n, next := t.num, i+1
		if next < len(in) && in[next].low == "k" {
			n, next = n*1024, next+1
		}
		a.With["size"] = n
		return slices.Concat(in[:i-1], in[next:])
	}
	return in
}

// materials lists the surfaces of generate_texture.
func materials() []string { return valuesOf("material") }

// readScatter adds a populate_level.
func (r *Reading) readScatter(in []token) {
	a := Act{Tool: "populate_level", With: map[string]any{}}
	in = readDensity(&a, in)
	if i := slices.IndexFunc(in, func(t token) bool { return t.has("most") }); i >= 0 {
		if i+1 < len(in) && in[i+1].isNumber() {
			a.With["budget_max_instances"], in = in[i+1].num, slices.Concat(in[:i], in[i+2:])
		} else if i > 0 && in[i-1].isNumber() {
			a.With["budget_max_instances"], in = in[i-1].num, slices.Concat(in[:i-1], in[i+1:])
		} else if i > 1 && in[i-2].isNumber() {
			a.With["budget_max_instances"], in = in[i-2].num, slices.Concat(in[:i-2], in[i+1:])
		}
	}
	in = readArea(&a, in)
	count := 0.0
	if i := slices.IndexFunc(in, token.isNumber); i >= 0 && !(i+1 < len(in) && in[i+1].has("unit")) &&
		(i == 0 || !isCapital(in[i-1].text)) {
		count, in = in[i].num, slices.Concat(in[:i], in[i+1:])
	}
	a.With["asset"], in = scattered(in)
	onGround := slices.DeleteFunc(slices.Clone(in), func(t token) bool { return t.has("det") || t.has("ground") })
	if ground, _ := nameAfter(onGround, "onto"); ground != "" && isCapital(ground) {
		a.With["ground"] = ground
	}
	r.setDensity(&a, count)
	if a.With["asset"] == "" {
		r.ask(AboutTask, "Which object or asset is scattered? Name it.")
		return
	}
	r.Acts = append(r.Acts, a)
}

// readDensity reads the density of a populate_level: "0.2 per square metre", "two Flower per square metre", "one to
// every two
// square metres", "density 0.5".
func readDensity(a *Act, in []token) []token {
	if v, ok, rest := cutMeasure(in, "square"); ok {
		a.With["density"] = v
		return rest
	}
	if v, rest := cutVector(in, "density", 1); v != nil {
		a.With["density"] = v[0]
		return rest
	}
	for i, t := range in {
		for k := i - 1; t.has("square") && k >= max(0, i-3); k-- {
			if in[k].isNumber() {
				a.With["density"] = in[k].num
				return slices.Concat(in[:k], in[k+1:i], in[i+1:])
			}
		}
		if !t.has("squares") || i < 3 || !in[i-1].isNumber() || in[i-1].num == 0 {
			continue
		}
		for k := i - 2; k >= max(0, i-5); k-- {
			if in[k].isNumber() {
				a.With["density"] = in[k].num / in[i-1].num
				return slices.Concat(in[:k], in[i+1:])
			}
		}
	}
	return in
}

// readArea reads the area of a populate_level: its corners, or its sides around the origin.
func readArea(a *Act, in []token) []token {
	for i := range in {
		v, next := readVector(in, i, 4)
		switch {
		case len(v) == 4:
			a.With["area"] = v
		case len(v) == 2:
			a.With["area"] = []float64{-v[0] / 2, -v[1] / 2, v[0] / 2, v[1] / 2}
		default:
			continue
		}
		return dropAround(in, i, next)
	}
	return in
}

// scattered reads the asset of a populate_level: the name behind "copies of", "with", or the verb.
func scattered(in []token) (asset string, rest []token) {
	for _, class := range []string{"copies", "with", "in"} {
		if i := slices.IndexFunc(in, func(t token) bool {
			return t.has(class) || t.is["word"] == class ||
				t.low == class
		}); i >= 0 &&
			i+1 < len(in) && (class != "with" || !in[i+1].isNumber() || i == 0) && (class != "in" || isCapital(in[i+1].text)) {
			in = in[i+1:]
			break
		}
	}
	for i, t := range in {
		if t.kind == kindQuote || t.kind == kindName || t.kind == kindWord && !t.hasAny("prep", "det", "lead", "vague") &&
			!t.has("copies") && !t.has("object") && !t.has("level_name") && !t.has("pron") {
			name, n := readName(in[i:])
			return name, in[i+n:]
		}
		if t.kind == kindWord && t.hasAny("pron", "vague") {
			return "", in
		}
	}
	return "", in
}

// Defaults of a populate_level.
const (
	defaultSide    = 20.0 // metres, as in the tool
	defaultDensity = 0.01
)

// setDensity sets the density of a populate_level from a count, or the default.
func (r *Reading) setDensity(a *Act, count float64) {
	if a.With["density"] != nil {
		return
	}
	area, ok := a.With["area"].([]float64)
	if !ok {
		area = []float64{-defaultSide / 2, -defaultSide / 2, defaultSide / 2, defaultSide / 2}
	}
	if count == 0 && a.With["budget_max_instances"] != nil {
		count = a.With["budget_max_instances"].(float64)
	}
	size := math.Abs((area[2] - area[0]) * (area[3] - area[1]))
	if count == 0 || size == 0 {
		a.With["density"] = defaultDensity
		a.Assumed = append(a.Assumed, "there is one instance in each 100 square metres")
		return
	}
	a.With["density"] = count / size
	if a.With["budget_max_instances"] == nil {
		a.With["budget_max_instances"] = count
	}
	if !ok {
		a.Assumed = append(a.Assumed, "they stand within 20 m by 20 m around the origin")
	}
}

// readExport adds an export_asset, after the scene that must be built for it.
func (r *Reading) readExport(in []token) {
	a := Act{Tool: "export_asset", With: map[string]any{}}
	format := ""
	var keep []token
	for i, t := range in {
		switch {
		case t.has("textures_off"):
			a.With["include_textures"] = false
		case t.has("overwrite"):
			a.With["overwrite"] = true
		case t.kind == kindPath || t.kind == kindQuote && strings.ContainsAny(t.text, `/\`):
			a.With["path"] = t.text
			if _, ext, ok := strings.Cut(t.text[strings.LastIndexAny(t.text, `/\`)+1:], "."); ok && format == "" {
				format = strings.ToLower(ext)
			}
			keep = dropTrailing(keep)
		case t.kind == kindWord && formats[t.low] != "" || slices.Contains(foreignFormats, t.low):
			format = t.low
			keep = dropTrailing(dropArticles(keep))
		case t.low == "godot" || t.low == "unreal":
			keep = dropTrailing(keep)
		case i > 0 && slices.Contains(fileWords, t.low):
		default:
			keep = append(keep, t)
		}
	}
	if i := slices.IndexFunc(keep, func(t token) bool { return t.has("as") }); i >= 0 && format == "" && i+1 < len(keep) {
		r.ask(AboutTask, "No tool writes %q: the formats are glb, gltf, obj and fbx.", r.spanOf(keep[i+1:]))
		return
	}
	if format == "" {
		format = "glb"
		a.Assumed = append(a.Assumed, "the format is glb")
	}
	if formats[format] == "" {
		r.ask(AboutTask, "No tool writes %q: the formats are glb, gltf, obj and fbx.", format)
		return
	}
	a.With["format"] = format
	r.readSubject(&a, keep)
	r.Acts = append(r.Acts, a)
}

// fileWords are words for a file, which name no object.
var fileWords = strings.Fields("file files format formato datei fichier fichero archivo")

// dropArticles removes articles from the end.
func dropArticles(in []token) []token {
	for len(in) > 0 && in[len(in)-1].has("det") {
		in = in[:len(in)-1]
	}
	return in
}

// readSubject reads the thing that is exported or rendered: everything, an object by its name, or a
// place that must be built first.
func (r *Reading) readSubject(a *Act, in []token) {
	for i, t := range in {
		if t.kind == kindName {
			a.Place, a.Words = t.text, ""
			r.Acts = append(r.Acts, r.buildFirst(a, slices.Concat(in[:i], in[i+1:])))
			return
		}
	}
	style := anyHas(in, "style")
	if nameless := slices.IndexFunc(in, func(t token) bool { return t.has("article") }); nameless >= 0 &&
		nameless <= 1 && len(in) > nameless+1 &&
		in[nameless+1].kind == kindWord && !in[nameless+1].hasAny("verb", "and", "prep") {
		r.readScene(in[nameless:])
		return
	}
	object, rest := nameAfter(in, "object")
	if object == "" && a.Tool == "export_asset" {
		if i := slices.IndexFunc(in, func(t token) bool {
			return t.kind == kindQuote || t.kind == kindWord && (isCapital(t.text) || strings.Contains(t.text, "_")) &&
				!t.has("pron")
		}); i >= 0 {
			var n int
			object, n = readName(in[i:])
			rest = slices.Concat(in[:i], in[i+n:])
		} else if words := slices.DeleteFunc(slices.Clone(in), func(t token) bool {
			return t.kind != kindWord || t.has("pron") || t.has("det") || t.has("prep") || t.has("lead")
		}); len(words) == 1 && !slices.Contains(idleWords, words[0].low) {
			object, rest = words[0].text, nil
		}
	}
	if object != "" {
		a.With["object_name"] = object
	}
	if !style {
		r.ignoreRest(rest)
	}
}

// buildFirst returns the generate_scene of a place that is exported or rendered.
func (r *Reading) buildFirst(a *Act, in []token) Act {
	scene := Act{Tool: "generate_scene", Place: a.Place, With: map[string]any{}}
	a.Place = ""
	var keep []token
	for _, t := range in {
		if t.has("style") {
			scene.With["style"] = t.is["style"]
			continue
		}
		keep = append(keep, t)
	}
	if slices.ContainsFunc(keep, func(t token) bool {
		return t.low == "with" || t.low == "mit" || t.low == "avec" ||
			t.low == "con"
	}) {
		scene.Words = r.describe(keep)
	}
	return scene
}

// readRender adds a render_preview, after the scene that must be built for it.
func (r *Reading) readRender(in []token) {
	a := Act{Tool: "render_preview", With: map[string]any{}}
	if v, ok, rest := cutMeasure(in, "samples"); ok {
		a.With["samples"], in = v, rest
	}
	if v, ok, rest := cutMeasure(in, "pixels"); ok && (anyHas(in, "edge") || slices.ContainsFunc(in, func(t token) bool {
		return t.low == "square"
	})) {
		a.With["width"], a.With["height"], in = v, v, rest
	}
	in = slices.DeleteFunc(slices.Clone(in), func(t token) bool { return t.has("pixels") })
	for _, side := range [][2]string{{"wide", "width"}, {"tall", "height"}} {
		if v, ok, rest := cutMeasure(in, side[0]); ok {
			a.With[side[1]], in = v, rest
		}
	}
	for i, t := range in {
		if w, h, ok := strings.Cut(t.is["resolution"], "x"); ok && a.With["width"] == nil {
			a.With["width"], a.With["height"], in = parseNumber(w), parseNumber(h), slices.Concat(in[:i], in[i+1:])
			break
		}
		if t.isNumber() && i+1 < len(in) && (in[i+1].low == "k" || in[i+1].low == "p") && a.With["width"] == nil {
			height := t.num
			if in[i+1].low == "k" {
				height *= 540
			}
			a.With["width"], a.With["height"], in = math.Round(height*16/9), height, dropAround(in, i, i+2)
			break
		}
		if v, next := readVector(in, i, 2); len(v) == 2 && a.With["width"] == nil {
			a.With["width"], a.With["height"], in = v[0], v[1], dropAround(in, i, next)
			break
		}
	}
	if name, rest := nameAfter(in, "camera"); name != "" {
		a.With["camera"], in = name, rest
	}
	for i, t := range in { // "a wide picture"
		if !t.isVerb("render") {
			continue
		}
		from := i
		for k := i; k >= 0 && in[k].kind == kindWord && (in[k].has("det") || !in[k].has("prep")); k-- {
			if in[k].has("det") {
				from = k
			}
		}
		in = slices.Concat(in[:from], in[i+1:])
		break
	}
	r.readSubject(&a, in)
	r.Acts = append(r.Acts, a)
}

// readImport adds an import_asset, with the name behind "as".
func (r *Reading) readImport(in []token) {
	a := Act{Tool: "import_asset", With: map[string]any{}}
	if name, _ := nameAfter(in, "as"); name != "" && formats[name] == "" && !slices.Contains(idleWords, name) {
		a.With["name"] = name
	} else if name, _ := nameAfter(in, "named"); name != "" {
		a.With["name"] = name
	}
	r.Acts = append(r.Acts, a)
}

// readList adds a list_objects.
func (r *Reading) readList(in []token) {
	a := Act{Tool: "list_objects", With: map[string]any{}}
	if name, rest := nameAfter(in, "prefix"); name != "" {
		a.With["prefix"], in = name, rest
	}
	if i := slices.IndexFunc(in, token.isNumber); i >= 0 {
		a.With["limit"] = in[i].num
	}
	r.Acts = append(r.Acts, a)
}

// readProfile adds a profile_performance, if the act before is none.
func (r *Reading) readProfile(in []token) {
	if n := len(r.Acts); n > 0 && r.Acts[n-1].Tool == "profile_performance" &&
		!anyHas(in, "level_name") {
		if v, ok, _ := cutMeasure(in, "frames"); ok {
			r.Acts[n-1].With["frames"] = v
		}
		return
	}
	a := Act{Tool: "profile_performance", With: map[string]any{"level_name": "main"}}
	if v, ok, rest := cutMeasure(in, "frames"); ok {
		a.With["frames"], in = v, rest
	}
	name, _ := nameAfter(in, "level_name")
	for i, t := range in {
		if name == "" && i+1 < len(in) && in[i+1].has("level_name") && t.kind == kindWord && !t.has("det") && !t.has("prep") {
			name = t.text
		}
	}
	if name == "" {
		if i := slices.IndexFunc(in, func(t token) bool {
			return t.kind == kindQuote || t.kind == kindWord && t.is == nil
		}); i >= 0 {
			name = in[i].text
		}
	}
	if name != "" && !slices.Contains(idleWords, name) {
		a.With["level_name"] = name
	} else {
		a.Assumed = append(a.Assumed, "the level is main")
	}
	r.Acts = append(r.Acts, a)
}
