// Package table imports tables: CSV, TSV and JSON lines. Each row becomes a card.
//
// Its invariant: the summary says for each column what became of it. Columns that say who may read a row,
// or hold notes of the game master, follow the rules of package secrecy.
package table
