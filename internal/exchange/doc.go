// Package exchange writes the cards, links and layers of an import into a world. It holds everything
// that the formats share: sheets, which describe the cards to write; ids derived from the position
// in the source, so that importing again updates the same cards; choices about suspicions; the
// summary; and the commits.
//
// Its invariant: no text becomes visible to more people than before. The label of an existing card
// is never lowered, and a card that is found by its name alone is updated only if it has the same
// label. All changes are made through package canon.
//
// Each family of formats has a package below this one: vault and native read and write folders of
// Markdown notes, with markdown to parse a note and secrecy to find its secrets; srd, light and
// ranvier read collections of records, with the help of record; turns reads records of play. They
// decide which text is secret, and report the parts that they cannot read with file and line. The
// package app lists the formats by name.
package exchange
