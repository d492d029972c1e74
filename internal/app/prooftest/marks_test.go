package prooftest

import (
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"html"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"loregate/internal/access"
)

// mark is a word that is in one hidden place and nowhere else.
type mark struct {
	word  string
	place string // the kind of place: "name", "content", …
	label access.Label
	world string // slug of the world that has it; "" is the stage's
	apart bool   // no operation shows it to anybody today
}

// isVisibleTo reports whether somebody may be shown the mark.
func (m mark) isVisibleTo(who string) bool {
	p := people[who]
	if p.world != cmp.Or(m.world, "lendwater") {
		return false // as for callers without a key, and players whose token opens no cards
	}
	if m.world != "" {
		return true
	}
	return access.View{Level: p.role.Level(), Subject: access.Subject(who)}.Sees(m.label)
}

// markMint makes marks. Names do not change their letters: there are no vowels and no s, so
// that no mark is taken for a plural.
type markMint struct {
	rng *rand.Rand
	all []mark
}

func newMint(seed uint64) *markMint { return &markMint{rng: rand.New(rand.NewPCG(seed, 1))} }

const (
	markLetters = "bcdfghjklmnpqrtvwxz"
	markLength  = 16
	fragment    = 8
)

// newMark makes a mark for a place under a label, and returns its word.
func (m *markMint) newMark(place string, label access.Label) string {
	b := make([]byte, markLength)
	for i := range b {
		b[i] = markLetters[m.rng.IntN(len(markLetters))]
	}
	m.all = append(m.all, mark{word: string(b), place: place, label: label})
	return string(b)
}

// newUnshownMark is newMark for places that no operation shows.
func (m *markMint) newUnshownMark(place string, label access.Label) string {
	word := m.newMark(place, label)
	m.all[len(m.all)-1].apart = true
	return word
}

// detector finds any eight consecutive letters of any of its marks, plain or encoded.
type detector struct {
	marks []mark
	forms map[uint64][]form // by their first eight bytes
	some  [1 << 14]uint64   // a Bloom filter of the first eight bytes of forms, which most texts do not pass
}

type form struct {
	text string
	mark *mark
	how  string
}

func newDetector(marks []mark) *detector {
	d := &detector{marks: marks, forms: map[uint64][]form{}}
	for i := range marks {
		for at := 0; at+fragment <= len(marks[i].word); at++ {
			d.addForms(&marks[i], marks[i].word[at:at+fragment])
		}
	}
	return d
}

func (d *detector) addForms(m *mark, part string) {
	add := func(how, text string) {
		key := binary.LittleEndian.Uint64([]byte(text))
		if !slices.ContainsFunc(d.forms[key], func(f form) bool { return f.text == text && f.mark == m }) {
			d.forms[key] = append(d.forms[key], form{text, m, how})
			bit := hashKey(key)
			d.some[bit/64] |= 1 << (bit % 64)
		}
	}
	add("plain", part)
	for _, spelt := range []string{part, strings.ToUpper(part), strings.ToUpper(part[:1]) + part[1:]} {
		add("hex", hex.EncodeToString([]byte(spelt)))
		for lead := range 3 {
			coded := base64.RawStdEncoding.EncodeToString([]byte(strings.Repeat("\x00", lead) + spelt))
			first, last := (lead*8+5)/6, (lead+len(spelt))*8/6 // characters that depend on the part alone
			add("base64", coded[first:last])
		}
	}
}

// hashKey returns a hash of a key, of twenty bits.
func hashKey(key uint64) uint64 { return key * 0x9e3779b97f4a7c15 >> 44 }

// leak is a mark in an answer.
type leak struct {
	mark *mark
	how  string
	near string // the text around it
}

// findLeaks looks for marks in a text: as it is, in lower case, and with the escapes of HTML,
// JSON and URLs undone.
func (d *detector) findLeaks(text string) []leak {
	found := scanState{d: d, seen: map[*mark]bool{}}
	found.scan(text)
	for range 2 { // a URL may have escaped escapes
		if !strings.Contains(text, "%") && !strings.Contains(text, `\u`) && !strings.Contains(text, "&#") {
			break
		}
		text = unescape(text)
		found.scan(text)
	}
	return found.leaks
}

