// Package builder makes the things and the materials of scenes from recipes.
//
// Its invariant: the same thing, seed and values give the same mesh. Recipes are data in the folder
// recipes; the Go code interprets them. A file has any of the keys things, materials and styles; an
// unknown field is an error.
//
// A thing has the room that it occupies, a number of variants, the height of its lamp, values (let),
// materials, and parts. Types thing and part list the fields.
//
//	stump:
//	  room: 0.6
//	  variants: 3
//	  let:
//	    r: between(0.3, 0.42)
//	  parts:
//	  - {lathe: [[r*1.35, -0.1], [r*1.12, 0.12], [r, 0.5]], segments: 11, of: bark}
//	  - {each: {i: 4}, box: [0.1, 0.1, 1], of: timber, at: [r*cos(i*pi/2), r*sin(i*pi/2), 0], turn: i*pi/2}
//
// A part has one shape (box, frustum, quad, cylinder, cone, sphere, torus, gable: the arguments of
// the functions of package scene; lathe, surface, mesh), or uses a thing (use, with, materials), or
// is a group (parts). It is made of a material, or of one of a list: the one at pick, else at i. It
// is displaced at random (rough), scaled, mapped and flipped, then tilted about Y, turned about Z,
// and moved to a position (at). Each repeats it for the rows of a list or for a count: {x y: [[1, 2],
// [3, 4]]} or {k: 7}; i is the index of the innermost loop. Let names values for each repetition,
// when is its condition, and next changes outer values after it.
//
// A number is an expression in the syntax of Go: literals, names, parentheses, the operators
// + - * / % == < > >= && || !, and the functions abs, atan2, cos, floor, hypot, max, min, pow, round,
// sin, sqrt; and between(a, b), random() (0 to 1) and intn(n), which draw random numbers. True is 1,
// false is 0. Names are those of let and each, also of the recipe that uses this one, and dark (0) and
// pi. Random numbers are drawn in the order let, shape, rough, scale, of, at,
// tilt, turn; a new draw changes all later ones.
package builder
