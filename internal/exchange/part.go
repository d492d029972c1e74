package exchange

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/secrecy"
)

// Exported are the hidden parts of a text that an export wrote, where reading its marks would give others: parts that
// named readers see, and open text that looks marked. They count while the text is as it was exported.
type Exported struct {
	Digest string // of the text
	Parts  []secrecy.Range
}

// DigestText returns the digest of an exported text.
func DigestText(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// ReadText returns the text of a sheet with a body.
func (s *Sheet) ReadText(ctx context.Context) (string, error) {
	text, err := s.Body(ctx)
	switch {
	case err != nil || s.Exported == nil:
	case s.Exported.Digest != DigestText(text) ||
		slices.ContainsFunc(s.Exported.Parts, func(r secrecy.Range) bool { return r.To > len(text) }):
		s.Exported = nil
	default:
		s.Hide = s.Exported.Parts
	}
	return text, err
}

// readsMarks reports whether the marks in a sheet's text hide.
func (s *Sheet) readsMarks() bool { return s.InPlace && s.Exported == nil }

// Divide returns the text of a new card that a sheet's text becomes. The text must have been read.
func (s *Sheet) Divide(text string) secrecy.Text {
	form, ok := canon.FormOf(canon.KindOf(cmp.Or(s.Content.Type, s.Type, canon.TypeRichText), s.Format))
	if !s.InPlace || !ok {
		return secrecy.Text{Open: text}
	}
	w := secrecy.Writer{Form: form, Hides: s.readsMarks(), Ranges: s.Hide, Label: access.NewLabel(access.LevelGM),
		AsWritten: true, NewID: func() string { return "" }}
	if s.MarksKnown {
		w.Read = secrecy.ReadKnown(text, form, s.Hide)
	}
	t, _ := w.Divide(secrecy.Text{}, text)
	return t
}
