// Package exchange imports worlds from other formats and exports worlds as Markdown. Each format
// has its own file.
//
// Its invariant: no text becomes visible to more people than before. An unreadable visibility
// becomes GM, and text that a format hides from readers is moved into GM children. Card ids are
// derived from the position in the source, so that importing again updates the same cards. Unknown
// fields are kept. Parts that cannot be read are reported with file and line, and the import
// continues. All changes are made through package canon.
package exchange
