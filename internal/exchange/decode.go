package exchange

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"loregate/internal/bound"
	"loregate/internal/fault"
)

// Limits of the values of one file. The sizes are those of the Go runtime for 64 bits, rounded up.
const (
	maxValueDepth = 1000 // of lists and objects in each other
	boxBytes      = 32   // of a text or number: its header and the value that holds it
	listBytes     = 40
	slotBytes     = 24 // of an item of a list, with the room that it has to grow
	objectBytes   = 96
	memberBytes   = 48
	groupBytes    = 272 // of the first members of an object
	maxShared     = 32  // bytes of a text or number that is held once
	maxSharedAll  = 1 << 16
)

// DecodeValue decodes the JSON value of a file with its numbers as written. A value that would take more memory than
// the size of the file allows is refused with TooLarge, and any other text that is not one value with Invalid. name
// names the file.
func DecodeValue(name string, data []byte) (any, error) {
	r := valueReader{d: json.NewDecoder(bytes.NewReader(data)), shared: map[any]any{},
		left: bound.BudgetOf(bound.Size{Largest: int64(len(data))}).Memory - int64(len(data))}
	r.d.UseNumber()
	v, err := r.read(0)
	if err == nil {
		if _, end := r.d.Token(); !errors.Is(end, io.EOF) {
			err = errNotOneValue
		}
	}
	switch {
	case errors.Is(err, errTooMany):
		return nil, fault.New(fault.TooLarge, "%s holds more values than its size allows in memory; divide it into "+
			"smaller files", name)
	case err != nil:
		return nil, fault.New(fault.Invalid, "%s is not JSON", name).Because(err)
	}
	return v, nil
}

// DecodeObject is DecodeValue for an object. It returns nil for a value or a text that is none.
func DecodeObject(name string, data []byte) (map[string]any, error) {
	v, err := DecodeValue(name, bytes.TrimPrefix(data, []byte("\ufeff")))
	if fault.KindOf(err) == fault.TooLarge {
		return nil, err
	}
	m, _ := v.(map[string]any)
	return m, nil
}

var (
	errTooMany     = errors.New("too many values")
	errNotOneValue = errors.New("the file does not end after its value")
)

// valueReader reads a value and counts the memory that it takes. Short texts and numbers that are alike share theirs.
type valueReader struct {
	d      *json.Decoder
	shared map[any]any
	left   int64 // bytes that further values may take
}

// take counts bytes of memory.
func (r *valueReader) take(n int) error {
	if r.left -= int64(n); r.left < 0 {
		return errTooMany
	}
	return nil
}

func (r *valueReader) read(depth int) (any, error) {
	t, err := r.d.Token()
	if err != nil {
		return nil, err
	}
	if depth > maxValueDepth {
		return nil, errTooMany
	}
	switch t := t.(type) {
	case json.Delim:
		if t == '{' {
			return r.readObject(depth)
		}
		return r.readList(depth)
	case string:
		return r.share(t, len(t))
	case json.Number:
		return r.share(t, len(t))
	}
	return t, nil
}

// share returns the value that is held for a text or number.
func (r *valueReader) share(v any, size int) (any, error) {
	if size > maxShared {
		return v, r.take(boxBytes + size)
	}
	if held, ok := r.shared[v]; ok {
		return held, nil
	}
	if len(r.shared) < maxSharedAll {
		r.shared[v] = v
	}
	return v, r.take(boxBytes + size)
}

func (r *valueReader) readList(depth int) (any, error) {
	list := []any{}
	if err := r.take(listBytes); err != nil {
		return nil, err
	}
	for r.d.More() {
		v, err := r.read(depth + 1)
		if err == nil {
			err = r.take(slotBytes)
		}
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	_, err := r.d.Token()
	return list, err
}

func (r *valueReader) readObject(depth int) (any, error) {
	m := map[string]any{}
	if err := r.take(objectBytes); err != nil {
		return nil, err
	}
	for r.d.More() {
		key, err := r.read(depth + 1)
		if err != nil {
			return nil, err
		}
		v, err := r.read(depth + 1)
		if err == nil {
			err = r.take(memberBytes)
		}
		if err == nil && len(m) == 0 {
			err = r.take(groupBytes)
		}
		if err != nil {
			return nil, err
		}
		name, _ := key.(string) // the key of an object is a string
		m[name] = v
	}
	_, err := r.d.Token()
	return m, err
}
