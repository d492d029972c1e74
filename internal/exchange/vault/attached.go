package vault

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/csv"
	"encoding/json"
	"path"
	"slices"
	"strings"
	"unicode/utf16"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/decoded"
	"loregate/internal/exchange"
	"loregate/internal/exchange/markdown"
	"loregate/internal/exchange/native"
	"loregate/internal/lazyregexp"
	"loregate/internal/secrecy"
)

// ruleAttached is the rule of a file of text, such as a canvas or a table, that holds a mark of secrecy or names a
// hidden note. Unlike a note it is not split: it is the GM's as a whole until the user opens it.
const ruleAttached = "attached file"

// fileLevel returns the level that a file's name, its folders and its text give it. opened reports whether a
// decision of the user opens the text.
func (f *reader) fileLevel(file string) (level access.Level, opened bool) {
	if f.v.isFileHidden(file) {
		return access.LevelGM, false
	}
	if f.shown[file] >= access.LevelGM {
		return access.LevelUser, false
	}
	data, err := exchange.FileData(f.v.files, file)()
	if err != nil || !f.v.isFileSecret(file, data) { // a broken file is reported when it is imported
		return access.LevelUser, false
	}
	m := secrecy.Mark{Rule: ruleAttached, What: file, Doubt: true}
	if f.v.choices.Judge(m, file, false, f.v.standingOfFile(file)).Hides() {
		return access.LevelGM, false
	}
	return access.LevelUser, true
}

// standingOfFile returns how an attached file stands: earlier decisions were given for one that is seen and has not
// changed.
func (v *vault) standingOfFile(file string) (at exchange.Standing) {
	if v.world == nil {
		return at
	}
	id := v.fileID(file)
	id = cmp.Or(v.world.source.Cards[id].ID, id)
	if was := v.world.source.Files[id]; was.Path == file && v.world.isSeen(id) {
		hash, err := native.HashFile(v.files, file)
		at.Given, at.Open = err == nil && hash == was.Hash, v.world.wasOpened(id)
	}
	return at
}

// attached is a file of text that a note shows, while it is searched for secrets.
type attached struct {
	v      *vault // nil: the file is not of a vault
	note   *note  // stands for the file where it links
	ext    string
	secret bool // it holds a mark of secrecy, or names a hidden note, file or folder
}

// isFileSecret reports whether a file of text holds a mark of secrecy, or names a hidden note, file or folder. One that
// cannot be read as its name says may hold one.
func (v *vault) isFileSecret(file string, data []byte) bool {
	return (&attached{v: v}).isSecret(file, data)
}

// HoldsMarks reports whether a file of text holds a mark of secrecy.
func HoldsMarks(file string, data []byte) bool { return (&attached{}).isSecret(file, data) }

func (a *attached) isSecret(file string, data []byte) bool {
	text, ok := textOfFile(data)
	if ok { // a drawing without its comments and hidden parts
		data, _ = canon.CleanFile(data)
		text, ok = textOfFile(data)
	}
	if !ok {
		return false
	}
	a.ext, a.note = strings.ToLower(path.Ext(file)), &note{Note: &markdown.Note{Path: file}}
	switch a.ext {
	case ".csv", ".tsv":
		a.readRows(text)
	case ".base", ".yaml", ".yml":
		n := markdown.Parse(file, []byte("---\n"+text+"\n---\n"))
		a.secret = n.Broken
		a.readMember(n.Meta)
	default:
		if a.readJSON(text) {
			return a.secret
		}
	}
	a.readText(text)
	return a.secret
}

// textOfFile returns the text of a file in UTF-8, UTF-16 or an encoding with the letters of ASCII; ok is false if it
// is not text.
func textOfFile(data []byte) (text string, ok bool) {
	for mark, order := range map[string]binary.ByteOrder{"\xff\xfe": binary.LittleEndian, "\xfe\xff": binary.BigEndian} {
		if rest, ok := bytes.CutPrefix(data, []byte(mark)); ok {
			var units []uint16
			for ; len(rest) > 1; rest = rest[2:] {
				units = append(units, order.Uint16(rest))
			}
			return string(utf16.Decode(units)), true
		}
	}
	return markdown.Normalize(bytes.TrimPrefix(data, []byte("\ufeff"))), bytes.IndexByte(data, 0) < 0
}

// readJSON reads the texts and objects of JSON; ok is false if the text is none. Of equal names in an object all values
// count.
func (a *attached) readJSON(text string) (ok bool) {
	var v any
	if json.Unmarshal([]byte(text), &v) != nil {
		return false
	}
	for d := json.NewDecoder(strings.NewReader(text)); !a.secret; {
		t, err := d.Token()
		if err != nil {
			break
		}
		if s, ok := t.(string); ok {
			a.readText(s)
		}
	}
	a.readObjects(v)
	return true
}

