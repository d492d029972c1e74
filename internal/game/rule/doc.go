// Package rule is the game Alignment as pure functions: Decide says which events a
// command makes of a state, Apply folds an event into a state. There is no wall clock,
// no global randomness and no shared memory: the same commands, times and seed give the
// same events, and a State may be kept, copied and compared freely.
//
// Its invariant: a State has two halves. Public is what everybody at the table may know,
// Secret is the rest, and only open events change Public. A sealed event cannot, since
// its fold is handed the secret half alone. Whoever shows Public shows no secret.
//
// Where games are kept, who sits where and when the clock is asked are left to package
// game; how a seat is shown its game, to package view.
package rule
