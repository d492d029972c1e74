package exchange

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"loregate/internal/markup"
)

// gmPart is the name part of the child card that holds a card's secrets.
const gmPart = "GM"

// tagsPart is the name part of the child card that holds a card's tags.
const tagsPart = "tags"

// notInNames replaces characters that would end a part, a link or a nest by spaces.
var notInNames = strings.NewReplacer("+", " ", "|", " ", "[", " ", "]", " ", "{", " ", "}", " ", "/", " ")

// plainName turns a file or folder name into one part of a card name.
func plainName(s string) string {
	name := strings.Join(strings.Fields(notInNames.Replace(norm.NFC.String(markup.Clean(s)))), " ")
	if r := []rune(name); len(r) > 120 {
		name = strings.TrimSpace(string(r[:120]))
	}
	if markup.CheckName(name) == nil {
		return name
	}
	return fmt.Sprintf("Untitled %x", sha256.Sum256([]byte(s)))[:15]
}

// tagName turns a tag into a card name. A tag such as Status/Blank stays one name.
func tagName(tag string) string {
	return strings.Trim(strings.TrimLeft(strings.TrimSpace(tag), "#"), "[]| \t")
}

// foldCase returns the form in which paths and aliases are compared: lower case, with accents in
// normal form C.
func foldCase(s string) string { return strings.ToLower(norm.NFC.String(s)) }

// hasKey reports whether one of the words has the given key.
func hasKey(words []string, key string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return markup.PartKey(w) == key })
}
