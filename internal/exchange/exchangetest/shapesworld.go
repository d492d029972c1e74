package exchangetest

import (
	"fmt"
	"strings"
	"testing/fstest"
)

func plannerShapes() shapes {
	kanka := `{"id": %[1]d, "name": "A %[1]d", "entity": {"id": %[1]d, "name": "A %[1]d"%[2]s}}`
	lk := func(resources func(n int) string) func(n int) fstest.MapFS {
		return file("w.lk", within(`{"version": 1, "resources": [`, resources, `]}`))
	}
	prose := func(content func(n int) string) func(n int) fstest.MapFS {
		return lk(within(`{"id": "a", "name": "A", "documents": [{"type": "page", "content": `, content, `}]}`))
	}
	anvil := func(content func(n int) string) func(n int) fstest.MapFS {
		return file("a.json", within(`{"id": "a", "title": "A", "slug": "a", "entityClass": "Person", "state": `+
			`"public", "content": "`, content, `"}`))
	}
	one := func(more string) func(n int) fstest.MapFS {
		return folder("characters/%d.json", strings.ReplaceAll(fmt.Sprintf(kanka, 7, more), "7", "%[1]d"))
	}
	inEntity := func(member string, item string) func(n int) fstest.MapFS {
		return file("characters/a.json", within(`{"id": 1, "name": "A", "entity": {"id": 1, "`+member+`": [`,
			list(item), `]}}`))
	}
	calendar := func(member, item string) func(n int) fstest.MapFS {
		return file("c.json", within(`{"name": "C", "dynamic_data": {}, "static_data": {"year_data": `+
			`{"timespans": [{"name": "M"}]}, "`+member+`": [`, list(item), `]}}`))
	}
	return shapes{
		"kanka": {
			"entities":          one(""),
			"links to one":      one(`, "relationships": [{"target_id": 0, "relation": "x", "visibility_id": 1}]`),
			"posts":             inEntity("posts", `{"id": %d, "name": "P", "entry": "x", "visibility_id": 1}`),
			"hidden posts":      inEntity("posts", `{"id": %d, "name": "P", "entry": "x"}`),
			"attributes":        inEntity("entityAttributes", `{"name": "a%d", "value": "x"}`),
			"hidden attributes": inEntity("entityAttributes", `{"name": "a%d", "value": "x", "is_private": true}`),
			"reminders":         inEntity("reminders", `{"id": %d, "year": 1}`),
			"relations":         inEntity("relationships", `{"target_id": %d, "relation": "x"}`),
			"mentions": file("characters/a.json", within(`{"id": 1, "name": "A", "entry": "`,
				same(`[character:1|x] `), `", "entity": {"id": 1}}`)),
			"open mentions": file("characters/a.json", within(`{"id": 1, "name": "A", "entry": "`,
				same(`[character:1|`), `", "entity": {"id": 1}}`)),
			"links": file("characters/a.json", within(`{"id": 1, "name": "A", "entry": "`,
				same(`[[x`), `", "entity": {"id": 1}}`)),
			"alike": folder("characters/%d.json", `{"id": %[1]d, "name": "A", "entity": {"id": %[1]d}}`),
			"months": file("calendars/a.json", within(`{"id": 1, "name": "A", "months": [`,
				list(`{"name": "m%d"}`), `], "entity": {"id": 1}}`)),
		},
		"fantasy-calendar": {
			"events":     calendar("event_data", `{"name": "E", "id": "%d", "data": {"date": [1, 1, 1]}}`),
			"recurring":  calendar("event_data", `{"name": "E%d", "data": {}}`),
			"eras":       calendar("eras", `{"name": "E%d", "date": {"year": 1}}`),
			"early eras": calendar("eras", `{"name": "E%d", "date": {"year": -1}}`),
			"months": file("c.json", within(`{"name": "C", "dynamic_data": {}, "static_data": {"year_data": `+
				`{"timespans": [`, list(`{"name": "m%d"}`), `]}}}`)),
		},
		"legendkeeper": {
			"resources": lk(list(`{"id": "a%d", "name": "A %[1]d", "documents": []}`)),
			"alike":     lk(list(`{"id": "a%d", "name": "A", "documents": []}`)),
			"chain": lk(func(n int) string {
				return listed(n, func(i int) string {
					return fmt.Sprintf(`{"id": "a%d", "name": "A %d", `+
						`"parentId": "a%d"}`, i, i, i+1)
				})
			}),
			"ring": lk(func(n int) string {
				return listed(n, func(i int) string {
					return fmt.Sprintf(`{"id": "a%d", "name": "A %d", "parentId": "a%d"}`, i, i, (i+1)%n)
				})
			}),
			"children": lk(list(`{"id": "a%d", "name": "A %[1]d", "parentId": "a0"}`)),
			"pins": lk(within(`{"id": "a", "name": "A", "documents": [{"type": "map", "pins": [`,
				list(`{"linkedResourceId": "a", "pos": [1, %d]}`), `]}]}`)),
			"documents": lk(within(`{"id": "a", "name": "A", "documents": [`,
				same(`{"content": {"type": "paragraph", "content": [{"type": "text", "text": "x"}]}},`), `{}]}`)),
			"hidden documents": lk(within(`{"id": "a", "name": "A", "documents": [`,
				same(`{"isHidden": true, "content": {"type": "paragraph", "content": [{"type": "text", "text": `+
					`"x"}]}},`), `{}]}`)),
			"properties": lk(within(`{"id": "a", "name": "A", "properties": [`,
				list(`{"title": "t%d", "data": {"fragment": {"type": "text", "text": "x"}}}`), `]}`)),
			"hidden properties": lk(within(`{"id": "a", "name": "A", "properties": [`,
				list(`{"title": "t%d", "isHidden": true, "data": {"fragment": {"type": "text", "text": "x"}}}`),
				`]}`)),
			"marks": prose(within(`{"type": "text", "text": "x", "marks": [`,
				same(`{"type": "bold"},`), `{}]}`)),
			"nested prose": prose(nested(`{"type": "blockquote", "content": [`, "", "]}")),
			"mentions": prose(within(`{"content": [`,
				same(`{"type": "mention", "attrs": {"id": "a", "text": "@a"}},`), `{}]}`)),
			"secrets": prose(within(`{"content": [`,
				same(`{"attrs": {"extensionKey": "block-secret"}, "content": [{"type": "text", "text": "x"}]}`+
					`,`), `{}]}`)),
			"aliases": lk(within(`{"id": "a", "name": "A", "aliases": [`, list(`"a%d"`), `]}`)),
			"tags":    lk(within(`{"id": "a", "name": "A", "tags": [`, list(`"a%d"`), `]}`)),
		},
		"scabard": {
			"pages": file("s.json", within(`{"pages": [`,
				list(`{"id": %d, "page": {"name": "A %[1]d", "description": "x"}}`), `], "conns": []}`)),
			"connections": file("s.json", within(`{"pages": [{"id": 1, "page": {"name": "A"}}, {"id": 2, `+
				`"page": {"name": "B"}}], "conns": [`, list(`{"fromid": 1, "toid": 2, "relationship": "r%d"}`),
				`]}`)),
			"links to one": file("s.json", func(n int) string {
				return `{"pages": [` + list(`{"id": %d, "page": {"name": "A %[1]d"}}`)(n) + `], "conns": ` +
					`[` + list(`{"fromid": %d, "toid": 0, "relationship": "x"}`)(n) + `]}`
			}),
			"alike": file("s.json", within(`{"pages": [`, list(`{"id": %d, "page": {"name": "A"}}`),
				`], "conns": []}`)),
			"text": file("s.json", within(`{"pages": [{"id": 1, "page": {"name": "A", "description": "`,
				same(`[[a\n\n`), `"}}], "conns": []}`)),
		},
		"worldanvil": {
			"articles": file("a.json", within(`[`,
				list(`{"id": "%d", "title": "A %[1]d", "state": "public", "content": "x"}`), `]`)),
			"alike": file("a.json", within(`[`,
				list(`{"id": "%d", "title": "A", "state": "public", "content": "x"}`), `]`)),
			"files": folder("a%d.json", `{"id": "%[1]d", "title": "A %[1]d", "slug": "a", `+
				`"entityClass": "x", "state": "public", "content": "x"}`),
			"secrets":       anvil(same(`[secret]a[/secret]`)),
			"open secrets":  anvil(same(`[secret]`)),
			"codes":         anvil(same(`[b][quote]`)),
			"links":         anvil(same(`[url:http://a]x[/url]`)),
			"open links":    anvil(same(`[url:http://a]`)),
			"mentions":      anvil(same(`@[a](person:a)`)),
			"open mentions": anvil(same(`@[a](`)),
			"fields": file("a.json", within(`{"id": "a", "title": "A", "state": "public",`,
				list(`"ggm%d": "x"`), `}`)),
			"tags": file("a.json", within(`{"id": "a", "title": "A", "state": "public", "tags": "`,
				list(`t%d`), `"}`)),
		},
		"decko": {
			"cards":    file("c.ndjson", each(`{"name": "A %d", "type": "RichText", "content": "x"}`+"\n")),
			"children": file("c.ndjson", each(`{"name": "A+b %d", "type": "RichText", "content": "x"}`+"\n")),
			"deep": file("c.ndjson", within(`{"name": "A`, same("+a"),
				`", "type": "RichText", "content": "x"}`+"\n")),
			"deep cards": file("c.ndjson", each(`{"name": "A %d`+strings.Repeat("+a",
				20)+`", "type": "RichText", "content": "x"}`+"\n")),
			"alike": file("c.ndjson", same(`{"name": "A", "type": "RichText", "content": "x"}`+"\n")),
			"types": file("c.ndjson", each(`{"name": "A %d", "type": "T %[1]d", "content": "x"}`+"\n")),
			"broken": file("c.ndjson", within(`{"name": "A", "type": "RichText", "content": "x"}`+"\n",
				same("{\n"), "")),
			"read rules": file("c.ndjson", within(`{"name": "A", "type": "RichText", "content": "x"}`+"\n",
				each(`{"name": "A %d+*self+*read", "type": "x", "content": "[[Gm]]"}`+"\n"), "")),
		},
	}
}

