package intake

import (
	"bytes"
	_ "embed"
	"encoding/binary"
	"io"
	"strconv"
	"strings"
)

// catalog has the structs of a .blend file, as the file itself describes them in its block DNA1: "SDNA", then
// four lists, each at a multiple of four bytes. "NAME": a count (int32) and the names of fields, each ended by a
// zero byte. "TYPE": the same of types. "TLEN": the length of each type (int16). "STRC": a count (int32) and for
// each struct its type, the number of its fields, and a type and a name for each field (all int16).
type catalog struct {
	pointer int
	names   []string
	types   []string
	lengths []int
	structs []structForm
	byType  map[int]int // index of the struct of a type

	packed map[uint64]bool // addresses of the packed files, and whether they are in the file
}

type structForm struct {
	name   string
	length int
	fields [][2]int // types and names
	paths  []pathField
	packs  []int // offsets of the pointers to packed files
	known  bool  // paths and packs are set
}

// pathField is a field that may hold the path of a file.
type pathField struct {
	name   string
	offset int
	length int
}

// minPath is the length of the shortest field of characters that is taken for a path: names of things have 66 at
// most, and paths 768 or 1024.
const minPath = 240

// harmless lists the fields of this length that Blender reads no file by: texts, and paths that it writes to or
// shows.
//
//go:embed harmless.txt
var harmless string

// Limits of a catalog.
const (
	maxFields = 20_000  // of a struct, with those of the structs in it
	maxPacked = 100_000 // packed files
)

func readCatalog(b *blendReader, k block) (*catalog, error) {
	if k.length > maxCatalog {
		return nil, errBroken
	}
	data, err := io.ReadAll(b)
	if err != nil {
		return nil, err
	}
	p := &listParser{data: data, order: b.order}
	c := &catalog{pointer: b.pointer, byType: map[int]int{}, packed: map[uint64]bool{}}
	p.expect("SDNA")
	p.expect("NAME")
	c.names = p.texts()
	p.expect("TYPE")
	c.types = p.texts()
	p.expect("TLEN")
	for range c.types {
		c.lengths = append(c.lengths, p.short())
	}
	p.expect("STRC")
	for i := range p.count() {
		t := p.short()
		s := structForm{}
		for range p.short() {
			s.fields = append(s.fields, [2]int{p.short(), p.short()})
			p.check(inRange(s.fields[len(s.fields)-1], len(c.types), len(c.names)))
		}
		p.check(t < len(c.types))
		if p.broken {
			return nil, errBroken
		}
		s.name, s.length = c.types[t], c.lengths[t]
		c.structs = append(c.structs, s)
		c.byType[t] = i
	}
	if p.broken {
		return nil, errBroken
	}
	return c, nil
}

func inRange(field [2]int, types, names int) bool { return field[0] < types && field[1] < names }

// checkBlock refuses a block that holds the path of a file outside.
func (c *catalog) checkBlock(b *blendReader, k block) error {
	if k.index == 0 && k.code == "DATA" || k.code == "DNA1" {
		return nil // plain bytes
	}
	if k.index >= len(c.structs) || len(c.packed) > maxPacked {
		return errBroken
	}
	s, err := c.layOut(k.index)
	if err != nil {
		return err
	}
	if s.name == "PackedFile" || s.name == "ImagePackedFile" {
		c.packed[k.address] = true
	}
	if len(s.paths) == 0 {
		return nil
	}
	one := make([]byte, s.length)
	for range k.length / max(s.length, 1) {
		if _, err := io.ReadFull(b, one); err != nil {
			return err
		}
		if c.notePacked(b, s, one) {
			continue
		}
		if err := s.checkPaths(one); err != nil {
			return err
		}
	}
	return nil
}

// notePacked reports whether the file that a struct names is packed. The packed file may be in a later block.
func (c *catalog) notePacked(b *blendReader, s *structForm, data []byte) (packed bool) {
	for _, at := range s.packs {
		if p := b.address(data[at:]); p != 0 {
			if _, known := c.packed[p]; !known {
				c.packed[p] = false
			}
			packed = true
		}
	}
	return packed
}

// checkPacked refuses a file with a path whose packed file is missing.
func (c *catalog) checkPacked() error {
	for _, there := range c.packed {
		if !there {
			return refuseModel("it lacks a file that is packed into it; save it again, or export the model as GLB")
		}
	}
	return nil
}

