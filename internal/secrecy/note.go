package secrecy

import (
	"slices"
	"strings"
	"unicode"

	"loregate/internal/access"
	"loregate/internal/decoded"
	"loregate/internal/lazyregexp"
	"loregate/internal/markup"
	"loregate/internal/slicesx"
)

// truth is the meaning of a value that may be a yes or no in any spelling.
type truth int

const (
	isUnset truth = iota // empty
	isNo
	isYes
	isText // something else
)

func truthOf(v any) truth {
	switch v := v.(type) {
	case nil:
		return isUnset
	case bool:
		if v {
			return isYes
		}
		return isNo
	case []any:
		if len(v) == 0 {
			return isUnset
		}
		if len(v) == 1 {
			return truthOf(v[0])
		}
		return isText
	case map[string]any:
		if len(v) == 0 {
			return isUnset
		}
		return isText
	}
	text := strings.ToLower(strings.Trim(decoded.TextOf(v), " \"'"))
	switch {
	case text == "":
		return isUnset
	case slices.Contains(marks().Values.No, text):
		return isNo
	case slices.Contains(marks().Values.Yes, text):
		return isYes
	}
	return isText
}

// metaMarks returns the marks of one value of front matter.
func metaMarks(name string, v any) []Mark {
	key, said := markup.PartKey(name), truthOf(v)
	is := func(doubt bool) []Mark {
		return []Mark{{Rule: RuleFrontMatter, What: name, Doubt: doubt}}
	}
	switch {
	case markup.HasPart(marks().Keys.Readers, key):
		found := levelMarks(name, v)
		if len(found) > 0 && key == "audience" { // others ask: "visibility: 12 miles" is a lighthouse's
			return is(false)
		}
		return found
	case markup.HasPart(marks().Keys.Ambiguous, key):
		if slices.ContainsFunc(decoded.TextsOf(v), func(t string) bool {
			l, ok := access.ParseLevel(strings.ToLower(t))
			return ok && l > access.LevelUser || FindWord(t, true) != ""
		}) {
			return is(true)
		}
		return nil
	case markup.HasPart(marks().Keys.Player, key):
		if said == isNo || slices.ContainsFunc(decoded.TextsOf(v), func(t string) bool { return isExact(t) }) {
			return is(false)
		}
		if m, ok := v.(map[string]any); ok {
			return nestedMarks(name, m)
		}
		return nil
	case markup.HasPart(marks().Keys.Open, key):
		switch {
		case said == isNo:
			return is(false)
		case said == isText && !markup.HasPart(marks().Values.Everybody, markup.PartKey(decoded.TextOf(v))):
			return is(!isExact(decoded.TextOf(v)))
		}
		return nil
	case key == "draft":
		if said == isYes {
			return is(true)
		}
		return nil
	case markup.HasPart([]string{"tag", "tags"}, key):
		return nil
	}
	return keyMarks(name, key, v, said)
}

// keyMarks returns the marks of a value with a secret word in its key or, under keys such as
// status, in its text.
func keyMarks(name, key string, v any, said truth) []Mark {
	if markup.HasPart(marks().Keys.Title, key) {
		for _, text := range decoded.TextsOf(v) {
			if isExact(text) && key != "title" {
				return []Mark{exact(RuleFrontMatter, name+": "+text)}
			}
			if FindWord(text, key != "title") != "" {
				return []Mark{{Rule: RuleFrontMatter, What: name + ": " + markup.Clip(text, 60), Doubt: true}}
			}
		}
	}
	if FindWord(name, true) != "" && said != isUnset && said != isNo {
		return []Mark{{Rule: RuleFrontMatter, What: name, Doubt: said != isYes}}
	}
	if m, ok := v.(map[string]any); ok {
		return nestedMarks(name, m)
	}
	return nil
}

