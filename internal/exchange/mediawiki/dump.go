package mediawiki

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"time"
)

// page is a page of a dump with its newest revision.
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
	Time  string `xml:"timestamp"`
	Text  string `xml:"text"`
	Model string `xml:"model"`
}

// newest returns the newest revision; the dumps of some wikis are not in order.
func (p *page) newest() (best revision) {
	var at time.Time
	for i, r := range p.Revisions {
		t, err := time.Parse(time.RFC3339, strings.TrimSpace(r.Time))
		if i == 0 || err == nil && t.After(at) {
			best, at = r, t
		}
	}
	return best
}

// maxPages is the maximum number of pages of a dump.
const maxPages = 500_000

// errDirective refuses declarations: no dump has them, and they can define entities that grow.
var errDirective = errors.New("the dump declares a document type")

var errTooMany = errors.New("the dump has more than 500,000 pages")

// readDump calls each with every page. It returns io.ErrUnexpectedEOF or another error with the line at
// which the dump cannot be read further. Entities beyond those of XML are not expanded.
func readDump(r io.Reader, each func(page, int)) (line int, err error) {
	d := xml.NewDecoder(r)
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
