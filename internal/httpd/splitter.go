package httpd

import (
	"bytes"
	"encoding/base64"
	"io"
	"strconv"

	"loregate/internal/body"
	"loregate/internal/fault"
)

// splitter reads a JSON object and takes the file out of it: the base64 text of one of its members, which is decoded
// into a file while it arrives. The rest is read from the splitter, with an empty text in that place. Whether it is
// sound JSON is decided by the reader of the rest; of a member that is given twice, the second text stays.
type splitter struct {
	src    io.Reader
	file   *body.Writer
	left   int64                  // bytes that the file may still have
	field  string                 // name of the file's member in the rest
	isFile func(name string) bool // reports whether a member of this name is the file

	buf   [32 << 10]byte
	out   bytes.Buffer // of the rest, to be read
	state splitState
	depth int
	atKey bool   // the next text is the name of a member of the outermost object
	key   []byte // the name and the bytes between it and its value, in doubt
	colon bool   // key has the colon
	skip  bool   // the next byte is escaped
	code  []byte // of an escape in the file's text, after the backslash
	group []byte // base64 that is not yet decoded
	ended bool   // the padding has come
	taken bool
}

type splitState uint8

const (
	between splitState = iota // outside of texts
	inText
	inKey
	afterKey
	inFile
	inEscape // in the file's text
)

// Read reads bytes of the rest.
func (s *splitter) Read(p []byte) (int, error) {
	for s.out.Len() == 0 {
		n, err := s.src.Read(s.buf[:])
		if split := s.split(s.buf[:n]); split != nil {
			return 0, split
		}
		if err == io.EOF {
			s.out.Write(s.key)
			s.key = nil
		}
		if err != nil && s.out.Len() == 0 {
			return 0, err
		}
	}
	return s.out.Read(p)
}

func (s *splitter) split(b []byte) error {
	for len(b) > 0 {
		if s.state == inFile {
			n := bytes.IndexAny(b, `"\`)
			if n < 0 {
				n = len(b)
			}
			if n > 0 {
				if err := s.decode(b[:n]); err != nil {
					return err
				}
				b = b[n:]
				continue
			}
		}
		if err := s.takeByte(b[0]); err != nil {
			return err
		}
		b = b[1:]
	}
	return nil
}

// takeByte takes one byte.
func (s *splitter) takeByte(c byte) error {
	switch s.state {
	case between:
		s.takeBetween(c)
	case inText:
		s.out.WriteByte(c)
		if s.endsText(c) {
			s.state = between
		}
	case inKey:
		s.key = append(s.key, c)
		if s.endsText(c) {
			s.state, s.colon = afterKey, false
		} else if len(s.key) > maxKeyInDoubt {
			s.flushKey(inText)
		}
	case afterKey:
		s.takeAfterKey(c)
	case inFile:
		return s.takeInFile(c)
	case inEscape:
		return s.takeEscape(c)
	}
	return nil
}

// maxKeyInDoubt is longer than the name of every field.
const maxKeyInDoubt = 128

// endsText reports whether a byte of a text is the quote at its end.
func (s *splitter) endsText(c byte) bool {
	if s.skip {
		s.skip = false
		return false
	}
	s.skip = c == '\\'
	return c == '"'
}

func (s *splitter) takeBetween(c byte) {
	if c == '"' && s.depth == 1 && s.atKey {
		s.state, s.atKey, s.key = inKey, false, append(s.key[:0], c)
		return
	}
	s.out.WriteByte(c)
	switch c {
	case '"':
		s.state = inText
	case '{', '[':
		s.depth++
		s.atKey = c == '{'
	case '}', ']':
		s.depth--
	case ',':
		s.atKey = true
	}
}

// flushKey passes on the name, which is not the file's or has no text after it.
func (s *splitter) flushKey(next splitState) {
	s.out.Write(s.key)
	s.key, s.state = s.key[:0], next
}

func (s *splitter) takeAfterKey(c byte) {
	switch {
	case c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == ':' && !s.colon:
		s.colon = s.colon || c == ':'
		if s.key = append(s.key, c); len(s.key) > maxKeyInDoubt {
			s.flushKey(between)
		}
	case c == '"' && s.colon && !s.taken && s.namesFile():
		s.out.WriteString(strconv.Quote(s.field) + `:"`)
		s.key, s.taken, s.state = s.key[:0], true, inFile
	default:
		s.flushKey(between)
		s.takeBetween(c)
	}
}

// namesFile reports whether key is the name of the file.
func (s *splitter) namesFile() bool {
	name := bytes.TrimRight(s.key, " \t\r\n:")
	return s.isFile(string(name[1 : len(name)-1]))
}

func (s *splitter) takeInFile(c byte) error {
	if c == '\\' {
		s.state, s.code = inEscape, s.code[:0]
		return nil
	}
	s.out.WriteByte('"')
	s.state = between
	if len(s.group) > 0 {
		return s.notBase64()
	}
	return nil
}

// takeEscape takes a byte of an escape. Encoders write / + and = so.
func (s *splitter) takeEscape(c byte) error {
	s.code = append(s.code, c)
	if s.code[0] == 'u' && len(s.code) < 5 {
		return nil
	}
	s.state = inFile
	switch s.code[0] {
	case 'u':
		n, err := strconv.ParseUint(string(s.code[1:]), 16, 7)
		if err != nil {
			return s.notBase64()
		}
		return s.decode([]byte{byte(n)})
	case 'n', 'r':
		return s.decode([]byte{'\n'})
	}
	return s.decode(s.code)
}

// decode writes base64 to the file.
func (s *splitter) decode(text []byte) error {
	if len(s.group) > 0 {
		need := min(4-len(s.group), len(text))
		s.group = append(s.group, text[:need]...)
		text = text[need:]
		if len(s.group) < 4 {
			return nil
		}
		whole := s.group
		s.group = nil
		if err := s.writeGroups(whole); err != nil {
			return err
		}
	}
	whole := len(text) / 4 * 4
	s.group = append(s.group, text[whole:]...)
	return s.writeGroups(text[:whole])
}

func (s *splitter) writeGroups(text []byte) error {
	if len(text) == 0 {
		return nil
	}
	data := make([]byte, base64.StdEncoding.DecodedLen(len(text)))
	n, err := base64.StdEncoding.Decode(data, text)
	if err != nil || s.ended {
		return s.notBase64()
	}
	s.ended = text[len(text)-1] == '='
	if s.left -= int64(n); s.left < 0 {
		return body.ErrTooLarge
	}
	_, err = s.file.Write(data[:n])
	return err
}

func (s *splitter) notBase64() error {
	return fault.BadField(s.field, "must be base64, with padding and without other characters")
}
