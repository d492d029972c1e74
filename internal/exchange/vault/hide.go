package vault

import (
	"path"
	"slices"
	"strings"

	"loregate/internal/canon"
	"loregate/internal/decoded"
	"loregate/internal/exchange"
	"loregate/internal/exchange/markdown"
	"loregate/internal/fault"
	"loregate/internal/markup"
	"loregate/internal/secrecy"
)

// folderMarks returns the marks of all folders above a file.
func (v *vault) folderMarks(file string) (all []secrecy.Mark) {
	all = exchange.FolderMarks(file)
	for dir := path.Dir(file); dir != "."; dir = path.Dir(dir) {
		if v.isGMFolder(dir) {
			all = slices.DeleteFunc(all, func(m secrecy.Mark) bool { return m.What == dir })
			all = append(all, secrecy.Mark{Rule: exchange.RuleSetting, What: dir})
		}
		if !v.world.hasFile(file) {
			all = append(all, v.hidden.nameMarks(path.Base(dir))...)
		}
		if v.choices.IsConfirmed(dir, path.Base(dir)) {
			all = append(all, secrecy.Mark{Rule: exchange.RuleSetting, What: dir})
		}
	}
	return all
}

// placeMarks returns the marks of the folders of a note in our dialect, and of the answers that name it.
func (v *vault) placeMarks(file string) []secrecy.Mark {
	all, stem := v.folderMarks(file), strings.TrimSuffix(file, path.Ext(file))
	if v.choices.IsConfirmed(file, stem) {
		all = append(all, secrecy.Mark{Rule: exchange.RuleSetting, What: file})
	}
	return all
}

// isGMFolder reports whether import.gm_folders names a folder: by its path, or by its base name at
// any depth. Base names are compared as card names are.
func (v *vault) isGMFolder(dir string) bool {
	found := false
	for _, name := range v.o.GMFolders {
		name = strings.Trim(strings.TrimSpace(name), "/")
		if key := markup.PartKey(name); exchange.FoldCase(name) == exchange.FoldCase(dir) || key != "" &&
			key == markup.PartKey(path.Base(dir)) {
			v.gmUsed[name], found = true, true
		}
	}
	return found
}

// checkUnusedFolders returns an error if import.gm_folders names a folder that does not exist: the
// notes it should hide would be imported as visible.
func (v *vault) checkUnusedFolders() error {
	for _, name := range v.o.GMFolders {
		if name = strings.Trim(strings.TrimSpace(name), "/"); name != "" && !v.gmUsed[name] {
			return fault.New(fault.Invalid,
				"import.gm_folders: there is no folder %q; give the name of a folder, or its path from the top of the vault", name)
		}
	}
	return nil
}

// isFileHidden reports whether a file is hidden by its name or by a folder above it.
func (v *vault) isFileHidden(file string) bool {
	hidden := false
	name := strings.TrimSuffix(path.Base(file), path.Ext(file))
	marks := append(v.folderMarks(file), secrecy.NameMarks(name)...)
	if !v.world.hasFile(file) {
		marks = append(marks, v.hidden.nameMarks(name)...)
	}
	if len(marks) == 0 {
		return false
	}
	at := v.standingOfFile(file)
	for _, m := range marks {
		hidden = v.choices.Judge(m, file, false, at).Hides() || hidden
	}
	return hidden
}

// takeFields removes the secret fields from a note's front matter and returns them: those with the name of a secret
// field, those with a mark in a text or object, and in a note that is new or has changed those with a sentence that is
// hidden in the world. Tags are no fields: those with a mark are left out.
func (v *vault) takeFields(n *note, card canon.CardID, changed bool) (map[string]any, error) {
	taken := map[string]any{}
	for _, k := range decoded.SortedKeys(n.Meta) {
		value := decoded.RestoreLinks(n.Meta[k])
		if changed {
			_, name, err := v.hidden.rangesIn(card, strings.Join(decoded.TextsOf(value), "\n"))
			if err != nil {
				return nil, err
			}
			if name != "" && !markdown.IsTagKey(k) {
				taken[k] = value
			}
			if name != "" {
				n.AddReport(0, "has text in %q that is hidden in %q, and hides it", k, name)
				delete(n.Meta, k)
				continue
			}
		}
		if m, ok := secrecy.HidingMark(k, value); !ok || !v.choices.Decide(m, n.Path, true) {
			continue
		}
		if list, isList := value.([]any); markdown.IsTagKey(k) {
			n.AddReport(0, "tags with a mark of a secret in %q are left out", k)
			n.Meta[k] = slices.DeleteFunc(slices.Clone(list), func(tag any) bool { return secrecy.HidesField("", tag) })
			if isList {
				continue
			}
		} else {
			taken[k] = value
		}
		delete(n.Meta, k)
	}
	return taken, nil
}