type scanState struct {
	d     *detector
	seen  map[*mark]bool
	leaks []leak
}

// scan checks every run of eight or more characters that can be part of a form; most of a text
// has no such run.
func (f *scanState) scan(text string) {
	start := 0
	for i := 0; i <= len(text); i++ {
		if i < len(text) && isFormChar[text[i]] {
			continue
		}
		if i-start >= fragment {
			run := text[start:i]
			f.matchForms(text, start, run)
			if small := strings.ToLower(run); small != run {
				f.matchForms(text, start, small)
			}
		}
		start = i + 1
	}
}

// isFormChar has the characters of words and of their encodings.
var isFormChar = func() (t [256]bool) {
	for _, c := range []byte("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/-_") {
		t[c] = true
	}
	return t
}()

func (f *scanState) matchForms(text string, at int, run string) {
	for i := 0; i+fragment <= len(run); i++ {
		key := binary.LittleEndian.Uint64([]byte(run[i : i+fragment]))
		if bit := hashKey(key); f.d.some[bit/64]&(1<<(bit%64)) == 0 {
			continue
		}
		for _, x := range f.d.forms[key] {
			plain := strings.ReplaceAll(strings.ReplaceAll(run[i:], "-", "+"), "_", "/") // as base64 in URLs
			if !f.seen[x.mark] && (strings.HasPrefix(run[i:], x.text) || strings.HasPrefix(plain, x.text)) {
				f.seen[x.mark] = true
				f.leaks = append(f.leaks, leak{x.mark, x.how, strings.ToValidUTF8(text[max(0, at+i-120):min(len(text),
					at+i+120)], "?")})
			}
		}
	}
}

var (
	percentEscape = regexp.MustCompile(`%[0-9A-Fa-f]{2}`)
	jsonEscape    = regexp.MustCompile(`\\u[0-9A-Fa-f]{4}`)
)

func unescape(text string) string {
	text = percentEscape.ReplaceAllStringFunc(text, func(s string) string {
		b, _ := hex.DecodeString(s[1:]) // the pattern has two digits
		return string(b)
	})
	text = jsonEscape.ReplaceAllStringFunc(text, func(s string) string {
		n, _ := strconv.ParseUint(s[2:], 16, 32) // the pattern has four digits
		return string(rune(n))
	})
	return html.UnescapeString(text)
}

// TestTheDetectorFindsWhatItShould checks the detector itself.
func TestTheDetectorFindsWhatItShould(t *testing.T) {
	m := newMint(7)
	word := m.newMark("test", access.NewLabel(access.LevelGM))
	d := newDetector(m.all)
	part := word[3:12]
	entities, points, percents := "", "", ""
	for _, r := range part {
		entities += fmt.Sprintf("&#%d;", r)
		points += fmt.Sprintf(`\u%04x`, r)
		percents += fmt.Sprintf("%%%02X", r)
	}
	for name, text := range map[string]string{
		"plain": "a " + part + " z", "capitals": strings.ToUpper(part), "hex": hex.EncodeToString([]byte("xx" + part)),
		"base64 0": base64.StdEncoding.EncodeToString([]byte(part)),
		"base64 1": base64.URLEncoding.EncodeToString([]byte("1" + part + "after")),
		"base64 2": base64.StdEncoding.EncodeToString([]byte("22" + part)), "HTML": entities, "JSON": points,
		"percent":       percents,
		"percent twice": strings.ReplaceAll(percents, "%", "%25"),
	} {
		if len(d.findLeaks(text)) != 1 {
			t.Errorf("%s: %q is not found in %q", name, part, text)
		}
	}
	if found := d.findLeaks("a " + word[:7] + " z " + word[9:]); len(found) != 0 {
		t.Errorf("seven letters are taken for a mark: %v", found)
	}
}
