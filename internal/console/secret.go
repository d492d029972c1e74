package console

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"loregate/internal/fault"
	"loregate/internal/slicesx"
)

// hiddenPart is a part of a card's text that players do not read.
type hiddenPart struct {
	ID    string   `json:"id"` // "" if only a dry run has made it
	Text  string   `json:"text"`
	Field string   `json:"field"` // name of the field that it is; "" for a part of the text
	From  string   `json:"from"`
	Told  []string `json:"told"`
	Lost  bool     `json:"lost"`
}

// opened is a card, or a part of its text, that more people read after an act.
type opened struct {
	Name  string       `json:"name"`
	ID    string       `json:"id"`
	Part  string       `json:"part"`
	Text  string       `json:"text"`
	To    string       `json:"to"`
	Told  []string     `json:"told"`
	Stays []hiddenPart `json:"stays_hidden"`
}

// hadRead is somebody who had read a text before it was hidden.
type hadRead struct {
	Who   string    `json:"who"`
	Times int       `json:"times"`
	Last  time.Time `json:"last"`
}

// act is a write that may show more to some readers. The person is asked first, with the list of all that it shows.
type act struct {
	Title     string // of the page that asks
	Button    string
	Operation string
	Input     fields
	Back      string // address of the page to return to
	Always    bool   // ask also if nothing more is shown
	To        string // those who read it afterwards, in words; "" if the list says it
	Parts     []shownPart
}

// shownPart is a hidden part as the card's page shows it.
type shownPart struct {
	hiddenPart
	HTML string
}

// doOpening carries out an act, and then done with the answer. If the act shows anything to more readers, the
// person is asked first: the form comes again with a fingerprint of the list that the person has seen.
func (v *visit) doOpening(a act, done func(card) error) error {
	dry := maps.Clone(a.Input)
	dry["dry_run"] = true
	tried, err := call[card](v, a.Operation, dry)
	if err != nil {
		return err
	}
	shown, err := json.Marshal([]any{tried.Opens, a.Parts})
	if err != nil {
		return err
	}
	sum := sha256.Sum256(shown)
	sure, form := hex.EncodeToString(sum[:12]), v.r.PostForm
	if (len(tried.Opens) > 0 || a.Always) && form.Get("sure") != sure {
		again := maps.Clone(form)
		again.Del("also")
		again.Set("sure", sure)
		return v.write(http.StatusOK, openingPage(v.frameAt(a.Title, a.Back), a, v.r.URL.EscapedPath(), tried.Opens, again,
			form.Has("sure")))
	}
	made, err := call[card](v, a.Operation, a.Input)
	if err != nil {
		return err
	}
	if err := v.revealAlso(form["also"]); err != nil {
		return err
	}
	return done(made)
}

// revealAlso reveals hidden parts of opened cards that the person has chosen, each given as the ids of card and part.
func (v *visit) revealAlso(chosen []string) error {
	parts := map[string][]string{}
	for _, c := range chosen {
		id, part, _ := strings.Cut(c, "/")
		parts[id] = append(parts[id], part)
	}
	for _, id := range slices.Sorted(maps.Keys(parts)) {
		if _, err := call[card](v, "reveal_part", fields{"name": "~" + id, "parts": parts[id]}); err != nil {
			return err
		}
	}
	return nil
}

// frameAt is frame for a page that answers a form, and whose links to itself lead elsewhere.
func (v *visit) frameAt(title, address string) frame {
	f := v.frame(title)
	f.Path = address
	return f
}

// frameOf is frameAt for a page about a written card.
func (v *visit) frameOf(c card) frame { return v.frameAt(c.Name, v.addressOfCard(c)) }

// addressOfCard returns the address of a card's page.
func (v *visit) addressOfCard(c card) string {
	return addressOf("w", v.world, addressName(c.Name, c.ID))
}

// hides reports whether a page offers to hide and to reveal.
func (f frame) hides() bool { return f.Site == nil && f.As == "" && !f.Reads }

// notice is the result of the write that led to a card's page.
type notice struct {
	Text  string
	Parts []hiddenPart
}

// notices are the texts of notices, by the word in the address.
var notices = map[string]string{
	"saved":    "Saved. Players do not read these parts:",
	"revealed": "Revealed. Those whom you chose read it from now on.",
	"kept":     "Revealed, except for these parts, which have a mark of their own. Reveal each by itself, or edit its mark:",
}

