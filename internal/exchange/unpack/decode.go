package unpack

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"io"

	"loregate/internal/fault"
)

// maxLayers is the maximum number of encodings around the content of one file.
const maxLayers = 3

// Decode removes gzip and base64 around the content of one file. Content that is in neither is
// returned unchanged. The result is at most limit bytes long, and grows no more than an archive may.
func Decode(data []byte, limit int64) ([]byte, error) {
	for range maxLayers {
		var open func() (io.Reader, error)
		switch {
		case bytes.HasPrefix(data, []byte{0x1f, 0x8b}):
			open = func() (io.Reader, error) { return gzip.NewReader(bytes.NewReader(data)) }
		case isBase64(data):
			open = func() (io.Reader, error) {
				return base64.NewDecoder(base64.StdEncoding, spaceless{bytes.NewReader(data)}), nil
			}
		default:
			return data, nil
		}
		plain, err := readTwice(open, int64(len(data)), limit)
		switch {
		case fault.KindOf(err) == fault.TooLarge:
			return nil, err
		case err != nil && isBase64(data): // it only looks like base64
			return data, nil
		case err != nil:
			return nil, fault.New(fault.Invalid, "the file is not complete gzip data").Because(err)
		}
		data = plain
	}
	return data, nil
}

// readTwice returns the content that open reads from packed bytes. It counts it first, so that what it holds in
// memory is as large as the content.
func readTwice(open func() (io.Reader, error), packed, limit int64) ([]byte, error) {
	r, err := open()
	if err != nil {
		return nil, err
	}
	count := &counter{packed: packed, limit: Limits{Bytes: limit}.fillDefaults()}
	if _, err := io.Copy(count, r); err != nil {
		return nil, err
	}
	if r, err = open(); err != nil {
		return nil, err
	}
	data := make([]byte, count.size)
	_, err = io.ReadFull(r, data)
	return data, err
}

// counter counts the bytes that a file becomes.
type counter struct {
	packed, size int64
	limit        Limits
}

func (c *counter) Write(b []byte) (int, error) {
	c.size += int64(len(b))
	return len(b), c.limit.checkGrowth("the file", c.packed, c.size)
}

// spaceless reads bytes without white space.
type spaceless struct{ r io.Reader }

func (s spaceless) Read(b []byte) (int, error) {
	for {
		n, err := s.r.Read(b)
		kept := 0
		for _, c := range b[:n] {
			if c != ' ' && c != '\t' && c != '\r' && c != '\n' {
				b[kept] = c
				kept++
			}
		}
		if kept > 0 || err != nil {
			return kept, err
		}
	}
}

// isBase64 reports whether the first bytes of a content are all characters of base64. A shorter
// content is not taken for base64.
func isBase64(data []byte) bool {
	if len(data) < 64 {
		return false
	}
	for _, b := range data[:64] {
		if (b < 'A' || b > 'Z') && (b < 'a' || b > 'z') && (b < '0' || b > '9') && b != '+' && b != '/' {
			return false
		}
	}
	return true
}
