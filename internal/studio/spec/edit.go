package spec

import (
	"encoding/json"
	"slices"
	"strings"

	"loregate/internal/fault"
)

// Edit is one change of a scene.
type Edit struct {
	Do    string         `json:"do" enum:"add,move,set,delete,replace" jsonschema:"set changes single fields."`
	Path  string         `json:"path,omitzero" maxlen:"300" jsonschema:"Path of the part, such as houses.3 or keep.door. Empty, for set: the scene itself, for light, ground, materials, cameras and markers."`
	Value map[string]any `json:"value,omitzero" jsonschema:"For add and replace: the part. For set: the fields to change; null removes a field, and objects are merged."`
	To    string         `json:"to,omitzero" maxlen:"300" jsonschema:"For move: the new path."`
	At    []float64      `json:"at,omitzero" minitems:"2" maxitems:"3" jsonschema:"For move: the new position."`
	Turn  *float64       `json:"turn,omitzero" jsonschema:"For move: the new turn."`
}

type object = map[string]any

// Apply returns the scene after the edits, checked. The scene itself stays as it is. Either all edits
// are done or none.
func (s *Scene) Apply(edits []Edit) (*Scene, error) {
	tree, err := toTree(s)
	if err != nil {
		return nil, err
	}
	for _, e := range edits {
		if err := applyEdit(tree, e); err != nil {
			return nil, err
		}
	}
	return fromTree(tree)
}

func toTree(s *Scene) (tree object, err error) {
	b, err := s.Encode()
	if err == nil {
		err = json.Unmarshal(b, &tree)
	}
	return tree, err
}

// fromTree returns the scene of a tree, checked.
func fromTree(tree object) (*Scene, error) {
	b, err := json.Marshal(tree)
	if err != nil {
		return nil, err
	}
	return Decode(b)
}

func applyEdit(tree object, e Edit) error {
	if e.Path == "" {
		if e.Do != "set" {
			return fault.BadField("path", "%s needs the path of a part", e.Do)
		}
		mergePatch(tree, e.Value)
		return nil
	}
	switch e.Do {
	case "add":
		return addPart(tree, e.Path, e.Value)
	case "replace":
		home, name, err := findHome(tree, e.Path, true)
		if err == nil {
			home[name] = e.Value
		}
		return err
	case "set":
		part, err := findPart(tree, e.Path)
		if err == nil {
			mergePatch(part, e.Value)
		}
		return err
	case "delete":
		return deletePart(tree, e.Path)
	}
	return movePart(tree, e)
}

func addPart(tree object, path string, part object) error {
	home, name, err := findHome(tree, path, false)
	if err != nil {
		return err
	}
	if home[name] != nil {
		return fault.BadField("path", "there is already a part %q; use replace or set, or choose another name", path)
	}
	if len(part) == 0 {
		return fault.BadField("value", "add needs the new part")
	}
	home[name] = part
	return nil
}

// deletePart removes a part. A body of a composite and a member of a repeat are omitted instead.
func deletePart(tree object, path string) error {
	home, name, err := findHome(tree, path, true)
	if err != nil {
		return err
	}
	if memberForm.MatchString(name) || home[name] == nil || isComposite(tree, path) {
		home[name] = object{"omit": true}
		return nil
	}
	delete(home, name)
	return nil
}

// isComposite reports whether the part around a path is a composite.
func isComposite(tree object, path string) bool {
	dot := strings.LastIndexByte(path, '.')
	if dot < 0 {
		return false
	}
	around, err := findPart(tree, path[:dot])
	return err == nil && hasBody(around)
}

func hasBody(part object) bool {
	for name := range bodyFields {
		if part[name] != nil {
			return true
		}
	}
	return false
}

func movePart(tree object, e Edit) error {
	part, err := findPart(tree, e.Path)
	if err != nil {
		return err
	}
	if e.At == nil && e.To == "" && e.Turn == nil {
		return fault.BadField("at", "move needs at, turn or to")
	}
	if e.At != nil {
		part["at"] = e.At
	}
	if e.Turn != nil {
		part["turn"] = *e.Turn
		delete(part, "facing")
	}
	if e.To == "" || e.To == e.Path {
		return nil
	}
	if strings.HasPrefix(e.To, e.Path+".") {
		return fault.BadField("to", "%q is inside of %q; choose another group", e.To, e.Path)
	}
	if err := addPart(tree, e.To, part); err != nil {
		return err
	}
	return deletePart(tree, e.Path)
}

