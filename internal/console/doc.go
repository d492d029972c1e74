// Package console serves pages for people: they sign in, read and search cards, edit them, see their
// history, decide on proposals, and manage who may enter.
//
// Its invariant: a page gets its data only by invoking operations as the caller of its session, or as
// that caller with a lower role. What a page shows, an agent with the same rights can read.
//
// Pages are HTML from typed components (the .templ files; `go tool templ generate` writes the Go code
// beside them). Reading, searching and forms work without scripts; htmx replaces parts of pages where
// it runs. Islands, such as the editor, are scripts of one page alone, bundled from islands/. Every state of a
// page is in its address:
//
//	/                          worlds; /home/{world} what goes on in one
//	/w/{world}                 cards: list, filters, search
//	/w/{world}/{name}          one card; a card whose name is no path is at /w/{world}/~ID
//	/file/{world}/{name}       its attached file
//	/edit/{world}/{name}       its form; /new/{world} is that of a new card, /new/{world}/several of many
//	/history/{world}/{name}    its versions; with from and to, the difference of two
//	/changes/{world}           recent changes; /wanted/{world} names without a card, /trash/{world} deleted cards
//	/proposals/{world}[/{id}]  proposals
//	/campaign/{world}[/{id}]   entities and their sheets; /graph/{world}/{id} what surrounds one
//	/timeline, /sessions, /conflicts/{world}  the rest of the campaign
//	/places/{world}            map of the places, /map/{world}/{name} a picture with pins
//	/live/{world}/{of}         tells a page that players walk, that proposals are made or decided, or how far runs are
//	/play/world/{world}[/{id}] play as a player of the world
//	/studio/{world}            plans and runs; /run/{world}/{id} one run, /artifact/{world}/{id} a file,
//	                           /view/{world}/{id} the file in 3D
//	/agents, /usage, /games, /prompt/{world}  programs and their cost, games of Alignment
//	/import/{world}[/{id}]     bring files in; /export/{world} takes the world out
//	/audit/{world}             who changed which card
//	/health                    findings, limits and backups of the instance
//	/members/{world}           members and invitations; /keys/{world} keys of programs
//	/account                   passkeys, sessions, and clients that were let in
//	/authorize                 whether to let a client in (OAuth 2.1)
//	/sign-in, /sign-out, /join
//
// The query parameter as=user or as=gm shows a page as that role sees it.
package console
