package secrecy

// elements are the open elements of an HTML text, innermost last. Their end tags close them as the HTML
// standard says for a body, but for formatting elements (b, i, a …), which here are ordinary ones. Each
// step takes constant time on average.
type elements struct {
	names   []string
	at      map[string][]int // by name, the positions in names
	special []int            // positions of elements that the end tags of ordinary elements do not cross
	cells   []int            // positions of cells and objects: only end tags of parts of tables cross these
	tables  []int            // positions of tables and templates: only their own end tags cross these
	// fallbacks are the positions of pictures, films and the like, whose text a page shows only if it cannot show them.
	fallbacks []int
	marked    []int // positions of elements that are secret themselves
}

var (
	voidElements = setOf("area", "base", "basefont", "bgsound", "br", "col", "embed", "frame", "hr", "img", "input",
		"keygen", "link", "meta", "param", "source", "track", "wbr")
	specialElements = setOf("address", "applet", "article", "aside", "blockquote", "body", "button", "caption", "center",
		"colgroup", "dd", "details", "dialog", "dir", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form",
		"frameset", "h1", "h2", "h3", "h4", "h5", "h6", "head", "header", "hgroup", "html", "iframe", "li", "listing", "main",
		"marquee", "menu", "nav", "noembed", "noframes", "noscript", "object", "ol", "p", "plaintext", "pre", "script",
		"search", "section", "select", "style", "summary", "table", "tbody", "td", "template", "textarea", "tfoot", "th",
		"thead", "title", "tr", "ul", "xmp")
	cellElements = setOf("annotation-xml", "applet", "caption", "desc", "foreignobject", "marquee", "mi", "mn", "mo", "ms",
		"mtext", "object", "select", "td", "th", "title")
	tableElements = setOf("html", "table", "template")
	tableParts    = setOf("caption", "table", "tbody", "td", "tfoot", "th", "thead", "tr")
)

func setOf(names ...string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, name := range names {
		set[name] = true
	}
	return set
}

// push opens an element. Void elements have no end and are not opened.
func (e *elements) push(name string) {
	if voidElements[name] {
		return
	}
	if e.at == nil {
		e.at = map[string][]int{}
	}
	i := len(e.names)
	e.names = append(e.names, name)
	e.at[name] = append(e.at[name], i)
	for _, kind := range []struct {
		is   map[string]bool
		list *[]int
	}{{specialElements, &e.special}, {cellElements, &e.cells}, {tableElements, &e.tables},
		{marks().fallback, &e.fallbacks}} {
		if kind.is[name] {
			*kind.list = append(*kind.list, i)
		}
	}
}

// pushMarked is push for an element that is secret itself.
func (e *elements) pushMarked(name string) {
	e.marked = append(e.marked, len(e.names))
	e.push(name)
}

// isDrawing reports whether an element of a drawing or formula is open, in which scripts and styles are elements too.
func (e *elements) isDrawing() bool { return e != nil && len(e.at["svg"])+len(e.at["math"]) > 0 }

// end closes the innermost element of a name, with all elements in it. It does nothing if the end tag
// belongs to no open element, or to one around an element that the end tag cannot cross.
func (e *elements) end(name string) {
	i := lastOf(e.at[name])
	switch {
	case i < 0, i < lastOf(e.tables), i < lastOf(e.cells) && !tableParts[name],
		i < lastOf(e.special) && !specialElements[name], name == "p" && i < lastOf(e.at["button"]),
		name == "form" && i < len(e.names)-1: // its end tag leaves the elements in it open
		return
	}
	// A secret element without an end tag of its own may go on: browsers open some again, and know no others.
	var goesOn string
	for ; lastOf(e.marked) >= i; e.marked = e.marked[:len(e.marked)-1] {
		if at := lastOf(e.marked); at > i {
			goesOn = e.names[at]
		}
	}
	for _, closed := range e.names[i:] {
		list := e.at[closed]
		e.at[closed] = list[:len(list)-1]
	}
	e.names = e.names[:i]
	for _, list := range []*[]int{&e.special, &e.cells, &e.tables, &e.fallbacks} {
		for lastOf(*list) >= i {
			*list = (*list)[:len(*list)-1]
		}
	}
	if goesOn != "" {
		e.pushMarked(goesOn)
	}
}

func lastOf(list []int) int {
	if len(list) == 0 {
		return -1
	}
	return list[len(list)-1]
}
