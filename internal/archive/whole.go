package archive

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/op"
)

// A readTag says which version of a card somebody has read, and whether all of it: a write that
// replaces the whole content must not rest on a part.
//
// Its form is "whole-" or "partial-", then base64url of the first 16 bytes of HMAC-SHA-256
// over that word, the world, the card and the version as the reader counts it. The key is
// the instance's, so that nobody makes a whole one of a partial one.
type readTag string

const (
	wholeTag   = "whole"
	partialTag = "partial"
)

// tagOf is the tag of a card as the caller sees it.
func (d *deps) tagOf(l *canon.Look, c canon.Card, kind string) readTag {
	world := l.World().ID
	mac := hmac.New(sha256.New, d.secret)
	mac.Write([]byte("card " + kind + "\x00"))
	mac.Write(world[:])
	mac.Write(c.ID[:])
	mac.Write(binary.BigEndian.AppendUint32(nil, c.Version(l.View())))
	return readTag(kind + "-" + base64.RawURLEncoding.EncodeToString(mac.Sum(nil)[:16]))
}

// partial reports whether the tag claims no more than a part.
func (t readTag) partial() bool { return strings.HasPrefix(string(t), partialTag+"-") }

// version is the tag as a version's number.
func (t readTag) version() (uint32, bool) {
	n, err := strconv.ParseUint(string(t), 10, 32)
	return uint32(n), err == nil
}

// UnmarshalJSON takes a text, or the number of a version.
func (t *readTag) UnmarshalJSON(b []byte) error {
	var text string
	if json.Unmarshal(b, &text) != nil {
		text = string(b)
	}
	*t = readTag(strings.TrimSpace(text))
	return nil
}

// MarshalJSON gives the tag as text.
func (t readTag) MarshalJSON() ([]byte, error) { return json.Marshal(string(t)) }

// Schema says which forms there are.
func (readTag) Schema(s *jsonschema.Schema) {
	s.Types, s.Description, s.MaxLength = []string{"string", "integer"}, "", jsonschema.Ptr(100)
}

// fresh refuses a write of a card that is meant for another version than the present one;
// full says that it replaces the whole content. An agent over MCP must show that it has
// read the content that it replaces.
func (d *deps) fresh(l *canon.Look, c *op.Call, card canon.Card, t readTag, full bool) error {
	if full && t.partial() {
		return stale(l, card, "if_match is of a read that was cut, and writing it back as the whole would lose the rest")
	}
	if t == "" {
		if full && c.FromAgent() && card.Length > 0 {
			return unread(card, "is missing")
		}
		return nil
	}
	have := card.Version(l.View())
	if v, ok := t.version(); ok {
		switch {
		case v != have:
			return fault.New(fault.Stale, "%q is at version %d, not %d; read it again and repeat the change on what it holds now", card.Name, have, v).
				With("current_version", have)
		case full && c.FromAgent() && card.Length > 0:
			return unread(card, "is a number, which does not tell that you have read all of the content")
		}
		return nil
	}
	if t == d.tagOf(l, card, wholeTag) || t == d.tagOf(l, card, partialTag) {
		return nil
	}
	return stale(l, card, "if_match is not of the present version, which is "+strconv.FormatUint(uint64(have), 10))
}

// stale refuses a write that rests on something else than the whole present content.
func stale(l *canon.Look, card canon.Card, why string) error {
	return fault.New(fault.Stale, "%s; %s", why, howToRead(card)).With("current_version", card.Version(l.View()))
}

// unread refuses an agent's full write that does not show what it has read.
func unread(card canon.Card, why string) error {
	return fault.BadField("if_match", "%s: %q holds %d characters, and this would replace them all; %s", why, card.Name, card.Length, howToRead(card))
}

// howToRead says how to get the tag that a full write needs, and how to do without.
func howToRead(card canon.Card) string {
	args, err := json.Marshal(map[string]any{"name": card.Name, "full": true})
	if err != nil {
		return ""
	}
	return "read it with get_card " + string(args) + " and send the etag of that answer as if_match, or send a patch, which changes only a part"
}

// contentLimit is how many characters of content to give. Where no number is asked for,
// MCP gives a part and the other transports give all.
func contentLimit(c *op.Call, asked int, full bool, content string) int {
	switch {
	case full || asked == 0 && (c.Transport == "rest" || c.Transport == "cli"):
		return max(len(content), 1)
	case asked == 0:
		return defaultContent
	}
	return asked
}
