package exchangetest

import (
	"fmt"
	"strings"
	"testing/fstest"
)

// Shape is a hostile source of a format. Its size grows in proportion to n, the number of its items.
type Shape struct {
	Format, Name string
	Files        func(n int) fstest.MapFS
}

// repeated returns a text made of n parts.
func repeated(n int, part func(i int) string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(part(i))
	}
	return b.String()
}

// listed returns n items with commas between them.
func listed(n int, item func(i int) string) string {
	return strings.TrimSuffix(repeated(n, func(i int) string { return item(i) + "," }), ",")
}

// same returns n copies of a text.
func same(text string) func(n int) string {
	return func(n int) string { return strings.Repeat(text, n) }
}

// each returns n parts made by a format with the number of the part.
func each(format string) func(n int) string {
	return func(n int) string { return repeated(n, func(i int) string { return fmt.Sprintf(format, i) }) }
}

// list is each with commas between the parts.
func list(format string) func(n int) string {
	return func(n int) string { return listed(n, func(i int) string { return fmt.Sprintf(format, i) }) }
}

// nested returns n openings and n endings of a value.
func nested(open, middle, end string) func(n int) string {
	return func(n int) string { return strings.Repeat(open, n) + middle + strings.Repeat(end, n) }
}

// within returns a text before, the parts, and a text after.
func within(before string, parts func(n int) string, after string) func(n int) string {
	return func(n int) string { return before + parts(n) + after }
}

// file returns a source of one file.
func file(name string, text func(n int) string) func(n int) fstest.MapFS {
	return func(n int) fstest.MapFS { return Files(map[string]string{name: text(n)}) }
}

// folder returns a source of n files, with a number in the name and the text of each.
func folder(name, text string) func(n int) fstest.MapFS {
	return func(n int) fstest.MapFS {
		m := fstest.MapFS{}
		for i := range n {
			m[fmt.Sprintf(name, i)] = &fstest.MapFile{Data: []byte(numbered(text, i))}
		}
		return m
	}
}

// numbered puts a number into a format that has a place for it.
func numbered(format string, i int) string {
	if !strings.Contains(format, "%") {
		return format
	}
	return fmt.Sprintf(format, i)
}

// and adds files to those of a source.
func and(files func(n int) fstest.MapFS, more map[string]string) func(n int) fstest.MapFS {
	return func(n int) fstest.MapFS {
		m := files(n)
		for name, text := range more {
			m[name] = &fstest.MapFile{Data: []byte(text)}
		}
		return m
	}
}

// Shapes returns the hostile sources of all formats: many items, one long item, deep nesting, names that are
// alike, links that lead to one item, long lines, wide rows, and marks without an end.
func Shapes() (all []Shape) {
	for _, of := range []map[string]map[string]func(n int) fstest.MapFS{tableShapes(), jsonShapes(), plannerShapes(),
		worldShapes(), mapShapes(), wikiShapes(), vaultShapes()} {
		for format, shapes := range of {
			for name, files := range shapes {
				all = append(all, Shape{format, name, files})
			}
		}
	}
	return all
}

type shapes = map[string]map[string]func(n int) fstest.MapFS

