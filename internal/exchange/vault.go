package exchange

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/markup"
)

// vault is a folder of notes, read and named.
type vault struct {
	files    fs.FS
	o        MarkdownOptions
	notes    []*note
	byPath   map[string]*note // as folded says, without ".md"
	byBase   map[string][]*note
	alias    map[string][]*note
	attached map[string][]string // other files by their folded base names
	problems []Problem
	choices  *chooser
	gmUsed   map[string]bool // settings that name a folder there is
	mentions mentions
	linked   map[markup.Key]int // links to notes, by the keys of their names
}

// Bounds of a vault. A card holds 1 MiB of text, so that a longer note could not come in.
const (
	maxNote    = 2 << 20
	maxNotes   = 200_000
	maxEntries = 1_000_000
	maxText    = 512 << 20
	maxFolders = 130 // a name has at most 128 parts
)

// readVault reads every note of a folder. What cannot be read is reported.
func readVault(files fs.FS, o MarkdownOptions) (*vault, error) {
	v := &vault{files: files, o: o, byPath: map[string]*note{}, byBase: map[string][]*note{},
		alias: map[string][]*note{}, attached: map[string][]string{}, choices: newChooser(o), gmUsed: map[string]bool{}, linked: map[markup.Key]int{}}
	entries, text := 0, 0
	err := fs.WalkDir(files, ".", func(p string, d fs.DirEntry, err error) error {
		if entries++; entries > maxEntries {
			return fault.New(fault.TooLarge, "the folder has more than %d entries; import it in parts", maxEntries)
		}
		if err != nil || p == "." {
			return v.unreadable(p, err)
		}
		if strings.HasPrefix(d.Name(), ".") || strings.Count(p, "/") > maxFolders {
			return v.skip(p, d)
		}
		if !d.Type().IsRegular() {
			if !d.IsDir() {
				v.problem(p, "not a plain file (links are not followed); left out")
			}
			return nil
		}
		if !strings.EqualFold(path.Ext(p), ".md") {
			base := folded(path.Base(p))
			v.attached[base] = append(v.attached[base], p)
			return nil
		}
		n := v.read(p, d)
		if n == nil {
			return nil
		}
		v.notes = append(v.notes, n)
		if text += len(n.body); text > maxText || len(v.notes) > maxNotes {
			return fault.New(fault.TooLarge, "the folder holds more than %d notes or %d MiB of text; import it in parts", maxNotes, maxText>>20)
		}
		return nil
	})
	return v, err
}

func (v *vault) problem(file, format string, args ...any) {
	v.problems = append(v.problems, Problem{File: file, Why: fmt.Sprintf(format, args...)})
}

func (v *vault) unreadable(p string, err error) error {
	switch {
	case err != nil && p == ".":
		return fault.New(fault.Invalid, "the folder cannot be read").Because(err)
	case err != nil:
		v.problem(p, "cannot be read; left out")
	}
	return nil
}

func (v *vault) skip(p string, d fs.DirEntry) error {
	if !strings.HasPrefix(d.Name(), ".") {
		v.problem(p, "deeper than %d folders; left out", maxFolders)
	}
	if d.IsDir() {
		return fs.SkipDir
	}
	return nil
}

func (v *vault) read(p string, d fs.DirEntry) *note {
	limit := int64(maxNote)
	if v.o.Native {
		limit *= 2 // text of a card, escaped, and its fields
	}
	if info, err := d.Info(); err == nil && info.Size() > limit {
		v.problem(p, "longer than %d bytes; left out", limit)
		return nil
	}
	data, err := fs.ReadFile(v.files, p)
	if err != nil {
		v.problem(p, "cannot be read; left out")
		return nil
	}
	return parseNote(p, data)
}

// folded is how paths and aliases are compared: without regard to case and to how
// accents are written.
func folded(s string) string { return strings.ToLower(norm.NFC.String(s)) }

// stem is a note's path without its ending.
func (n *note) stem() string { return strings.TrimSuffix(n.path, path.Ext(n.path)) }