func worldShapes() shapes {
	circleRoom := "#%d\nRoom %[1]d~\nText.\n~\n1 0 0\n%s"
	end := "S\n"
	rooms := func(more func(i int) string) func(n int) string {
		return within("", func(n int) string {
			return repeated(n, func(i int) string { return fmt.Sprintf(circleRoom, i+1, more(i)) + end })
		}, "$\n")
	}
	plain := func(int) string { return "" }
	ranvier := func(rooms func(n int) string) func(n int) fstest.MapFS {
		return and(file("a/rooms.yml", rooms), map[string]string{"a/manifest.yml": "title: A\n"})
	}
	twee := func(text func(n int) string) func(n int) fstest.MapFS {
		return file("s.twee", within(":: Start\n", text, "\n"))
	}
	return shapes{
		"circlemud": {
			"rooms": file("wld/1.wld", rooms(plain)),
			"zones": func(n int) fstest.MapFS {
				m := folder("zon/%d.zon", "#%d\nZone %[1]d~\n%[1]d00 %[1]d99 1 2\nS\n$\n")(n / 8)
				m["wld/1.wld"] = &fstest.MapFile{Data: []byte(rooms(plain)(n))}
				return m
			},
			"one zone": func(n int) fstest.MapFS {
				return Files(map[string]string{"wld/1.wld": rooms(plain)(n),
					"zon/1.zon": "#0\nZone~\n0 10000000 1 2\nS\n$\n"})
			},
			"exits to one": file("wld/1.wld", rooms(func(i int) string { return "D0\n~\n~\n0 0 1\n" })),
			"one with exits": file("wld/1.wld", func(n int) string {
				return fmt.Sprintf(circleRoom, 1, strings.Repeat("D0\n~\n~\n0 0 1\n", n)) + "S\n$\n"
			}),
			"dead exits": file("wld/1.wld", func(n int) string {
				return fmt.Sprintf(circleRoom, 1, strings.Repeat("D0\n~\n~\n0 0 99\n", n)) + "S\n$\n"
			}),
			"extras": file("wld/1.wld", func(n int) string {
				return fmt.Sprintf(circleRoom, 1,
					strings.Repeat("E\na~\nb~\n", n)) + "S\n$\n"
			}),
			"no end":  file("wld/1.wld", within("#1\nA~\nText\n~\n1 0 0\nS\n", same("#2\nA\n"), "")),
			"twice":   file("wld/1.wld", same("#1\nRoom~\nText.\n~\n1 0 0\nS\n")),
			"colours": file("wld/1.wld", within("#1\nRoom~\n", same("@[a@@"), "~\n1 0 0\nS\n$\n")),
			"mobiles": func(n int) fstest.MapFS {
				return Files(map[string]string{"wld/1.wld": rooms(plain)(2),
					"mob/1.mob": each("#%d\nname~\nMob~\nseen~\ntext~\n0 0 0 S\n1 2\n")(n) + "$\n"})
			},
			"objects": func(n int) fstest.MapFS {
				return Files(map[string]string{"wld/1.wld": rooms(plain)(2),
					"obj/1.obj": each("#%d\nname~\nThing~\nseen~\ntext~\n0 0 1\n1 2\n")(n) + "$\n"})
			},
			"placements": func(n int) fstest.MapFS {
				return Files(map[string]string{"wld/1.wld": rooms(plain)(n),
					"mob/1.mob": "#1\nname~\nMob~\nseen~\ntext~\n0 0 0 S\n1 2\n$\n",
					"zon/1.zon": "#0\nZone~\n0 10000000 1 2\n" + each("M 0 1 1 %d\n")(n) + "S\n$\n"})
			},
			"held": func(n int) fstest.MapFS {
				return Files(map[string]string{"wld/1.wld": rooms(plain)(2),
					"obj/1.obj": each("#%d\nname~\nThing~\nseen~\ntext~\n0 0 1\n1 2\n")(n) + "$\n",
					"zon/1.zon": "#0\nZone~\n0 10000000 1 2\n" + each("O 0 %d 1 1\n")(n) + each("P 1 %d 1 "+
						"1\n")(n) + "S\n$\n"})
			},
			"files": folder("wld/%d.wld", "#%d\nRoom~\nText.\n~\n1 0 0\nS\n$\n"),
		},
		"evennia": {
			"rooms":   file("w.ev", each("@dig Room %d\n#\n")),
			"alike":   file("w.ev", same("@dig a\n#\n")),
			"walking": file("w.ev", each("@dig/teleport Room %d = out;o,back;b\n#\n")),
			"objects": file("w.ev", within("@dig/teleport A\n#\n", each("@create thing %d\n#\n"), "")),
			"described": file("w.ev", within("@dig/teleport A\n#\n",
				each("@create thing %d\n#\n@desc thing %[1]d = x\n#\n"), "")),
			"described first": file("w.ev", within("@dig/teleport A\n#\n@create thing\n#\n",
				each("@create other %d\n#\n@desc thing = x\n#\n"), "")),
			"exits": file("w.ev", within("@dig/teleport A\n#\n@dig B\n#\n",
				each("@open e%d = B\n#\n@desc e%[1]d = x\n#\n"), "")),
			"later exits": file("w.ev", within("@dig/teleport A\n#\n", each("@open e%d = B%[1]d\n#\n"), "")),
			"details":     file("w.ev", within("@dig/teleport A\n#\n", each("@detail d%d = x\n#\n"), "")),
			"names":       file("w.ev", within("@dig/teleport A", each(";b%d"), "\n#\n@desc b = x\n#\n")),
			"named objects": file("w.ev", within("@dig/teleport A\n#\n",
				each("@create thing %d;t;u;v\n#\n@desc t = x\n#\n"), "")),
			"unknown":           file("w.ev", within("@dig/teleport A\n#\n", each("@x%d\n#\n"), "")),
			"lost descriptions": file("w.ev", within("@dig/teleport A\n#\n", each("@desc x%d = a\n#\n"), "")),
			"walks": file("w.ev", within("@dig/teleport A = b,c\n#\n@open d = A\n#\n",
				same("d\n#\n"), "")),
			"locks": file("w.ev", within("@dig/teleport A\n#\n",
				each("@open e%d = A\n#\n@lock e%[1]d = x\n#\n"), "")),
			"teleports": file("w.ev", within("@dig/teleport A\n#\n",
				each("@dig B%d\n#\n@tel B%[1]d\n#\n@create c\n#\n"), "")),
			"long text": file("w.ev", within("@dig/teleport A\n#\n@desc ", same("a b\n\n"), "\n#\n")),
			"long line": file("w.ev", within("@dig ", same("a "), "\n#\n")),
		},
		"twee": {
			"passages":            file("s.twee", each(":: P%d\nText.\n")),
			"alike":               file("s.twee", same(":: P\nText.\n")),
			"links":               file("s.twee", each(":: P%d\n[[P0]]\n")),
			"lines":               twee(same("text\n")),
			"one with links":      twee(same("[[Start]] ")),
			"one with dead links": twee(each("[[P%d]] ")),
			"open links":          twee(same("[[")),
			"tags":                file("s.twee", within(":: Start [", each("t%d "), "]\nText.\n")),
			"escapes":             file("s.twee", within(":: Start", same(`\a`), "\nText.\n")),
			"heads":               file("s.twee", within(":: Start\nText.\n", same(":: a [b] c\n"), "")),
			"scripts":             file("s.twee", within(":: Start\nText.\n", each(":: S%d [script]\nx\n"), "")),
			"braces":              file("s.twee", within(":: Start", same(`{`), "\nText.\n")),
		},
		"ranvier": {
			"rooms":     ranvier(each("- id: r%d\n  title: Room %[1]d\n  description: x\n")),
			"grid":      ranvier(each("- id: r%d\n  title: Room %[1]d\n  coordinates: [%[1]d, 0, 0]\n")),
			"one place": ranvier(each("- id: r%d\n  title: Room %[1]d\n  coordinates: [0, 0, 0]\n")),
			"apart":     ranvier(each("- id: r%d\n  title: Room %[1]d\n  coordinates: [%[1]d0, 0, 0]\n")),
			"exits": ranvier(each("- id: r%d\n  title: Room %[1]d\n  exits: [{roomId: 'a:r0', " +
				"direction: north}]\n")),
			"one with exits": ranvier(within("- id: r\n  title: Room\n  exits:\n",
				each("  - {roomId: 'a:r%d', direction: north}\n"), "")),
			"alike": ranvier(each("- id: r%d\n  title: Room\n")),
			"npcs": and(ranvier(each("- id: r%d\n  title: Room %[1]d\n  npcs: ['a:n']\n")),
				map[string]string{"a/npcs.yml": "- id: n\n  name: N\n"}),
			"one with npcs": and(ranvier(within("- id: r\n  title: Room\n  npcs:\n", same("  - 'a:n'\n"), "")),
				map[string]string{"a/npcs.yml": "- id: n\n  name: N\n"}),
			"areas":   folder("a%d/manifest.yml", "title: A %d\n"),
			"aliases": ranvier(within("- &a {id: a, title: A}\n", same("- *a\n"), "")),
			"merged": ranvier(within("- &a {id: a, title: A, metadata: {a: 1}}\n",
				each("- {<<: *a, id: b%d}\n"), "")),
			"nested":  ranvier(within("- {id: a, x: ", nested("[", "", "]"), "}\n")),
			"colours": ranvier(within("- {id: a, description: '", same("<b>"), "'}\n")),
		},
	}
}

