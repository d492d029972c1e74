package op

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"loregate/internal/fault"
)

// A ReadTag says which version of something somebody has read, and whether all of it: a
// write that replaces the whole content must not rest on a part. A number is taken in its
// place as that of a version, and tells nothing of how much was read.
//
// Its form is "whole-" or "partial-", then base64url of the first 16 bytes of HMAC-SHA-256
// over that word and the marks of what was read, each with its length before it.
type ReadTag string

// The kinds of tag.
const (
	whole   = "whole"
	partial = "partial"
)

// Partial reports whether the tag claims no more than a part.
func (t ReadTag) Partial() bool { return strings.HasPrefix(string(t), partial+"-") }

// VersionTag is the tag that is a version's number; none for 0.
func VersionTag(n uint32) ReadTag {
	if n == 0 {
		return ""
	}
	return ReadTag(strconv.FormatUint(uint64(n), 10))
}

// UnmarshalJSON takes a text or a number.
func (t *ReadTag) UnmarshalJSON(b []byte) error {
	var text string
	if json.Unmarshal(b, &text) != nil {
		text = string(b)
	}
	*t = ReadTag(strings.TrimSpace(text))
	return nil
}

// MarshalJSON gives the tag as text.
func (t ReadTag) MarshalJSON() ([]byte, error) { return json.Marshal(string(t)) }

// Schema says which forms there are.
func (ReadTag) Schema(s *jsonschema.Schema) {
	s.Types, s.Description, s.MaxLength = []string{"string", "integer"}, "", jsonschema.Ptr(100)
}

// ReadTags makes and checks tags. Its key is the instance's, so that nobody makes a tag of
// a whole of one of a part.
type ReadTags struct{ Secret []byte }

// Held is what a call reads, or is about to replace.
type Held struct {
	Name    string   // for people
	Version uint32   // as the caller counts it
	Length  int      // of what would be replaced; 0 where nothing can be lost
	Marks   [][]byte // tell it and its version from all else
	Read    string   // the call that reads it whole, for messages
	Instead string   // how to change a part; "" for no such way
}

// Whole is the tag of who has read all of it.
func (r ReadTags) Whole(h Held) ReadTag { return r.tag(whole, h) }

// Part is the tag of who has read a part, or another form than what is stored.
func (r ReadTags) Part(h Held) ReadTag { return r.tag(partial, h) }

func (r ReadTags) tag(kind string, h Held) ReadTag {
	var text []byte
	for _, mark := range append([][]byte{[]byte(kind)}, h.Marks...) {
		text = append(strconv.AppendInt(text, int64(len(mark)), 10), ':')
		text = append(text, mark...)
	}
	mac := hmac.New(sha256.New, r.Secret)
	mac.Write(text)
	return ReadTag(kind + "-" + base64.RawURLEncoding.EncodeToString(mac.Sum(nil)[:16]))
}

// Check refuses a write that is meant for another version than the present one. full says
// that it replaces content whole: then a tag of a part is refused, and an agent over MCP
// must send the tag of a whole read.
func (r ReadTags) Check(c *Call, h Held, t ReadTag, full bool) error {
	agent := full && h.Length > 0 && c.FromAgent()
	n, err := strconv.ParseUint(string(t), 10, 32)
	number := err == nil
	switch {
	case full && t.Partial():
		return h.stale("if_match is of a read that was cut, and writing it back as the whole would lose the rest")
	case t == "" && agent:
		return h.unread("is missing")
	case t == "" || number && uint32(n) == h.Version && !agent:
		return nil
	case number && uint32(n) == h.Version:
		return h.unread("is a number, which does not tell that you have read all of the content")
	case number:
		return fault.New(fault.Stale, "%q is at version %d, not %d; read it again and repeat the change on what it holds now", h.Name, h.Version, n).
			With("current_version", h.Version)
	case t == r.Whole(h) || t == r.Part(h):
		return nil
	}
	return h.stale(fmt.Sprintf("if_match is not of the present version, which is %d", h.Version))
}

// stale refuses what rests on something else than the whole present content.
func (h Held) stale(why string) error {
	return fault.New(fault.Stale, "%s; %s", why, h.remedy()).With("current_version", h.Version)
}

// unread refuses an agent's full write that does not show what was read.
func (h Held) unread(why string) error {
	return fault.BadField("if_match", "%s: this would replace all that %q holds; %s", why, h.Name, h.remedy())
}

// remedy says how to get the tag that a full write needs, and how to do without.
func (h Held) remedy() string {
	text := "read it with " + h.Read + " and send the etag of that answer as if_match"
	if h.Instead != "" {
		text += ", or " + h.Instead
	}
	return text
}
