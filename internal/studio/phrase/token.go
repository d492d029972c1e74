package phrase

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"loregate/internal/lazyregexp"
)

// The kinds of tokens.
const (
	kindWord   = "word"
	kindNumber = "number"
	kindQuote  = "quote"  // text is what stands in the quotation marks
	kindName   = "name"   // a name that the caller found; text is the card's name
	kindPath   = "path"   // of a file
	kindTarget = "target" // such as blender:tavern
	kindMark   = "mark"   // punctuation
)

// token is a word or phrase of the sentence.
type token struct {
	kind       string
	text, low  string // low is folded
	num        float64
	is         classes
	start, end int // in the sentence
}

func (t token) has(class string) bool { _, ok := t.is[class]; return ok }

// hasAny reports whether a token has one of the classes.
func (t token) hasAny(list ...string) bool { return slices.ContainsFunc(list, t.has) }

// anyHas reports whether one of the tokens has a class.
func anyHas(in []token, class string) bool {
	return slices.ContainsFunc(in, func(t token) bool { return t.has(class) })
}

// isVerb reports whether a token is the given verb.
func (t token) isVerb(verb string) bool { return t.is["verb"] == verb }

var (
	pathForm   = lazyregexp.New(`^(?:[A-Za-z][\w+.-]*:)?[~\w.\-]*[/\\][^\s,;"'()]*|^~[\w.\-]*|^[\p{L}\p{N}_\-]+\.(?i:glb|gltf|obj|fbx|stl|usdz?|ply|dae|blend)\b`)
	targetForm = lazyregexp.New(`^(?:blender|godot|unreal):[\p{L}\p{N}_-]+`)
	quoteForm  = lazyregexp.New(`^(?:"([^"]*)"|“([^”]*)”|„([^“”]*)[“”]|«([^»]*)»|'([^']*)'(?:$|[^\p{L}]))`)
	numberForm = lazyregexp.New(`^[-−]?\d+(?:\.\d+)?`)
	wordPiece  = lazyregexp.New(`^\p{L}[\p{L}\p{N}_'’-]*`)
)

// Name is a name in a sentence that the caller knows.
type Name struct {
	Start, End int // in bytes
	Card       string
}

// maxTokens bounds the tokens of a request; the rest is not read.
const maxTokens = 400

// tokenize splits a sentence into tokens and joins the phrases of the vocabulary.
func tokenize(text string, names []Name) []token {
	var out []token
	text = commaForm.ReplaceAllString(text, "$1.$2$3")
	for at := 0; at < len(text) && len(out) < maxTokens; {
		if i := slices.IndexFunc(names, func(n Name) bool { return n.Start == at && n.End > at }); i >= 0 {
			out = append(out, token{kind: kindName, text: names[i].Card, start: at, end: names[i].End})
			at = names[i].End
			continue
		}
		t, n := nextToken(text[at:], at > 0 && isLetter(text[:at]), len(out) > 0 && out[len(out)-1].kind == kindNumber)
		if t.kind != "" {
			t.start, t.end = at, at+n
			out = append(out, t)
		}
		at += n
	}
	for i := 1; i+1 < len(out); i++ { // "7; -7; 4"
		before := out[i-1].kind == kindNumber || i > 1 && out[i-2].kind == kindNumber
		if out[i].low == ";" && before && out[i+1].kind == kindNumber {
			out[i].low = ","
		}
	}
	return resolveWords(joinNumbers(joinPhrases(joinLists(out))))
}

// commaForm matches a decimal comma: a number with one in a list that semicolons divide. It keeps the length of a text.
var commaForm = lazyregexp.New(`(\d),(\d+)( ?(?:m|cm|mm|km) ?;)`)

// isLetter reports whether a text ends with a letter or digit.
func isLetter(s string) bool {
	r, _ := utf8.DecodeLastRuneInString(s)
	return unicode.IsLetter(r) || unicode.IsDigit(r)
}

