package vault

import (
	"io/fs"
	"path"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/exchange"
	"loregate/internal/exchange/markdown"
	"loregate/internal/exchange/native"
	"loregate/internal/fault"
	"loregate/internal/markup"
	"loregate/internal/secrecy"
)

// note is a note of a vault.
type note struct {
	*markdown.Note
	name  string       // of its card; set by indexNotes
	level access.Level // minimum level of its readers; set by indexNotes
	marks []secrecy.Mark
	least access.Level // that its marks name

	opened  bool             // a decision opens it; set by indexNotes
	kept    bool             // a decision of this import hides it; set by indexNotes
	readers []access.Subject // people who read the note although it is for the GM; set by indexNotes

	origin *native.Origin // its file, for the export
}

// vault is a folder of notes that were read, named and indexed. It does not hold their texts, which are read again
// one by one.
type vault struct {
	files    fs.FS
	o        Options
	notes    []*note
	byPath   map[string][]*note // by path without ".md", after exchange.FoldCase
	byEnd    map[string][]*note // by each end of that path, as a/b/c, b/c and c
	alias    map[string][]*note
	chosen   map[string]*note // of several notes, by the target of a link
	answers  answers
	hidden   hiddenTexts       // texts that are hidden in the world
	exported canon.Seq         // the last commit of the world that the folder has; 0: it is no export of it
	named    map[string]string // names of the cards of notes at the last import, by path
	asked    []exchange.LinkChoice
	attached map[string][]string // all other files, by base name after exchange.FoldCase
	fileEnd  map[string]string   // of these files, by each end of its path; made when it is asked for
	twins    map[string]bool     // files whose paths differ from others in the form of accents alone; see findTwins
	problems []exchange.Problem
	choices  *exchange.Choices
	world    *world          // the cards of the last import as they are now; nil: there was none
	gmUsed   map[string]bool // settings that matched a folder
	// hiddenFolders are the paths of folders that hide a note, after exchange.FoldCase.
	hiddenFolders map[string]bool
	// findMembers finds the members of the world that a note names; see exchange.Members.
	findMembers func(names []string) (found []access.Subject, known bool, err error)
	mentions    mentions
	linked      map[markup.Key]int // number of links to notes, by the key of their names
	same        []canon.Card       // that hold the memories of other imports of the vault; set by identify
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
	v := &vault{files: files, o: o, byPath: map[string][]*note{}, byEnd: map[string][]*note{},
		chosen: map[string]*note{}, hiddenFolders: map[string]bool{},
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
		n, size := v.readNote(p, d)
		if n == nil {
			return nil
		}
		v.notes = append(v.notes, n)
		if text += size; text > maxText || len(v.notes) > maxNotes {
			return fault.New(fault.TooLarge, "the folder contains more than %d notes or %d MiB of text; import it in parts",
				maxNotes, maxText>>20)
		}
		return nil
	})
	return v, err
}

