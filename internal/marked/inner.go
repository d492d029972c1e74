package marked

import "loregate/internal/secrecy"

// Form is the form in which the marks of a text are read.
type Form = secrecy.Form

// The forms of texts that may have marks.
const (
	Markdown = secrecy.Markdown
	HTML     = secrecy.HTML
	Plain    = secrecy.Plain
)

// Inner is a hidden part of a text without the signs of a comment around it, and the marks in it.
type Inner struct {
	Text     string
	From, To int // the range of Text within the part's own mark, in which Open and Parts are
	Open     string
	Parts    []secrecy.Part // in order, at their places in Open; none if the part has no mark inside its own
}

// ReadInner reads a hidden part.
func ReadInner(part string, form Form) Inner {
	text, signs := secrecy.Unwrap(part)
	in := Inner{Text: text, To: len(text)}
	if signs == (secrecy.Signs{}) {
		in.From, in.To = secrecy.Peel(text)
	}
	split := secrecy.Split(text[in.From:in.To], form, func(m secrecy.Mark) bool { return !m.Doubt })
	if len(split.Parts) > 0 && len(split.Parts[0].Text) < len(text) {
		in.Open, in.Parts = split.Open, split.Parts
	}
	return in
}

// MayHide reports whether a text has a mark that hides a part of it in Markdown, or one of which only its author knows.
func MayHide(markdown string) bool {
	return secrecy.HasMark(markdown, secrecy.Markdown) || len(secrecy.FindUnsure("", markdown, secrecy.Markdown)) > 0
}

// OpenPart returns the part of a Markdown text that no mark hides, nor one of which only its author knows.
func OpenPart(markdown string) string {
	return secrecy.Split(markdown, secrecy.Markdown, func(secrecy.Mark) bool { return true }).Open
}
