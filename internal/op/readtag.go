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

// A ReadTag identifies the version of some content that a caller has read, and whether all of it
// was read: a write that replaces the whole content must not be based on a part. A number is
// accepted in place of a tag. It is a version number and does not tell how much was read.
//
// The format is "whole-" or "partial-", then base64url of the first 16 bytes of HMAC-SHA-256 over
// that word and the marks of the content, each preceded by its length.
type ReadTag string

// The kinds of tag.
const (
	wholeTag   = "whole"
	partialTag = "partial"
)

// Partial reports whether the tag is of a partial read.
func (t ReadTag) Partial() bool { return strings.HasPrefix(string(t), partialTag+"-") }

// VersionTag returns the tag that is a version's number; none for 0.
func VersionTag(n uint32) ReadTag {
	if n == 0 {
		return ""
	}
	return ReadTag(strconv.FormatUint(uint64(n), 10))
}

// UnmarshalJSON accepts a text or a number.
func (t *ReadTag) UnmarshalJSON(b []byte) error {
	var text string
	if json.Unmarshal(b, &text) != nil {
		text = string(b)
	}
	*t = ReadTag(strings.TrimSpace(text))
	return nil
}

// MarshalJSON returns the tag as text.
func (t ReadTag) MarshalJSON() ([]byte, error) { return json.Marshal(string(t)) }

// Schema declares that a tag may be a string or an integer.
func (ReadTag) Schema(s *jsonschema.Schema) {
	s.Types, s.Description, s.MaxLength = []string{"string", "integer"}, "", jsonschema.Ptr(100)
}

// ReadTags makes and checks tags. Secret is the instance's key; without it nobody can turn the tag
// of a partial read into that of a whole read.
type ReadTags struct{ Secret []byte }

// Held is the content that a call reads or is about to replace.
type Held struct {
	Name    string   // for people
	Version uint32   // as the caller counts it
	Length  int      // of the content to be replaced; 0 if nothing can be lost
	Marks   [][]byte // identify the content and its version
	Read    string   // the call that reads it whole, for messages
	Instead string   // how to change a part; "" if that is not possible
}

// Whole returns the tag for a caller that has read all of the content.
func (r ReadTags) Whole(h Held) ReadTag { return r.makeTag(wholeTag, h) }

// Part returns the tag for a caller that has read a part, or another form than the stored one.
func (r ReadTags) Part(h Held) ReadTag { return r.makeTag(partialTag, h) }

func (r ReadTags) makeTag(kind string, h Held) ReadTag {
	var text []byte
	for _, mark := range append([][]byte{[]byte(kind)}, h.Marks...) {
		text = append(strconv.AppendInt(text, int64(len(mark)), 10), ':')
		text = append(text, mark...)
	}
	mac := hmac.New(sha256.New, r.Secret)
	mac.Write(text)
	return ReadTag(kind + "-" + base64.RawURLEncoding.EncodeToString(mac.Sum(nil)[:16]))
}

// Check refuses a write that is meant for another version than the present one. full reports
// whether the write replaces the whole content: then the tag of a partial read is refused, and an
// agent over MCP must send the tag of a whole read.
func (r ReadTags) Check(c *Call, h Held, t ReadTag, full bool) error {
	agent := full && h.Length > 0 && c.FromAgent()
	n, err := strconv.ParseUint(string(t), 10, 32)
	number := err == nil
	switch {
	case full && t.Partial():
		return h.staleFault("if_match comes from a shortened answer, and writing that answer back would lose the rest")
	case t == "" && agent:
		return h.unreadFault("is missing")
	case t == "" || number && uint32(n) == h.Version && !agent:
		return nil
	case number && uint32(n) == h.Version:
		return h.unreadFault("is a number, which does not show that you have read the whole content")
	case number:
		return fault.New(fault.Stale, "%q has version %d, not %d; read it again and repeat the change on the present content",
			h.Name, h.Version, n).
			With("current_version", h.Version)
	case t == r.Whole(h) || t == r.Part(h):
		return nil
	}
	return h.staleFault(fmt.Sprintf("if_match belongs to an earlier version; the present one is %d", h.Version))
}

// staleFault refuses a write that is not based on the whole present content.
func (h Held) staleFault(why string) error {
	return fault.New(fault.Stale, "%s; %s", why, h.remedyText()).With("current_version", h.Version)
}

// unreadFault refuses an agent's full write without proof that the agent has read the content.
func (h Held) unreadFault(why string) error {
	return fault.BadField("if_match", "%s: this would replace the whole content of %q; %s", why, h.Name, h.remedyText())
}

// remedyText describes how to get the tag that a full write needs, and how to do without.
func (h Held) remedyText() string {
	text := "read it with " + h.Read + " and send the etag of that answer as if_match"
	if h.Instead != "" {
		text += ", or " + h.Instead
	}
	return text
}
