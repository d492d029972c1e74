package console

import (
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"loregate/internal/fault"
	"loregate/internal/markup"
	"loregate/internal/op"
	"loregate/internal/slicesx"
)

// card holds the parts of a card that pages show.
type card struct {
	Name       string                     `json:"name"`
	ID         string                     `json:"id"`
	Type       string                     `json:"type"`
	Level      string                     `json:"level"` // "" for players, who know of no levels
	Version    uint32                     `json:"version"`
	ETag       op.ReadTag                 `json:"etag"`
	UpdatedAt  time.Time                  `json:"updated_at"`
	Content    string                     `json:"content"`
	TextFormat string                     `json:"text_format"` // html or markdown; "" for other texts
	Fields     map[string]json.RawMessage `json:"fields"`
	ChildCount int                        `json:"child_count"`
	Snippet    string                     `json:"snippet"`
	Homonyms   []card                     `json:"homonyms"` // at other levels

	// For game masters.
	Hidden      []hiddenPart `json:"hidden"` // parts of the text that players do not read
	Opens       []opened     `json:"opens"`  // data that more readers see after a write
	SeenBy      []hadRead    `json:"seen_by"`
	SeenUnknown bool         `json:"seen_by_unknown"`
	OpenText    string       `json:"open_text"` // of a dry run: without hidden parts

	Ignored []string `json:"marks_ignored"`  // new marks of secrecy that hide nothing
	Removed []string `json:"hidden_removed"` // hidden parts that a text leaves out
}

// cardRef names another card.
type cardRef struct {
	Name   string `json:"name"`
	ID     string `json:"id"`
	Level  string `json:"level"`
	Exists bool   `json:"exists"`
}

// field is one value beside a card's text.
type field struct {
	Name, Value string
	Hidden      bool // from players
}

// listFields returns the fields of a card by name, as people read them.
func (c card) listFields() []field {
	var list []field
	for _, name := range slices.Sorted(maps.Keys(c.Fields)) {
		if name == "pins" { // which the map shows
			continue
		}
		list = append(list, field{strings.ReplaceAll(name, "_", " "), readable(c.Fields[name]),
			slices.ContainsFunc(c.Hidden, func(h hiddenPart) bool { return h.Field == name })})
	}
	return list
}

// readable returns a JSON value as text: texts and lists of texts without marks, others as JSON.
func readable(value json.RawMessage) string {
	var text string
	var list []string
	switch {
	case json.Unmarshal(value, &text) == nil:
		return text
	case json.Unmarshal(value, &list) == nil:
		return strings.Join(list, ", ")
	}
	return string(value)
}

// readCard reads the card that the address names.
func (v *visit) readCard(more fields) (card, error) {
	in := fields{"name": v.r.PathValue("name"), "full": true}
	maps.Copy(in, more)
	return call[card](v, "get_card", in)
}

// showCard shows one card. A card that was renamed is shown at its present address.
func (s *server) showCard(v *visit) error {
	asked := v.r.PathValue("name")
	c, err := v.readCard(fields{"rendered": true})
	if errors.Is(err, fault.NotFound) {
		return v.write(http.StatusNotFound, missingPage(v.frame(asked), asked))
	}
	if err != nil {
		return err
	}
	if asked != c.Name && !strings.HasPrefix(asked, "~") {
		return v.redirect(addressOf("w", v.world, addressName(c.Name, c.ID)))
	}
	f := v.frame(c.Name)
	text, a, err := v.collectAround(c, f)
	if err != nil {
		return err
	}
	if a.OldNames, err = v.listOldNames(c); err != nil {
		return err
	}
	if f.hides() && v.may("hide_part") {
		a.Hides = true
	}
	a.Notice = noticeOf(c, v.r.URL.Query())
	return v.write(http.StatusOK, cardPage(f, c, text, a))
}

// collectCard returns a card with its text and the cards around it, as a page shows them.
func (v *visit) collectCard(name string, f frame) (c card, text string, a around, err error) {
	if c, err = call[card](v, "get_card", fields{"name": name, "full": true, "rendered": true}); err == nil {
		text, a, err = v.collectAround(c, f)
	}
	return c, text, a, err
}

func (v *visit) collectAround(c card, f frame) (text string, a around, err error) {
	name := "~" + c.ID
	below := related{}
	if c.ChildCount > 0 {
		if below, err = call[related](v, "list_children", fields{"name": name, "limit": 100}); err != nil {
			return "", a, err
		}
	}
	links, err := call[related](v, "get_relationships", fields{"name": name, "kind": "links", "limit": 100})
	if err != nil {
		return "", a, err
	}
	from, err := call[related](v, "get_relationships", fields{"name": name, "kind": "referers", "limit": 40})
	if err != nil {
		return "", a, err
	}
	text, err = showText(c.Content, c.Name, f, links.isMissing)
	return text, around{Below: below.Children, BelowTotal: below.Total, To: links.existing(), From: from.Cards,
		FromTotal: from.Total}, err
}

