package secrecy

import (
	"html"
	"slices"
	"strconv"
	"strings"

	"loregate/internal/lazyregexp"
	"loregate/internal/markup"
)

// tag is a start tag of an HTML text.
type tag struct {
	name  string // in lower case
	attrs []attribute
	size  int  // in bytes
	cut   bool // the text ends before the tag does
}

// attribute is an attribute of a tag.
type attribute struct {
	key   string // in lower case
	value string // without entities
	from  int    // offset in the tag, with the blanks before the attribute
	to    int
}

// readTag reads the start tag at the beginning of s, as the HTML standard divides it. The name is empty
// if there is none.
func readTag(s string) (t tag) {
	if len(s) < 2 || s[0] != '<' || !isLetter(s[1]) {
		return t
	}
	at := 1 + endOfName(s[1:], " \t\n\f\r/>")
	t.name = strings.ToLower(s[1:at])
	for {
		from := at
		for at < len(s) && strings.IndexByte(" \t\n\f\r/", s[at]) >= 0 {
			at++
		}
		if at >= len(s) || s[at] == '>' {
			break
		}
		a := attribute{from: from}
		end := at + 1 + endOfName(s[at+1:], " \t\n\f\r/>=")
		a.key = strings.ToLower(s[at:end])
		at = end
		if equals := skipBlanks(s, at); equals < len(s) && s[equals] == '=' {
			a.value, at = readValue(s, equals+1)
		}
		a.to = min(at, len(s))
		t.attrs = append(t.attrs, a)
	}
	if t.cut = at >= len(s); t.cut {
		t.size = len(s)
	} else {
		t.size = at + 1
	}
	return t
}

func skipBlanks(s string, at int) int {
	for at < len(s) && strings.IndexByte(" \t\n\f\r", s[at]) >= 0 {
		at++
	}
	return at
}

func isLetter(b byte) bool { return (b|0x20) >= 'a' && (b|0x20) <= 'z' }

func endOfName(s, ends string) int {
	if i := strings.IndexAny(s, ends); i >= 0 {
		return i
	}
	return len(s)
}

// readValue reads the value of an attribute after its equals sign. end is the offset after it.
func readValue(s string, at int) (value string, end int) {
	at = skipBlanks(s, at)
	switch {
	case at >= len(s) || s[at] == '>':
		return "", at
	case s[at] == '"' || s[at] == '\'':
		n := strings.IndexByte(s[at+1:], s[at])
		if n < 0 {
			return html.UnescapeString(s[at+1:]), len(s)
		}
		return html.UnescapeString(s[at+1 : at+1+n]), at + n + 2
	}
	n := endOfName(s[at:], " \t\n\f\r>")
	return html.UnescapeString(s[at : at+n]), at + n
}

// judge decides about tags and words of one text, and remembers its decisions.
type judge struct {
	attrs map[string]judgement
	// sheets are the selectors that style sheets hide: ".x", "#x", "[x" and "x".
	sheets map[string]bool
}

type judgement struct {
	mark   Mark
	marked bool
}

// maxJudged is the maximum length of a name, word or attribute that is judged or remembered, and maxKept the
// number of attributes that are remembered.
const (
	maxJudged = 200
	maxKept   = 10_000
)

// isExact is isExact for the names of tags and words in attributes, which may be very long.
func (j *judge) isExact(text string) bool {
	return len(text) <= maxJudged && isExact(text) // no exact form is longer
}

// markOf returns the mark of a start tag: that of its name or of an attribute. after is the text that
// follows it.
func (j *judge) markOf(t tag, after string) (why Mark, marked bool) {
	if j.isExact(t.name) {
		return exact(ruleElement, "<"+t.name+">"), true
	}
	if strings.ContainsAny(t.name, "-:.") && len(t.name) <= maxJudged && FindWord(t.name, true) != "" {
		return Mark{Rule: ruleElement, What: "<" + t.name + ">", Doubt: true}, true
	}
	if j.sheets[t.name] {
		return Mark{Rule: ruleElement, What: "style of " + t.name, Doubt: true}, true
	}
	for _, a := range t.attrs {
		if j.sheets["["+a.key] {
			why, marked = Mark{Rule: ruleElement, What: "style of " + a.key, Doubt: true}, true
		}
		if a.value == "none" && a.key == "fill" && (t.name == "text" || t.name == "tspan") {
			return exact(ruleElement, "fill=none"), true
		}
		isSize := a.key == "width" || a.key == "height"
		if isSize && t.name == "svg" && a.value != "" && strings.Trim(a.value, "0. px%") == "" {
			why, marked = Mark{Rule: ruleElement, What: a.key + "=0", Doubt: true}, true
		}
		if t.name == "input" && a.key == "type" && strings.EqualFold(a.value, "hidden") {
			return exact(ruleElement, "type=hidden"), true
		}
		if got := j.judgeAttribute(a); got.marked && (!marked || why.Doubt && !got.mark.Doubt) {
			why, marked = got.mark, true
		}
	}
	if !marked && t.name == "details" {
		return markOfDetails(after)
	}
	return why, marked
}