var (
	personKey  = lazyregexp.New(`^(?:gm|dm|mj|sl|game_?master|dungeon_?master|spielleiter(?:in)?|spielleitung|maitre_de?u?_jeu|director_de_juego)$`)
	personForm = lazyregexp.New(`^\p{Lu}[\pL.'’-]*(?: (?:(?:von|van|de|del|da|di|la|le|der) )*\p{Lu}[\pL.'’-]*){0,2}$`)
)

// isPerson reports whether a value looks like a person's name. Under the key gm it is then most
// likely the person who leads the game. Three capitalised words may also be something else, so that
// field alone is hidden.
func isPerson(v any) bool {
	text, ok := v.(string)
	return ok && len(text) <= 60 && personForm.MatchString(strings.TrimSpace(text)) && FindWord(text, false) == "" &&
		!strings.EqualFold(text, "only")
}

// partKey matches keys whose value alone is secret, such as dm-notes; the note itself is not.
var partKey = lazyregexp.New(`^(?:secrets|geheimnisse|secretos|(?:(?:gm|dm|mj|sl|keeper|storyteller|secret|private|hidden)s?|game_?master|dungeon_?master)_?(?:notes?|secrets?|infos?|notizen))$`)

// IsSecretField reports whether a value of front matter is a secret part of its note. A yes or no
// is not: it is about the whole note.
func IsSecretField(name string, v any) bool {
	key := fieldKey(name)
	return truthOf(v) == isText && (partKey.MatchString(key) || personKey.MatchString(key) && isPerson(v))
}

// HidesField reports whether a value of front matter is secret: by its name, by a name in it, or by an exact mark in
// one of its texts or objects.
func HidesField(name string, v any) bool {
	if m, ok := NestedMark(name, nil, v); ok && !m.Doubt || IsSecretField(name, v) || HasAnyMark(name) {
		return true
	}
	switch v := v.(type) {
	case string:
		return HasAnyMark(v)
	case []any:
		return slices.ContainsFunc(v, func(x any) bool { return HidesField("", x) })
	case map[string]any:
		for k, x := range v {
			if HidesField(k, x) {
				return true
			}
		}
	}
	return false
}

// IsNamedSecret reports whether a value of a field that somebody writes is a secret part of its card because the name
// of the field says so, such as secret: a text. In front matter such a name is asked about: it may mean the whole note.
func IsNamedSecret(name string, v any) bool {
	return IsSecretField(name, v) || truthOf(v) == isText && singleKey.MatchString(fieldKey(name))
}

// LooksSecret reports whether a text in a field looks secret by the field's name, and is none that hides alone.
func LooksSecret(name string, v any) bool {
	return !IsNamedSecret(name, v) && FindWord(name, true) != "" && truthOf(v) == isText
}

// FieldMark returns the mark in the name of a field with a text, or in the objects that the field holds; ok is false if
// it has none. The names of texts in the objects do not count: they have marks of their own.
func FieldMark(name string, v any) (m Mark, ok bool) {
	m, nested := newMark(name, nil, objectMarks(v, func(key string, x any) bool {
		return IsNamedSecret(key, x) || LooksSecret(key, x)
	}))
	sure := nested && !m.Doubt || IsNamedSecret(name, v)
	return Mark{Rule: RuleFrontMatter, What: name, Doubt: !sure}, sure || nested || LooksSecret(name, v)
}

// HidingMark returns the mark of a field of front matter that hides the field alone; ok is false if there is none. In
// front matter a name that only looks secret may mean the whole note.
func HidingMark(name string, v any) (m Mark, ok bool) {
	hides := HidesField(name, v)
	_, nested := NestedMark(name, nil, v)
	return Mark{Rule: RuleFrontMatter, What: name, Doubt: !hides}, hides || nested
}

// NestedMark returns the mark in an object that a field holds, at any depth, such as npcs: [{secret: true}]. It is about
// the field as a whole. Marks that the value before had do not count, and an exact mark comes first.
func NestedMark(name string, was, v any) (m Mark, ok bool) {
	every := func(string, any) bool { return false }
	return newMark(name, objectMarks(was, every), objectMarks(v, every))
}

