package exchange

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"loregate/internal/canon"
	"loregate/internal/markup"
)

// places gives cards paths that every file system can hold, and holds apart, with and
// without regard to case. A path shows the name; what the name is, the file says.
type places struct{ used map[string]bool }

// maxSegment bounds a file's or folder's name, in bytes, its ending included.
const maxSegment = 200

// of is the path of a card's note, without an ending. A card whose path is taken gets a
// piece of its id.
func (p *places) of(c canon.Card) string {
	parts := markup.Parts(c.Name)
	for i := range parts {
		parts[i] = segment(parts[i])
		if i < len(parts)-1 && endingForm.MatchString(parts[i]) {
			parts[i] += "_" // a folder never looks like a file
		}
	}
	stem := path.Join(parts...)
	id := strings.ReplaceAll(c.ID.String(), "-", "")
	for _, at := range []string{stem, stem + "~" + id[len(id)-8:], stem + "~" + id} {
		if p.free(at) {
			return at
		}
	}
	return path.Join("_", id)
}

// free takes a path if it is free.
func (p *places) free(at string) bool {
	key := strings.ToLower(strings.ToUpper(norm.NFC.String(at)))
	if p.used[key] {
		return false
	}
	p.used[key] = true
	return true
}

var (
	endingForm   = regexp.MustCompile(`\.[A-Za-z0-9]{1,8}$`)
	reservedForm = regexp.MustCompile(`(?i)^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)(\..*)?$`)
)

// segment makes a part of a name a name of a file or folder.
func segment(part string) string {
	s := strings.Map(func(r rune) rune {
		if strings.ContainsRune(`<>:"/\|?*`, r) || unicode.IsControl(r) || r == utf8.RuneError {
			return '_'
		}
		return r
	}, norm.NFC.String(part))
	if len(s) > maxSegment-60 {
		sum := sha256.Sum256([]byte(part))
		s = clip(s, maxSegment-60) + "~" + hex.EncodeToString(sum[:4])
	}
	s = strings.TrimRight(strings.TrimSpace(s), ". ")
	if s == "" || s[0] == '.' || reservedForm.MatchString(s) {
		s = "_" + s
	}
	return s
}

// clip cuts a text to at most n bytes, between characters.
func clip(s string, n int) string {
	if n >= len(s) {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
