package phrase

import (
	"math"
	"slices"
	"strings"
)

// joinNumbers makes one token of each number in several words, such as "one hundred and fifty",
// "treinta y cinco" or "minus three".
func joinNumbers(in []token) (out []token) {
	for i := 0; i < len(in); i++ {
		t := in[i]
		if t.has("minus") && i+1 < len(in) && in[i+1].isNumber() {
			n, next := readNumber(in, i+1)
			n.num, n.start, n.text = -n.num, t.start, t.text+" "+n.text
			n.kind = kindNumber
			out, i = append(out, n), next-1
			continue
		}
		if t.has("after") && t.has("number") && (i+1 == len(in) || in[i+1].kind != kindWord || in[i+1].has("det") ||
			in[i+1].has("pron") || in[i+1].has("lead") || in[i+1].has("verb")) { // "once it is built", not "once casas"
			out = append(out, t.without("number"))
			continue
		}
		if t.has("article") && i+1 < len(in) && in[i+1].has("unit") && !in[i+1].has("by") { // a mile
			t.kind, t.num, t.is = kindNumber, 1, nil
			out = append(out, t)
			continue
		}
		if !t.isNumber() {
			out = append(out, t)
			continue
		}
		n, next := readNumber(in, i)
		out, i = append(out, n), next-1
	}
	return out
}

// readNumber reads the number at an index and returns the index after it.
func readNumber(in []token, at int) (token, int) {
	t := in[at]
	next := at + 1
	whole, part := 0.0, t.num // thousands, and the number below a thousand
	if t.kind == kindWord && t.num >= 1000 {
		whole, part = t.num, 0
	}
	for next < len(in) {
		k := next
		joined := in[k].has("and") && k+1 < len(in) && in[k+1].kind == kindWord
		if joined {
			k++
		}
		v := in[k].num
		if in[k].kind != kindWord || !in[k].has("number") {
			break
		}
		switch {
		case joined && v == 0.5 && in[k].low == "a half":
			part += v
		case !joined && v >= 1000:
			whole, part = (whole+math.Max(part, 1))*v, 0
		case !joined && v == 100 && part < 100:
			part *= 100
		case t.kind == kindNumber, v < 1, v >= 100:
			k = -1
		case part == 0 && whole > 0, part >= 100 && math.Mod(part, 100) == 0:
			part += v
		case v < 10 && part >= 20 && math.Mod(part, 10) == 0 && (!joined || in[k-1].low == "y" || in[k-1].low == "et"):
			part += v
		default:
			k = -1
		}
		if k < 0 {
			break
		}
		next = k + 1
	}
	if next > at+1 {
		parts := []string{t.text}
		for _, more := range in[at+1 : next] {
			parts = append(parts, more.text)
		}
		t.kind, t.text, t.end, t.num = kindNumber, strings.Join(parts, " "), in[next-1].end, whole+part
		t.low, t.is = fold(t.text), nil
	}
	return t, next
}

// readCompound reads a number that is one word of several: "dreihundertfunfzig", "seventy-five".
func readCompound(s string) (float64, bool) {
	if v, ok := words().phrases[s]["number"]; ok {
		return parseNumber(v), true
	}
	if left, right, ok := strings.Cut(s, "-"); ok {
		a, known := readCompound(left)
		b, also := readCompound(right)
		return a + b, known && also && a >= 20 && math.Mod(a, 10) == 0 && b < 10
	}
	for _, m := range []struct {
		word string
		by   float64
	}{{"tausend", 1000}, {"hundert", 100}} {
		left, right, ok := strings.Cut(s, m.word)
		if !ok {
			continue
		}
		a, b := 1.0, 0.0
		if left != "" {
			if a, ok = readCompound(left); !ok {
				return 0, false
			}
		}
		if right = strings.TrimPrefix(right, "und"); right != "" {
			if b, ok = readCompound(right); !ok {
				return 0, false
			}
		}
		return a*m.by + b, true
	}
	if left, right, ok := strings.Cut(s, "und"); ok && left != "" {
		if left == "ein" {
			left = "eins"
		}
		a, known := words().phrases[left]["number"]
		b, also := words().phrases[right]["number"]
		return parseNumber(a) + parseNumber(b), known && also && parseNumber(b) >= 20
	}
	return 0, false
}

// without returns a token without a class.
func (t token) without(class string) token {
	is := classes{}
	for k, v := range t.is {
		if k != class {
			is[k] = v
		}
	}
	t.is = is
	return t
}

// joinLists removes the numbers of a numbered list, "1) build it 2) render it", and ends a sentence
// at each.
func joinLists(in []token) []token {
	is := func(i, n int) bool {
		return i+1 < len(in) && in[i].kind == kindNumber && in[i].num == float64(n) && in[i].end == in[i+1].start &&
			(in[i+1].low == ")" || in[i+1].low == "." && i+2 < len(in) && in[i+2].start > in[i+1].end)
	}
	if !slices.ContainsFunc(in, func(t token) bool { return t.low == ")" || t.low == "." }) {
		return in
	}
	var out []token
	n := 0
	for i := 0; i < len(in); i++ {
		if is(i, n+1) && (i == 0 || n > 0 || in[i-1].kind == kindMark) {
			out = append(out, token{kind: kindMark, text: ".", low: ".", start: in[i].start, end: in[i].start})
			n, i = n+1, i+1
			continue
		}
		out = append(out, in[i])
	}
	if n < 2 {
		return in
	}
	return out
}