// noticeOf returns the notice that an address asks for. Its parts are those of the card with the ids in the address.
func noticeOf(c card, q url.Values) (n notice) {
	n.Parts = slicesx.Filter(c.Hidden, func(p hiddenPart) bool { return slices.Contains(q["part"], p.ID) })
	if n.Text = notices[q.Get("did")]; q.Get("did") == "saved" && len(n.Parts) == 0 {
		return notice{}
	}
	return n
}

// afterWrite goes to the page of a written card, with a notice of the parts that the write has hidden. If marks hide
// nothing, a page says so first.
func (v *visit) afterWrite(before []hiddenPart, c card) error {
	at := v.addressOfCard(c)
	q := url.Values{}
	for _, p := range newParts(before, c.Hidden) {
		q.Add("part", p.ID)
	}
	if len(q) > 0 {
		q.Set("did", "saved")
		at += "?" + q.Encode()
	}
	if len(c.Ignored) > 0 {
		return v.write(http.StatusOK, ignoredPage(v.frameOf(c), c, at))
	}
	return v.redirect(at)
}

// newParts returns the parts of a list that are not in an earlier one, or read otherwise there.
func newParts(before, now []hiddenPart) []hiddenPart {
	return slicesx.Filter(now, func(p hiddenPart) bool {
		return !slices.ContainsFunc(before, func(b hiddenPart) bool { return b.ID == p.ID && b.Text == p.Text })
	})
}

// hideForm is the state of the form that hides a passage.
type hideForm struct {
	Card     card
	Text     string
	Keep     bool
	Part     *hiddenPart // to hide again from those who were told
	Problem  string
	Problems []fault.Field
}

// showHide shows the form that hides a passage, or asks whether to hide a part again that some were told.
func (s *server) showHide(v *visit) error {
	c, err := v.readCard(nil)
	if err != nil {
		return err
	}
	q := v.r.URL.Query()
	h := hideForm{Card: c, Text: q.Get("text")}
	if q.Has("part") {
		i := slices.IndexFunc(c.Hidden, func(p hiddenPart) bool { return p.ID == q.Get("part") })
		if i < 0 {
			return errNothingHere
		}
		h.Part = &c.Hidden[i]
	}
	return v.write(http.StatusOK, hidePage(v.frame("Hide"), h))
}

// hidePassage hides a passage, or hides a part again, and tells who had read it.
func (s *server) hidePassage(v *visit) error {
	form := v.r.PostForm
	before, err := v.readCard(nil)
	if err != nil {
		return err
	}
	h := hideForm{Card: before, Text: unixLines(form.Get("text")), Keep: form.Has("keep_history")}
	in, past := fields{"name": "~" + before.ID}, pastOfPart
	if form.Has("part") {
		in["parts"] = []string{form.Get("part")}
	} else {
		past = pastHidden
		if h.Keep {
			in["keep_history"], past = true, pastKept
		}
		in["text"] = []string{findPassage(unixLines(before.Content), h.Text)}
	}
	c, err := call[card](v, "hide_part", in)
	if h.Problem, h.Problems = problemOf(err); h.Problem != "" {
		return v.write(statusOf(err), hidePage(v.frame("Hide"), h))
	}
	if err != nil {
		return err
	}
	parts := newParts(before.Hidden, c.Hidden)
	if form.Has("part") {
		parts = slicesx.Filter(c.Hidden, func(p hiddenPart) bool { return p.ID == form.Get("part") })
	}
	return v.write(http.StatusOK, hiddenPage(v.frameOf(c), c, parts, past))
}

// The texts about the earlier versions of a text that was hidden.
const (
	pastHidden  = "The earlier versions of the card are hidden from players too."
	pastKept    = "The earlier versions of the card still show it, because you chose to keep them."
	pastOfPart  = "Those who were told do not read it any more."
	pastOfLevel = "The card and the cards below it are hidden."
)

// findPassage returns the part of a source text that a person means who has copied it from the page, where it has no
// signs. If no part has exactly the words, it returns the passage.
func findPassage(source, passage string) string {
	passage = strings.TrimSpace(passage)
	if strings.Contains(source, passage) {
		return passage
	}
	words, all := wordsIn(passage), wordsIn(source)
	for i := 0; len(words) > 0 && i+len(words) <= len(all); i++ {
		if !slices.EqualFunc(words, all[i:i+len(words)], func(a, b word) bool { return a.text == b.text }) {
			continue
		}
		from, to := all[i].from, all[i+len(words)-1].to
		last := words[len(words)-1].to
		if end := passage[last:]; end != "" && strings.HasPrefix(source[to:], end) {
			to += len(end)
		}
		for from > 0 && to < len(source) && source[from-1] == source[to] && strings.IndexByte("*_`~\"'", source[to]) >= 0 {
			from, to = from-1, to+1
		}
		return source[from:to]
	}
	return passage
}

