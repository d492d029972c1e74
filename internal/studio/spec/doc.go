// Package spec is the language in which scenes are designed: a tree of named parts, in metres and
// degrees, with Z up and fronts towards -Y. It parses, checks, edits and compares scenes; package
// build makes them.
//
// Its invariant: a scene that Check accepts has a bounded number of parts and only finite numbers,
// so that building it takes bounded time and memory.
//
// A scene is YAML or JSON:
//
//	version: 1
//	name: watchtower
//	light: {time: dusk}
//	ground: {material: grass, hills: 4, flat: 15}
//	parts:
//	  keep: {tower: {radius: 3.5, height: 14, top: battlements, door: true, slits: 3}, material: stone}
//	  barrels: {prop: {kind: barrel}, at: [6, -3], repeat: {row: {count: 3, step: [1.2, 0]}}}
//
// At the top, heights count from the ground; in a group, from the group. Parts of a group inherit its
// material. Angles are counter-clockwise from above.
//
// A part is exactly one kind of body (box, house, prop, …), or a group of parts. Its position, turn
// and scale are relative to the group around it. The bodies of composite kinds, such as the door of
// a tower, have names too: a part of the same name in the composite's own parts changes that body.
// Each part of the finished scene has a path: the names from the top, joined by dots. The members
// of a repeat are numbered from 1: barrels.1, barrels.2, barrels.3.
package spec
