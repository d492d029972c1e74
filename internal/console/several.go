package console

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/google/uuid"

	"loregate/internal/fault"
	"loregate/internal/markup"
)

// several is the state of the form that makes many cards.
type several struct {
	draft
	Rows []newRow // as they were checked; nil before
}

// newRow is a line of the form: a card to be made.
type newRow struct {
	Name    string `json:"name"`
	Text    string `json:"-"`
	Problem string `json:"message"`
}

// isSound reports whether every card can be made.
func (d several) isSound() bool {
	return !slices.ContainsFunc(d.Rows, func(r newRow) bool { return r.Problem != "" })
}

// summary counts what would be made.
func (d several) summary() string {
	wrong := 0
	for _, r := range d.Rows {
		if r.Problem != "" {
			wrong++
		}
	}
	if wrong > 0 {
		return fmt.Sprintf("%d of %s cannot be made", wrong, countText(len(d.Rows), "card"))
	}
	return countText(len(d.Rows), "card") + " would be made"
}

// maxSeveral is the number of cards that batch_cards takes.
const maxSeveral = 100

func (s *server) showSeveral(v *visit) error {
	return v.writeSeveral(http.StatusOK, several{draft: draft{Type: v.r.URL.Query().Get("type"), Once: uuid.NewString()}})
}

func (v *visit) writeSeveral(status int, d several) (err error) {
	if d.Types, err = v.listTypes(); err != nil {
		return err
	}
	return v.write(status, severalPage(v.frame("Several cards"), d))
}

// createSeveral checks the cards of the form or, if told so, makes them in one commit.
func (s *server) createSeveral(v *visit) error {
	form := v.r.PostForm
	d := several{draft: draft{Type: form.Get("type"), Level: form.Get("level"), Content: form.Get("content"),
		Once: form.Get("once")}}
	rows, err := readRows(d.Content)
	if err == nil {
		d.Rows, err = v.writeRows(d, rows, form.Get("do") != "create")
	}
	if d.Problem, d.Problems = problemOf(err); d.Problem != "" {
		return v.writeSeveral(fault.KindOf(err).HTTPStatus(), d)
	}
	if err != nil {
		return err
	}
	if form.Get("do") == "create" && d.isSound() {
		return v.redirect(addressOf("w", v.world))
	}
	return v.writeSeveral(http.StatusOK, d)
}

// readRows reads a card of each line: its name, and its text after a colon and a space.
func readRows(text string) (rows []newRow, err error) {
	seen := map[markup.Key]bool{}
	for line := range strings.Lines(text) {
		name, rest, _ := strings.Cut(strings.TrimSpace(line)+" ", ": ")
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		r := newRow{Name: name, Text: strings.TrimSpace(rest)}
		if key := markup.KeyOf(name); seen[key] {
			r.Problem = "an earlier line has this name too"
		} else {
			seen[key] = true
		}
		rows = append(rows, r)
	}
	switch {
	case len(rows) == 0:
		return nil, fault.BadField("content", "must name at least one card")
	case len(rows) > maxSeveral:
		return nil, fault.BadField("content", "has %d lines, at most %d can be made at once; make the others afterwards",
			len(rows), maxSeveral)
	}
	return rows, nil
}

// writeRows makes the cards of rows, all or none, or only checks each of them. It returns the rows with the
// problems that were found.
func (v *visit) writeRows(d several, rows []newRow, onlyCheck bool) ([]newRow, error) {
	text := "markdown_content"
	if formatOf(card{Type: d.Type}) == "text" {
		text = "content"
	}
	var ops []fields
	for _, r := range rows {
		if r.Problem != "" {
			onlyCheck = true
		}
		ops = append(ops, fields{"action": "create", "name": r.Name}.with("type", d.Type).with("level", d.Level).
			with(text, r.Text))
	}
	in := fields{"ops": ops, "mode": "transactional"}
	if onlyCheck {
		in["mode"], in["dry_run"] = "per_item", true
	}
	out, err := call[struct {
		Results []newRow `json:"results"`
	}](v, "batch_cards", in)
	for i, result := range out.Results {
		if rows[i].Problem == "" {
			rows[i].Problem = result.Problem
		}
	}
	return rows, err
}