func (j *judge) judgeAttribute(a attribute) judgement {
	switch {
	case a.key == "hidden" || a.key == "popover":
		return judgement{exact(ruleElement, a.key), true}
	case a.key == "style":
		return judgeStyle(a.value)
	case drawn[a.key]:
		return judgeStyle(a.key + ":" + a.value)
	case len(a.key) > maxJudged:
		return judgement{}
	}
	key := a.key + "=" + a.value
	got, ok := j.attrs[key]
	if ok {
		return got
	}
	switch name, isData := strings.CutPrefix(a.key, "data-"); {
	case a.key == "class":
		got = j.judgeClass(strings.Fields(a.value))
	case isData:
		got = j.judgeData(a, name)
	case truthOf(a.value) == isNo:
	case j.isExact(a.key):
		got = judgement{exact(ruleElement, a.key), true}
	case strings.HasPrefix(a.key, "aria-"): // for readers who do not see the page
	case (a.key == "id" || a.key == "role") && j.isExact(a.value), a.key == "id" && j.sheets["#"+a.value],
		strings.ContainsAny(a.key, "-:") && FindWord(a.key, true) != "":
		got = judgement{Mark{Rule: ruleElement, What: a.key, Doubt: true}, true}
	}
	if len(key) <= maxJudged && len(j.attrs) < maxKept {
		if j.attrs == nil {
			j.attrs = map[string]judgement{}
		}
		j.attrs[key] = got
	}
	return got
}

// judgeClass judges a list of classes. In Foundry the class "secret" hides unless "revealed" is there too.
func (j *judge) judgeClass(classes []string) (got judgement) {
	revealed := slices.ContainsFunc(classes, func(c string) bool {
		return slices.Contains(marks().HTML.Revealed, strings.ToLower(c))
	})
	for _, class := range classes {
		name := strings.ToLower(class)
		switch {
		case revealed && name == "secret" || slices.Contains(marks().HTML.OpenClasses, name):
		case j.isExact(class):
			return judgement{exact(ruleElement, "class="+name), true}
		case !got.marked && len(class) <= maxJudged && (FindWord(class, true) != "" || j.sheets["."+class]):
			got = judgement{Mark{Rule: ruleElement, What: "class=" + name, Doubt: true}, true}
		}
	}
	return got
}

// judgeData judges a data attribute: one with a secret word as its value, one such as data-secret, and one
// that names the readers, such as data-visibility, for which everything hides but a word for everybody.
func (j *judge) judgeData(a attribute, name string) judgement {
	key, said := markup.PartKey(name), truthOf(a.value)
	hides := false
	switch {
	case markup.HasPart(marks().Keys.Readers, key):
		hides = said != isUnset && slices.ContainsFunc(strings.FieldsFunc(a.value, isListSign), func(word string) bool {
			return !markup.HasPart(marks().Values.Everybody, markup.PartKey(word))
		})
	case markup.HasPart(marks().Keys.Open, key) || markup.HasPart(marks().Keys.Player, key):
		hides = said == isNo
	case j.isExact(name):
		hides = said != isNo
	}
	hides = hides || slices.ContainsFunc(strings.Fields(a.value), j.isExact)
	if !hides && said != isNo && FindWord(name, true) != "" {
		return judgement{Mark{Rule: ruleElement, What: a.key, Doubt: true}, true}
	}
	return judgement{exact(ruleElement, a.key+"="+markup.Clip(strings.ToLower(a.value), 60)), hides}
}

func isListSign(r rune) bool { return strings.ContainsRune(" ,;|\t\n", r) }

