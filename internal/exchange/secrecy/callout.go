package secrecy

import (
	"regexp"
	"strings"

	"loregate/internal/exchange"
	"loregate/internal/exchange/markdown"
	"loregate/internal/markup"
)

// calloutForm matches the first line of a callout, however nested in quotes and lists. Its groups
// are the prefix, the kind with its options, and the title.
var calloutForm = regexp.MustCompile(`^((?:\s|>|[-*+]\s|\d{1,9}[.)]\s)*>(?:\s|>|[-*+]\s|\d{1,9}[.)]\s)*)` +
	`\[!([^\]\n]{1,200})\][+-]?[ \t]*(.*)$`)

// calloutMark returns the mark of a callout's kind, options or title.
func calloutMark(kind, title string) (exchange.Mark, bool) {
	kind, options, _ := strings.Cut(kind, "|")
	shown := "[!" + strings.ToLower(strings.TrimSpace(kind)) + "]"
	switch {
	case isExact(kind) || FindWord(kind, true) != "" || isExact(options):
		return exact(ruleCallout, shown), true
	case isExact(title):
		return exact(ruleCallout, shown+" "+strings.TrimSpace(title)), true
	case FindWord(kind, false) != "" || FindWord(title, true) != "" || FindWord(options, true) != "":
		return exchange.Mark{Rule: ruleCallout, What: shown + " " + markup.Clip(strings.TrimSpace(title), 60),
			Doubt: true}, true
	}
	return exchange.Mark{}, false
}

// findCallouts finds the block quotes that begin with a secret callout, at any depth. A nested callout
// ends where its own depth ends.
func (h *Result) findCallouts(text string) (found []span) {
	if !strings.Contains(text, "[!") {
		return nil
	}
	code := markdown.NewCodeScanner(text)
	depth, last := 0, "" // of the callout: its depth, and its last line without the quote
	for at := 0; at < len(text); {
		line, _, _ := strings.Cut(text[at:], "\n")
		next := min(at+len(line)+1, len(text))
		m, secret := calloutForm.FindStringSubmatch(line), false
		if m != nil {
			why, marked := calloutMark(m[2], m[3])
			secret = marked && h.isHidden(why)
		}
		switch {
		case secret && (depth == 0 || strings.Count(m[1], ">") <= depth):
			depth, last = strings.Count(m[1], ">"), ""
			found = append(found, span{at, next})
		case depth > 0 && isCalloutLine(line, depth, last):
			last = stripQuotes(line, depth)
			found[len(found)-1].to = next
		default:
			depth = 0
			if n := code.FenceLength(at); n > 0 {
				next = at + n
			}
		}
		at = next
	}
	return found
}

// isCalloutLine reports whether a line belongs to a callout of the given depth: it is quoted at
// least as deeply, or continues the paragraph of the line before, last.
func isCalloutLine(line string, depth int, last string) bool {
	quotes, rest := quoteDepth(line)
	if quotes >= depth {
		return true
	}
	return strings.TrimSpace(rest) != "" && strings.TrimSpace(last) != ""
}

func quoteDepth(line string) (n int, rest string) {
	for i, r := range line {
		switch r {
		case '>':
			n++
		case ' ', '\t':
		default:
			return n, line[i:]
		}
	}
	return n, ""
}

func stripQuotes(line string, depth int) string {
	for range depth {
		line = strings.TrimPrefix(strings.TrimLeft(line, " \t"), ">")
	}
	return strings.TrimPrefix(line, " ")
}