func tableShapes() shapes {
	return shapes{"table": {
		"rows":           file("t.csv", within("name,text\n", each("row %d,text\n"), "")),
		"columns":        file("t.csv", within("name,", list("column %d"), "\nfirst\nsecond\n")),
		"full columns":   file("t.csv", func(n int) string { return "name," + list("c%d")(n) + "\n" + same("x,")(n) + "\n" }),
		"columns alike":  file("t.csv", within("name", same(",x"), "\nfirst\n")),
		"empty columns":  file("t.csv", within("name", same(","), "\nfirst\n")),
		"rows alike":     file("t.csv", within("name,text\n", same("row,text\n"), "")),
		"ragged":         file("t.csv", within("name\n", same("row,a,b,c,d\n"), "")),
		"bad rows":       file("t.csv", within("name\n", same("a\"b\",\"c\n"), "")),
		"long cell":      file("t.csv", within("name,text\nfirst,\"", same("a b "), "\"\n")),
		"links to one":   file("t.csv", within("name,kin\nfirst,\n", each("row %d,first\n"), "")),
		"one with links": file("t.csv", within("name,kin\nfirst,second\nsecond,first\nthird,", same("first;"), "\n")),
		"parents": file("t.csv", func(n int) string {
			return "name,parent\nrow 0,\n" + repeated(n,
				func(i int) string { return fmt.Sprintf("row %d,row %d\n", i+1, i) })
		}),
		"lines":        file("t.jsonl", each("{\"name\": \"row %d\", \"text\": \"x\"}\n")),
		"new columns":  file("t.jsonl", each("{\"name\": \"row\", \"column %d\": 1}\n")),
		"broken lines": file("t.jsonl", within("{\"name\": \"a\"}\n", same("{\"name\":\n"), "")),
		"long list":    file("t.json", within("[", list("{\"name\": \"row %d\"}\n"), "]")),
		"nested cell":  file("t.jsonl", within("{\"name\": \"a\", \"x\": ", nested("[", "", "]"), "}\n")),
		"dense cell":   file("t.jsonl", within("{\"name\": \"a\", \"x\": [", same("{},"), "{}]}\n")),
		"mapping": and(file("t.csv", within("name,", list("c%d"), "\nfirst\n")),
			map[string]string{"t.csv.mapping.json": `{"name": "name"}`}),
		"long first line": file("t.csv", within("name", same("x"), "\nfirst\n")),
		"tags":            file("t.csv", within("name,tags\nfirst,\"", list("tag %d"), "\"\n")),
		"aliases":         file("t.csv", within("name,aliases\nfirst,", each("alias %d;"), "\n")),
	}}
}

