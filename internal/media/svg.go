package media

import (
	"bytes"
	_ "embed"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"sync"

	"loregate/internal/lazyregexp"
	"loregate/internal/markup"
)

// svgWords lists, after "elements", "attributes" and "functions", the names that an SVG keeps.
//
//go:embed svg.txt
var svgWords string

var svgNames = sync.OnceValue(func() map[string]map[string]bool {
	names := map[string]map[string]bool{}
	for line := range strings.Lines(svgWords) {
		kind, rest, _ := strings.Cut(line, ":")
		if names[kind] == nil {
			names[kind] = map[string]bool{}
		}
		for _, name := range strings.Fields(rest) {
			names[kind][name] = true
		}
	}
	return names
})

// isSVG reports whether XML or text begins with an element svg, as far as the head shows.
func isSVG(head []byte) bool {
	d := xml.NewDecoder(bytes.NewReader(bytes.TrimPrefix(head, []byte("\ufeff"))))
	d.Strict = false
	for {
		t, err := d.RawToken()
		if err != nil {
			return false
		}
		switch t := t.(type) {
		case xml.StartElement:
			return t.Name.Local == "svg" && (t.Name.Space == "" || t.Name.Space == "svg")
		case xml.CharData:
			if len(bytes.TrimSpace(t)) > 0 {
				return false
			}
		}
	}
}

// maxSVGDepth bounds the elements within each other.
const maxSVGDepth = 500

// svgCleaner copies the elements and attributes of an SVG that draw, and nothing that runs, loads or is not
// seen: no script, no address outside of the file, no foreign XML, no comment, and no entity.
type svgCleaner struct {
	w    *writer
	open []string // the elements that are open in the copy
	skip int      // elements that are open and left out
	css  []byte   // the text of the element style that is open
}

func cleanSVG(w *writer, r *reader) error {
	c := &svgCleaner{w: w}
	d := xml.NewDecoder(markup.XMLTags(r))
	for {
		t, err := d.RawToken()
		if err == nil {
			err = c.copyToken(t)
		}
		if err == nil {
			if _, ended := t.(xml.EndElement); ended && len(c.open)+c.skip == 0 {
				return w.err
			}
			continue
		}
		for len(c.open) > 0 {
			c.closeElement()
		}
		if errors.Is(err, io.EOF) {
			return err
		}
		return ErrBroken
	}
}

func (c *svgCleaner) copyToken(t xml.Token) error {
	switch t := t.(type) {
	case xml.StartElement:
		if len(c.open)+c.skip >= maxSVGDepth {
			return ErrBroken
		}
		if c.skip > 0 || !c.keepsElement(t) {
			c.skip++
			return nil
		}
		c.openElement(t)
	case xml.EndElement:
		switch {
		case c.skip > 0:
			c.skip--
		case len(c.open) == 0:
			return ErrBroken
		default:
			c.closeElement()
		}
	case xml.CharData:
		switch {
		case c.skip > 0 || len(c.open) == 0:
		case c.open[len(c.open)-1] == "style":
			c.css = append(c.css, t...)
		default:
			return xml.EscapeText(c, t)
		}
	}
	return nil
}

// Write lets xml.EscapeText write to the copy.
func (c *svgCleaner) Write(p []byte) (int, error) {
	c.w.put(p)
	return len(p), c.w.err
}

// keepsElement reports whether an element draws something that is seen. The first one is svg.
func (c *svgCleaner) keepsElement(e xml.StartElement) bool {
	known := e.Name.Space == "" || e.Name.Space == "svg"
	if !known || len(c.open) == 0 && e.Name.Local != "svg" || len(c.open) > 0 && c.open[len(c.open)-1] == "style" {
		return false
	}
	for _, a := range e.Attr {
		if a.Name.Space == "" && (a.Name.Local == "display" && strings.TrimSpace(a.Value) == "none" ||
			a.Name.Local == "style" && hiddenForm.MatchString(a.Value)) {
			return false
		}
	}
	return e.Name.Local == "a" || svgNames()["elements"][e.Name.Local]
}

