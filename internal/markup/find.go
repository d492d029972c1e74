package markup

// Match is a byte range of the text searched.
type Match struct{ Start, End int }

// FindMode is how a query is compared with text.
type FindMode string

const (
	Substring FindMode = "substring"
	WholeWord FindMode = "whole_word"
	Phrase    FindMode = "phrase"
)

// FindOptions says how to search; the zero value finds substrings in any case.
type FindOptions struct {
	Mode          FindMode
	CaseSensitive bool
	FoldAccents   bool
	Limit         int // most matches returned; 0: 1,000
}

// FindAll returns the places where query stands in text.
func FindAll(text, query string, o FindOptions) []Match { return nil }

// SnippetOptions says how a snippet is cut and shown.
type SnippetOptions struct {
	Max  int // characters of text; 0: 200
	Mark bool
	Find FindOptions
}

// Snippet cuts the piece of text around the best hits.
func Snippet(text string, terms []string, o SnippetOptions) string { return text }
