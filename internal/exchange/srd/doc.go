// Package srd imports the rules reference of the fifth edition in the format of the 5e-bits project.
//
// Its invariant: every member of a record is in the card's text or in its field srd. The package
// reads no rules from them.
package srd
