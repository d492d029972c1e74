// Package kind holds the kinds of proposal that narrators make about a world: a line of dialogue,
// the ambience of a place, a quest, an event.
//
// Its invariant: a draft that passes its check fits the world as its author sees it, and a
// reference to a hidden card gives exactly the same issue as a reference to a card that does not
// exist. Package proposal runs the other gates and stores the proposals.
package kind
