// Package markdown parses a Markdown file into front matter, body and tags, and finds the code in its
// text.
//
// Its invariant: a file of any bytes gives a note whose texts are valid UTF-8. Parts that cannot be
// read are reported in the note, which is then marked as broken. The package knows neither secrets
// nor cards.
package markdown
