package exchange

import (
	"fmt"
	"path"
	"strings"

	"loregate/internal/fault"
	"loregate/internal/markup"
)

// folderMarks returns the marks of all folders above a file.
func (v *vault) folderMarks(file string) (all []mark) {
	for dir := path.Dir(file); dir != "."; dir = path.Dir(dir) {
		if v.isGMFolder(dir) {
			all = append(all, mark{ruleSetting, dir, false})
		} else if secretWord(path.Base(dir), false) != "" {
			all = append(all, mark{ruleFolder, dir, true})
		}
		if v.choices.isConfirmed(dir, path.Base(dir)) {
			all = append(all, mark{ruleSetting, dir, false})
		}
	}
	return all
}

// isGMFolder reports whether import.gm_folders names a folder: by its path, or by its base name at
// any depth. Base names are compared as card names are.
func (v *vault) isGMFolder(dir string) bool {
	found := false
	for _, name := range v.o.GMFolders {
		name = strings.Trim(strings.TrimSpace(name), "/")
		if key := markup.PartKey(name); foldCase(name) == foldCase(dir) || key != "" &&
			key == markup.PartKey(path.Base(dir)) {
			v.gmUsed[name], found = true, true
		}
	}
	return found
}

// isInGMFolder reports whether import.gm_folders names a folder above a file.
func (v *vault) isInGMFolder(file string) bool {
	found := false
	for dir := path.Dir(file); dir != "."; dir = path.Dir(dir) {
		found = v.isGMFolder(dir) || found
	}
	return found
}

// checkUnusedFolders returns an error if import.gm_folders names a folder that does not exist: the
// notes it should hide would be imported as visible.
func (v *vault) checkUnusedFolders() error {
	for _, name := range v.o.GMFolders {
		if name = strings.Trim(strings.TrimSpace(name), "/"); name != "" && !v.gmUsed[name] {
			return fault.New(fault.Invalid,
				"import.gm_folders: there is no folder %q; name folders as they are called, by name or path from the top of the vault", name)
		}
	}
	return nil
}

// isFileHidden reports whether a file is hidden by its name or by a folder above it.
func (v *vault) isFileHidden(file string) bool {
	hidden := false
	for _, m := range append(v.folderMarks(file), nameMarks(strings.TrimSuffix(path.Base(file), path.Ext(file)))...) {
		hidden = v.choices.decideMark(m, file, false) || hidden
	}
	return hidden
}

// takeFields removes the secret fields from a note's front matter and returns them as Markdown.
func (v *vault) takeFields(n *note) string {
	var b strings.Builder
	for _, k := range sortedKeys(n.meta) {
		if !isSecretField(k, n.meta[k]) || !v.choices.decideMark(mark{ruleFrontMatter, k, false}, n.path, true) {
			continue
		}
		fmt.Fprintf(&b, "**%s:**\n\n", k)
		if list, ok := n.meta[k].([]any); ok {
			for _, item := range list {
				b.WriteString("- " + strings.Join(strings.Fields(strings.Join(textsOf(item), " ")), " ") + "\n")
			}
			b.WriteByte('\n')
		} else {
			b.WriteString(strings.Join(textsOf(n.meta[k]), "\n\n") + "\n\n")
		}
		delete(n.meta, k)
	}
	return b.String()
}