// word is a run of letters and digits in a text.
type word struct {
	text     string
	from, to int
}

func wordsIn(text string) (all []word) {
	from := -1
	for i, r := range text + " " {
		switch isWord := unicode.IsLetter(r) || unicode.IsNumber(r); {
		case isWord && from < 0:
			from = i
		case !isWord && from >= 0:
			all = append(all, word{text[from:i], from, i})
			from = -1
		}
	}
	return all
}

// partForm is the state of the form that reveals hidden parts.
type partForm struct {
	Card    card
	Parts   []shownPart // of the card's text
	Chosen  []string
	Some    bool // reveal to some people only
	To      []string
	Members []member // that the form offers by name
	Problem string
}

// showPart shows the form that reveals hidden parts.
func (s *server) showPart(v *visit) error {
	return v.showPartForm(http.StatusOK, partForm{Chosen: v.r.URL.Query()["part"]})
}

func (v *visit) showPartForm(status int, p partForm) error {
	c, parts, err := v.readParts()
	if err != nil {
		return err
	}
	if len(parts) == 0 {
		return errNothingHere
	}
	p.Card, p.Parts = c, parts
	if v.may("list_members") {
		list, err := call[struct {
			Members []member `json:"members"`
		}](v, "list_members", nil)
		if err != nil && fault.KindOf(err) != fault.Denied {
			return err
		}
		p.Members = slicesx.Filter(list.Members, func(m member) bool { return m.Role == "user" })
	}
	return v.write(status, partPage(v.frame("Reveal"), p))
}

// readParts reads the card that the address names, with its hidden parts as its page shows them.
func (v *visit) readParts() (c card, parts []shownPart, err error) {
	if c, err = v.readCard(fields{"rendered": true}); err != nil {
		return c, nil, err
	}
	f := v.frame("")
	f.As = "user" // without controls
	texts, err := partTexts(c, f)
	for _, p := range c.Hidden {
		parts = append(parts, shownPart{p, texts[p.ID]})
	}
	return c, parts, err
}

// revealParts reveals the chosen parts, after the person has seen the list of them and of their readers.
func (s *server) revealParts(v *visit) error {
	form := v.r.PostForm
	p := partForm{Chosen: form["part"], Some: form.Get("to") == "some"}
	p.To = slices.Compact(slices.Sorted(slices.Values(append(slices.Clone(form["member"]),
		strings.FieldsFunc(form.Get("names"), func(r rune) bool { return r == ',' || unicode.IsSpace(r) })...))))
	switch {
	case len(p.Chosen) == 0:
		p.Problem = "Choose the parts to reveal."
	case p.Some && len(p.To) == 0:
		p.Problem = "Name the people who shall read it, or choose everybody."
	}
	if p.Problem != "" {
		return v.showPartForm(http.StatusUnprocessableEntity, p)
	}
	c, parts, err := v.readParts()
	if err != nil {
		return err
	}
	a := act{Title: "Reveal parts of " + c.Name, Button: "Reveal", Operation: "reveal_part", Always: true,
		Input: fields{"name": "~" + c.ID, "parts": p.Chosen}, Back: v.addressOfCard(c),
		To: "everybody who sees the card"}
	if c.Level != "" && c.Level != "user" {
		a.To += ". The card itself stays hidden: " + levelName(c.Level)
	}
	if p.Some {
		a.Input["to"], a.To = p.To, strings.Join(p.To, ", ")
	}
	a.Parts = slicesx.Filter(parts, func(x shownPart) bool { return slices.Contains(p.Chosen, x.ID) })
	return v.doOpening(a, func(now card) error {
		q := url.Values{"did": {"revealed"}}
		for _, x := range now.Hidden {
			if slices.Contains(p.Chosen, x.ID) && !(p.Some && len(x.Told) > 0) {
				q["did"], q["part"] = []string{"kept"}, append(q["part"], x.ID)
			}
		}
		return v.redirect(a.Back + "?" + q.Encode())
	})
}