// native reports whether a note is in our own dialect.
func (v *vault) native(n *note) bool { return v.o.Native || n.text("loregate") != "" }

// index labels and names every note, and makes notes findable as links name them.
func (v *vault) index() {
	for _, n := range v.notes {
		stem := folded(n.stem())
		v.byPath[stem] = n
		v.byBase[path.Base(stem)] = append(v.byBase[path.Base(stem)], n)
		for _, a := range append(n.list("aliases"), n.list("alias")...) {
			v.alias[folded(a)] = append(v.alias[folded(a)], n)
		}
		if v.native(n) {
			n.name = n.text("name")
			if l, ok := access.ParseLevel(n.text("level")); ok {
				n.level = l
			} else if n.meta["level"] != nil || n.broken {
				n.level = access.LevelGM
			}
			continue
		}
		n.level = max(v.o.Level, access.LevelUser, v.visibility(n))
		v.sayDropped(n)
		if v.o.Folders == FolderNames {
			n.name = n.below(maxFolders)
		} else {
			n.name = n.below(0)
		}
	}
	v.distinguish()
	v.indexMentions()
}

// visibility is the level that a foreign note, and where it lies, ask for.
func (v *vault) visibility(n *note) access.Level {
	level, marks := n.noteMarks()
	for _, k := range v.choices.keep {
		if path := folded(strings.Trim(k.text, "/")); path == folded(n.path) || path == folded(n.stem()) {
			k.used = true
			marks = append(marks, mark{ruleSetting, n.path, false})
		}
	}
	for _, m := range append(marks, v.folderMarks(n.path)...) {
		if v.choices.decide(m, n.path, false) {
			level = max(level, access.LevelGM)
		}
	}
	return level
}

// derived makes a UUIDv8 of what names a thing: the SHA-256 of its parts.
func derived(parts ...string) (id [16]byte) {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	copy(id[:], sum[:])
	id[6], id[8] = id[6]&0x0f|0x80, id[8]&0x3f|0x80
	return id
}

// cardID is the id of the card that comes from a place in the vault.
func (v *vault) cardID(place string) canon.CardID {
	return canon.CardID(derived("markdown", v.o.Label, norm.NFC.String(place)))
}

// childID is the id of a card that a format folds into another.
func childID(parent canon.CardID, part string) canon.CardID {
	return canon.CardID(derived("child", parent.String(), part))
}

// find is the note that a link in another means; nil for none. Links name a path, a file,
// or an alias, in any case; of several the nearest wins.
func (v *vault) find(from *note, target string) *note {
	t := folded(strings.TrimSpace(target))
	t = strings.TrimSuffix(t, ".md")
	if t == "" {
		return nil
	}
	dir := folded(path.Dir(from.path))
	for _, p := range []string{path.Join(dir, t), strings.TrimPrefix(path.Clean("/"+t), "/")} {
		if n := v.byPath[p]; n != nil {
			return n
		}
	}
	var found []*note
	for _, n := range v.byBase[path.Base(t)] {
		if strings.HasSuffix("/"+folded(n.stem()), "/"+t) {
			found = append(found, n)
		}
	}
	if len(found) == 0 {
		found = v.alias[t]
	}
	if len(found) == 0 {
		return nil
	}
	return slices.MinFunc(found, func(a, b *note) int { return distance(dir, a.path) - distance(dir, b.path) })
}

// distance counts the folders between a folder and a file.
func distance(dir, file string) int {
	a, b := strings.Split(dir, "/"), strings.Split(folded(path.Dir(file)), "/")
	same := 0
	for same < len(a) && same < len(b) && a[same] == b[same] {
		same++
	}
	return len(a) + len(b) - 2*same
}

// attachment is the file that an embed means; "" for none.
func (v *vault) attachment(target string) string {
	list := v.attached[folded(path.Base(target))]
	for _, p := range list {
		if strings.HasSuffix("/"+folded(p), "/"+folded(strings.TrimLeft(target, "./"))) {
			return p
		}
	}
	if len(list) > 0 {
		return list[0]
	}
	return ""
}
