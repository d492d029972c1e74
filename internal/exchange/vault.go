package exchange

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"loregate/internal/canon"
	"loregate/internal/markup"
)

// vault is a folder of notes, read and named.
type vault struct {
	label  string // stands in derived ids, so that two vaults do not share them
	notes  []*note
	names  map[*note]string
	byPath map[string]*note // lower case, without ".md"
	byBase map[string][]*note
	alias  map[string][]*note
	files  map[string][]string // attachments by lower-case base name
}

// Bounds of a vault.
const (
	maxNote  = 4 << 20
	maxNotes = 200_000
)

// readVault reads every note of a folder. What cannot be read is reported.
func readVault(files fs.FS, label string) (*vault, []Problem, error) {
	v := &vault{label: label, names: map[*note]string{}, byPath: map[string]*note{}, byBase: map[string][]*note{},
		alias: map[string][]*note{}, files: map[string][]string{}}
	var problems []Problem
	err := fs.WalkDir(files, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			problems = append(problems, Problem{File: p, Why: "cannot be read"})
			return nil
		}
		if strings.HasPrefix(d.Name(), ".") && p != "." {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() {
			return nil
		}
		if !strings.EqualFold(path.Ext(p), ".md") {
			base := strings.ToLower(path.Base(p))
			v.files[base] = append(v.files[base], p)
			return nil
		}
		if len(v.notes) >= maxNotes {
			return fmt.Errorf("more than %d notes", maxNotes)
		}
		n, problem := readNote(files, p, d)
		if problem != nil {
			problems = append(problems, *problem)
			return nil
		}
		v.notes = append(v.notes, n)
		return nil
	})
	return v, problems, err
}

func readNote(files fs.FS, p string, d fs.DirEntry) (*note, *Problem) {
	if info, err := d.Info(); err == nil && info.Size() > maxNote {
		return nil, &Problem{File: p, Why: fmt.Sprintf("longer than %d bytes; left out", maxNote)}
	}
	data, err := fs.ReadFile(files, p)
	if err != nil {
		return nil, &Problem{File: p, Why: "cannot be read"}
	}
	return parseNote(p, []byte(strings.ToValidUTF8(string(data), "\ufffd"))), nil
}

// index names every note and makes notes findable as links name them.
func (v *vault) index(native bool, foldersAsNames bool) {
	for _, n := range v.notes {
		stem := strings.TrimSuffix(strings.ToLower(n.path), ".md")
		v.byPath[stem] = n
		v.byBase[path.Base(stem)] = append(v.byBase[path.Base(stem)], n)
		for _, a := range append(n.list("aliases"), n.list("alias")...) {
			v.alias[strings.ToLower(a)] = append(v.alias[strings.ToLower(a)], n)
		}
	}
	taken := map[markup.Key][]*note{}
	for _, n := range v.notes {
		name := plainName(path.Base(strings.TrimSuffix(n.path, path.Ext(n.path))))
		if given := n.text("name"); given != "" && (native || n.native()) {
			name = given
		} else if foldersAsNames {
			name = v.qualified(n, 1<<10)
		}
		v.names[n] = name
		taken[markup.KeyOf(name)] = append(taken[markup.KeyOf(name)], n)
	}
	for key, notes := range taken {
		if len(notes) > 1 && key != "" {
			v.distinguish(notes, native)
		}
	}
}

// distinguish gives notes of one name longer ones, by their folders.
func (v *vault) distinguish(notes []*note, native bool) {
	slices.SortFunc(notes, func(a, b *note) int { return strings.Compare(a.path, b.path) })
	used := map[markup.Key]int{}
	for _, n := range notes {
		name := v.names[n]
		if !native && !n.native() {
			name = v.qualified(n, 1)
			for depth := 2; depth <= strings.Count(n.path, "/") && v.shares(n, notes, depth-1); depth++ {
				name = v.qualified(n, depth)
			}
		}
		key := markup.KeyOf(name)
		if used[key]++; used[key] > 1 {
			name = fmt.Sprintf("%s (%d)", name, used[key])
		}
		if name != v.names[n] {
			n.report(0, "the name %q is used by %d files; this one becomes %q", v.names[n], len(notes), name)
		}
		v.names[n] = name
	}
}

