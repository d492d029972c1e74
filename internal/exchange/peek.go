package exchange

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Limits of a look at a source.
const (
	maxPeekFiles = 20_000
	maxPeekHead  = 16 << 10
	maxPeekJSON  = 64 << 20
	maxPeekValue = 64 << 10
	maxPeekKept  = 16 << 20 // bytes
	maxMembers   = 100_000
)

// Peek is a bounded look at a source, to find its format. It reads each file once, unless that is more than it keeps.
type Peek struct {
	files  fs.FS
	paths  []string
	known  map[string]bool // the paths
	heads  map[string][]byte
	shapes map[string]*Shape
	room   int // bytes that may still be kept
}

// NewPeek looks at a folder, or only at the one file of it that is named. Files and folders whose
// names begin with a dot are left out, and so are all files after the first 20,000.
func NewPeek(files fs.FS, only string) *Peek {
	p := &Peek{files: files, heads: map[string][]byte{}, shapes: map[string]*Shape{}, room: maxPeekKept}
	if only != "" {
		p.paths = []string{only}
		return p
	}
	// The walk returns no error: an unreadable folder is left out.
	_ = fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		hidden := name != "." && strings.HasPrefix(path.Base(name), ".")
		switch {
		case err != nil || d.IsDir() && hidden:
			return fs.SkipDir
		case len(p.paths) >= maxPeekFiles:
			return fs.SkipAll
		case d.Type().IsRegular() && !hidden:
			p.paths = append(p.paths, name)
		}
		return nil
	})
	return p
}

// Paths returns the paths of the files, in order.
func (p *Peek) Paths() []string { return p.paths }

// WithSuffix returns the paths that end with one of the given suffixes, in any case.
func (p *Peek) WithSuffix(suffixes ...string) (found []string) {
	for _, name := range p.paths {
		if slices.ContainsFunc(suffixes, func(s string) bool { return strings.HasSuffix(strings.ToLower(name), s) }) {
			found = append(found, name)
		}
	}
	return found
}

// Has reports whether there is a file of the given path.
func (p *Peek) Has(name string) bool {
	if p.known == nil {
		p.known = make(map[string]bool, len(p.paths))
		for _, at := range p.paths {
			p.known[at] = true
		}
	}
	return p.known[name]
}

// Head returns the first 16 KiB of a file without a byte order mark, or nil if it cannot be read.
func (p *Peek) Head(name string) []byte {
	if head, ok := p.heads[name]; ok {
		return head
	}
	head, err := p.readFile(name, maxPeekHead)
	if err != nil {
		head = nil
	}
	head = bytes.Clone(bytes.TrimPrefix(head, []byte("\ufeff")))
	if p.room -= len(head); p.room >= 0 {
		p.heads[name] = head
	}
	return head
}

func (p *Peek) readFile(name string, limit int64) ([]byte, error) {
	if info, err := fs.Stat(p.files, name); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, fs.ErrInvalid)
	}
	f, err := p.files.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, limit))
}

// Shape is the outermost level of a JSON file.
type Shape struct {
	List    bool                       // the file is a list; Members are those of its first item
	Members map[string]json.RawMessage // values longer than 64 KiB are cut off
}

// JSON returns the shape of a JSON file. The shape is empty if the file is not JSON, or is cut off before the first
// member. It has the first 100,000 members.
func (p *Peek) JSON(name string) *Shape {
	if s := p.shapes[name]; s != nil {
		return s
	}
	s := &Shape{Members: map[string]json.RawMessage{}}
	defer func() {
		for member, value := range s.Members {
			p.room -= len(member) + len(value)
		}
		if p.room >= 0 {
			p.shapes[name] = s
		}
	}()
	head := bytes.TrimLeft(p.Head(name), " \t\r\n")
	if len(head) == 0 || head[0] != '{' && head[0] != '[' {
		return s
	}
	data, err := p.readFile(name, maxPeekJSON)
	if err != nil {
		return s
	}
	s.readMembers(json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(data, []byte("\ufeff")))))
	return s
}

func (s *Shape) readMembers(d *json.Decoder) {
	t, err := d.Token()
	if err == nil && t == json.Delim('[') {
		s.List = true
		t, err = d.Token()
	}
	for err == nil && t == json.Delim('{') && len(s.Members) < maxMembers && d.More() {
		var key json.Token
		if key, err = d.Token(); err != nil {
			return
		}
		var value json.RawMessage
		if err = d.Decode(&value); err == nil {
			name, _ := key.(string) // the key of an object is a string
			s.Members[name] = bytes.Clone(value[:min(len(value), maxPeekValue)])
		}
	}
}

// Has reports whether all members exist.
func (s *Shape) Has(members ...string) bool {
	return !slices.ContainsFunc(members, func(m string) bool { return s.Members[m] == nil })
}

// Text returns a member that is a text, or "".
func (s *Shape) Text(member string) string {
	var text string
	if json.Unmarshal(s.Members[member], &text) != nil {
		return ""
	}
	return text
}

// Begins reports whether a member's value begins with the given character, such as '[' for a list.
func (s *Shape) Begins(member string, with byte) bool {
	return len(s.Members[member]) > 0 && s.Members[member][0] == with
}

// Whole returns the content of a file of at most 64 MiB.
func (p *Peek) Whole(name string) ([]byte, error) { return p.readFile(name, maxPeekJSON) }