// newMark returns the mark of a field by the marks in its objects, of which some were there before.
func newMark(name string, before, now []Mark) (m Mark, ok bool) {
	known := map[Mark]int{}
	for _, found := range before {
		known[found]++
	}
	for _, found := range now {
		if known[found]--; known[found] < 0 && (!ok || m.Doubt) {
			m, ok = Mark{Rule: RuleFrontMatter, What: name, Doubt: found.Doubt}, true
		}
	}
	return m, ok
}

// objectMarks returns the marks of the objects in a value, which are read as front matter is, without the keys that skips
// accepts.
func objectMarks(v any, skips func(key string, x any) bool) (all []Mark) {
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			all = append(all, objectMarks(x, skips)...)
		}
	case map[string]any:
		n := Note{Meta: map[string]any{}}
		for _, k := range decoded.SortedKeys(v) {
			all = append(all, objectMarks(v[k], skips)...)
			if skips(k, v[k]) {
				continue
			}
			if _, isObject := v[k].(map[string]any); !isObject || FindWord(k, true) != "" {
				n.Meta[k] = v[k]
			}
			if markup.HasPart([]string{"tag", "tags"}, markup.PartKey(k)) {
				n.Tags = append(n.Tags, decoded.TextsOf(v[k])...)
			}
			if IsNamedSecret(k, v[k]) {
				all = append(all, exact(RuleFrontMatter, k))
			}
		}
		_, own := NoteMarks(n)
		all = append(all, own...)
	}
	return all
}

// singleKey matches keys that tell of one secret.
var singleKey = lazyregexp.New(`^(?:(?:my_|top_)?secret|geheimnis|secret[oa])$`)

// fieldKey returns the form in which keys are compared.
func fieldKey(name string) string {
	return strings.NewReplacer("-", "_", " ", "_").Replace(markup.Fold(name))
}

// nestedMarks returns the marks of the values in an object, such as share: {publish: false}.
func nestedMarks(name string, m map[string]any) (all []Mark) {
	for _, k := range decoded.SortedKeys(m) {
		for _, found := range metaMarks(k, m[k]) {
			found.What = name + "." + found.What
			all = append(all, found)
		}
	}
	return all
}

// levelMarks returns the marks of a value that names the readers of a note. A word that does not
// mean everybody counts as the GM.
func levelMarks(name string, v any) []Mark {
	texts := decoded.TextsOf(v)
	if len(texts) == 0 || truthOf(v) == isYes {
		return nil
	}
	doubt, closed := true, false
	for _, text := range texts {
		text = strings.ToLower(text)
		if l, ok := access.ParseLevel(text); ok && l <= access.LevelUser || !ok && markup.HasPart(marks().Values.Everybody,
			markup.PartKey(text)) {
			continue
		}
		closed = true
		if _, ok := access.ParseLevel(text); ok || isExact(text) || truthOf(text) == isNo {
			doubt = false
		}
	}
	if !closed {
		return nil
	}
	return []Mark{{Rule: RuleFrontMatter, What: name, Doubt: doubt}}
}

// tagMarks returns the marks of a tag, whose parts are separated by '/'.
func tagMarks(tag string) []Mark {
	tag = strings.Trim(tag, "#/ ")
	for part := range strings.SplitSeq(tag, "/") {
		if isExact(part) {
			return []Mark{exact(ruleTag, "#"+tag)}
		}
	}
	if FindWord(tag, false) != "" {
		return []Mark{{Rule: ruleTag, What: "#" + tag, Doubt: true}}
	}
	return nil
}

var inlineFieldForm = lazyregexp.New(`(?m)(?:^[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t>]+(?:\[.\][ \t]+)?)*|[\[(])[*_]{0,3}([\pL][\pL\pN _-]{0,40}?)[*_]{0,3}::[ \t]*([^\n\])]{0,200})`)

