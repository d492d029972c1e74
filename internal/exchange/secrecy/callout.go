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
		return exchange.Mark{Rule: ruleCallout, What: shown + " " + markup.Clip(strings.TrimSpace(title), 60), Doubt: true}, true
	}
	return exchange.Mark{}, false
}

// takeCallouts takes out the block quotes that begin with a secret callout, at any depth. A nested
// callout ends where its own depth ends.
func (h *Result) takeCallouts(text string, keep func(string)) string {
	if !strings.Contains(text, "[!") {
		return text
	}
	code := markdown.NewCodeScanner(text)
	var out, taken []string
	depth := 0
	end := func() {
		if depth > 0 {
			keep(strings.Join(taken, "\n"))
		}
		taken, depth = nil, 0
	}
	for at := 0; at < len(text); {
		line, _, _ := strings.Cut(text[at:], "\n")
		next := at + len(line) + 1
		m, secret := calloutForm.FindStringSubmatch(line), false
		if m != nil {
			why, marked := calloutMark(m[2], m[3])
			secret = marked && h.isHidden(why)
		}
		switch {
		case secret && (depth == 0 || strings.Count(m[1], ">") <= depth):
			end()
			depth = strings.Count(m[1], ">")
			if m[3] != "" {
				taken = append(taken, "**"+m[3]+"**", "")
			}
		case depth > 0 && isCalloutLine(line, depth, taken):
			taken = append(taken, stripQuotes(line, depth))
		default:
			end()
			if n := code.FenceLength(at); n > 0 {
				line, next = strings.TrimSuffix(text[at:at+n], "\n"), at+n
			}
			out = append(out, line)
		}
		at = next
	}
	end()
	if strings.HasSuffix(text, "\n") {
		out = append(out, "")
	}
	return strings.Join(out, "\n")
}

// isCalloutLine reports whether a line belongs to a callout of the given depth: it is quoted at
// least as deeply, or continues the paragraph of the line before.
func isCalloutLine(line string, depth int, taken []string) bool {
	quotes, rest := quoteDepth(line)
	if quotes >= depth {
		return true
	}
	return strings.TrimSpace(rest) != "" && len(taken) > 0 && strings.TrimSpace(taken[len(taken)-1]) != ""
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