func mapShapes() shapes {
	azgaar := func(pack string, more ...string) string {
		return `{"info": {"mapName": "M"}, "settings": {"distanceUnit": "km"}, ` + strings.Join(more,
			"") + `"pack": {` + pack + `}}`
	}
	inPack := func(member, item string) func(n int) fstest.MapFS {
		return file("m.json", func(n int) string { return azgaar(`"` + member + `": [{},` + list(item)(n) + `]`) })
	}
	burgs := list(`{"i": %d, "name": "B%[1]d", "cell": %[1]d, "x": %[1]d, "y": 1}`)
	routed := func(points func(n int) string) func(n int) fstest.MapFS {
		return file("m.json", func(n int) string {
			return azgaar(`"burgs": [{},` + burgs(n) + `], "routes": [{},` + points(n) + `]`)
		})
	}
	town := func(districts func(n int) string) func(n int) fstest.MapFS {
		return file("t.json", within(`{"type": "FeatureCollection", "features": [{"id": "districts", `+
			`"geometries": [`, districts, `]}]}`))
	}
	house := func(rooms func(n int) string, more func(n int) string) func(n int) fstest.MapFS {
		return file("h.json", func(n int) string {
			return `{"exit": 1, "floors": [{"level": 0, "rooms": [` + rooms(n) + `], ` + more(n) + `}]}`
		})
	}
	nothing := func(int) string { return `"x": 1` }
	return shapes{
		"azgaar": {
			"burgs":   inPack("burgs", `{"i": %d, "name": "B%[1]d"}`),
			"alike":   inPack("burgs", `{"i": %d, "name": "B"}`),
			"states":  inPack("states", `{"i": %d, "name": "S%[1]d", "form": "a", "formName": "b"}`),
			"markers": inPack("markers", `{"i": %d, "type": "x"}`),
			"rivers":  inPack("rivers", `{"i": %d, "name": "R", "parent": 1}`),
			"campaigns": file("m.json", func(n int) string {
				return azgaar(`"states": [{}, {"i": 1, "name": "S", "campaigns": [` + list(`{"name": "W%d", `+
					`"start": 1}`)(n) + `]}]`)
			}),
			"one campaign": inPack("states", `{"i": %d, "name": "S%[1]d", "campaigns": [{"name": "W", "start": 1}]}`),
			"neighbours": file("m.json", func(n int) string {
				return azgaar(`"states": [{}, {"i": 1, "name": "S", "neighbors": [` + list(`%d`)(n) + `]}]`)
			}),
			"notes": file("m.json", func(n int) string {
				return azgaar(`"burgs": [{},`+burgs(n)+`]`,
					`"notes": [`+list(`{"id": "burg%d", "name": "N", "legend": "x"}`)(n)+`],`)
			}),
			"other notes": file("m.json", func(n int) string {
				return azgaar(`"burgs": [{},`+burgs(2)+`]`,
					`"notes": [`+list(`{"id": "n%d", "name": "N", "legend": "x"}`)(n)+`],`)
			}),
			"road": routed(func(n int) string {
				return `{"group": "roads", "points": [` + list(`[%d, 1, %[1]d]`+
					``)(n) + `]}`
			}),
			"roads": routed(list(`{"group": "roads", "points": [[%d, 1, %[1]d], [1, 1, 1]]}`)),
			"long road": file("m.json", func(n int) string {
				return azgaar(`"burgs": [{},` + burgs(8) + `], "routes": [{}, {"group": "roads", "points": ` +
					`[` + list(`[%d, 1, %[1]d]`)(n) + `]}]`)
			}),
			"road without burgs": routed(func(n int) string {
				return `{"group": "roads", "points": [` + list(`[%d, 1, 9%06[1]d]`)(n) + `]}, {"group": ` +
					`"roads", "points": [` + listed(n,
					func(i int) string { return fmt.Sprintf("[%d, 1, %d],[1, 1, 9000000]", i, i) }) + `]}`
			}),
			"cells": file("m.json", func(n int) string {
				return azgaar(`"burgs": [{},` + burgs(8) + `], "cells": [` + list(`{"i": %d}`)(n) + `]`)
			}),
			"records": file("m.map", func(n int) string {
				return "1.0|Fantasy-Map-Generator|x\n" + strings.Repeat("\n",
					14) + `[{},` + burgs(n) + `]` + strings.Repeat("\n", 40)
			}),
			"bars": file("m.map", func(n int) string {
				return strings.Repeat("|", n) + "\n" + strings.Repeat("|", n) + strings.Repeat("\n",
					14) + `[{},` + burgs(3) + `]` + strings.Repeat("\n", 40)
			}),
			"picture": file("m.map", func(n int) string {
				return "1.0|x\n" + strings.Repeat("\n", 4) + strings.Repeat("<svg></svg>",
					n) + strings.Repeat("\n", 10) + `[{},` + burgs(3) + `]` + strings.Repeat("\n", 40)
			}),
		},
		"watabou": {
			"districts": town(list(`{"name": "D%d", "coordinates": [[[%[1]d, 0], [%[1]d, 1], [%[1]d, 2]]]}`)),
			"row": town(func(n int) string {
				return listed(n, func(i int) string {
					return fmt.Sprintf(`{"name": "D%d", "coordinates": [[[%d, 0], [%d, 1], [%d, 0], [%d, 1]]]}`,
						i, i, i, i+1, i+1)
				})
			}),
			"one place": town(list(`{"name": "D%d", "coordinates": [[[0, 0], [0, 1], [1, 0]]]}`)),
			"corners": town(func(n int) string {
				return `{"name": "A", "coordinates": [[` + list(`[%d, 0]`)(n) + `]]}, {"name": "B", ` +
					`"coordinates": [[` + list(`[%d, 0]`)(n) + `]]}`
			}),
			"same corners": town(func(n int) string {
				return `{"name": "A", "coordinates": [[` + list(`[0, 0]`)(n) + `]]}, {"name": "B", ` +
					`"coordinates": [[` + list(`[0, 0]`)(n) + `]]}`
			}),
			"alike": town(list(`{"name": "D", "coordinates": [[[%[1]d, 0]]]}`)),
			"buildings": file("t.json", within(`{"type": "FeatureCollection", "features": [{"id": "buildings", `+
				`"coordinates": [`, same(`[],`), `[]]}]}`)),
			"rooms": house(list(`{"name": "R%d", "cells": [{"i": %[1]d, "j": 0}]}`), nothing),
			"cells": house(within(`{"name": "R", "cells": [`, list(`{"i": %d, "j": 0}`), `]}`), nothing),
			"doors": house(list(`{"name": "R%d", "cells": [{"i": %[1]d, "j": 0}]}`), within(`"doors": [`,
				list(`{"edge": {"cell": {"i": %d, "j": 0}, "dir": "s"}}`), `]`)),
			"bad doors": house(list(`{"name": "R%d", "cells": []}`), within(`"doors": [`, same(`{},`), `{}]`)),
			"floors": file("h.json", within(`{"exit": 1, "floors": [`,
				list(`{"level": %d, "rooms": [{"name": "R%[1]d"}]}`), `]}`)),
		},
	}
}