// textMarks returns the marks in a note's text that apply to the whole note: tags, and Dataview
// fields with a yes or no. Those in code do not count.
func textMarks(body string) (all []Mark) {
	if all = marksOfText(body); len(all) == 0 {
		return nil
	}
	if o, ok := readOutline(withLineFeeds(body)); ok {
		if readable, unsure := maskMarkdown(o); len(unsure) == 0 {
			return marksOfText(readable)
		}
	}
	return all
}

func marksOfText(text string) (all []Mark) {
	if !strings.Contains(text, "#") && !strings.Contains(text, "::") {
		return nil
	}
	seen := map[string]bool{}
	for _, tag := range markup.InlineTags(text) {
		if !seen[tag] {
			seen[tag] = true
			all = append(all, tagMarks(tag)...)
		}
	}
	if !strings.Contains(text, "::") {
		return all
	}
	for _, m := range inlineFieldForm.FindAllStringSubmatch(text, -1) {
		value := strings.TrimSpace(m[2])
		if key := markup.PartKey(m[1]); truthOf(value) != isText || markup.HasPart(marks().Keys.Readers, key) ||
			markup.HasPart(marks().Keys.Ambiguous, key) ||
			key == "status" {
			for _, found := range metaMarks(strings.TrimSpace(m[1]), value) {
				found.What += "::"
				all = append(all, found)
			}
		}
	}
	return all
}

// IsReaderKey reports whether a key of front matter may name people who read a note. A player is the one of a
// character, players are readers.
func IsReaderKey(name string) bool {
	return slices.Contains(marks().Keys.Subjects, plainKey.Replace(strings.ToLower(strings.TrimSpace(name))))
}

var plainKey = strings.NewReplacer("-", "_", " ", "_")

// ReaderNames returns the names of people in front matter who read a note, such as the values of subjects, players
// and visible_to. Levels, words for everybody or nobody, and numbers of players are no names.
func ReaderNames(meta map[string]any) (names, keys []string) {
	for _, k := range decoded.SortedKeys(meta) {
		if !IsReaderKey(k) {
			continue
		}
		texts := decoded.ListOf(meta[k])
		if text, ok := meta[k].(string); ok {
			texts = decoded.TrimAll(strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ';' }))
		}
		if here := slicesx.Filter(texts, isReaderName); len(here) > 0 && !slices.ContainsFunc(texts, isEverybody) {
			names, keys = append(names, here...), append(keys, k)
		}
	}
	return names, keys
}

// isEverybody reports whether a word stands for all players.
func isEverybody(text string) bool {
	return markup.HasPart(marks().Values.Everybody, markup.PartKey(text))
}

// isReaderName reports whether a text can be the name of a reader.
func isReaderName(text string) bool {
	_, isLevel := access.ParseLevel(strings.ToLower(text))
	return !isLevel && !isExact(text) && truthOf(text) == isText && strings.ContainsFunc(text, unicode.IsLetter)
}

// DivideReaders divides marks into those of the given keys of front matter, of which the names of members decide, and
// the others.
func DivideReaders(all []Mark, keys []string) (readers, others []Mark) {
	for _, m := range all {
		if m.Rule == RuleFrontMatter && slices.Contains(keys, m.What) {
			readers = append(readers, m)
		} else {
			others = append(others, m)
		}
	}
	return readers, others
}

// MetaMarks returns the marks in front matter that apply to a note as a whole, except those of its tags and level.
func MetaMarks(meta map[string]any) (all []Mark) {
	for _, k := range decoded.SortedKeys(meta) {
		if !IsSecretField(k, meta[k]) {
			all = append(all, metaMarks(k, meta[k])...)
		}
	}
	return all
}

// Note is a note of another program, without its place.
type Note struct {
	Name   string // of its file, without the extension
	Meta   map[string]any
	Body   string
	Tags   []string // in its front matter
	Broken bool     // its front matter cannot be read
}

