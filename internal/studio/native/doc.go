// Package native is the studio's adapter for tools that need no authoring program: it checks, changes,
// describes and builds scenes in the language of package spec, in the process itself.
//
// Its invariant: its targets hold no state, so that a result depends only on the call.
package native
