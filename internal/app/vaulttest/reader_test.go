package vaulttest

import (
	"index/suffixarray"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// This reader of a vault knows the table of secrets of the contract and nothing of the importer. It
// splits the lines of notes into those that players may see and those that they must not see.

// reading is a vault as the reader sees it.
type reading struct {
	open   strings.Builder // all that players may see
	texts  []string        // the lines of open without those of front matter
	hidden []string        // lines that they must not see
}

var (
	secretWord = `(?:gm|dm|secret|secrets|keeper|storyteller|spoilers?|hidden|geheim\w*)`
	// isolated matches the words of suspicious folders and names.
	isolated    = regexp.MustCompile(`(?i)(?:^|[^\pL])(?:` + secretWord + `|game ?master|behind the screen|for my eyes)(?:[^\pL]|$)`)
	secretMeta  = regexp.MustCompile(`(?im)^(?:visibility: *["']?(?:gm|dm|secret|hidden)|(?:dg-)?publish: *["']?(?:false|no)|players?(?:\(s\))?: *["']?(?:false|no)|hidden: *["']?(?:true|yes)|status: *["']?hidden)`)
	secretTag   = regexp.MustCompile(`(?im)^(?:tags?:.*[\[ ,"'#]|[ \t]*- *["'#]*)(?:(?:gm|secret)/|(?:gm|dm)-only\b)`)
	inlineTag   = regexp.MustCompile(`(?:^|\s)#(?:gm|dm)-only\b`)
	secretBox   = regexp.MustCompile(`(?i)^[ \t>]*>[ \t]*\[!` + secretWord + `(?:[ -](?:only|notes?))?[|\]]`)
	secretHead  = regexp.MustCompile(`(?i)^(#{1,6})[ \t]+(?:gm|dm) notes[ \t]*$`)
	anyHead     = regexp.MustCompile(`^(#{1,6})[ \t]`)
	secretClass = regexp.MustCompile(`(?i)<(\w+)[^>]*class=["'][^"']*\bsecret\b`)
	inlineCode  = regexp.MustCompile("`[^`]+`")
	fence       = regexp.MustCompile("^ {0,3}(?:```|~~~)")
)

// readVault reads all notes of a vault.
func readVault(t *testing.T, dir string) *reading {
	t.Helper()
	v := &reading{}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if strings.HasPrefix(d.Name(), ".") && p != dir && d.IsDir() {
			return fs.SkipDir
		}
		if !d.Type().IsRegular() || !strings.EqualFold(path.Ext(p), ".md") {
			return nil
		}
		data, err := os.ReadFile(p)
		rel, _ := filepath.Rel(dir, p)
		v.readNote(filepath.ToSlash(rel), strings.ReplaceAll(strings.TrimPrefix(string(data), "\ufeff"), "\r\n", "\n"))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func (v *reading) readNote(file, text string) {
	head, body := "", text
	if rest, ok := strings.CutPrefix(text, "---\n"); ok {
		if inner, after, ok := strings.Cut("\n"+rest, "\n---\n"); ok {
			head, body = inner, after
		}
	}
	stem := strings.TrimSuffix(file, path.Ext(file))
	whole := isolated.MatchString(strings.ReplaceAll(stem, "_", " ")) || secretMeta.MatchString(head) ||
		secretTag.MatchString(head) || inlineTag.MatchString(body)
	if !whole {
		v.open.WriteString(stem + "\n" + head + "\n")
	} else {
		v.hide(head)
	}
	v.readBody(body, whole)
}

// hide adds the lines of a hidden text.
func (v *reading) hide(text string) {
	for line := range strings.SplitSeq(text, "\n") {
		v.hidden = append(v.hidden, strings.Trim(line, " \t>-*"))
	}
}

// readBody splits a text, line by line.
func (v *reading) readBody(body string, whole bool) {
	var comment, box, code bool
	element, level := "", 0
	for line := range strings.SplitSeq(body, "\n") {
		if fence.MatchString(line) && !comment {
			code = !code
		}
		quoted := strings.HasPrefix(strings.TrimSpace(line), ">")
		box = quoted && (box || secretBox.MatchString(line))
		if m := anyHead.FindStringSubmatch(line); m != nil && !code && len(m[1]) <= level {
			level = 0
		}
		if m := secretHead.FindStringSubmatch(line); m != nil && !code && level == 0 {
			level = len(m[1])
		}
		if m := secretClass.FindStringSubmatch(line); m != nil && element == "" {
			element = m[1]
		}
		hidden := whole || box || level > 0 || element != ""
		if element != "" && strings.Contains(line, "</"+element+">") {
			element = ""
		}
		marks := line // without its code
		if !comment {
			marks = inlineCode.ReplaceAllStringFunc(line, func(code string) string {
				return strings.ReplaceAll(code, "%%", "%\x00")
			})
		}
		if !code && strings.Contains(marks, "%%") || comment {
			for i, part := range strings.Split(marks, "%%") {
				if i > 0 {
					comment = !comment
				}
				v.add(part, hidden || comment)
			}
			v.open.WriteByte('\n')
			continue
		}
		v.add(line+"\n", hidden)
	}
}

func (v *reading) add(text string, hidden bool) {
	if hidden {
		v.hide(text)
		return
	}
	v.open.WriteString(text)
	v.texts = append(v.texts, strings.TrimSpace(text))
}

var letter = regexp.MustCompile(`[\pL\pN]`)

// isLong reports whether a line has so many letters and digits that finding it proves something.
func isLong(line string) bool { return len(letter.FindAllString(line, 12)) == 12 }

// uniqueHidden returns the hidden lines that stand nowhere in the open text. Short lines are left out:
// they prove nothing.
func (v *reading) uniqueHidden() (all []string) {
	open := newHaystack(v.open.String())
	for _, line := range v.hidden {
		if isLong(line) && !open.contains(line) {
			all = append(all, line)
		}
	}
	return all
}

// haystack is a text in which many lines are searched.
type haystack struct{ index *suffixarray.Index }

func newHaystack(text string) haystack { return haystack{suffixarray.New([]byte(text))} }

func (h haystack) contains(line string) bool { return len(h.index.Lookup([]byte(line), 1)) > 0 }
