package vault

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"loregate/internal/access"
	"loregate/internal/exchange"
	"loregate/internal/exchange/markdown"
	"loregate/internal/exchange/native"
	"loregate/internal/exchange/secrecy"
	"loregate/internal/fault"
	"loregate/internal/markup"
)

// note is a note of a vault.
type note struct {
	*markdown.Note
	name  string       // of its card; set by indexNotes
	level access.Level // minimum level of its readers; set by indexNotes

	origin *native.Origin // its file, for the export
}

// vault is a folder of notes that were read, named and indexed.
type vault struct {
	files    fs.FS
	o        Options
	notes    []*note
	byPath   map[string]*note // by path without ".md", after exchange.FoldCase
	byBase   map[string][]*note
	alias    map[string][]*note
	attached map[string][]string // all other files, by base name after exchange.FoldCase
	problems []exchange.Problem
	choices  *exchange.Choices
	gmUsed   map[string]bool // settings that matched a folder
	mentions mentions
	linked   map[markup.Key]int // number of links to notes, by the key of their names
}

// Limits of a vault. A card holds at most 1 MiB of text, so a longer note could not be imported.
const (
	maxNote    = 2 << 20
	maxNotes   = 200_000
	maxEntries = 1_000_000
	maxText    = 512 << 20
	maxFolders = 130 // a name has at most 128 parts
)

// readVault reads every note of a folder and reports files that cannot be read.
func readVault(files fs.FS, o Options) (*vault, error) {
	v := &vault{files: files, o: o, byPath: map[string]*note{}, byBase: map[string][]*note{},
		alias: map[string][]*note{}, attached: map[string][]string{}, choices: exchange.NewChoices(o.Open, o.Confirm),
		gmUsed: map[string]bool{},
		linked: map[markup.Key]int{}}
	entries, text := 0, 0
	err := fs.WalkDir(files, ".", func(p string, d fs.DirEntry, err error) error {
		if entries++; entries > maxEntries {
			return fault.New(fault.TooLarge, "the folder has more than %d entries; import it in parts", maxEntries)
		}
		if err != nil || p == "." {
			return v.reportUnreadable(p, err)
		}
		if strings.HasPrefix(d.Name(), ".") || strings.Count(p, "/") > maxFolders {
			return v.skipEntry(p, d)
		}
		if !d.Type().IsRegular() {
			if !d.IsDir() {
				v.reportFile(p, "is not a regular file (symbolic links are not followed); left out")
			}
			return nil
		}
		if !strings.EqualFold(path.Ext(p), ".md") {
			base := exchange.FoldCase(path.Base(p))
			v.attached[base] = append(v.attached[base], p)
			return nil
		}
		n := v.readNote(p, d)
		if n == nil {
			return nil
		}
		v.notes = append(v.notes, n)
		if text += len(n.Body); text > maxText || len(v.notes) > maxNotes {
			return fault.New(fault.TooLarge, "the folder contains more than %d notes or %d MiB of text; import it in parts",
				maxNotes, maxText>>20)
		}
		return nil
	})
	return v, err
}

func (v *vault) reportFile(file, format string, args ...any) {
	v.problems = append(v.problems, exchange.Problem{File: file, Why: fmt.Sprintf(format, args...)})
}

func (v *vault) reportUnreadable(p string, err error) error {
	switch {
	case err != nil && p == ".":
		return fault.New(fault.Invalid, "the folder cannot be read").Because(err)
	case err != nil:
		v.reportFile(p, "cannot be read; left out")
	}
	return nil
}

func (v *vault) skipEntry(p string, d fs.DirEntry) error {
	if !strings.HasPrefix(d.Name(), ".") {
		v.reportFile(p, "lies below more than %d folders; left out", maxFolders)
	}
	if d.IsDir() {
		return fs.SkipDir
	}
	return nil
}

