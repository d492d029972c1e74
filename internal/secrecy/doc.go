// Package secrecy finds the secrets in Markdown notes: by front matter, tags, names, callouts,
// comments, HTML elements, headings and labels, in several languages.
//
// Its invariant: a text that one of the Rules marks never stays in the open part of a split text,
// unless the caller decides that the mark does not hide. Words that only look secret are reported as
// doubts; package vault asks about them.
package secrecy
