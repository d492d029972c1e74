package op

import (
	"encoding/json"
	"fmt"
	"reflect"
)

// NextPage is embedded in an output that is one page of a list, alone or in another embedded struct.
// The rows of the page are the last slice that the output declares before it, and the input has a
// field offset. Such an output is cut to the rows that fit, as if it were Cuttable.
type NextPage struct {
	NextOffset *int `json:"next_offset" jsonschema:"Offset of the next page; null at the end."`

	offset int // of this page
}

// PageEnd returns the NextPage of a page of n rows at an offset. more reports whether the list has
// further rows.
func PageEnd(offset, n int, more bool) NextPage {
	p := NextPage{offset: offset}
	if more && n > 0 {
		next := offset + n
		p.NextOffset = &next
	}
	return p
}

// listOverhead is about the number of bytes of a list's members other than its rows.
const listOverhead = 512

// listShape locates the rows and the NextPage in an output type.
type listShape struct{ rows, next []int }

var nextPageType = reflect.TypeFor[NextPage]()

// listShapeOf returns the shape of an output type that embeds a NextPage, and nil for any other
// type.
func listShapeOf(t reflect.Type) (*listShape, error) {
	if t.Kind() != reflect.Struct {
		return nil, nil
	}
	var l listShape
	for _, f := range reflect.VisibleFields(t) {
		if f.Anonymous && f.Type == nextPageType {
			l.next = f.Index
			break
		}
		if len(f.Index) == 1 && f.IsExported() && f.Type.Kind() == reflect.Slice {
			l.rows = f.Index
		}
	}
	if l.next == nil {
		return nil, nil
	}
	if l.rows == nil {
		return nil, fmt.Errorf("%s embeds a NextPage and has no rows", t)
	}
	return &l, nil
}

// cut returns an output with the rows that fit in budget bytes of JSON, but at least one, as
// Cuttable describes.
func (l *listShape) cut(out any, budget int) (shorter any, next map[string]any, ok bool) {
	page := reflect.New(reflect.TypeOf(out)).Elem()
	page.Set(reflect.ValueOf(out))
	rows := page.FieldByIndex(l.rows)
	left := budget - listOverhead
	for i := range rows.Len() {
		b, err := json.Marshal(rows.Index(i).Interface())
		if err != nil {
			return out, nil, false
		}
		if left -= len(b) + 1; left >= 0 || i == 0 {
			continue
		}
		rows.Set(rows.Slice(0, i))
		end := page.FieldByIndex(l.next).Addr().Interface().(*NextPage)
		*end = PageEnd(end.offset, i, true)
		return page.Interface(), map[string]any{"offset": *end.NextOffset}, true
	}
	return out, nil, false
}