// shares reports whether another of the notes has the same name at a depth of folders.
func (v *vault) shares(n *note, notes []*note, depth int) bool {
	for _, o := range notes {
		if o != n && markup.KeyOf(v.qualified(o, depth)) == markup.KeyOf(v.qualified(n, depth)) {
			return true
		}
	}
	return false
}

// qualified is a note's name below up to depth of its folders.
func (v *vault) qualified(n *note, depth int) string {
	parts := strings.Split(strings.TrimSuffix(n.path, path.Ext(n.path)), "/")
	for i := range parts {
		parts[i] = plainName(parts[i])
	}
	return markup.Join(parts[max(0, len(parts)-1-depth):]...)
}

// plainName makes a file or folder name one part of a card's name.
func plainName(s string) string {
	s = norm.NFC.String(strings.TrimSpace(markup.Clean(strings.ReplaceAll(s, "+", " "))))
	if markup.CheckName(s) == nil {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if r >= ' ' && r != '/' {
			b.WriteRune(r)
		}
	}
	if s = strings.TrimSpace(b.String()); markup.CheckName(s) == nil {
		return s
	}
	return "Untitled " + fmt.Sprintf("%x", sha256.Sum256([]byte(s)))[:6]
}

// native reports whether the note was written by an export of ours.
func (n *note) native() bool { return n.text("loregate") != "" }

// cardID derives the id of what came from a place in a vault: a UUIDv8 over the SHA-256
// of that place.
func (v *vault) cardID(place string) canon.CardID {
	sum := sha256.Sum256([]byte("markdown\x00" + v.label + "\x00" + place))
	var id canon.CardID
	copy(id[:], sum[:])
	id[6], id[8] = id[6]&0x0f|0x80, id[8]&0x3f|0x80
	return id
}

