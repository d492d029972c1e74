package markup

import (
	"strconv"
	"strings"
)

// Context contains the cards to which a relative name refers.
type Context struct {
	Self string // name of the card whose content contains the relative name
	Main string // name of the card that the reader opened; "" means Self
	User string // name of the reader's card; if it is "", "_user" stays as written
}

// maxRelative is the maximum length of a relative name, in bytes. It is four times the length of a
// name of MaxNameLength four-byte characters. It is small enough to limit the result if each part
// repeats the whole of Self.
const maxRelative = 4096

// Resolve makes a relative name on the card self absolute. self is also the main card. See
// Context.Resolve.
func Resolve(relative, self string) string {
	return Context{Self: self}.Resolve(relative)
}

// Resolve makes a relative name absolute, as Decko does. These parts, in any case, are replaced:
//
//	_self, _whole, _   the card itself
//	_left, _right      its left, its last part; for a simple name, the name
//	_main, _user       the opened card, the reader's card
//	_1, _2, …          its first, second, … part; the last if there are fewer
//	_L, _LL, …         its left, the left of that, …; at least the first part
//	_R, _LR, _LLR, …   the last part of it, of its left, …
//
// A leading '+' puts the card before the name, a trailing one after it, unless the name already
// contains it there. A name that is not relative is returned with its parts trimmed. A blank name
// gives "". A name over 4,096 bytes cannot belong to a card and is returned unchanged. A name that
// would become longer than 16 KiB gives "".
func (c Context) Resolve(relative string) string {
	if len(relative) > maxRelative || len(c.Self) > maxRelative {
		return relative
	}
	parts := Parts(relative)
	if len(parts) == 0 {
		return ""
	}
	self := strings.TrimSpace(c.Self)
	for i, p := range parts {
		if strings.HasPrefix(p, "_") {
			parts[i] = c.resolvePart(p, self)
		}
	}
	size := 0
	for _, p := range parts {
		if size += len(p) + 1; size > 4*maxRelative { // many parts may repeat self
			return ""
		}
	}
	return strings.Join(withEnds(parts, self), "+")
}

// withEnds inserts self if the name begins or ends with '+'.
func withEnds(parts []string, self string) []string {
	last := len(parts) - 1
	if parts[0] != "" && parts[last] != "" {
		return parts
	}
	key, selfKey := KeyOf(strings.Join(parts, "+")), KeyOf(self)
	if parts[0] == "" && (selfKey == "" || !key.HasPrefix(selfKey)) {
		parts[0] = self
	}
	if last > 0 && parts[last] == "" && (selfKey == "" || !strings.HasSuffix("+"+string(key), "+"+string(selfKey))) {
		parts[last] = self
	}
	return parts
}

func (c Context) resolvePart(part, self string) string {
	word := strings.ToLower(part[1:])
	switch word {
	case "", "self", "whole":
		return self
	case "left":
		return nthLeft(self, 1)
	case "right":
		return Tag(self)
	case "main":
		if c.Main == "" {
			return self
		}
		return strings.TrimSpace(c.Main)
	case "user":
		if c.User == "" {
			return part
		}
		return strings.TrimSpace(c.User)
	}
	if n, err := strconv.ParseUint(word, 10, 16); err == nil {
		return nthPart(self, int(n))
	}
	lefts := len(word) - len(strings.TrimLeft(word, "l"))
	switch word[lefts:] {
	case "":
		return nthLeft(self, lefts)
	case "r":
		return Tag(nthLeft(self, lefts))
	}
	return part
}

// nthPart returns the n-th part, counted from one. It returns the last part if n is 0 or too large.
func nthPart(name string, n int) string {
	parts := Parts(name)
	if len(parts) == 0 {
		return ""
	}
	if n < 1 || n > len(parts) {
		n = len(parts)
	}
	return parts[n-1]
}

// nthLeft removes the last n parts but always keeps the first.
func nthLeft(name string, n int) string {
	for ; n > 0; n-- {
		left := Left(name)
		if !strings.Contains(name, "+") {
			break
		}
		name = left
	}
	return name
}
