package archive

import (
	"context"
	"strings"
	"unicode"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/markup"
)

// maxListedNames bounds the names that are looked up in a new card's lists.
const maxListedNames = 1000

// listingLevel returns the level of a new card for which its author names none: that of the most hidden
// card that its lists name. A client that lists the cards which its caller sees, as the older client does
// for its weekly summary, writes the names of hidden cards; they must not become public by it.
func listingLevel(ctx context.Context, l *canon.Snapshot, c canon.Card, content string) (access.Level, error) {
	level, everyone := access.LevelUser, access.NewLabel(access.LevelUser)
	if l.View().Level <= level || canon.HoldsTags(markup.KeyOf(c.Name)) || c.TextKind() == canon.TextData {
		return level, nil // players see no card by level that others do not, and tags are words
	}
	if c.TextKind() != canon.TextItems && !mayList(content) {
		return level, nil
	}
	lines, _ := termLines(c.TextKind(), content)
	seen := map[markup.Key]bool{}
	for _, line := range lines {
		if !line.Item && c.TextKind() != canon.TextItems {
			continue
		}
		for _, name := range listedNames(line.Text) {
			key := markup.KeyOf(name)
			if key == "" || seen[key] {
				continue
			}
			if seen[key] = true; len(seen) > maxListedNames {
				return l.View().Level, nil
			}
			card, ok, err := l.ByKey(ctx, key)
			if err != nil {
				return level, err
			}
			if ok && !card.Label.Covers(everyone) {
				level = max(level, card.Label.Level)
			}
		}
	}
	return level, nil
}

// listTags are the names of the tags of lists.
var listTags = map[string]bool{"ul": true, "ol": true, "li": true}

// mayList reports whether a text can have an item of a list: a tag of a list, or a line or element that begins with
// something other than a letter. It is far cheaper than to read the lines.
func mayList(text string) bool {
	begins := true
	for i, r := range text {
		switch {
		case r == '<' && len(text) > i+2 && listTags[strings.ToLower(text[i+1:i+3])]:
			return true
		case r == '\n', r == '\r', r == '>':
			begins = true
		case r == ' ', r == '\t':
		case begins && r != '<' && (!unicode.IsLetter(r) || unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r)):
			return true
		default:
			begins = false
		}
	}
	return false
}

// listedNames returns the names that an item of a list may mean: the cards that it links to, each text
// that it has as code, and the whole item without a remark in brackets.
func listedNames(item string) (names []string) {
	for _, r := range markup.Refs(item) {
		names = append(names, r.Target)
	}
	for i, part := range strings.Split(item, "`") {
		if i%2 == 1 {
			names = append(names, part)
		}
	}
	whole, _, _ := strings.Cut(item, " (")
	return append(names, strings.Trim(whole, " *_`"))
}
