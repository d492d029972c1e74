package foundry

import (
	"cmp"
	"encoding/json"
	"fmt"
	"html"
	"slices"
	"strings"

	"loregate/internal/decoded"
	"loregate/internal/exchange"
)

// systemTexts are the paths of texts in the member system of actors and items, for the common rules. A
// text with gm set is for the GM in the rules themselves.
var systemTexts = []struct {
	path, heading string
	gm            bool
}{
	{"details.biography.public", "", false}, {"details.biography.value", "", false}, {"details.biography", "", false},
	{"details.blurb", "", false}, {"details.publicNotes", "", false}, {"details.privateNotes", "Private notes", true},
	{"details.notes.value", "", false}, {"biography", "", false}, {"biography.value", "", false},
	{"description", "", false}, {"description.value", "", false}, {"description.gm", "GM", true},
	{"description.unidentified", "Unidentified", false}, {"notes", "", false}, {"notes.value", "", false},
	{"gmnotes", "GM", true}, {"gmNotes", "GM", true}, {"gm_notes", "GM", true}, {"details.gm", "GM", true},
}

// addSystemTexts adds the texts in the member system. For pages of modules, which have types of their
// own, it adds every text.
func (x *reader) addSystemTexts(text *content, d *document) {
	system, _ := d.data["system"].(map[string]any)
	if system == nil {
		system, _ = d.data["data"].(map[string]any) // version 9 and before
	}
	for _, t := range systemTexts {
		if value := textAt(system, t.path); t.gm {
			text.addGM(t.heading, value)
		} else {
			text.add(t.heading, value)
		}
	}
	if d.collection != "pages" && d.collection != "journal.pages" {
		return
	}
	for _, key := range decoded.SortedKeys(system) {
		known := slices.ContainsFunc(systemTexts, func(t struct {
			path, heading string
			gm            bool
		}) bool {
			return t.path == key
		})
		switch value, _ := system[key].(string); {
		case known:
		case isSecretWord(key):
			text.addGM(key, value)
		default:
			text.add(key, value)
		}
	}
}

// isSecretWord reports whether the name of a member says that it is for the GM.
func isSecretWord(key string) bool {
	key = strings.ToLower(key)
	return strings.Contains(key, "gm") || strings.Contains(key, "secret") || strings.Contains(key, "private")
}

// maxPlainDepth bounds the data of a sheet that is kept.
const maxPlainDepth = 6

// plainData returns the numbers, truth values and short words of a sheet. Texts and members for the GM
// are left out, because readers of the card see the rest.
func plainData(v any, depth int) any {
	switch v := v.(type) {
	case json.Number, bool:
		return v
	case string:
		if len(v) <= 60 && !strings.ContainsAny(v, "<>") {
			return v
		}
	case map[string]any:
		out := map[string]any{}
		for k, inner := range v {
			if isSecretWord(k) || depth >= maxPlainDepth {
				continue
			}
			if kept := plainData(inner, depth+1); kept != nil && kept != "" {
				out[k] = kept
			}
		}
		if len(out) > 0 {
			return out
		}
	}
	return nil
}

func actorType(d *document) string {
	switch d.data["type"] {
	case "npc", "monster", "creature", "adversary":
		return "Creature"
	case "vehicle", "loot":
		return "Item"
	}
	return "Character"
}

func itemType(d *document) string {
	switch d.data["type"] {
	case "spell", "spellbook", "feat", "class", "subclass", "race", "background", "skill", "ability", "condition",
		"action":
		return "Lore"
	}
	return "Item"
}

func listOfNames(heading string, names []string) string {
	var b strings.Builder
	for _, name := range names {
		fmt.Fprintf(&b, "<li>%s</li>", html.EscapeString(name))
	}
	if b.Len() == 0 {
		return ""
	}
	return "<h2>" + heading + "</h2>\n<ul>" + b.String() + "</ul>"
}

// tableRows returns the results of a table as a list with their ranges.
func tableRows(d *document) string {
	rows := slices.Clone(d.kids["results"])
	from := func(r *document) int {
		if list := listOf(r.data["range"]); len(list) > 0 {
			return decoded.IntOf(list[0])
		}
		return 0
	}
	slices.SortStableFunc(rows, func(a, b *document) int { return cmp.Compare(from(a), from(b)) })
	var b strings.Builder
	for _, r := range rows {
		text := cmp.Or(textAt(r.data, "text"), textAt(r.data, "description"), textAt(r.data, "name"))
		fmt.Fprintf(&b, "<tr><td>%d</td><td>%s</td></tr>\n", from(r), text)
	}
	if b.Len() == 0 {
		return ""
	}
	return "<table>\n" + b.String() + "</table>"
}

// indexSources lets links find documents that were copied from a pack, by the ids that they had there.
func (x *reader) indexSources() {
	for _, d := range x.docs {
		for _, member := range []string{"_stats.compendiumSource", "flags.core.sourceId"} {
			ref := textAt(d.data, member)
			id := ref[strings.LastIndexByte(ref, '.')+1:]
			if sh := x.sheets[d.id]; sh != nil && id != "" && x.sheets[id] == nil {
				x.sheets[id] = sh
			}
		}
	}
}

// addPins links the scenes with the entries that their notes show and the actors of their tokens.
func (x *reader) addPins() {
	for _, d := range x.docs {
		scene := x.sheets[d.id]
		if d.collection != "scenes" || scene == nil {
			continue
		}
		for _, n := range d.kids["notes"] {
			to := x.sheets[textAt(n.data, "pageId")]
			if to == nil {
				to = x.sheets[textAt(n.data, "entryId")]
			}
			if to != nil {
				x.s.AddEdge(d.file, "pin", scene, to, map[string]any{"x": n.data["x"], "y": n.data["y"]})
			}
		}
		seen := map[*exchange.Sheet]bool{}
		for _, t := range d.kids["tokens"] {
			actor := x.sheets[textAt(t.data, "actorId")]
			if actor == nil || seen[actor] {
				continue
			}
			seen[actor] = true
			if t.data["hidden"] == true {
				x.s.AddGMEdge(d.file, "appears_in", actor, scene, nil)
			} else {
				x.s.AddEdge(d.file, "appears_in", actor, scene, nil)
			}
		}
	}
}

// reportSkipped reports the collections that were not read.
func (x *reader) reportSkipped() {
	for _, name := range decoded.SortedKeys(x.skipped) {
		if name != "" {
			x.s.AddProblem(name, 0, "this collection is not imported")
		}
	}
}