// seenText tells how often and when somebody had read a text.
func (h hadRead) seenText(now time.Time) string {
	times := strconv.Itoa(h.Times) + " times"
	switch h.Times {
	case 1:
		times = "once"
	case 2:
		times = "twice"
	}
	return fmt.Sprintf("%s, %s, last %s", h.Who, times, dayText(h.Last, now))
}

// dayText names the day of a time: today, on Tuesday, on 3 Nov 2026.
func dayText(t, now time.Time) string {
	const day = 24 * time.Hour
	switch days := now.UTC().Truncate(day).Sub(t.UTC().Truncate(day)) / day; {
	case days <= 0:
		return "today"
	case days == 1:
		return "yesterday"
	case days < 7:
		return "on " + t.UTC().Weekday().String()
	}
	return "on " + t.UTC().Format("2 Jan 2006")
}

// homonym is a card that has a name which somebody wants to give.
type homonym struct {
	card
	By string // who made it
	At time.Time
}

// findHomonyms lists the cards that have a name, with those who made them.
func (v *visit) findHomonyms(name string) (list []homonym, err error) {
	c, err := call[card](v, "get_card", fields{"name": name})
	if err != nil {
		return nil, err
	}
	for _, x := range append([]card{c}, c.Homonyms...) {
		h := homonym{card: x}
		last, err := call[versionList](v, "get_card_history", fields{"name": "~" + x.ID, "limit": 1})
		if err == nil && last.Total > 1 {
			last, err = call[versionList](v, "get_card_history", fields{"name": "~" + x.ID, "limit": 1,
				"offset": last.Total - 1})
		}
		if err != nil {
			return nil, err
		}
		if len(last.Versions) > 0 {
			h.By, h.At = last.Versions[0].By, last.Versions[0].At
		}
		list = append(list, h)
	}
	return list, nil
}

// homonymsIfTaken lists the cards that have a name if an error says that it is taken.
func (v *visit) homonymsIfTaken(err error, name string) ([]homonym, error) {
	if fault.KindOf(err) != fault.Conflict {
		return nil, nil
	}
	list, err := v.findHomonyms(name)
	if fault.KindOf(err) == fault.NotFound { // deleted meanwhile, or the conflict is another one
		return nil, nil
	}
	return list, err
}

// renameForm is the state of the form that renames a card.
type renameForm struct {
	Card     card
	Name     string
	Problem  string
	Problems []fault.Field
	Homonyms []homonym
}

func (s *server) showRename(v *visit) error {
	c, err := v.readCard(nil)
	if err != nil {
		return err
	}
	return v.write(http.StatusOK, renamePage(v.frame("Rename"), renameForm{Card: c, Name: c.Name}))
}

// renameCard renames a card. If the name is taken, the form lists the cards that have it.
func (s *server) renameCard(v *visit) error {
	c, err := v.readCard(nil)
	if err != nil {
		return err
	}
	form := renameForm{Card: c, Name: v.r.PostFormValue("new_name")}
	err = v.doOpening(act{Title: "Rename " + c.Name, Button: "Rename", Operation: "rename_card",
		Input: fields{"name": "~" + c.ID, "new_name": form.Name},
		Back:  v.addressOfCard(c)},
		func(now card) error { return v.redirect(v.addressOfCard(now)) })
	if form.Problem, form.Problems = problemOf(err); form.Problem == "" {
		return err
	}
	status := statusOf(err)
	if form.Homonyms, err = v.homonymsIfTaken(err, form.Name); err != nil {
		return err
	}
	return v.write(status, renamePage(v.frame("Rename"), form))
}

// toText names those who read opened data.
func (o opened) toText() string {
	if len(o.Told) > 0 {
		return strings.Join(o.Told, ", ")
	}
	return cmp.Or(map[string]string{"user": "everybody", "gm": "game masters", "admin": "admins"}[o.To], o.To)
}

// shown returns the beginning of a part's text without the signs of a comment around it.
func (p hiddenPart) shown() string {
	text := p.Text
	for _, signs := range [][2]string{{"%%", "%%"}, {"<!--", "-->"}} {
		if inner, ok := strings.CutPrefix(text, signs[0]); ok {
			text = strings.TrimSpace(strings.TrimSuffix(inner, signs[1]))
		}
	}
	return text
}

// fromText names the readers of a part.
func (p hiddenPart) fromText() string {
	if len(p.Told) > 0 {
		return "Told to " + strings.Join(p.Told, ", ")
	}
	if p.From == "players" {
		return "Hidden: game masters only"
	}
	return "Hidden: admins only"
}
