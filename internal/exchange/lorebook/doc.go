// Package lorebook imports and exports lorebooks and character cards of programs for role play:
// SillyTavern, NovelAI, Agnai, Risu and AI Dungeon.
//
// Its invariant: the formats have no marks of secrets, so the entries of a book and all prompts of a
// character are for the GM. The instructions in a card are kept as data. Members that the package does
// not know are kept and exported again.
package lorebook
