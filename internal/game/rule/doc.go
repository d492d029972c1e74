// Package rule is the game Alignment as pure functions: Decide turns a command on a state into
// events, Apply folds an event into a state. There is no wall clock, no global randomness and no
// shared memory: the same commands, times and seed give the same events, and a State may be stored,
// copied and compared freely.
//
// Its invariant: a State has two halves. Public is known to everybody at the table, Secret is the
// rest, and only open events change Public. A sealed event cannot, since its fold receives the
// secret half alone. Showing Public therefore reveals no secret.
//
// Package game stores games, assigns the seats' players and runs the clock; package view shows a
// seat its game.
package rule
