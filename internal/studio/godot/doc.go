// Package godot carries out the studio's tools in headless Godot 3: it imports exports into a
// project, places them in levels, writes scripts that the engine checks, and measures levels.
//
// Its invariant: a project is the set of files in its history, all written by this package; counts
// of imported content come from Godot. Scripts are made from fixed templates with checked words;
// they are compiled for errors but never run. The only script that runs is this package's own.
package godot
