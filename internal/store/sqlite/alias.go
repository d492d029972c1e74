package sqlite

import (
	"context"

	"loregate/internal/canon"
	"loregate/internal/markup"
)

// putAliases replaces a card's aliases. Few cards have aliases: for others this costs one DELETE
// that finds nothing, and no statement if the card is new.
func (t *tx) putAliases(ctx context.Context, w, rid int64, known bool, c canon.Card) error {
	var list []string
	if !c.Trashed() {
		list = c.Aliases()
	}
	if known {
		if _, err := t.c.exec(ctx, "DELETE FROM aliases WHERE rid = ?1", rid); err != nil {
			return err
		}
	}
	for _, alias := range list {
		if _, err := t.c.exec(ctx, "INSERT INTO aliases (w, rid, key) VALUES (?1, ?2, ?3)", w, rid,
			string(markup.KeyOf(alias))); err != nil {
			return err
		}
	}
	return nil
}
