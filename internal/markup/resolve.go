package markup

import (
	"strconv"
	"strings"
)

// Context is the place that a relative name is read from.
type Context struct {
	Self string // name of the card whose content holds the relative name
	Main string // name of the card that the reader opened; Self when empty
	User string // name of the reader's card; "_user" stays as written when empty
}

// maxRelative is the longest relative name resolved, in bytes: four times what a
// name of MaxNameLength four-byte characters needs, and little enough that parts
// which each repeat the whole of self stay small.
const maxRelative = 4096

// Resolve makes a relative name absolute as read on the card self, which is also
// taken for the main card. See Context.Resolve.
func Resolve(relative, self string) string {
	return Context{Self: self}.Resolve(relative)
}

// Resolve makes a relative name absolute, as Decko does. Of its parts, in any
// case of letters:
//
//	_self, _whole, _   the card itself
//	_left, _right      its left, its last part; of a simple name, the name
//	_main, _user       the card opened, the reader
//	_1, _2, …          its first, second, … part; the last when there are fewer
//	_L, _LL, …         its left, the left of that, …; at least the first part
//	_R, _LR, _LLR, …   the last part of it, of its left, …
//
// A leading '+' puts the card before the name, a trailing one after it, unless
// the name has it there already. A name that is not relative comes back with its
// parts trimmed. A blank name gives "". A name over 4,096 bytes can be no card's
// and comes back as it is; one that would become longer than 16 KiB gives "".
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
		if size += len(p) + 1; size > 4*maxRelative { // parts that repeat self
			return ""
		}
	}
	return strings.Join(withEnds(parts, self), "+")
}

// withEnds puts self where the name begins or ends with a joint.
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

// nthPart counts from one and answers the last part beyond the end, and for 0.
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

// nthLeft drops n parts from the end but always leaves the first.
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
