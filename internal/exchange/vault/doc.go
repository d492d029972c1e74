// Package vault imports folders of Markdown notes as Obsidian and similar programs keep them, also
// those that native.Export wrote.
//
// Its invariant: text that the vault hides from readers comes in for the GM, as a hidden card or as
// a hidden child of a visible one. Suspicious names hide until the user decides. Links point to the
// same notes as in the vault, and never show the name of a hidden one. Package secrecy finds the
// secrets, package native reads notes in the own dialect.
package vault
