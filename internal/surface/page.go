package surface

import (
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"loregate/internal/canon"
	"loregate/internal/op"
)

// Count is the number of entries of a list, of which an answer has one page.
type Count struct {
	Total             int  `json:"total" jsonschema:"Entries in all that you may see."`
	TotalIsLowerBound bool `json:"total_is_lower_bound,omitzero" jsonschema:"There are more than total."`
}

// PageAt describes a page of n rows of a list with a total.
func PageAt(p canon.Page, t canon.Total, n int) (Count, op.NextPage) {
	more := p.Offset+n < t.Count || t.AtLeast && n == p.Limit
	return Count{t.Count, t.AtLeast}, op.PageEnd(p.Offset, n, more)
}

// Slice returns the rows of a page of a complete list.
func Slice[T any](all []T, p canon.Page) []T {
	from := min(p.Offset, len(all))
	return all[from:min(from+p.Limit, len(all))]
}

// Stamp is a time in an answer: RFC 3339, UTC, milliseconds.
type Stamp time.Time

const stampForm = "2006-01-02T15:04:05.000Z"

// AppendText gives the stamp its JSON form.
func (s Stamp) AppendText(b []byte) ([]byte, error) {
	return time.Time(s).UTC().AppendFormat(b, stampForm), nil
}

// MarshalText is AppendText to a new slice.
func (s Stamp) MarshalText() ([]byte, error) { return s.AppendText(make([]byte, 0, len(stampForm))) }

// IsZero reports whether there is no time.
func (s Stamp) IsZero() bool { return time.Time(s).IsZero() }

// Schema sets the stamp's format.
func (Stamp) Schema(s *jsonschema.Schema) { s.Format = "date-time" }
