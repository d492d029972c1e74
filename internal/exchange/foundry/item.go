package foundry

import (
	"cmp"
	"html"
	"strings"

	"loregate/internal/decoded"
	"loregate/internal/exchange/record"
)

// appearance is the part of an item that players see who have not identified it.
type appearance struct{ name, text, picture string }

// unidentified returns the appearance of an item that players have not identified; is is false for all others.
// The name is empty if the item has none for them: then they see nothing of it.
func unidentified(d *document) (seen appearance, is bool) {
	system, _ := d.data["system"].(map[string]any)
	if system == nil {
		system, _ = d.data["data"].(map[string]any) // version 9 and before
	}
	switch status := decoded.TextOf(at(system, "identification.status")); {
	case status != "" && status != "identified": // Pathfinder's second edition; also "misidentified"
		shown, _ := at(system, "identification."+status).(map[string]any)
		return appearance{decoded.TextOf(shown["name"]), cmp.Or(textAt(shown, "data.description.value"),
			textAt(shown, "description.value"), textAt(shown, "description")), textAt(shown, "img")}, true
	case deniesIdentity(system): // the fifth edition, and Pathfinder's first
		return appearance{textAt(system, "unidentified.name"), cmp.Or(textAt(system, "unidentified.description"),
			textAt(system, "description.unidentified")), textAt(system, "unidentified.img")}, true
	}
	return seen, false
}

// deniesIdentity reports whether a system says that an item is not identified. It must say that it is where it has the
// field at all: systems, modules and converters write the value in several ways.
func deniesIdentity(system map[string]any) bool {
	v, ok := system["identified"]
	if m, nested := v.(map[string]any); nested {
		v = m["value"]
	}
	said := strings.ToLower(decoded.TextOf(v))
	return ok && said != "true" && said != "yes" && said != "1"
}

// replace returns the text of an item for players who see its appearance. Its true name and text are for the GM.
func (a appearance) replace(text content, name string) content {
	var all content
	all.add("", a.text)
	all.addGM("True name", html.EscapeString(name))
	for _, b := range text {
		if b.GM = true; b.Text != a.text+"\n" {
			all = append(all, b)
		}
	}
	return all
}

// addItemNames adds the list of the names of items, as players see them.
func (x *reader) addItemNames(text *content, items []*document) {
	var seen, hidden []string
	for _, d := range items {
		name := decoded.TextOf(d.data["name"])
		look, is := unidentified(d)
		if is {
			hidden = append(hidden, name)
			name = look.name
		}
		open, secret := x.s.Hide(d.file, record.HTML, name)
		if open != "" {
			seen = append(seen, open)
		}
		if secret != "" {
			hidden = append(hidden, name)
		}
	}
	text.add("", listOfNames("Items", seen))
	text.addGM("", listOfNames("Items that players have not identified", hidden))
}