func (v *vault) readNote(p string, d fs.DirEntry) *note {
	limit := int64(maxNote)
	if v.o.Native {
		limit *= 2 // the escaped text of a card and its fields
	}
	if info, err := d.Info(); err == nil && info.Size() > limit {
		v.reportFile(p, "is longer than %d bytes; left out", limit)
		return nil
	}
	data, err := fs.ReadFile(v.files, p)
	if err != nil {
		v.reportFile(p, "cannot be read; left out")
		return nil
	}
	n := &note{Note: markdown.Parse(p, data), origin: &native.Origin{File: native.File{Path: p,
		Hash: native.HashOf(data)}}}
	text := n.Head + n.Body
	n.origin.Head = strings.Clone(n.Head) // does not keep the body
	n.origin.CRLF = strings.Contains(string(data), "\r\n")
	if !n.origin.Gives(text, data) {
		n.origin.Raw = data
	}
	return n
}

// isNative reports whether a note is in our own dialect.
func (v *vault) isNative(n *note) bool { return v.o.Native || n.Text("loregate") != "" }

// indexNotes sets the level and name of every note, and indexes the notes by path, base name and
// alias.
func (v *vault) indexNotes() {
	for _, n := range v.notes {
		stem := exchange.FoldCase(n.Stem())
		v.byPath[stem] = n
		v.byBase[path.Base(stem)] = append(v.byBase[path.Base(stem)], n)
		for _, a := range append(n.List("aliases"), n.List("alias")...) {
			v.alias[exchange.FoldCase(a)] = append(v.alias[exchange.FoldCase(a)], n)
		}
		if v.isNative(n) {
			n.name = n.Text("name")
			if l, ok := access.ParseLevel(n.Text("level")); ok {
				n.level = l
			} else if n.Meta["level"] != nil || n.Broken {
				n.level = access.LevelGM
			}
			continue
		}
		n.level = max(v.o.Level, access.LevelUser, v.noteLevel(n))
		v.reportDropped(n)
		if v.o.Folders == FolderNames {
			n.name = n.nameWithFolders(maxFolders)
		} else {
			n.name = n.nameWithFolders(0)
		}
	}
	v.disambiguateNames()
	v.indexHiddenNames()
}

// noteLevel returns the level that follows from a foreign note's marks and its folders.
func (v *vault) noteLevel(n *note) access.Level {
	level, marks := secrecy.NoteMarks(n.Note)
	if v.choices.IsConfirmed(n.Path, n.Stem()) {
		marks = append(marks, exchange.Mark{Rule: exchange.RuleSetting, What: n.Path})
	}
	for _, m := range append(marks, v.folderMarks(n.Path)...) {
		if v.choices.Decide(m, n.Path, false) {
			level = max(level, access.LevelGM)
		}
	}
	return level
}

// findNote returns the note to which a link in another note points, or nil. A link names a path, a
// file or an alias, in any case. Of several matches the nearest wins.
func (v *vault) findNote(from *note, target string) *note {
	t := exchange.FoldCase(strings.TrimSpace(target))
	t = strings.TrimSuffix(t, ".md")
	if t == "" {
		return nil
	}
	dir := exchange.FoldCase(path.Dir(from.Path))
	for _, p := range []string{path.Join(dir, t), strings.TrimPrefix(path.Clean("/"+t), "/")} {
		if n := v.byPath[p]; n != nil {
			return n
		}
	}
	var found []*note
	for _, n := range v.byBase[path.Base(t)] {
		if strings.HasSuffix("/"+exchange.FoldCase(n.Stem()), "/"+t) {
			found = append(found, n)
		}
	}
	if len(found) == 0 {
		found = v.alias[t]
	}
	if len(found) == 0 {
		return nil
	}
	return slices.MinFunc(found, func(a, b *note) int { return folderDistance(dir, a.Path) - folderDistance(dir, b.Path) })
}

// folderDistance returns the number of folder steps between a folder and a file.
func folderDistance(dir, file string) int {
	a, b := strings.Split(dir, "/"), strings.Split(exchange.FoldCase(path.Dir(file)), "/")
	same := 0
	for same < len(a) && same < len(b) && a[same] == b[same] {
		same++
	}
	return len(a) + len(b) - 2*same
}

// findAttachment returns the file that an embed shows, or "".
func (v *vault) findAttachment(target string) string {
	list := v.attached[exchange.FoldCase(path.Base(target))]
	for _, p := range list {
		if strings.HasSuffix("/"+exchange.FoldCase(p), "/"+exchange.FoldCase(strings.TrimLeft(target, "./"))) {
			return p
		}
	}
	if len(list) > 0 {
		return list[0]
	}
	return ""
}
