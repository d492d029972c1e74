// Package srd imports the rules of the fifth edition in the formats of the 5e-bits project and of Open5e.
//
// Its invariant: every member of a record of 5e-bits is in the card's text or in its field srd. The package
// reads no rules from them.
package srd