// listOldNames lists the names that a card had in its latest versions, the latest first.
func (v *visit) listOldNames(c card) ([]string, error) {
	if c.Version < 2 {
		return nil, nil
	}
	list, err := call[versionList](v, "get_card_history", fields{"name": "~" + c.ID, "limit": 100})
	seen := map[markup.Key]bool{markup.KeyOf(c.Name): true}
	var names []string
	for _, x := range list.Versions {
		if key := markup.KeyOf(x.Name); !seen[key] {
			seen[key] = true
			names = append(names, x.Name)
		}
	}
	return names, err
}

// maxHovercard is the number of characters of a card's text in its hovercard.
const maxHovercard = 320

// showHovercard shows the first lines of a card, for a link to it. No card is no error here: a link may lead to a
// name that no card has.
func (s *server) showHovercard(v *visit) error {
	c, err := call[card](v, "get_card", fields{"name": v.r.PathValue("name"), "rendered": true,
		"max_content_length": 8 * maxHovercard})
	if errors.Is(err, fault.NotFound) {
		v.w.WriteHeader(http.StatusNoContent)
		return nil
	}
	if err != nil {
		return err
	}
	text, err := withoutHidden(c.Content)
	if err != nil {
		return err
	}
	return v.write(http.StatusOK, hovercard(c, markup.Shorten(markup.OneLine(markup.Text(text)), maxHovercard)))
}

// related are the cards that a card is connected to.
type related struct {
	Cards    []cardRef `json:"cards"`
	Children []cardRef `json:"children"`
	Total    int       `json:"total"`
}

// around are the cards that a card's page lists beside its text.
type around struct {
	Below      []cardRef
	BelowTotal int
	To         []cardRef // that the text names
	From       []cardRef
	FromTotal  int
	OldNames   []string
	Hides      bool   // the person may hide parts of the text
	Notice     notice // of the write that led here
}

// existing returns the cards that are there.
func (l related) existing() []cardRef {
	return slicesx.Filter(l.Cards, func(c cardRef) bool { return c.Exists })
}

// isMissing reports whether a linked name is known to belong to no card.
func (l related) isMissing(name string) bool {
	return slices.ContainsFunc(l.Cards, func(c cardRef) bool { return !c.Exists && strings.EqualFold(c.Name, name) })
}

type versionList struct {
	Name     string    `json:"name"`
	Versions []version `json:"versions"`
	page
}

// version is one line of a card's history.
type version struct {
	Version   int       `json:"version"`
	Name      string    `json:"name"` // of the card at that time
	At        time.Time `json:"at"`
	By        string    `json:"by"`
	Operation string    `json:"operation"`
	Level     string    `json:"level"`
	Current   bool      `json:"current"`
	Trashed   bool      `json:"trashed"`
	Purged    bool      `json:"purged"`
}

// showHistory lists a card's versions or, with from and to in the address, shows what differs.
func (s *server) showHistory(v *visit) error {
	name := v.r.PathValue("name")
	q := v.r.URL.Query()
	list, err := call[versionList](v, "get_card_history", v.paged(fields{"name": name}))
	if err != nil {
		return err
	}
	var d *difference
	if q.Get("to") != "" {
		in := fields{"name": name, "to": numberOf(q.Get("to"))}
		if q.Get("from") != "" {
			in["from"] = numberOf(q.Get("from"))
		}
		found, err := call[difference](v, "diff_card", in)
		if err != nil {
			return err
		}
		d = &found
	}
	return v.write(http.StatusOK, historyPage(v.frame(list.Name), name, list, d))
}

// difference lists the differences between two versions of a card.
type difference struct {
	From      int      `json:"from"`
	To        int      `json:"to"`
	Changed   []string `json:"changed"`
	Diff      string   `json:"diff"`
	Truncated bool     `json:"truncated"`
}

// restoreVersion writes an earlier version again.
func (s *server) restoreVersion(v *visit) error {
	name := v.r.PathValue("name")
	number := v.r.PostFormValue("version")
	return v.doOpening(act{Title: "Restore version " + number + " of " + name, Button: "Restore",
		Operation: "restore_card", Input: fields{"name": name, "to_version": numberOf(number)},
		Back: addressOf("history", v.world, name)},
		func(card) error { return v.redirect(addressOf("w", v.world, name)) })
}
