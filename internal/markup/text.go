package markup

// Text returns the plain text of HTML.
func Text(html string) string { return html }

// Clean strips unseen characters.
func Clean(s string) string { return s }

// Fold returns the case- and accent-folded form.
func Fold(s string) string { return s }

// Truncate cuts s at max characters.
func Truncate(s string, max int) (cut string, truncated bool) { return s, false }

// Heading is one heading of a card.
type Heading struct {
	Level  int    // 1 to 6
	Text   string // plain text
	Offset int    // characters before the heading's tag in the content
}

// Outline returns the headings of HTML in order.
func Outline(html string) []Heading { return nil }