var hiddenForm = lazyregexp.New(`(?i)(^|[;\s])display\s*:\s*none`)

// openElement writes the beginning of an element. A link becomes a group.
func (c *svgCleaner) openElement(e xml.StartElement) {
	name := e.Name.Local
	if name == "a" {
		name = "g"
	}
	c.w.put([]byte("<" + name))
	if len(c.open) == 0 {
		c.w.put([]byte(` xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"`))
	}
	seen := map[string]bool{}
	for _, a := range e.Attr {
		key, value := cleanAttribute(name, a)
		if key == "" || seen[key] {
			continue
		}
		seen[key] = true
		c.w.put([]byte(" " + key + `="`))
		_ = xml.EscapeText(c, []byte(value)) // the writer keeps its error
		c.w.put([]byte(`"`))
	}
	c.w.put([]byte(">"))
	c.open = append(c.open, name)
}

func (c *svgCleaner) closeElement() {
	last := len(c.open) - 1
	if c.open[last] == "style" {
		if css := cleanCSS(string(c.css)); css != "" {
			_ = xml.EscapeText(c, []byte(css)) // the writer keeps its error
		}
		c.css = nil
	}
	c.w.put([]byte("</" + c.open[last] + ">"))
	c.open = c.open[:last]
}

// cleanAttribute returns an attribute as it is written; "" for one that is left out.
func cleanAttribute(element string, a xml.Attr) (key, value string) {
	key, value = a.Name.Local, strings.TrimSpace(a.Value)
	switch {
	case key == "href" && (a.Name.Space == "" || a.Name.Space == "xlink"):
		if element == "image" {
			value = cleanInline(value)
		} else if !strings.HasPrefix(value, "#") {
			value = ""
		}
		if value == "" {
			return "", ""
		}
		return "xlink:href", value
	case a.Name.Space == "xml" && key == "space":
		return "xml:space", value
	case a.Name.Space != "" || !svgNames()["attributes"][key]:
		return "", ""
	case key == "class" || key == "id":
		return key, value
	}
	if value = cleanCSS(value); value == "" {
		return "", ""
	}
	return key, value
}

// inlineForm is an inline picture: its media type and base64.
const inlineHead, inlineMark = "data:image/", ";base64,"

// cleanInline cleans a picture that an SVG contains; "" for an address, and for a picture that cannot be cleaned.
func cleanInline(value string) string {
	at := strings.Index(value, inlineMark)
	if !strings.HasPrefix(value, inlineHead) || at < 0 {
		return ""
	}
	data, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(value[at+len(inlineMark):]), ""))
	if err != nil {
		return ""
	}
	var b bytes.Buffer
	t, err := Clean(&b, bytes.NewReader(data))
	if err != nil || t.Media == svg.Media || !strings.HasPrefix(t.Media, "image/") {
		return ""
	}
	return "data:" + t.Media + inlineMark + base64.StdEncoding.EncodeToString(b.Bytes())
}

var (
	commentForm  = lazyregexp.New(`(?s)/\*.*?\*/`)
	functionForm = lazyregexp.New(`([A-Za-z_-][A-Za-z0-9_-]*)\(\s*(["']?)(.?)`)
)

// cleanCSS returns a value or a sheet of styles without its comments; "" if it could load something: if it has a
// rule with @, an escape, a function that is not known, or an address outside of the file.
func cleanCSS(css string) string {
	css = commentForm.ReplaceAllString(css, "")
	if strings.ContainsAny(css, "@\\<") || strings.Contains(css, "/*") || strings.Contains(strings.ToLower(css),
		"binding") {
		return ""
	}
	for _, m := range functionForm.FindAllStringSubmatch(css, -1) {
		name := strings.ToLower(m[1])
		if !svgNames()["functions"][name] || name == "url" && m[3] != "#" {
			return ""
		}
	}
	return css
}