// NoteMarks returns the marks that apply to a foreign note as a whole, except those of its folders,
// and the level that the note names.
func NoteMarks(n Note) (level access.Level, all []Mark) {
	level = access.LevelUser
	if n.Broken {
		all = append(all, exact(ruleBroken, ""))
	}
	if l, ok := access.ParseLevel(strings.ToLower(decoded.TextOf(n.Meta["level"]))); ok && l > access.LevelUser {
		level = l
		all = append(all, exact(ruleLevel, decoded.TextOf(n.Meta["level"])))
	}
	for _, k := range decoded.SortedKeys(n.Meta) {
		if l, ok := access.ParseLevel(strings.ToLower(decoded.TextOf(n.Meta[k]))); ok && markup.HasPart(marks().Keys.Readers,
			markup.PartKey(k)) {
			level = max(level, l)
		}
	}
	all = append(all, MetaMarks(n.Meta)...)
	for _, tag := range n.Tags {
		all = append(all, tagMarks(tag)...)
	}
	all = append(all, textMarks(n.Body)...)
	return level, append(all, NameMarks(n.Name)...)
}

// SaysHidden returns the mark in a value of a field, or in a tag, that says of the whole card that it is hidden, such
// as publish: false. Titles that only look secret say nothing.
func SaysHidden(name string, v any) (Mark, bool) {
	n := Note{Meta: map[string]any{name: v}}
	if key := markup.PartKey(name); markup.HasPart([]string{"tag", "tags"}, key) {
		n = Note{Tags: decoded.TextsOf(v)}
	}
	_, isObject := v.(map[string]any)
	_, all := NoteMarks(n)
	if names, _ := ReaderNames(n.Meta); len(names) > 0 {
		return Mark{Rule: RuleFrontMatter, What: name, Doubt: true}, true
	}
	for _, m := range all {
		if strings.HasPrefix(m.What, name+".") && !markup.HasPart(marks().Keys.Player, markup.PartKey(name)) {
			continue // it is about the field
		}
		if !m.Doubt || m.Rule == RuleFrontMatter && !isObject && !markup.HasPart(marks().Keys.Title, markup.PartKey(name)) {
			return m, true
		}
	}
	return Mark{}, false
}

// NameSaysHidden reports whether the name of a card has a mark, or a part that is one, such as GM notes. A keeper may
// keep a mill.
func NameSaysHidden(name string) bool {
	return HasAnyMark(name) || slices.ContainsFunc(strings.Split(name, "+"), func(part string) bool {
		return isExact(part) && FindWord(part, true) != ""
	})
}

// probes are values that a key of front matter about sight, or with a secret, takes for a mark.
var probes = []any{true, false, "gm", "some words", "Mira Weir"}

// MayMark reports whether a text, number or truth value under a name can be a mark or a secret.
func MayMark(name string) bool {
	return slices.ContainsFunc(probes, func(v any) bool {
		_, marks := NoteMarks(Note{Meta: map[string]any{name: v}})
		return len(marks) > 0 || IsSecretField(name, v)
	})
}

// TitleMark returns the mark in the title of a section; ok is false if it has none.
func TitleMark(title string) (m Mark, ok bool) {
	if FindWord(title, false) == "" {
		return Mark{}, false
	}
	return Mark{Rule: ruleHeading, What: markup.Clip(strings.TrimSpace(title), 80), Doubt: !isExact(title)}, true
}

// NameMarks returns the marks in the name of a note or file.
func NameMarks(name string) []Mark {
	parts := strings.Split(name, "+")
	for _, part := range parts[1:] {
		if key := markup.PartKey(part); key == "gm" || key == "dm" {
			return []Mark{exact(rulePlusGM, "")}
		}
	}
	if HasAnyMark(name) {
		return []Mark{exact(ruleName, name)}
	}
	if word := FindWord(name, false); word != "" {
		return []Mark{{Rule: ruleName, What: word, Doubt: true}}
	}
	return nil
}
