// Package foundry imports worlds and compendia of Foundry Virtual Tabletop, versions 10 to 13, and
// documents exported from it.
//
// Its invariant: players see a document only if its ownership in a world folder says so, or the manifest
// of its pack; everything else is for the GM until it is confirmed. Secret sections are for the GM in
// every text. The collections users and settings are never read, because they hold passwords and keys.
package foundry