// findHome returns the mapping that holds the part of a path, and its name there. If the part must
// exist, a body of a composite or a member of a repeat counts as existing.
func findHome(tree object, path string, exists bool) (home object, name string, err error) {
	names := strings.Split(path, ".")
	name = names[len(names)-1]
	var around object
	if len(names) == 1 {
		home = mapOf(tree, "parts")
	} else {
		if around, err = findPart(tree, strings.Join(names[:len(names)-1], ".")); err != nil {
			return nil, "", err
		}
		home = homeOf(around, name)
	}
	derived := around != nil && (memberForm.MatchString(name) || hasBody(around))
	if exists && home[name] == nil && !derived {
		return nil, "", missingPart(path, home)
	}
	return home, name, nil
}

// homeOf returns the mapping in which a part holds an inner part of this name.
func homeOf(part object, name string) object {
	if repeat, ok := part["repeat"].(object); ok && memberForm.MatchString(name) {
		return mapOf(repeat, "members")
	}
	return mapOf(part, "parts")
}

// findPart returns a part, or the change of a body of a composite or of a member, which it adds.
func findPart(tree object, path string) (object, error) {
	home, name, err := findHome(tree, path, true)
	if err != nil {
		return nil, err
	}
	if home[name] == nil {
		home[name] = object{}
	}
	part, ok := home[name].(object)
	if !ok {
		return nil, missingPart(path, home)
	}
	return part, nil
}

func missingPart(path string, home object) error {
	names := sortedKeys(home)
	if len(names) == 0 {
		return fault.BadField("path", "there is no part %q; nothing is there", path)
	}
	return fault.BadField("path", "there is no part %q; there is %s", path, strings.Join(names[:min(len(names),
		12)], ", "))
}

// mapOf returns the mapping in a field, which it adds if it is absent.
func mapOf(in object, field string) object {
	m, ok := in[field].(object)
	if !ok {
		m = object{}
		in[field] = m
	}
	return m
}

// mergePatch merges a patch into an object, as RFC 7396 defines.
func mergePatch(into, patch object) {
	for name, v := range patch {
		inner, isObject := v.(object)
		switch {
		case v == nil:
			delete(into, name)
		case isObject:
			mergePatch(mapOf(into, name), inner)
		default:
			into[name] = v
		}
	}
}

// Change is one difference between two scenes.
type Change struct {
	Path string `json:"path" jsonschema:"Part, or a section of the scene such as light."`
	Did  string `json:"did" enum:"added,removed,changed"`
	From any    `json:"from,omitzero" jsonschema:"The fields that differ, before."`
	To   any    `json:"to,omitzero" jsonschema:"The same fields, after."`
}

// Diff returns the differences between two scenes, by path. A part in a new or removed group is not
// listed by itself.
func Diff(from, to *Scene) ([]Change, error) {
	var trees [2]object
	for i, s := range []*Scene{from, to} {
		var err error
		if trees[i], err = toTree(s); err != nil {
			return nil, err
		}
	}
	list := diffParts("", trees[0], trees[1])
	slices.SortFunc(list, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	return list, nil
}

// diffParts compares two parts, or two scenes, and the parts in them.
func diffParts(path string, from, to object) []Change {
	list := []Change{}
	if c, ok := diffFields(path, from, to); ok {
		list = append(list, c)
	}
	a, _ := from["parts"].(object)
	b, _ := to["parts"].(object)
	for _, name := range sortedKeys(mergeMaps(a, b, func(_, v any) any { return v })) {
		at := JoinPath(path, name)
		old, had := a[name].(object)
		now, has := b[name].(object)
		switch {
		case !had:
			list = append(list, Change{Path: at, Did: "added", To: now})
		case !has:
			list = append(list, Change{Path: at, Did: "removed", From: old})
		default:
			list = append(list, diffParts(at, old, now)...)
		}
	}
	return list
}

// diffFields compares the fields of two parts except their parts.
func diffFields(path string, from, to object) (Change, bool) {
	was, is := object{}, object{}
	for _, name := range sortedKeys(mergeMaps(from, to, func(_, v any) any { return v })) {
		if name == "parts" || equalJSON(from[name], to[name]) {
			continue
		}
		was[name], is[name] = from[name], to[name]
	}
	return Change{Path: path, Did: "changed", From: was, To: is}, len(was) > 0
}

func equalJSON(a, b any) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && string(x) == string(y)
}