// find is the note that a link in another means; nil for none. Links name a path, a file,
// or an alias, in any case; of several the nearest wins.
func (v *vault) find(from *note, target string) *note {
	t := strings.ToLower(norm.NFC.String(strings.TrimSuffix(strings.TrimSuffix(strings.TrimSpace(target), ".md"), ".MD")))
	if t == "" {
		return nil
	}
	dir := strings.ToLower(path.Dir(from.path))
	for _, p := range []string{path.Join(dir, t), strings.TrimPrefix(path.Clean("/"+t), "/")} {
		if n := v.byPath[p]; n != nil {
			return n
		}
	}
	var found []*note
	for _, n := range v.byBase[path.Base(t)] {
		if strings.HasSuffix("/"+strings.TrimSuffix(strings.ToLower(n.path), ".md"), "/"+t) {
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
	a, b := strings.Split(dir, "/"), strings.Split(strings.ToLower(path.Dir(file)), "/")
	same := 0
	for same < len(a) && same < len(b) && a[same] == b[same] {
		same++
	}
	return len(a) + len(b) - 2*same
}

// file is the attachment that an embed means; "" for none.
func (v *vault) file(target string) string {
	list := v.files[strings.ToLower(path.Base(target))]
	for _, p := range list {
		if strings.HasSuffix("/"+strings.ToLower(p), "/"+strings.ToLower(strings.TrimPrefix(target, "/"))) {
			return p
		}
	}
	if len(list) > 0 {
		return list[0]
	}
	return ""
}

var (
	mdLinkForm  = regexp.MustCompile(`^\[([^\]\n]*)\]\(\s*<?([^)\s>]+?\.(?i:md))(#[^)\s>]*)?>?(?:\s+"[^"]*")?\s*\)`)
	mdImageForm = regexp.MustCompile(`^!\[([^\]\n]*)\]\(\s*<?([^)\s>]+)>?(?:\s+"[^"]*")?\s*\)`)
	blockIDForm = regexp.MustCompile(`(?m)[ \t]+\^[A-Za-z0-9-]+[ \t]*$`)
	kramdown    = regexp.MustCompile(`(?m)^\{:[^}\n]*\}[ \t]*$\n?`)
)

// rewrite makes a foreign note's links and embeds ours, and gives the attachments it shows.
func (v *vault) rewrite(n *note, body string) (out string, shown []string) {
	body = strings.ReplaceAll(body, "`=this.file.name`", v.names[n])
	body = blockIDForm.ReplaceAllString(kramdown.ReplaceAllString(body, ""), "")
	var b strings.Builder
	for at := 0; at < len(body); {
		s := body[at:]
		if c := codeLength(body, at); c > 0 {
			b.WriteString(s[:c])
			at += c
			continue
		}
		text, length, file := v.reference(n, s)
		if length == 0 {
			b.WriteByte(s[0])
			at++
			continue
		}
		if file != "" {
			shown = append(shown, file)
		}
		b.WriteString(text)
		at += length
	}
	return b.String(), shown
}

// reference rewrites the link or embed at the start of s; length 0 where there is none.
func (v *vault) reference(n *note, s string) (text string, length int, file string) {
	embed := strings.HasPrefix(s, "!")
	switch {
	case strings.HasPrefix(s, "{{"):
		return `\{{`, 2, "" // a template's braces are not a nest
	case strings.HasPrefix(s, "[[") || strings.HasPrefix(s, "![["):
		inner, _, ok := strings.Cut(s[strings.Index(s, "[[")+2:], "]]")
		if !ok || strings.Contains(inner, "\n") || strings.Contains(inner, "[[") {
			return "", 0, ""
		}
		length = strings.Index(s, "[[") + 4 + len(inner)
		text, file = v.wikilink(n, strings.ReplaceAll(inner, `\|`, "|"), embed)
		return text, length, file
	case embed:
		if m := mdImageForm.FindStringSubmatch(s[:min(len(s), 2000)]); m != nil {
			target, err := url.PathUnescape(m[2])
			if f := v.file(target); err == nil && f != "" && !strings.Contains(target, "://") {
				return "{{" + v.fileName(f) + "}}", len(m[0]), f
			}
		}
	case s[0] == '[':
		if m := mdLinkForm.FindStringSubmatch(s[:min(len(s), 2000)]); m != nil && !strings.Contains(m[2], "://") {
			target, err := url.PathUnescape(m[2])
			if to := v.find(n, target); err == nil && to != nil {
				return "[[" + v.names[to] + "|" + m[1] + "]]", len(m[0]), ""
			}
		}
	}
	return "", 0, ""
}

// wikilink rewrites what stands between double brackets. Headings and block ids are left
// out of the target, for cards are linked whole; they stay in the text.
func (v *vault) wikilink(n *note, inner string, embed bool) (text, file string) {
	target, label, labelled := strings.Cut(inner, "|")
	name, part, _ := strings.Cut(target, "#")
	name, part = strings.TrimSpace(name), strings.TrimSpace(strings.TrimPrefix(part, "^"))
	to := v.find(n, name)
	if name == "" {
		to = n
	}
	if embed && to == nil {
		if f := v.file(name); f != "" {
			return "{{" + v.fileName(f) + "}}", f
		}
	}
	final := plainTarget(name)
	if to != nil {
		final = v.names[to]
	}
	if embed {
		return "{{" + final + "}}", ""
	}
	switch {
	case labelled && strings.TrimSpace(label) != "":
		return "[[" + final + "|" + strings.TrimSpace(label) + "]]", ""
	case part != "" && name != "":
		return "[[" + final + "|" + name + " > " + part + "]]", ""
	case part != "":
		return "[[" + final + "|" + part + "]]", ""
	case final != name:
		return "[[" + final + "|" + path.Base(name) + "]]", ""
	}
	return "[[" + final + "]]", ""
}

// plainTarget is the card name that a link to nothing yet means.
func plainTarget(name string) string {
	if base := path.Base(name); strings.Contains(name, "/") {
		return base
	}
	return name
}

// fileName is the name of the card that holds an attachment.
func (v *vault) fileName(file string) string {
	base := plainName(path.Base(file))
	if len(v.files[strings.ToLower(path.Base(file))]) > 1 {
		if dir := path.Dir(file); dir != "." {
			return plainName(path.Base(dir)) + "+" + base
		}
	}
	return base
}