// checkPaths refuses a struct with a path.
func (s *structForm) checkPaths(data []byte) error {
	for _, f := range s.paths {
		text, _, _ := bytes.Cut(data[f.offset:f.offset+f.length], []byte{0})
		if len(text) > 0 && string(text) != "<builtin>" {
			return refuseModel("it names another file (%s.%s); pack all files into it (File, External Data, "+
				"Pack Resources), or export the model as GLB", s.name, f.name)
		}
	}
	return nil
}

// layOut finds the paths of a struct and of the structs in it.
func (c *catalog) layOut(index int) (*structForm, error) {
	s := &c.structs[index]
	if s.known {
		return s, nil
	}
	left := maxFields
	end, err := c.addPaths(s, index, 0, &left)
	if err != nil || end != s.length {
		return nil, errBroken
	}
	s.known = true
	return s, nil
}

// addPaths adds to s the paths of the struct with an index, which lies at an offset of s. It returns the offset
// of its end.
func (c *catalog) addPaths(s *structForm, index, at int, left *int) (int, error) {
	inner := &c.structs[index]
	for _, f := range inner.fields {
		if *left--; *left < 0 {
			return 0, errBroken
		}
		name, many := splitField(c.names[f[1]])
		size := c.lengths[f[0]]
		pointer := strings.HasPrefix(name, "*") || strings.HasPrefix(name, "(")
		if pointer {
			size = c.pointer
		}
		if many < 1 || many > 1<<20 || at+size*many > s.length {
			return 0, errBroken
		}
		below, isStruct := c.byType[f[0]]
		switch {
		case (name == "*packedfile" || name == "packedfiles") && size >= c.pointer:
			s.packs = append(s.packs, at)
		case pointer:
		case c.types[f[0]] == "char" && many >= minPath && !isHarmless(inner.name, name):
			s.paths = append(s.paths, pathField{name, at, many})
		case isStruct:
			for i := range many {
				if _, err := c.addPaths(s, below, at+i*size, left); err != nil {
					return 0, err
				}
			}
		}
		at += size * many
	}
	return at, nil
}

// splitField splits the name of a field, such as "name[1024]", into the name and the number of its values.
func splitField(text string) (name string, many int) {
	name, rest, _ := strings.Cut(text, "[")
	if strings.HasPrefix(text, "(") {
		return text, 1 // a pointer to a function or to an array
	}
	many = 1
	for rest != "" {
		digits, more, _ := strings.Cut(rest, "]")
		n, err := strconv.Atoi(digits)
		if err != nil || n < 1 || n > 1<<20 || many > 1<<20 {
			return name, 0
		}
		many *= n
		rest = strings.TrimPrefix(more, "[")
	}
	return name, many
}

func isHarmless(structName, field string) bool {
	for line := range strings.Lines(harmless) {
		line = strings.TrimSpace(line)
		if line == structName+"."+field || line == structName+".*" {
			return true
		}
	}
	return false
}

// listParser reads numbers and texts; behind the end it reads zeros and is broken.
type listParser struct {
	data   []byte
	at     int
	order  binary.ByteOrder
	broken bool
}

func (p *listParser) check(ok bool) { p.broken = p.broken || !ok }

func (p *listParser) take(n int) []byte {
	if p.broken || n > len(p.data)-p.at {
		p.broken = true
		return make([]byte, n)
	}
	p.at += n
	return p.data[p.at-n : p.at]
}

// expect reads four letters, at a multiple of four bytes.
func (p *listParser) expect(word string) {
	p.at = min((p.at+3)&^3, len(p.data))
	p.check(string(p.take(4)) == word)
}

func (p *listParser) short() int { return int(p.order.Uint16(p.take(2))) }

// count reads the number of entries of a list, each of which takes at least a byte.
func (p *listParser) count() int {
	n := int(p.order.Uint32(p.take(4)))
	if n > len(p.data)-p.at {
		p.broken = true
		return 0
	}
	return n
}

func (p *listParser) texts() []string {
	out := make([]string, p.count())
	for i := range out {
		end := bytes.IndexByte(p.data[p.at:], 0)
		if end < 0 {
			p.broken = true
			return out
		}
		out[i] = string(p.data[p.at : p.at+end])
		p.at += end + 1
	}
	return out
}
