package exchange

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"loregate/internal/markup"
)

// GMPart is the name part of the child card that holds a card's secrets.
const GMPart = "GM"

// TagsPart is the name part of the child card that holds a card's tags.
const TagsPart = "tags"

// notInNames replaces characters that would end a part, a link or a nest by spaces.
var notInNames = strings.NewReplacer("+", " ", "|", " ", "[", " ", "]", " ", "{", " ", "}", " ", "/", " ")

// maxName is the number of bytes of a source's name that an import looks at: a name has at most 120 characters, and a
// longer text that many cards repeat would cost its length for each.
const maxName = 2048

// ClipName returns the beginning of a long name.
func ClipName(name string) string {
	if len(name) <= maxName {
		return name
	}
	return strings.ToValidUTF8(name[:maxName], "")
}

// PlainName turns a file or folder name into one part of a card name.
func PlainName(s string) string {
	name := strings.Join(strings.Fields(notInNames.Replace(norm.NFC.String(markup.Clean(s)))), " ")
	if r := []rune(name); len(r) > 120 {
		name = strings.TrimSpace(string(r[:120]))
	}
	if markup.CheckName(name) == nil {
		return name
	}
	return fmt.Sprintf("Untitled %x", sha256.Sum256([]byte(s)))[:15]
}

// TagName turns a tag into a card name. A tag such as Status/Blank stays one name.
func TagName(tag string) string {
	return strings.Trim(strings.TrimLeft(strings.TrimSpace(tag), "#"), "[]| \t")
}

// FoldCase returns the form in which paths and aliases are compared: lower case, with accents in
// normal form C.
func FoldCase(s string) string { return strings.ToLower(norm.NFC.String(s)) }

// HasName reports whether one of the names has the given form by FoldCase.
func HasName(names []string, folded string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return FoldCase(n) == folded })
}