func (v *vault) reportFile(file, format string, args ...any) {
	v.problems = exchange.AppendProblems(v.problems, exchange.NewProblem(file, 0, format, args...))
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

// readNote reads a note without its text, and the size of the text.
func (v *vault) readNote(p string, d fs.DirEntry) (n *note, size int) {
	limit := int64(maxNote)
	if v.o.Native {
		limit *= 2 // the escaped text of a card and its fields
	}
	if info, err := d.Info(); err == nil && info.Size() > limit {
		v.reportFile(p, "is longer than %d bytes; left out", limit)
		return nil, 0
	}
	data, err := fs.ReadFile(v.files, p)
	if err != nil {
		v.reportFile(p, "cannot be read; left out")
		return nil, 0
	}
	n = &note{Note: markdown.Parse(p, data), origin: &native.Origin{File: native.File{Path: p,
		Hash: native.HashOf(data)}}}
	text := n.Head + n.Body
	n.origin.Head = strings.Clone(n.Head) // does not keep the body
	n.Raw = strings.Clone(n.Raw)
	n.origin.CRLF = strings.Contains(string(data), "\r\n")
	if !n.origin.Gives(text, data) {
		n.origin.Raw = data
	}
	if !v.isNative(n) {
		n.least, n.marks = secrecy.NoteMarks(n.Marks())
	}
	size = len(n.Body)
	n.Head, n.Body = n.origin.Head, ""
	return n, size
}

// loadBody reads the text of a note again. It reports a file that has changed meanwhile and returns false.
func (v *vault) loadBody(n *note) bool {
	data, err := fs.ReadFile(v.files, n.Path)
	if err != nil || native.HashOf(data) != n.origin.Hash {
		n.AddReport(0, "has changed while it was imported; left out: import again")
		return false
	}
	n.Body = markdown.Normalize(data)[len(n.Head):]
	return true
}

// isNative reports whether a note is in our own dialect.
func (v *vault) isNative(n *note) bool { return v.o.Native || n.Text("loregate") != "" }

// indexNotes sets the level and name of every note, and indexes the notes by path, base name and
// alias.
func (v *vault) indexNotes() error {
	for _, n := range v.notes {
		stem := exchange.FoldCase(n.Stem())
		v.byPath[stem] = append(v.byPath[stem], n)
		for end := range endsOf(stem) {
			v.byEnd[end] = append(v.byEnd[end], n)
		}
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
		level, err := v.noteLevel(n)
		if err != nil {
			return err
		}
		n.level = max(v.o.Level, access.LevelUser, level)
		v.reportDropped(n)
		if v.o.Folders == FolderNames {
			n.name = n.nameWithFolders(maxFolders)
		} else {
			n.name = n.nameWithFolders(0)
		}
	}
	v.disambiguateNames()
	v.indexHiddenNames()
	return nil
}

// noteLevel returns the level that follows from a foreign note's marks and its folders. If the note names members of
// the world as its readers and nothing else hides it, they read it besides the GM.
func (v *vault) noteLevel(n *note) (access.Level, error) {
	level, marks := n.least, n.marks
	opens := false
	names, keys := secrecy.ReaderNames(n.Meta)
	var readers []access.Subject
	if len(names) > 0 {
		var ofReaders []secrecy.Mark
		ofReaders, marks = secrecy.DivideReaders(marks, keys)
		found, known, err := v.findMembers(names)
		if err != nil {
			return level, err
		}
		if readers = found; !known {
			marks = append(marks, exchange.UnknownReaders(names, ofReaders))
		}
	}
	if v.choices.IsConfirmed(n.Path, n.Stem()) {
		marks = append(marks, secrecy.Mark{Rule: exchange.RuleSetting, What: n.Path})
	}
	hidden := level > access.LevelUser
	if !v.world.hasFile(n.Path) {
		marks = append(marks, v.hidden.nameMarks(n.Stem())...)
	}
	for _, m := range append(marks, v.folderMarks(n.Path)...) {
		switch verdict := v.choices.Judge(m, n.Path, false, v.world.standing(n, m)); verdict {
		case exchange.Opened, exchange.OpenedNow:
			opens = true
			n.origin.Opened = append(n.origin.Opened, openedMark(m))
		default:
			n.kept = n.kept || verdict == exchange.Confirmed
			hidden, level = true, max(level, access.LevelGM)
			if m.Rule == exchange.RuleFolder || m.Rule == exchange.RuleSetting {
				v.hiddenFolders[exchange.FoldCase(m.What)] = true
			}
		}
	}
	if len(readers) > 0 {
		if level = max(level, access.LevelGM); !hidden {
			n.readers = readers
		}
	}
	n.opened = opens && !hidden
	return level, nil
}

// isRead reports whether anybody below the GM reads a note.
func (n *note) isRead(level access.Level) bool { return level < access.LevelGM || len(n.readers) > 0 }
