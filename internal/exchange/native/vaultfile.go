package native

import (
	"cmp"
	"context"
	"encoding/json"
	"path"
	"slices"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/decoded"
	"loregate/internal/exchange"
	"loregate/internal/markup"
)

// loadSources reads the memories of all imports of vaults that the snapshot shows.
func (x *exporter) loadSources(ctx context.Context) error {
	var r SourceReader
	x.origins, x.paths, x.hashes = map[canon.CardID]*Origin{}, map[canon.CardID]string{}, map[string]string{}
	for _, c := range x.cards {
		if !IsSourceCard(c) {
			continue
		}
		s, err := r.Load(ctx, x.snapshot, c)
		if err != nil {
			return err
		}
		x.folded[c.ID] = true
		x.vaults = append(x.vaults, LabelOf(c))
		for id, o := range s.Notes {
			if s.Begun && !x.hasAll(id, o) {
				continue // its file stays
			}
			x.origins[id], x.hashes[o.Path] = o, o.Hash
			if child, ok := x.byID[o.Hidden]; ok && child.Parent == id {
				_, rest, err := o.unplacedParts(ctx, x.snapshot, x.byID[id], child)
				if err != nil {
					return err
				}
				x.folded[child.ID] = strings.TrimSpace(rest) == "" && len(x.children[child.ID]) == 0
			}
		}
		for id, f := range s.Files {
			if _, there := x.byID[id]; s.Begun && !there {
				continue
			}
			x.paths[id], x.hashes[f.Path] = f.Path, f.Hash
		}
		x.foldUnwritten(s)
	}
	return nil
}

// vaultNames returns the file by which an import knows the export again.
func (x *exporter) vaultNames() VaultNames {
	names := VaultNames{Loregate: 1, Vaults: x.vaults}
	if x.snapshot.View().Level >= access.LevelGM {
		names.World = x.snapshot.World().ID.String()
		for _, c := range x.cards {
			if !IsSourceCard(c) {
				names.At = max(names.At, c.Seq)
			}
		}
	}
	return names
}

// hasAll reports whether all cards of a note are there. A card that came in without the others is not
// written.
func (x *exporter) hasAll(id canon.CardID, o *Origin) bool {
	if _, there := x.byID[id]; !there {
		return false
	}
	_, tags := x.byID[exchange.ChildID(id, exchange.TagsPart)]
	if tags || len(o.Tags) == 0 {
		return true
	}
	x.reportPage(o.Path, "came in only in part, because the import was cut off; import the vault again")
	for _, c := range append(x.children[id], x.byID[id]) {
		x.folded[c.ID] = true
	}
	return false
}

// foldUnwritten leaves out the cards of folders, if they are as they were imported and nothing else would stand in
// their notes, and the source's texts of conflicts.
func (x *exporter) foldUnwritten(s *Source) {
	for _, id := range s.Folders {
		m := s.Cards[id]
		if c, ok := x.byID[cmp.Or(m.ID, id)]; ok && m.IsOf(c) && len(x.links[c.ID])+len(x.layers[c.ID]) == 0 &&
			!slices.ContainsFunc(x.children[c.ID], canon.Card.HoldsParts) {
			x.folded[c.ID] = true
		}
	}
	for id := range s.Cards {
		if beside, ok := x.byID[exchange.ConflictID(cmp.Or(s.Cards[id].ID, id))]; ok {
			x.folded[beside.ID] = true
			x.reportPage(beside.Name, "is the source's text of a conflict; it is not written")
		}
	}
}

// placeVault reserves the paths of the vaults' files, and those of files that must stay.
func (x *exporter) placeVault(strange []string) {
	for _, p := range strange {
		x.places.reservePath(trimNote(p))
		x.places.reservePath(p)
	}
	for _, p := range decoded.SortedKeys(x.hashes) {
		x.places.reservePath(trimNote(p))
		x.places.reservePath(p)
	}
	for _, c := range x.cards {
		o := x.origins[c.ID]
		if o == nil {
			continue
		}
		// The parts above follow the cards that they name, which may be written in another way.
		if x.paths[c.ID] = o.Path; lastPart(c.Name) != lastPart(o.Name) {
			at := path.Join(path.Dir(o.Path), pathSegment(lastPart(c.Name)))
			if at+path.Ext(o.Path) == o.Path || !x.places.reservePath(at) {
				continue
			}
			x.paths[c.ID] = at + path.Ext(o.Path)
		}
	}
}

func trimNote(p string) string { return p[:len(p)-len(path.Ext(p))] }

func lastPart(name string) string {
	parts := markup.Parts(name)
	return parts[len(parts)-1]
}

// vaultFile returns the bytes of the file of a vault that a card came from.
func (x *exporter) vaultFile(ctx context.Context, c canon.Card) ([]byte, error) {
	if o := x.origins[c.ID]; o != nil {
		return x.rebuildNote(ctx, o, c)
	}
	return x.readContent(ctx, c)
}

// foldHolders leaves out the cards that hold nothing but hidden parts and fields, which stand in the note of the card
// above.
func (x *exporter) foldHolders(ctx context.Context) error {
	for _, c := range x.cards {
		if c.Places == nil || c.Label.Level > max(access.LevelGM, x.byID[c.Parent].Label.Level) {
			continue
		}
		beside, err := x.snapshot.Beside(ctx, c)
		if err != nil {
			return err
		}
		x.folded[c.ID] = x.folded[c.ID] || strings.TrimSpace(beside) == "" && len(ownFields(c))+len(x.children[c.ID]) == 0
	}
	return nil
}

// ownFields returns the fields of a card that are no hidden fields of the card above.
func ownFields(c canon.Card) json.RawMessage {
	own := decoded.ParseObject(string(c.Fields))
	if c.Places != nil {
		for _, name := range c.Places.Fields {
			delete(own, name)
		}
	}
	return decoded.EncodeFields(own)
}
