package marked

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"loregate/internal/secrecy"
)

// split separates a text from its marked parts. Words that only look secret are no marks, nor are scripts and styles,
// which are code and not kept.
func split(text string, form secrecy.Form) secrecy.Result {
	return secrecy.Split(text, form, func(m secrecy.Mark) bool {
		return !m.Doubt && m.What != "<script>" && m.What != "<style>"
	})
}

// probe stands after a text, to see that no mark reaches beyond it.
const probe = "probe"

// isMarked reports whether a whole text is marked, and nothing after it.
func isMarked(text string, form secrecy.Form) bool {
	after := "\n\n" + probe + "\n"
	if form == secrecy.HTML {
		after = "<p>" + probe + "</p>"
	}
	return strings.TrimSpace(split(text+after, form).Open) == strings.TrimSpace(after)
}

// keeper holds parts of a text while the rest is converted. A word that the text does not contain stands for each.
type keeper struct {
	mark      string // begins each word
	parts     []string
	converted int // number of parts that were converted
}

func newKeeper(text string) *keeper {
	sum := sha256.Sum256([]byte(text))
	return &keeper{mark: "m" + hex.EncodeToString(sum[:12]) + "n"}
}

func (k *keeper) word(i int) string { return k.mark + strconv.Itoa(i) + "e" }

// hold returns the word that stands for a part.
func (k *keeper) hold(part string) string {
	k.parts = append(k.parts, part)
	return k.word(len(k.parts) - 1)
}

// cut cuts a text before its first word that stands for a part. The part has the number i, and rest is the text after
// the word; i is -1 if there is none.
func (k *keeper) cut(text string) (before string, i int, rest string) {
	before, rest, found := strings.Cut(text, k.mark)
	number, rest, ended := strings.Cut(rest, "e")
	if i, err := strconv.Atoi(number); found && ended && err == nil && i < len(k.parts) {
		return before, i, rest
	}
	return text, -1, ""
}

// isAll reports whether a text consists of words that stand for parts.
func (k *keeper) isAll(text string) bool {
	for rest := text; len(k.parts) > 0; {
		before, i, after := k.cut(rest)
		if strings.Trim(before, " \t\r\n>") != "" {
			return false
		}
		if rest = after; i < 0 {
			return true
		}
	}
	return false
}

// intoHTML puts the parts back into HTML. A part whose word stands in a tag comes after the tag, and one whose word was
// left out at the end.
func (k *keeper) intoHTML(html string) string {
	var b, late strings.Builder // late are the parts of the tag that is read
	used := make([]bool, len(k.parts))
	inTag := false
	for rest := html; rest != ""; {
		text, i, after := k.cut(rest)
		if end := strings.IndexByte(text, '>'); inTag && end >= 0 {
			b.WriteString(text[:end+1] + late.String())
			late.Reset()
			text, inTag = text[end+1:], false
		}
		inTag = inTag || strings.LastIndexByte(text, '<') > strings.LastIndexByte(text, '>')
		rest = after
		switch {
		case i < 0 || used[i]:
			b.WriteString(text)
		case inTag:
			b.WriteString(text)
			late.WriteString(k.parts[i])
			used[i] = true
		default:
			if strings.HasSuffix(text, "<p>") && strings.HasPrefix(rest, "</p>") && isBlock(k.parts[i]) {
				text, rest = strings.TrimSuffix(text, "<p>"), strings.TrimPrefix(rest, "</p>")
			}
			b.WriteString(text + k.parts[i])
			used[i] = true
		}
	}
	b.WriteString(late.String())
	for i, part := range k.parts {
		if !used[i] {
			b.WriteString("\n" + part)
		}
	}
	return b.String()
}

// isBlock reports whether marked HTML stands for itself, and in no paragraph.
func isBlock(part string) bool {
	return strings.HasPrefix(part, "<!--") || blockStart.MatchString(part)
}