// nextToken returns the first token of a text and its length in bytes. The kind of space is "".
func nextToken(s string, afterLetter, afterNumber bool) (token, int) {
	r, n := utf8.DecodeRuneInString(s)
	if unicode.IsSpace(r) {
		return token{}, n
	}
	if m := quoteForm.FindStringSubmatch(s); m != nil && !afterLetter {
		inner := strings.Join(m[1:], "")
		open := utf8.RuneLen(r)
		end := open
		if r == '„' || r == '“' {
			end = len("”")
		}
		return token{kind: kindQuote, text: strings.TrimSpace(inner)}, open + len(inner) + end
	}
	if afterNumber && (r == 'x' || r == 'X' || r == '×') && (len(s) == n || s[n] == ' ' || s[n] == '-' || s[n] >= '0' &&
		s[n] <= '9') {
		return token{kind: kindWord, text: "x", low: "x"}, n
	}
	for _, p := range []struct {
		kind string
		form *lazyregexp.Regexp
	}{{kindTarget, targetForm}, {kindPath, pathForm}, {kindNumber, numberForm}, {kindWord, wordPiece}} {
		if p.kind != kindNumber && afterLetter && p.kind != kindWord {
			continue
		}
		m := p.form.FindString(s)
		if m == "" {
			continue
		}
		t := token{kind: p.kind, text: m, low: fold(m)}
		if p.kind == kindPath {
			t.text = strings.TrimRight(m, ".!?")
			return t, len(t.text)
		}
		if p.kind == kindNumber {
			t.num = parseNumber(strings.Replace(m, "−", "-", 1))
		}
		return t, len(m)
	}
	return token{kind: kindMark, text: s[:n], low: s[:n]}, n
}

// joinPhrases makes one token of each longest phrase of the vocabulary.
func joinPhrases(in []token) []token {
	lex := words()
	var out []token
	for i := 0; i < len(in); {
		n, is := 0, classes(nil)
		for k := min(lex.longest[in[i].low], len(in)-i); k > 0 && in[i].kind == kindWord; k-- {
			key, ok := phraseKey(in[i : i+k])
			if is, ok = lex.phrases[key], ok && lex.phrases[key] != nil; ok {
				n = k
				break
			}
		}
		if n == 0 {
			t := in[i]
			if short, rest, ok := cutElision(t); ok {
				out = append(out, short)
				in = slices.Clone(in)
				in[i] = rest
				continue
			}
			if t.kind == kindWord && len(t.low) > 4 { // a plural has the classes of its singular
				t.is = lex.phrases[strings.TrimSuffix(t.low, "s")]
				if t.has("word") && isEnglish(t.low) {
					t = t.without("word") // torches
				}
				if v, ok := readCompound(t.low); ok && t.is == nil {
					t.is, t.num = classes{"number": formatNumber(v)}, v
				}
				if t.is == nil && !isEnglish(t.low) {
					t.is = inflected(t.low)
				}
			}
			out = append(out, t)
			i++
			continue
		}
		t := in[i]
		t.is, t.end = is, in[i+n-1].end
		parts := make([]string, n)
		for k := range parts {
			parts[k] = in[i+k].text
		}
		t.text = strings.Join(parts, " ")
		t.low = fold(t.text)
		if v, ok := is["number"]; ok {
			t.num = parseNumber(v)
		}
		out = append(out, t)
		i += n
	}
	return out
}

// elided are the words of French that lose their vowel in front of another one, by the letters that stay.
var elided = map[string]string{"d": "de", "l": "le", "n": "ne", "s": "se", "j": "je", "m": "moi", "t": "te", "c": "ca", "qu": "que"}

// cutElision divides a French word with an elided one before it, such as "d'un".
func cutElision(t token) (short, rest token, ok bool) {
	letters, _, ok := strings.Cut(t.low, "'")
	if t.kind != kindWord || !ok || elided[letters] == "" || len(t.low) < len(letters)+3 {
		return t, t, false
	}
	_, text, _ := strings.Cut(strings.ReplaceAll(t.text, "’", "'"), "'")
	short, rest = t, t
	short.low, short.is = elided[letters], words().phrases[elided[letters]]
	short.text, short.end = short.low, t.end-len(text)
	rest.start, rest.text, rest.low = short.end, text, fold(text)
	return short, rest, true
}

// resolveWords removes classes that the neighbours of a word exclude: a lead word behind an article is
// a noun, as in "around a well".
func resolveWords(in []token) []token {
	for i := 1; i < len(in); i++ {
		if in[i].has("lead") && (in[i-1].has("article") || in[i-1].low == "the" || in[i-1].isNumber()) {
			in[i] = in[i].without("lead")
		}
	}
	return in
}

// phraseKey returns the key of a phrase, or false if it holds something that is no word.
func phraseKey(list []token) (string, bool) {
	parts := make([]string, len(list))
	for i, t := range list {
		if t.kind != kindWord {
			return "", false
		}
		parts[i] = t.low
	}
	return strings.Join(parts, " "), true
}

// isNumber reports whether a token is a number in digits or words.
func (t token) isNumber() bool { return t.kind == kindNumber || t.has("number") }

// formatNumber formats a number for an answer.
func formatNumber(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }
