// Package game hosts Alignment: the surface "alignment". A game is a ledger of events
// ("game:<id>"), each decided by package rule; a table caches its fold in memory.
//
// Its invariant: only events change a game, each event is durable before anybody sees it, and no
// reader sees more of a game than package view shows its seat. Any number of processes may host the
// same games: a command is decided on the end of the ledger, and decided again if another process
// was first.
//
// Package rule has the rules, view the views, player the programs that play, and page the page in
// the browser.
package game
