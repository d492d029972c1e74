package vault

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"

	"golang.org/x/text/unicode/norm"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/decoded"
	"loregate/internal/exchange"
	"loregate/internal/exchange/native"
)

// maxVaultFile is the greatest length in bytes of the file that names a vault.
const maxVaultFile = 64 << 10

// identify finds the vault in the world and sets its label, from which the ids of its notes follow. The user's name
// for it comes first, then the name that an export wrote into the folder, the vault with most of the same notes,
// and the name of the folder.
func (v *vault) identify(ctx context.Context, l *canon.Snapshot) error {
	var names []string
	if l.View().Level >= access.LevelGM {
		names = v.writtenNames(l)
	}
	if v.o.Vault != "" || l.View().Level < access.LevelGM {
		v.o.Label = cmp.Or(v.o.Vault, v.o.Label)
		return nil
	}
	all, err := native.Sources(ctx, l)
	if err != nil {
		return err
	}
	if len(names) > 0 {
		v.o.Label = names[0]
		v.same = slices.DeleteFunc(all, func(c canon.Card) bool {
			return native.LabelOf(c) == names[0] || !slices.Contains(names, native.LabelOf(c))
		})
		return nil
	}
	return v.identifyByNotes(ctx, l, all)
}

// writtenNames returns the names of the vaults whose notes an export wrote into the folder, and notes which changes of
// the world it had.
func (v *vault) writtenNames(l *canon.Snapshot) []string {
	info, err := fs.Stat(v.files, native.VaultFile)
	if err != nil || info.Size() > maxVaultFile {
		return nil
	}
	data, err := fs.ReadFile(v.files, native.VaultFile)
	var names native.VaultNames
	if err != nil || json.Unmarshal(data, &names) != nil {
		v.reportFile(native.VaultFile, "cannot be read; the vault is known by its notes")
		return nil
	}
	if names.World == l.World().ID.String() {
		v.exported = names.At
	}
	return slices.DeleteFunc(names.Vaults, func(name string) bool { return name == "" || len(name) > maxLabel })
}

// maxLabel is the greatest length in bytes of the label of a vault.
const maxLabel = 255

// identifyByNotes chooses the vault of the world that has at least half of the folder's notes, or half of whose notes
// the folder has. A vault that has the folder's name and none of its notes is another one.
func (v *vault) identifyByNotes(ctx context.Context, l *canon.Snapshot, all []canon.Card) error {
	paths, hashes := map[string]bool{}, map[string]bool{}
	for _, n := range v.notes {
		paths[n.Path], hashes[n.origin.Hash] = true, true
	}
	taken := map[string]bool{}
	best, most := "", 0
	var r native.SourceReader
	for _, c := range all {
		s, err := r.Load(ctx, l, c)
		if err != nil {
			return err
		}
		label := native.LabelOf(c)
		if label == "" && c.ID == native.SourceID(v.o.Label) { // an earlier release wrote it
			label = v.o.Label
		}
		same, shared := 0, len(s.Notes) == 0
		for _, o := range s.Notes {
			if hashes[o.Hash] {
				same++
			}
			shared = shared || hashes[o.Hash] || paths[o.Path]
		}
		if label == v.o.Label && shared {
			return nil
		}
		taken[label] = true
		if 2*same >= min(len(s.Notes), len(v.notes)) && same > most && label != "" {
			best, most = label, same
		}
	}
	if best != "" {
		v.o.Label = best
		return nil
	}
	for name, i := v.o.Label, 2; taken[v.o.Label]; i++ {
		v.o.Label = fmt.Sprintf("%s %d", name, i)
	}
	return nil
}

// findTwins finds the files whose paths differ from the path of another in the form of accents alone. The id of a card
// follows from a path without regard to that form, so that a checkout on another system is the same vault. Of such
// files the one that has that id already keeps it, or the one in normal form C, or the first.
func (v *vault) findTwins(last *native.Source) {
	v.twins = map[string]bool{}
	first := map[string]string{}
	add := func(file string, is bool) {
		form := norm.NFC.String(file)
		was, ok := first[form]
		switch {
		case !ok:
			first[form] = file
		case is:
			v.twins[was], first[form] = true, file
		default:
			v.twins[file] = true
		}
	}
	for _, n := range v.notes {
		o := last.Notes[native.CardID(v.o.Label, n.Path)]
		add(n.Path, o != nil && o.Path == n.Path || o == nil && norm.NFC.IsNormalString(n.Path))
	}
	for _, base := range decoded.SortedKeys(v.attached) {
		for _, file := range v.attached[base] {
			add(file, norm.NFC.IsNormalString(file))
		}
	}
}

// noteID returns the id of the card of a note, fileID that of an attached file.
func (v *vault) noteID(file string) canon.CardID { return v.idOf("", file) }
func (v *vault) fileID(file string) canon.CardID { return v.idOf("file:", file) }

func (v *vault) idOf(kind, file string) canon.CardID {
	if v.twins[file] {
		return exchange.CardID("markdown", v.o.Label, "twin", kind+file)
	}
	return native.CardID(v.o.Label, kind+file)
}