func jsonShapes() shapes {
	entry := `"%[1]d": {"uid": %[1]d, "key": ["weir %[1]d"], "comment": "Weir %[1]d", "content": "Deep."}`
	srd := `{"index": "s%d", "name": "Spell %[1]d", "url": "/s%[1]d", "desc": ["Text."]}`
	open5e := `{"model": "api_v2.spell", "pk": "s%[1]d", "fields": {"name": "Spell %[1]d", "desc": "Text."}}`
	light := `"room_%[1]d": {"room": true, "name": "Room %[1]d", "desc": "Text.", "container_node": ` +
		`{"target_id": "VOID"}%s}`
	room := func(more func(i int) string) func(n int) string {
		return within(`{"nodes": {`, func(n int) string {
			return listed(n, func(i int) string { return fmt.Sprintf(light, i, more(i)) })
		}, "}}")
	}
	return shapes{
		"lorebook": {
			"entries": file("b.json", within(`{"entries": {`, list(entry), "}}")),
			"small entries": file("b.json", within(`{"entries": {`,
				list(`"%[1]d":{"uid":%[1]d,"key":["%[1]d"],"content":"a"}`), "}}")),
			"alike": file("b.json", within(`{"entries": {`,
				list(`"%d": {"uid": 1, "key": ["weir"], "comment": "Weir", "content": "x"}`), "}}")),
			"keys": file("b.json", within(`{"entries": {"0": {"uid": 1, "key": [`, list(`"key %d"`),
				`], "comment": "Weir", "content": "x"}}}`)),
			"alike keys": file("b.json", within(`{"entries": {"0": {"uid": 1, "key": [`, same(`"key",`),
				`"x"], "comment": "Weir", "content": "x"}}}`)),
			"long text": file("b.json", within(`{"entries": {"0": {"uid": 1, "key": ["a"], "content": "`,
				same(`[[a]] `), `"}}}`)),
			"members": file("b.json", within(`{"entries": {"0": {"uid": 1, "key": ["a"], "content": "x",`,
				list(`"m%d": 1`), `}}}`)),
			"top members": file("b.json", within(`{"entries": {"0": {"uid": 1, "key": ["a"], "content": "x"}}`+
				`,`, list(`"m%d": 1`), `}`)),
			"nested": file("b.json", within(`{"entries": {"0": {"uid": 1, "key": ["a"], "content": "x", `+
				`"m": `, nested("[", "", "]"), `}}}`)),
			"dense": file("b.json", within(`{"entries": {"0": {"uid": 1, "key": ["a"], "content": "x", `+
				`"m": [`, same("{},"), `1]}}}`)),
			"books":      folder("b%d.json", `{"entries": {"0": {"uid": 1, "key": ["a"], "content": "x"}}}`),
			"not a book": folder("b%d.json", `{"a": 1}`),
			"dungeon":    file("b.json", within(`[`, list(`{"keys": "a%[1]d,b#[c]", "entry": "x"}`), `]`)),
			"broken":     file("b.json", within(`[`, same(`[`), ``)),
			"pattern keys": file("b.json", within(`{"entries": {"0": {"uid": 1, "key": ["`, same(`/,`),
				`"], "comment": "Weir", "content": "x"}}}`)),
		},
		"character": {
			"greetings": file("c.json", within(`{"spec": "chara_card_v2", "data": {"name": "A", "description": `+
				`"x", "alternate_greetings": [`, list(`"hello %d"`), `]}}`)),
			"book": file("c.json", within(`{"spec": "chara_card_v2", "data": {"name": "A", "description": `+
				`"x", "character_book": {"entries": [`, list(`{"keys": ["a"], "content": "x %d", "id": %[1]d}`),
				`]}}}`)),
			"long": file("c.json", within(`{"spec": "chara_card_v2", "data": {"name": "A", "description": `+
				`"`, same(`{{char}} `), `"}}`)),
			"tags": file("c.json", within(`{"spec": "chara_card_v2", "data": {"name": "A", "description": `+
				`"x", "tags": [`, list(`"t%d"`), `]}}`)),
			"cards": folder("c%d.json", `{"spec": "chara_card_v2", "data": {"name": "A", "description": "x"}}`),
			"assets": func(n int) fstest.MapFS {
				text := within(`{"spec": "chara_card_v3", "data": {"name": "A", "description": "x", "assets": `+
					`[`, same(`{"type": "icon", "name": "main", "uri": "embeded://a.png"},`), `{}]}}`)
				return Files(map[string]string{"card.json": text(n), "a.png": "x"})
			},
			"chunks": file("c.png", within("\x89PNG\r\n\x1a\n", same("\x00\x00\x00\x00tEXtxxxx"),
				"\x00\x00\x00\x00IENDxxxx")),
			"cards in chunks": file("c.png", within("\x89PNG\r\n\x1a\n",
				same("\x00\x00\x00\x0atEXtchara\x00e30=xxxx"), "\x00\x00\x00\x00IENDxxxx")),
		},
		"memory": {
			"entities": file("m.jsonl", each(`{"type": "entity", "name": "E%d", "entityType": "person", `+
				`"observations": ["x"]}`+"\n")),
			"alike": file("m.jsonl", each(`{"type": "entity", "name": "E", "entityType": "person", `+
				`"observations": ["x%d"]}`+"\n")),
			"relations": file("m.jsonl", within(`{"type": "entity", "name": "E", "entityType": "x"}`+"\n",
				each(`{"type": "relation", "from": "E", "to": "E%d", "relationType": "knows"}`+"\n"), "")),
			"links to one": file("m.jsonl", within(`{"type": "entity", "name": "E", "entityType": "x"}`+"\n",
				each(`{"type": "entity", "name": "E%[1]d", "entityType": "x"}`+"\n"+`{"type": "relation", `+
					`"from": "E%[1]d", "to": "E", "relationType": "knows"}`+"\n"), "")),
			"observations": file("m.jsonl", within(`{"type": "entity", "name": "E", "entityType": "person", `+
				`"observations": [`, list(`"x%d"`), "]}\n")),
			"broken": file("m.jsonl", within(`{"type": "entity", "name": "E", "entityType": "x"}`+"\n",
				same("[1,\n"), "")),
			"open objects": file("m.jsonl", within(`{"type": "entity", "name": "E", "entityType": "x"}`+"\n",
				same(`{"name": "a", "b":`+"\n"), "")),
			"words": file("m.jsonl", within(`{"type": "entity", "name": "E", "entityType": "x"}`+"\n",
				same("word\n"), "")),
			"one list": file("m.jsonl", within("[", list(`{"name": "E%d", "entityType": "x"}`), "]")),
			"nested lists": file("m.jsonl", within(`{"name": "E", "entityType": "x"}`+"\n", nested("[", "",
				"]"), "")),
			"numbers": file("m.jsonl", within(`{"name": "E", "entityType": "x"}`+"\n", same("1 "), "")),
		},
		"srd": {
			"records": file("5e-SRD-Spells.json", within("[", list(srd+"\n"), "]")),
			"alike": file("5e-SRD-Spells.json", within("[",
				list(`{"index": "s%d", "name": "Spell", "desc": ["x"]}`+"\n"), "]")),
			"references": file("5e-SRD-Spells.json", within(`[{"index": "a", "name": "A", "url": "/a"},`,
				list(`{"index": "s%d", "name": "Spell %[1]d", "url": "/s%[1]d", "of": {"index": "a", "url": `+
					`"/a"}}`+"\n"), "]")),
			"one record": file("5e-SRD-Spells.json", within(`[{"index": "a", "name": "A", "of": [`,
				list(`{"index": "%d", "url": "/a%[1]d"}`), "]}]")),
			"levels": and(file("5e-SRD-Levels.json", within("[",
				list(`{"index": "l%d", "level": %[1]d, "class": {"url": "/c"}}`+"\n"), "]")),
				map[string]string{"5e-SRD-Classes.json": `[{"index": "c", "name": "C", "url": "/c"}]`}),
			"text": file("5e-SRD-Spells.json", within(`[{"index": "a", "name": "A", "desc": [`,
				same(`"|a|b|",`), `"x"]}]`)),
			"not objects": file("5e-SRD-Spells.json", within(`[{"index": "a", "name": "A"},`, same("1,\n"), `1]`)),
			"nested": file("5e-SRD-Spells.json", within(`[{"index": "a", "name": "A", "x":`, nested("[",
				"", "]"), `}]`)),
		},
		"open5e": {
			"records": file("o.json", within("[", list(open5e+"\n"), "]")),
			"parts": file("o.json", within(`[{"model": "api_v2.creature", "pk": "c", "fields": {"name": "C"}}`+
				`,`, list(`{"model": "api_v2.creatureaction", "pk": "a%d", "fields": {"name": "Bite", "desc": `+
				`"x", "parent": "c"}}`+"\n"), "]")),
			"alike": file("o.json", within("[", list(`{"model": "api_v2.spell", "pk": "s%d", "fields": `+
				`{"name": "Spell", "desc": "x"}}`+"\n"), "]")),
			"unknown": file("o.json", within(`[`+fmt.Sprintf(open5e, 0)+",",
				list(`{"model": "api_v2.x%d", "pk": "s", "fields": {"a": 1}}`+"\n"), "]")),
		},
		"light": {
			"rooms": file("w.json", room(func(int) string { return "" })),
			"exits to one": file("w.json", room(func(int) string {
				return `, "neighbors": {"room_0": {"label": ` +
					`"north"}}`
			})),
			"exits of one": file("w.json", room(func(i int) string {
				if i > 0 {
					return ""
				}
				return `, "neighbors": {` + list(`"room_%d": {}`)(200) + "}"
			})),
			"one with exits": file("w.json", within(`{"nodes": {"room_1": {"room": true, "name": "A", `+
				`"neighbors": {`, list(`"room_%d": {"target_id": "room_1"}`), `}}}}`)),
			"contents": file("w.json", within(`{"nodes": {"room_1": {"room": true, "name": "A", `+
				`"contained_nodes": {`, list(`"o_%d": {}`), `}}}}`)),
			"alike": file("w.json", within(`{"nodes": {`,
				list(`"o_%d": {"object": true, "name": "A", "container_node": {"target_id": "o_0"}}`), `}}`)),
			"no kinds": file("w.json", within(`{"nodes": {"room_1": {"room": true, "name": "A"},`,
				list(`"o_%d": {}`+"\n"), `}}`)),
			"chain": file("w.json", within(`{"nodes": {`, func(n int) string {
				return listed(n, func(i int) string {
					return fmt.Sprintf(`"o_%d": {"object": true, "name": "A %d", "container_node": `+
						`{"target_id": "o_%d"}}`, i, i, i+1)
				})
			}, `}}`)),
		},
		"foundry": {
			"items": file("packs/i.db", each(`{"_id": "I%d", "name": "Salt %[1]d", "type": "item", `+
				`"img": "", "system": {}}`+"\n")),
			"alike": file("packs/i.db", each(`{"_id": "I%d", "name": "Salt", "type": "item", "img": "", `+
				`"system": {}}`+"\n")),
			"deleted": file("packs/i.db", within(`{"_id": "I", "name": "Salt", "type": "item", "img": "", `+
				`"system": {}}`+"\n", each(`{"_id": "I%d", "name": "Salt %[1]d", "type": "item", "img": "", `+
				`"system": {}}`+"\n"+`{"_id": "I%[1]d", "$$deleted": true}`+"\n"), "")),
			"pages": file("fvtt-JournalEntry-a.json", within(`{"_id": "J", "name": "J", "pages": [`,
				list(`{"_id": "P%d", "name": "P %[1]d", "text": {"content": "x"}}`), `]}`)),
			"pages alike": file("fvtt-JournalEntry-a.json", within(`{"_id": "J", "name": "J", "pages": [`,
				list(`{"_id": "P%d", "name": "P", "text": {"content": "x"}}`), `]}`)),
			"secrets": file("fvtt-JournalEntry-a.json", within(`{"_id": "J", "name": "J", "content": "`,
				same(`<section class=secret>a</section>`), `"}`)),
			"open secrets": file("fvtt-JournalEntry-a.json", within(`{"_id": "J", "name": "J", "content": "`,
				same(`<section class=secret>`), `"}`)),
			"open tags": file("fvtt-JournalEntry-a.json",
				within(`{"_id": "J", "name": "J", "content": "secret`, same(`<a `), `"}`)),
			"links": file("fvtt-JournalEntry-a.json", within(`{"_id": "J", "name": "J", "content": "`,
				same(`@UUID[Item.a]{b} `), `"}`)),
			"open links": file("fvtt-JournalEntry-a.json", within(`{"_id": "J", "name": "J", "content": "`,
				same(`@UUID[`), `"}`)),
			"files": folder("fvtt-Item-%d.json",
				`{"_id": "I%d", "name": "Salt", "type": "item", "img": "", "system": {}}`),
			"results": file("fvtt-RollTable-a.json",
				within(`{"_id": "T", "name": "T", "formula": "1d6", "results": [`,
					list(`{"_id": "R%d", "range": [%[1]d, %[1]d], "text": "x"}`), `]}`)),
			"tokens": file("fvtt-Scene-a.json",
				within(`{"_id": "S", "name": "S", "walls": [], "tokens": [`,
					list(`{"_id": "T%d", "actorId": "S"}`), `]}`)),
			"adventure": file("fvtt-Adventure-a.json", within(`{"_id": "V", "name": "V", "items": [`,
				list(`{"_id": "I%d", "name": "Salt %[1]d", "type": "item", "img": "", "system": {}}`), `]}`)),
			"actor": file("fvtt-Actor-a.json",
				within(`{"_id": "A", "name": "A", "type": "npc", "prototypeToken": {}, "items": [`,
					list(`{"_id": "I%d", "name": "Oar %[1]d"}`), `]}`)),
			"system": file("fvtt-JournalEntry-a.json",
				within(`{"_id": "J", "name": "J", "pages": [{"_id": "P", "name": "P", "system": {`,
					list(`"m%d": "x"`), `}}]}`)),
			"owners": file("fvtt-Item-a.json",
				within(`{"_id": "I", "name": "Salt", "type": "item", "img": "", "system": {}, "ownership": {`,
					list(`"u%d": 3`), `}}`)),
		},
		"turns": {
			"turns":    file("t.jsonl", each(`{"ep": "E1", "n": %d, "names": ["A"], "text": "x"}`+"\n")),
			"episodes": file("t.jsonl", each(`{"ep": "E%d", "n": 1, "names": ["A"], "text": "x"}`+"\n")),
			"alike": file("t.jsonl", within(`{"ep": "E", "n": 2, "text": "x"}`+"\n",
				same(`{"ep": "E", "n": 1, "names": ["A"], "text": "x"}`+"\n"), "")),
			"broken":  file("t.jsonl", within(`{"ep": "E", "n": 2, "text": "x"}`+"\n", same("{\n"), "")),
			"names":   file("t.jsonl", within(`{"ep": "E", "n": 2, "names": [`, list(`"n%d"`), "]}\n")),
			"members": file("t.jsonl", within(`{"ep": "E", "n": 2, `, list(`"m%d": 1`), "}\n")),
			"text":    file("t.jsonl", within(`{"ep": "E", "n": 2, "text": "`, same(`[[a]] `), `"}`+"\n")),
		},
	}
}