// readMember reads the texts and objects of a value, readObjects its objects alone.
func (a *attached) readMember(v any) {
	for _, text := range decoded.TextsOf(decoded.RestoreLinks(v)) {
		a.readText(text)
	}
	a.readObjects(v)
}

func (a *attached) readObjects(v any) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			a.readObjects(item)
		}
	case map[string]any:
		a.secret = a.secret || hasMarkedField(v)
		for _, item := range v {
			a.readObjects(item)
		}
	}
}

// readRows reads the rows of a table, whose columns the first row names.
func (a *attached) readRows(text string) {
	r := csv.NewReader(strings.NewReader(text))
	head, _, _ := strings.Cut(text, "\n")
	r.Comma = slices.MaxFunc([]rune{',', '\t', ';', '|'}, func(x, y rune) int {
		return strings.Count(head, string(x)) - strings.Count(head, string(y))
	})
	r.LazyQuotes, r.FieldsPerRecord = true, -1
	columns, err := r.Read()
	for err == nil && !a.secret {
		var cells []string
		if cells, err = r.Read(); err != nil {
			return
		}
		row := map[string]any{}
		for i, cell := range cells {
			a.readText(cell)
			if cell = strings.TrimSpace(cell); i < len(columns) && cell != "" {
				row[strings.TrimSpace(columns[i])] = cell
			}
		}
		a.readObjects(row)
	}
}

// readText looks for marks and hidden names in a text.
func (a *attached) readText(text string) {
	a.secret = a.secret || strings.ContainsAny(text, signs) && a.hasMark(text) || a.v != nil && a.namesHidden(text)
}

// signs are those of which a text with a mark has at least one.
const signs = "<[&%#:!~>{=-"

// hasMarkedField reports whether a name in an object, or in a row of a table, marks its value or the whole.
func hasMarkedField(m map[string]any) bool {
	for k, v := range m {
		if secrecy.IsSecretField(k, v) {
			return true
		}
	}
	_, marks := secrecy.NoteMarks(secrecy.Note{Meta: m})
	return len(marks) > 0
}

// unseenElements are the marks of parts that every page or drawing may have and that hold no text of its author.
var unseenElements = []string{"<!", "<head>", "<title>", "<style>", "<script>", "<defs>", "<metadata>"}

// hasMark reports whether a text has a mark of secrecy, read as Markdown or as HTML: a drawing may hold Markdown, and
// elements of a page may be indented as code is.
func (a *attached) hasMark(text string) bool {
	found := false
	for _, form := range []secrecy.Form{secrecy.Markdown, secrecy.HTML} {
		secrecy.Split(text, form, func(m secrecy.Mark) bool {
			found = found || !slices.Contains(unseenElements, m.What)
			return false
		})
	}
	if found {
		return true
	}
	n := markdown.Parse(a.note.Path, []byte(text))
	_, marks := secrecy.NoteMarks(n.Marks())
	return len(marks) > len(secrecy.NameMarks(n.Marks().Name))
}

var (
	quotedForm  = lazyregexp.New(`"([^"\n]{1,500})"|'([^'\n]{1,500})'`)
	addressForm = lazyregexp.New(`(?i)(?:href|src)\s*=\s*["']?([^"'>\s]{1,500})`)
)

// namesHidden reports whether a text links a hidden note, or is or quotes the path of one, or of a hidden file or
// folder.
func (a *attached) namesHidden(text string) bool {
	if a.isHidden(text) {
		return true
	}
	for _, r := range a.v.referencesIn(a.note, text) {
		if r.to != nil && r.to.level >= access.LevelGM || r.file != "" && a.v.isFileHidden(r.file) {
			return true
		}
	}
	for _, form := range []*lazyregexp.Regexp{quotedForm, addressForm} {
		for _, m := range form.FindAllStringSubmatch(text, -1) {
			quoted := strings.Join(m[1:], "")
			if a.isHidden(quoted) {
				return true
			}
			if to := a.v.findNote(a.note, quoted); a.ext == ".base" && to != nil && to.level >= access.LevelGM {
				return true // the name in a formula
			}
		}
	}
	return false
}

// isHidden reports whether a text is the path of a hidden note, file or folder.
func (a *attached) isHidden(text string) bool {
	if len(text) > maxTarget || strings.Contains(text, "\n") || strings.Contains(text, "://") {
		return false
	}
	text, _, _ = strings.Cut(unescapePath(text), "#")
	if to := a.v.findPath(a.note, text); to != nil {
		return to.level >= access.LevelGM
	}
	if file := a.v.findAttachment(a.note, text); file != "" && path.Ext(text) != "" {
		return a.v.isFileHidden(file)
	}
	return a.v.hiddenFolders[exchange.FoldCase(strings.Trim(text, "/"))]
}
