// Package agent implements the tasks that need a language model: it classifies and moderates text,
// asks a provider where one is configured, and writes ambience for places.
//
// Its invariant: an agent reads through the same operations as any client, and it never writes: it
// proposes. Everything here works without a model and without a network. Then rules classify, a
// policy moderates, and a composer of phrases writes.
package agent
