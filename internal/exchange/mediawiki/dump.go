package mediawiki

import (
	"cmp"
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"loregate/internal/exchange/record"
	"loregate/internal/markup"
)

// page is a page of a dump with its revisions.
type page struct {
	Title    string `xml:"title"`
	Space    int    `xml:"ns"`
	ID       string `xml:"id"`
	Redirect *struct {
		Title string `xml:"title,attr"`
	} `xml:"redirect"`
	Revisions []revision `xml:"revision"`
}

type revision struct {
	ID     string `xml:"id"`
	Time   string `xml:"timestamp"`
	Author struct {
		Name    string `xml:"username"`
		Address string `xml:"ip"`
	} `xml:"contributor"`
	Comment string `xml:"comment"`
	Text    string `xml:"text"`
	Model   string `xml:"model"`
}

// newest takes the newest revision out of the list and sorts the others, oldest first. The dumps of some
// wikis are not in order. A revision without a time counts as the oldest.
func (p *page) newest() (best revision) {
	at := func(r revision) time.Time {
		t, _ := time.Parse(time.RFC3339, strings.TrimSpace(r.Time))
		return t
	}
	slices.SortStableFunc(p.Revisions, func(a, b revision) int { return at(a).Compare(at(b)) })
	if n := len(p.Revisions); n > 0 {
		best, p.Revisions = p.Revisions[n-1], p.Revisions[:n-1]
	}
	return best
}

// origin returns the time and the author of a revision.
func (r revision) origin() record.Revision {
	return record.Revision{ID: strings.TrimSpace(r.ID), Time: strings.TrimSpace(r.Time),
		Author: markup.Clean(cmp.Or(r.Author.Name, r.Author.Address)), Comment: markup.Clean(r.Comment)}
}

// maxPages is the maximum number of pages of a dump.
const maxPages = 500_000

// errDirective refuses declarations: no dump has them, and they can define entities that grow.
var errDirective = errors.New("the dump declares a document type")

var errTooMany = errors.New("the dump has more than 500,000 pages")

// readDump calls each with every page. It returns io.ErrUnexpectedEOF or another error with the line at
// which the dump cannot be read further. Entities beyond those of XML are not expanded.
func readDump(r io.Reader, each func(page, int)) (line int, err error) {
	d := xml.NewDecoder(markup.XMLTags(r))
	d.Strict = false
	for n := 0; ; {
		t, err := d.Token()
		line, _ = d.InputPos()
		if errors.Is(err, io.EOF) {
			return line, nil
		}
		if err != nil {
			return line, err
		}
		if _, ok := t.(xml.Directive); ok {
			return line, errDirective
		}
		start, ok := t.(xml.StartElement)
		if !ok || start.Name.Local != "page" {
			continue
		}
		if n++; n > maxPages {
			return line, errTooMany
		}
		var p page
		if err := d.DecodeElement(&p, &start); err != nil {
			return line, err
		}
		each(p, line)
	}
}