var (
	cssComment  = lazyregexp.New(`(?s)/\*.*?(?:\*/|$)`)
	cssEscape   = lazyregexp.New(`\\(?:[0-9a-fA-F]{1,6}\s?|[^0-9a-fA-F\n])`)
	cssSign     = lazyregexp.New(` ?([:;,()/{}]) ?`)
	croppedForm = lazyregexp.New(`(?:^|;)(?:overflow(?:-[a-z]+)?:.*(?:hidden|clip|auto|scroll)|` +
		`contain:.*(?:paint|strict|content))`)
	cssPrefix = lazyregexp.New(`^-(?:webkit|moz|ms|o|khtml)-`)
	cssColor  = strings.NewReplacer("white", "#fff", "black", "#000", "#ffffff", "#fff", "#000000", "#000")
)

// judgeStyle judges a style: one that shows nothing is a mark, and one that may show nothing is doubtful.
func judgeStyle(style string) (got judgement) {
	style = cssSign.ReplaceAllString(strings.Join(strings.Fields(strings.ToLower(plainCSS(style))), " "), "$1")
	cropped := croppedForm.MatchString(style)
	color, ground := "", "-"
	for part := range strings.SplitSeq(style, ";") {
		part, _, _ = strings.Cut(part, "!")
		part = cssPrefix.ReplaceAllString(strings.TrimSpace(part), "")
		switch property, value, _ := strings.Cut(part, ":"); property {
		case "color":
			color = cssColor.Replace(value)
		case "background", "background-color":
			ground = cssColor.Replace(value)
		}
		switch {
		case marks().hiding.MatchString(part):
			return judgement{exact(ruleElement, "style"), true}
		case marks().dimming.MatchString(part), cropped && marks().cropping.MatchString(part), color == ground:
			got = judgement{Mark{Rule: ruleElement, What: "style", Doubt: true}, true}
		}
	}
	return got
}

var (
	sheetForm    = lazyregexp.New(`(?is)<style\b[^>]{0,1000}>(.*?)(?:</style|$)`)
	ruleForm     = lazyregexp.New(`([^{}]*)\{([^{}]*)\}`)
	selectorForm = lazyregexp.New(`([.#\[]?)([\pL\pN_-]{1,60})[^.#\[]*`)
)

// readSheets remembers the classes, names, attributes and elements that the style sheets in a text hide: for each
// selector those of its last part.
func (j *judge) readSheets(text string) {
	if !strings.Contains(text, "<style") && !strings.Contains(text, "<STYLE") {
		return
	}
	j.sheets = map[string]bool{}
	for _, sheet := range sheetForm.FindAllStringSubmatch(text, 100) {
		for _, rule := range ruleForm.FindAllStringSubmatch(plainCSS(sheet[1]), 1000) {
			if !judgeStyle(rule[2]).marked {
				continue
			}
			for selector := range strings.SplitSeq(rule[1], ",") {
				parts := strings.FieldsFunc(selector, func(r rune) bool { return strings.ContainsRune(" \t\n>+~", r) })
				if len(parts) == 0 {
					continue
				}
				for _, name := range selectorForm.FindAllStringSubmatch(parts[len(parts)-1], 5) {
					if name[1] != "" || !strings.ContainsAny(parts[len(parts)-1], ".#[") {
						j.sheets[name[1]+name[2]] = true
					}
				}
			}
		}
	}
}

// plainCSS returns a style or style sheet without comments and escapes.
func plainCSS(style string) string {
	return cssEscape.ReplaceAllStringFunc(cssComment.ReplaceAllString(style, ""), func(s string) string {
		if n, err := strconv.ParseInt(strings.TrimSpace(s[1:]), 16, 32); err == nil {
			return string(rune(n))
		}
		return s[1:]
	})
}

// drawn are the attributes of a drawing that are written as styles too.
var drawn = setOf("display", "visibility", "opacity", "fill-opacity", "font-size")

var (
	summaryForm = lazyregexp.New(`(?is)<(?:summary\b[^>]{0,200}>(.{1,300})|/?details\b)`)
	tagForm     = lazyregexp.New(`<!--(?s:.*?)-->|<[^>]*>`)
)

// markOfDetails returns the mark of a <details> element by its summary.
func markOfDetails(after string) (why Mark, marked bool) {
	m := summaryForm.FindStringSubmatch(after[:min(len(after), 1000)])
	if m == nil || m[1] == "" {
		return why, false
	}
	summary, _, _ := strings.Cut(m[1], "</summary")
	summary = markup.Clip(strings.TrimSpace(html.UnescapeString(tagForm.ReplaceAllString(summary, ""))), 100)
	return Mark{Rule: ruleElement, What: "details: " + markup.Clip(summary, 60), Doubt: !isExact(summary)},
		FindWord(summary, true) != ""
}