func wikiShapes() shapes {
	page := "<page><title>P%d</title><ns>0</ns><id>%[1]d</id><revision><text>%s</text></revision></page>\n"
	pages := func(text string) func(n int) fstest.MapFS {
		return file("w.xml", within("<mediawiki>\n", func(n int) string {
			return repeated(n, func(i int) string { return fmt.Sprintf(page, i, numbered(text, i)) })
		}, "</mediawiki>"))
	}
	one := func(text func(n int) string) func(n int) fstest.MapFS {
		return file("w.xml", func(n int) string {
			return "<mediawiki>\n" + fmt.Sprintf(page, 0,
				text(n)) + "</mediawiki>"
		})
	}
	return shapes{"mediawiki": {
		"pages":      pages("Text."),
		"links":      pages("[[P0]]"),
		"redirects":  pages("#REDIRECT [[P0]]"),
		"categories": pages("[[Category:C %d]]"),
		"alike": file("w.xml", within("<mediawiki>\n",
			each("<page><title>P</title><ns>0</ns><id>%d</id><revision><text>x</text></revision></page>\n"),
			"</mediawiki>")),
		"revisions": file("w.xml", within("<mediawiki><page><title>P</title><ns>0</ns><id>1</id>",
			each("<revision><id>%d</id><text>x</text></revision>"), "</page></mediawiki>")),
		"brackets":         one(same("[[")),
		"braces":           one(same("{{")),
		"line braces":      one(same("\n{{")),
		"infobox":          one(within("{{infobox", each("|k%d=v"), "}}")),
		"quotes":           one(same("''")),
		"quote pairs":      one(same("''a'' ")),
		"bold":             one(same("'''a")),
		"one line":         one(same("[[P0]] ")),
		"outer links":      one(same("[http://a b]")),
		"open outer links": one(same("[http://a ")),
		"tags":             one(same("&lt;ref&gt;")),
		"comments":         one(same("&lt;!--")),
		"lists":            one(same("*a\n**b\n")),
		"long marks":       one(same("*")),
		"headings":         one(same("= a\n")),
		"long heading":     one(within("=", same(" a="), "")),
		"tables":           one(same("{|\n")),
		"table rows":       one(within("{|\n", same("|-\n"), "|}\n")),
		"deep": file("w.xml", within("<mediawiki><page><title>P</title><revision><text>x</text></revision>",
			nested("<a>", "", "</a>"), "</page></mediawiki>")),
		"outside":        file("w.xml", within("<mediawiki><page><title>P</title><revision><text>x</text></revision></page>", nested("<a>", "", "</a>"), "</mediawiki>")),
		"attributes":     file("w.xml", within("<mediawiki><page><title>P</title><revision><text>x</text></revision></page><a", each(` a%d="x"`), "></a></mediawiki>")),
		"category words": one(each("[[Category:C %d]]")),
		"no texts": file("w.xml", within("<mediawiki>", same("<page></page>"),
			"<page><title>P</title><revision><text>x</text></revision></page></mediawiki>")),
	}}
}

