package native

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"loregate/internal/canon"
	"loregate/internal/lazyregexp"
	"loregate/internal/markup"
)

// pathAllocator assigns each card a path that is valid and unique on every file system, even on
// those that ignore case. The path only resembles the card's name; the file contains the exact
// name.
type pathAllocator struct{ used map[string]bool }

// maxSegment is the maximum length of a file or folder name with its extension, in bytes.
const maxSegment = 200

// notePath returns the path of a card's note, without an extension. If the path is used already, it
// appends a part of the card's id.
func (p *pathAllocator) notePath(c canon.Card) string {
	parts := markup.Parts(c.Name)
	for i := range parts {
		parts[i] = pathSegment(parts[i])
		if i < len(parts)-1 && extensionForm.MatchString(parts[i]) {
			parts[i] += "_" // a folder must not look like a file
		}
	}
	stem := path.Join(parts...)
	id := strings.ReplaceAll(c.ID.String(), "-", "")
	for _, at := range []string{stem, stem + "~" + id[len(id)-8:], stem + "~" + id} {
		if p.reservePath(at) {
			return at
		}
	}
	return path.Join("_", id)
}

// reservePath reserves a path. It reports whether the path was free.
func (p *pathAllocator) reservePath(at string) bool {
	key := strings.ToLower(strings.ToUpper(norm.NFC.String(at)))
	if p.used[key] {
		return false
	}
	p.used[key] = true
	return true
}

var (
	extensionForm = lazyregexp.New(`\.[A-Za-z0-9]{1,8}$`)
	reservedForm  = lazyregexp.New(`(?i)^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)(\..*)?$`)
)

// pathSegment turns a part of a card name into a valid file or folder name.
func pathSegment(part string) string {
	s := strings.Map(func(r rune) rune {
		if strings.ContainsRune(`<>:"/\|?*`, r) || unicode.IsControl(r) || r == utf8.RuneError {
			return '_'
		}
		return r
	}, norm.NFC.String(part))
	if len(s) > maxSegment-60 {
		sum := sha256.Sum256([]byte(part))
		s = strings.ToValidUTF8(s[:maxSegment-60], "") + "~" + hex.EncodeToString(sum[:4])
	}
	s = strings.TrimRight(strings.TrimSpace(s), ". ")
	if s == "" || s[0] == '.' || reservedForm.MatchString(s) {
		s = "_" + s
	}
	return s
}
