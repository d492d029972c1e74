package foundry

import (
	"strings"

	"loregate/internal/exchange"
	"loregate/internal/lazyregexp"
)

// linkForm matches the links of all versions: @UUID[…]{label}, @Embed[…], @Actor[…]{label}.
var linkForm = lazyregexp.New(`@([A-Za-z]+)\[([^\]\n]{1,500})\](?:\{([^}\n]{0,500})\})?`)

// wikiBrackets are taken for links and nests; in Foundry they are commands such as [[/roll 1d20]].
var wikiBrackets = strings.NewReplacer("[[", "&#91;&#91;", "{{", "&#123;&#123;")

// renderText turns the links in a text into wiki links. A link to a document that the readers of the
// text do not see becomes its label; a link to an unknown document stays as it is written.
func (x *reader) renderText(from *exchange.Sheet, text string) string {
	return linkForm.ReplaceAllStringFunc(wikiBrackets.Replace(text), func(match string) string {
		m := linkForm.FindStringSubmatch(match)
		ref, _, _ := strings.Cut(m[2], "#")
		ref, _, _ = strings.Cut(strings.TrimSpace(ref), " ")
		to := x.sheets[ref[strings.LastIndexByte(ref, '.')+1:]]
		if to == nil {
			x.broken++
			return match
		}
		return x.s.LinkText(from, to, m[3])
	})
}