func vaultShapes() shapes {
	one := func(text func(n int) string) func(n int) fstest.MapFS {
		return and(file("Note.md", text), map[string]string{"Other.md": "text [[Note]]\n"})
	}
	meta := func(text func(n int) string) func(n int) fstest.MapFS {
		return one(within("---\n", text, "---\ntext\n"))
	}
	native := func(text func(n int) string) func(n int) fstest.MapFS {
		return one(within("---\nloregate: 1\nname: A\n", text, "---\ntext\n"))
	}
	return shapes{"markdown": {
		"notes":        folder("Note %d.md", "text\n"),
		"long notes":   folder("Note %d.md", strings.Repeat("words of a text\n", 60)),
		"links to one": folder("Note %d.md", "[[Note 0]]\n"),
		"links onward": folder("Note %d.md", "[[Note 1%[1]d]]\n"),
		"one with links": and(folder("Note %d.md", "text\n"), map[string]string{"All.md": repeated(100,
			func(i int) string { return fmt.Sprintf("[[Note %d]]\n", i) })}),
		"alike":       folder("F%d/Note.md", "[[Note]]\n"),
		"alike below": folder("F%d/x/y/Note.md", "text\n"),
		"alike to the end": func(n int) fstest.MapFS {
			m := fstest.MapFS{}
			for i := range n {
				m[fmt.Sprintf("%s/Note.md", strings.Repeat("+", i%7+1)+strings.Repeat("[",
					i/7))] = &fstest.MapFile{Data: []byte("text\n")}
			}
			return m
		},
		"hidden": folder("Note name %d.md", "---\nvisibility: gm\n---\n[[Note name 0]]\n"),
		"hidden links": and(folder("Name %d.md", "---\nvisibility: gm\n---\n"),
			map[string]string{"Open.md": strings.Repeat("[[Name 0]] Name 1 ", 500)}),
		"mentions": func(n int) fstest.MapFS {
			return and(folder("Hidden name %d.md", "---\nvisibility: gm\n---\n"),
				map[string]string{"Open.md": each("hidden name %d ")(n)})(n)
		},
		"aliases alike": folder("Note %d.md", "---\naliases: [x]\n---\n[[x]]\n"),
		"files": and(folder("p/%d/a.png", "x"),
			map[string]string{"Note.md": strings.Repeat("![[a.png]] ", 100)}),
		"files shown": func(n int) fstest.MapFS {
			return and(folder("p%d.png", "x"), map[string]string{"Note.md": each("![[p%d.png]] ")(n)})(n)
		},
		"files alike": func(n int) fstest.MapFS {
			return and(folder("%d/a.png", "x"), map[string]string{"Note.md": each("![[%d/a.png]] ")(n)})(n)
		},
		"folders": folder("f%d/Note %[1]d.md", "text\n"),
		"deep folders": func(n int) fstest.MapFS {
			return folder(strings.Repeat("f/", 100)+"Note %d.md",
				"text\n")(n / 8)
		},
		"callouts": one(same("> [!secret] a\n> b\n\n")),
		"nested callouts": one(func(n int) string {
			return repeated(n, func(i int) string { return strings.Repeat(">", i%200+1) + " [!secret] a\n" })
		}),
		"deep callouts":        one(func(n int) string { return strings.Repeat(">", n) + " [!secret] a\n" }),
		"headings":             one(same("# a\nb\n")),
		"secret headings":      one(each("## GM notes %d\nb\n# open\nc\n")),
		"long heading":         one(within("# ", same("a #"), "\n")),
		"comments":             one(same("%%a%% b ")),
		"open comments":        one(same("<!-- a ")),
		"percents":             one(same("%")),
		"open elements":        one(same("<div ")),
		"elements":             one(same("<div class=secret>a</div>")),
		"open secret elements": one(same("<div class=secret>")),
		"details":              one(same("<details><summary>secret")),
		"links":                one(same("[[Note]] ")),
		"open links":           one(same("[[")),
		"half links":           one(same("[[a] ")),
		"markdown links":       one(same("[a](Other.md) ")),
		"open markdown links":  one(same("[a](")),
		"brackets":             one(same("[")),
		"images":               one(same("![")),
		"embeds":               one(same("![[x]] ")),
		"ticks": one(func(n int) string {
			return repeated(n, func(i int) string { return strings.Repeat("`", i%300+1) + "a " })
		}),
		"paired ticks": one(same("`a` ")),
		"fences":       one(same("```\na\n```\n")),
		"open fences": one(func(n int) string {
			return repeated(n, func(i int) string { return strings.Repeat("`", 3+i%300) + "\n" })
		}),
		"mixed fences":     one(same("```\n~~~~\n")),
		"tables":           one(within("|a|b|\n|-|-|\n", same("|a|b|\n"), "")),
		"wide table":       one(func(n int) string { return same("|a")(n) + "|\n" + same("|-")(n) + "|\n" + same("|x")(n) + "|\n" }),
		"tags":             one(each("#tag%d ")),
		"secret tags":      one(each("#gm/tag%d ")),
		"fields":           one(each("hidden%d:: true\n")),
		"bracket fields":   one(same("[gm:: a ")),
		"spoilers":         one(same(">!a ")),
		"spoiler tags":     one(same("[spoiler]")),
		"forum tags":       one(same("[spoiler]a[/spoiler]")),
		"containers":       one(same("::: secret\na\n")),
		"admonitions":      one(same("!!! secret\n    a\n")),
		"open admonitions": one(same("!!! secret\n")),
		"shortcodes":       one(same("{{< secret\n")),
		"liquid":           one(same("{% comment\n")),
		"definitions":      one(same("[//]: # (a)\n")),
		"labels":           one(same("Secret: a\n")),
		"list labels":      one(same("- **GM**: a\n")),
		"nested lists": one(func(n int) string {
			return repeated(n, func(i int) string { return strings.Repeat(" ", i%200) + "- a\n" })
		}),
		"long line":       one(same("a ")),
		"long word":       one(same("a")),
		"blank lines":     one(same("\n")),
		"line breaks":     one(same("a\r")),
		"meta keys":       meta(each("k%d: v\n")),
		"meta keys alike": meta(same("k: v\n")),
		"meta list":       meta(within("aliases:\n", each("- a%d\n"), "")),
		"meta nested":     meta(within("a: ", nested("[", "", "]"), "\n")),
		"meta anchors":    meta(within("a: &a [x]\nb: [", same("*a,"), "x]\n")),
		"meta scalars":    meta(within("a: &a x\nb: [", same("*a,"), "x]\n")),
		"meta bomb": meta(func(n int) string {
			return "a0: &a0 [x,x]\n" + repeated(n, func(i int) string {
				return fmt.Sprintf("a%d: &a%d [*a%d, "+
					"*a%[3]d]\n", i+1, i+1, i)
			})
		}),
		"meta tags":           meta(within("tags: [", list("t%d"), "]\n")),
		"meta tag text":       meta(within("tags: '", same("#a "), "'\n")),
		"meta links":          meta(within("kin: [", same("'[[Other]]',"), "x]\n")),
		"meta open link":      meta(within("kin: '", same("[["), "'\n")),
		"meta secrets":        meta(each("gm notes %d: v\n")),
		"meta text":           meta(within("a: '", same("b "), "'\n")),
		"meta open":           one(within("---\n", same("a: b\n"), "")),
		"meta json":           one(within("{\"a\": [", same("{},"), "1]}\ntext\n")),
		"meta json open":      one(same("{\"a\":\n")),
		"native notes":        folder("Note %d.md", "---\nloregate: 1\nname: N %d\n---\ntext\n"),
		"native children":     folder("Note %d.md", "---\nloregate: 1\nname: N+%d\n---\ntext\n"),
		"native alike":        folder("Note %d.md", "---\nloregate: 1\nname: N\n---\ntext\n"),
		"native subjects":     folder("Note %d.md", "---\nloregate: 1\nname: N\nsubjects: [u%d]\n---\ntext\n"),
		"native links":        native(within("links:\n", each("- {kind: knows, to: N%d}\n"), "")),
		"native links to one": folder("Note %d.md", "---\nloregate: 1\nname: N %[1]d\nwithin: N 0\n---\ntext\n"),
		"native layers":       native(within("layers:\n", each("- {layer: mood, value: x, from: %d}\n"), "")),
		"native exits":        native(within("exits:\n", each("  e%d: N\n"), "")),
		"native fields":       native(within("fields:\n", each("  f%d: v\n"), "")),
		"native subject list": native(within("subjects: [", list("u%d"), "]\n")),
		"native chain": func(n int) fstest.MapFS {
			m := fstest.MapFS{}
			for i := range n {
				m[fmt.Sprintf("n%d.md", i)] = &fstest.MapFile{Data: []byte("---\nloregate: 1\nname: " +
					"N" + strings.Repeat("+a", i%100) + fmt.Sprintf("+b%d", i/100) + "\n---\ntext\n")}
			}
			return m
		},
	}}
}
