// Package native reads and writes Loregate's own Markdown dialect: one note per card, with front
// matter that holds everything except its text. Reader describes the dialect.
//
// Its invariant: a note that Export writes reads back as the same card, or the summary names it. The
// same canon gives the same bytes. Package vault reads folders of such notes.
package native
