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

// mark is a word that stands nowhere but in one hidden place.
type mark struct {
	word  string
	place string // what holds it: "name", "content", …
	label access.Label
	world string // slug of the world it is planted in; "" is the stage's
	apart bool   // no operation shows it to anybody today
}

// shows reports whether somebody may be shown the mark.
func (m mark) shows(who string) bool {
	p := people[who]
	if p.world != cmp.Or(m.world, "lendwater") {
		return false // so is nobody, and who plays with a token that opens no cards
	}
	if m.world != "" {
		return true
	}
	return access.View{Level: p.role.Level(), Subject: access.Subject(who)}.Sees(m.label)
}

// mint makes marks. Their letters are such that names keep them as they are: no vowels
// and no s, so that nothing is taken for a plural.
type mint struct {
	rng *rand.Rand
	all []mark
}

func newMint(seed uint64) *mint { return &mint{rng: rand.New(rand.NewPCG(seed, 1))} }

const (
	markLetters = "bcdfghjklmnpqrtvwxz"
	markLength  = 16
	fragment    = 8
)

// make gives a new word for a place under a label.
func (m *mint) make(place string, label access.Label) string {
	b := make([]byte, markLength)
	for i := range b {
		b[i] = markLetters[m.rng.IntN(len(markLetters))]
	}
	m.all = append(m.all, mark{word: string(b), place: place, label: label})
	return string(b)
}

// apart is make for what no operation shows.
func (m *mint) apart(place string, label access.Label) string {
	word := m.make(place, label)
	m.all[len(m.all)-1].apart = true
	return word
}

// detector finds any eight letters in a row of any of its marks, plain or in a code.
type detector struct {
	marks []mark
	forms map[uint64][]form // by their first eight bytes
	some  [1 << 14]uint64   // a bit for what some form begins with: most texts meet none
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
			d.learn(&marks[i], marks[i].word[at:at+fragment])
		}
	}
	return d
}

func (d *detector) learn(m *mark, part string) {
	add := func(how, text string) {
		key := binary.LittleEndian.Uint64([]byte(text))
		if !slices.ContainsFunc(d.forms[key], func(f form) bool { return f.text == text && f.mark == m }) {
			d.forms[key] = append(d.forms[key], form{text, m, how})
			bit := spread(key)
			d.some[bit/64] |= 1 << (bit % 64)
		}
	}
	add("plain", part)
	for _, spelt := range []string{part, strings.ToUpper(part), strings.ToUpper(part[:1]) + part[1:]} {
		add("hex", hex.EncodeToString([]byte(spelt)))
		for lead := range 3 {
			coded := base64.RawStdEncoding.EncodeToString([]byte(strings.Repeat("\x00", lead) + spelt))
			first, last := (lead*8+5)/6, (lead+len(spelt))*8/6 // characters that come from the part alone
			add("base64", coded[first:last])
		}
	}
}

// spread gives twenty bits of a key.
func spread(key uint64) uint64 { return key * 0x9e3779b97f4a7c15 >> 44 }

// leak is a mark that came out.
type leak struct {
	mark *mark
	how  string
	near string // what stands around it
}

// find looks for marks in a text: as it is, in small letters, and with the escapes of
// HTML, JSON and addresses undone.
func (d *detector) find(text string) []leak {
	found := finding{d: d, seen: map[*mark]bool{}}
	found.scan(text)
	for range 2 { // an address may hold escapes of escapes
		if !strings.Contains(text, "%") && !strings.Contains(text, `\u`) && !strings.Contains(text, "&#") {
			break
		}
		text = unescaped(text)
		found.scan(text)
	}
	return found.leaks
}

type finding struct {
	d     *detector
	seen  map[*mark]bool
	leaks []leak
}

// scan looks at every run of eight and more characters that forms are made of; most of a
// text is none.
func (f *finding) scan(text string) {
	start := 0
	for i := 0; i <= len(text); i++ {
		if i < len(text) && ofForms[text[i]] {
			continue
		}
		if i-start >= fragment {
			run := text[start:i]
			f.windows(text, start, run)
			if small := strings.ToLower(run); small != run {
				f.windows(text, start, small)
			}
		}
		start = i + 1
	}
}

// ofForms are the characters of words, and of their codes.
var ofForms = func() (t [256]bool) {
	for _, c := range []byte("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/-_") {
		t[c] = true
	}
	return t
}()

func (f *finding) windows(text string, at int, run string) {
	for i := 0; i+fragment <= len(run); i++ {
		key := binary.LittleEndian.Uint64([]byte(run[i : i+fragment]))
		if bit := spread(key); f.d.some[bit/64]&(1<<(bit%64)) == 0 {
			continue
		}
		for _, x := range f.d.forms[key] {
			plain := strings.ReplaceAll(strings.ReplaceAll(run[i:], "-", "+"), "_", "/") // as base64 in addresses
			if !f.seen[x.mark] && (strings.HasPrefix(run[i:], x.text) || strings.HasPrefix(plain, x.text)) {
				f.seen[x.mark] = true
				f.leaks = append(f.leaks, leak{x.mark, x.how, strings.ToValidUTF8(text[max(0, at+i-120):min(len(text), at+i+120)], "?")})
			}
		}
	}
}

var (
	percented = regexp.MustCompile(`%[0-9A-Fa-f]{2}`)
	jsoned    = regexp.MustCompile(`\\u[0-9A-Fa-f]{4}`)
)

func unescaped(text string) string {
	text = percented.ReplaceAllStringFunc(text, func(s string) string {
		b, _ := hex.DecodeString(s[1:]) // the pattern holds two digits
		return string(b)
	})
	text = jsoned.ReplaceAllStringFunc(text, func(s string) string {
		n, _ := strconv.ParseUint(s[2:], 16, 32) // the pattern holds four digits
		return string(rune(n))
	})
	return html.UnescapeString(text)
}

// TestTheDetectorFindsWhatItShould holds the oracle itself.
func TestTheDetectorFindsWhatItShould(t *testing.T) {
	m := newMint(7)
	word := m.make("test", access.NewLabel(access.LevelGM))
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
		"base64 0": base64.StdEncoding.EncodeToString([]byte(part)), "base64 1": base64.URLEncoding.EncodeToString([]byte("1" + part + "after")),
		"base64 2": base64.StdEncoding.EncodeToString([]byte("22" + part)), "HTML": entities, "JSON": points, "percent": percents,
		"percent twice": strings.ReplaceAll(percents, "%", "%25"),
	} {
		if len(d.find(text)) != 1 {
			t.Errorf("%s: %q is not found in %q", name, part, text)
		}
	}
	if found := d.find("a " + word[:7] + " z " + word[9:]); len(found) != 0 {
		t.Errorf("seven letters are taken for a mark: %v", found)
	}
}
