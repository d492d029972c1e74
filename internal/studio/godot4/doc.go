// Package godot4 writes a designed scene as a project for Godot 4: the scene (format 3), the settings of the
// import, and a script (GDScript 2). Check checks the files against the grammar of their formats, because
// no Godot 4 has opened them here.
//
// Its invariant: the same scene gives the same bytes, and every project that it writes passes Check.
package godot4
