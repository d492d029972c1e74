// Package campaign is the game master's store: entities, relationships, timeline, sessions and
// canon conflicts of a campaign, the players' knowledge of them, and reveals.
//
// Its invariant: a campaign is a world, and everything in it is a card or a link. Visibility is
// decided by the canon's labels alone, never by this package. Data of an entity that players must
// not see is stored in child cards of its own (X+GM, X+secrets), never in a field of the entity:
// changing it does not change the entity's card.
//
// How a campaign is stored in the canon:
//
//	entity        card of one of the types in kinds; content is the description; fields are
//	              the public attributes, and the fields in reserved
//	X+GM          content: the GM's notes; field discovered_session
//	X+secrets     type JSON, fields: secret attributes; one card for each label
//	X+tags        the entity's tags, as the wiki has them
//	relationship  link "relationship", attributes type, inverse, symmetric, tone, strength;
//	              its id follows from both ends and the type
//	timeline      card "Timeline Event", fields date, precision, sort (see calendar.go); link
//	              "involves" to each entity
//	session       card "Session", content: the recap; fields number, sort, date, status,
//	              stage, published; the GM's preparation is Session+GM, and its fields are
//	              the notes that are not published
//	conflict      card "Canon Conflict" below X+GM
//	reveal        event Campaign.Revealed or Campaign.Unrevealed of the commit, for the GM
//
// Only the GM may write. Other members see the writing tools too and get a refusal that names the
// role. Faults of an input are reported before the role is checked, since they reveal nothing.
package campaign
