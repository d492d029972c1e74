package textworld

import (
	"strconv"
	"strings"

	"loregate/internal/lazyregexp"
)

// lines reads the lines of a file of CircleMUD.
type lines struct {
	list []string
	at   int // index of the next line
}

func newLines(text string) *lines {
	return &lines{list: strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")}
}

// next returns the next line; ok is false at the end.
func (l *lines) next() (line string, ok bool) {
	if l.at >= len(l.list) {
		return "", false
	}
	l.at++
	return l.list[l.at-1], true
}

// peek returns the next line without reading it.
func (l *lines) peek() string {
	if l.at >= len(l.list) {
		return ""
	}
	return l.list[l.at]
}

// text reads a text that ends with a tilde at the end of a line.
func (l *lines) text() (string, bool) {
	var parts []string
	for {
		line, ok := l.next()
		if !ok {
			return strings.Join(parts, "\n"), false
		}
		if before, ended := strings.CutSuffix(strings.TrimRight(line, " \t"), "~"); ended {
			return plainText(strings.Join(append(parts, before), "\n")), true
		}
		parts = append(parts, line)
	}
}

// colourCode matches the codes of tbaMUD for colours: @ and a letter or number, or a tab and one.
var colourCode = lazyregexp.New("@\\[[^\\]\n]*\\]|[@\t][A-Za-z0-9]")

// plainText removes the codes for colours. A doubled @ stands for one.
func plainText(s string) string {
	parts := strings.Split(s, "@@")
	for i := range parts {
		parts[i] = colourCode.ReplaceAllString(parts[i], "")
	}
	return strings.Trim(strings.Join(parts, "@"), "\n")
}

// record returns the number of the next record, which begins with # and a number. It skips lines before
// it and ends at $.
func (l *lines) record() (number int, ok bool) {
	for {
		line, more := l.next()
		if !more || strings.HasPrefix(line, "$") {
			return 0, false
		}
		if n, is := recordNumber(line); is {
			return n, true
		}
	}
}

// recordNumber returns the number of a line that begins a record.
func recordNumber(line string) (int, bool) {
	rest, ok := strings.CutPrefix(strings.TrimSpace(line), "#")
	n, err := strconv.Atoi(rest)
	return n, ok && err == nil
}

// rest returns the lines up to the next record.
func (l *lines) rest() (list []string) {
	for l.at < len(l.list) && !strings.HasPrefix(l.peek(), "$") {
		if _, is := recordNumber(l.peek()); is {
			return list
		}
		line, _ := l.next()
		list = append(list, line)
	}
	return list
}

// numbers returns the numbers of a line; a field of letters counts as bits: a is 1, b is 2.
func numbers(line string) (all []int) {
	for _, f := range strings.Fields(line) {
		n, err := strconv.Atoi(f)
		if err != nil {
			n = 0
			for _, c := range f {
				switch {
				case c >= 'a' && c <= 'z':
					n |= 1 << (c - 'a')
				case c >= 'A' && c <= 'E':
					n |= 1 << (26 + c - 'A')
				}
			}
		}
		all = append(all, n)
	}
	return all
}

func numberAt(all []int, i int) int {
	if i < len(all) {
		return all[i]
	}
	return 0
}

// extra is a description of a detail, found by its keywords.
type extra struct {
	Keywords string `json:"keywords"`
	Text     string `json:"text"`
}

// The bits of a room that are used.
const (
	roomDeath = 1 << 1
	roomGods  = 1 << 10
)

// circleExit is an exit of a room.
type circleExit struct {
	direction           int
	text, keywords      string
	door, key, to, line int
}

type circleRoom struct {
	number, line, zone, flags, sector int
	file, name, text                  string
	exits                             []circleExit
	extras                            []extra
	scripts                           int
}

// readRooms reads a file of rooms. It reports rooms that are cut off.
func (x *circle) readRooms(file, text string) {
	l := newLines(text)
	for {
		n, ok := l.record()
		if !ok {
			return
		}
		r := &circleRoom{number: n, line: l.at, file: file}
		var a, b bool
		r.name, a = l.text()
		r.text, b = l.text()
		flags, c := l.next()
		if !a || !b || !c {
			x.s.AddProblem(file, r.line, "room %d is cut off; left out", n)
			return
		}
		f := numbers(flags)
		r.zone, r.flags, r.sector = numberAt(f, 0), numberAt(f, 1), numberAt(f, 2)
		if len(f) >= 6 {
			r.sector = f[5]
		}
		r.readParts(l)
		if x.rooms[n] != nil {
			x.s.AddProblem(file, r.line, "room %d occurs twice; left out", n)
			continue
		}
		x.rooms[n] = r
		x.roomOrder = append(x.roomOrder, r)
	}
}

// readParts reads the exits and details of a room.
func (r *circleRoom) readParts(l *lines) {
	for {
		if _, is := recordNumber(l.peek()); is || l.at >= len(l.list) || strings.HasPrefix(l.peek(), "$") {
			return
		}
		line, _ := l.next()
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "D"):
			d, err := strconv.Atoi(strings.TrimSpace(line[1:]))
			e := circleExit{direction: d, line: l.at}
			e.text, _ = l.text()
			e.keywords, _ = l.text()
			values, _ := l.next()
			v := numbers(values)
			if err == nil && len(v) >= 3 {
				e.door, e.key, e.to = v[0], v[1], v[2]
				r.exits = append(r.exits, e)
			}
		case line == "E":
			var e extra
			e.Keywords, _ = l.text()
			e.Text, _ = l.text()
			r.extras = append(r.extras, e)
		case strings.HasPrefix(line, "T "):
			r.scripts++
		}
	}
}

// circleThing is the definition of a mobile or an object.
type circleThing struct {
	number, line, level, kind int
	file                      string
	keywords, name, seen      string
	text                      string
	portable                  bool
	extras                    []extra
	scripts                   int
}

// readThings reads a file of mobiles or objects into a map.
func (x *circle) readThings(file, text string, objects bool, into map[int]*circleThing) {
	l := newLines(text)
	for {
		n, ok := l.record()
		if !ok {
			return
		}
		t := &circleThing{number: n, line: l.at, file: file}
		whole := true
		for _, part := range []*string{&t.keywords, &t.name, &t.seen, &t.text} {
			var ok bool
			*part, ok = l.text()
			whole = whole && ok
		}
		if !whole {
			x.s.AddProblem(file, t.line, "record %d is cut off; left out", n)
			return
		}
		t.readNumbers(l.rest(), objects)
		if into[n] != nil {
			x.s.AddProblem(file, t.line, "record %d occurs twice; left out", n)
			continue
		}
		into[n] = t
	}
}

// readNumbers reads the lines of a thing after its texts.
func (t *circleThing) readNumbers(list []string, objects bool) {
	if len(list) == 0 {
		return
	}
	f := numbers(list[0])
	if objects {
		t.text = "" // the fourth text of an object is the message of an action
		wear := numberAt(f, 2)
		if len(f) >= 9 {
			wear = f[5]
		}
		t.kind, t.portable = numberAt(f, 0), wear&1 != 0
		inner := &lines{list: list[1:]}
		for inner.at < len(inner.list) {
			line, _ := inner.next()
			if strings.TrimSpace(line) == "E" {
				var e extra
				e.Keywords, _ = inner.text()
				e.Text, _ = inner.text()
				t.extras = append(t.extras, e)
			} else if strings.HasPrefix(line, "T ") {
				t.scripts++
			}
		}
		return
	}
	if len(list) > 1 {
		t.level = numberAt(numbers(list[1]), 0)
	}
	for _, line := range list {
		if strings.HasPrefix(line, "T ") {
			t.scripts++
		}
	}
}

// circleZone is a zone with the commands that fill it.
type circleZone struct {
	number, line, bottom, top int
	file, name                string
	commands                  []zoneCommand
}

// zoneCommand is a command of a zone, such as M 0 3011 1 3000.
type zoneCommand struct {
	letter byte
	args   []int
	line   int
}

// readZone reads a file of a zone. The names of the builders before the zone's own name are new in tbaMUD.
func (x *circle) readZone(file, text string) {
	l := newLines(text)
	n, ok := l.record()
	if !ok {
		return
	}
	z := &circleZone{number: n, line: l.at, file: file}
	z.name, _ = l.text()
	if strings.HasSuffix(strings.TrimSpace(l.peek()), "~") {
		z.name, _ = l.text()
	}
	head, _ := l.next()
	f := numbers(head)
	if len(f) >= 4 {
		z.bottom, z.top = f[0], f[1]
	} else {
		z.bottom, z.top = n*100, numberAt(f, 0)
	}
	for {
		line, ok := l.next()
		if !ok || strings.HasPrefix(line, "S") || strings.HasPrefix(line, "$") {
			break
		}
		if line = strings.TrimSpace(line); line == "" || line[0] == '*' {
			continue
		}
		z.commands = append(z.commands, zoneCommand{line[0], leadingNumbers(line[1:]), l.at})
	}
	x.zones = append(x.zones, z)
}

// leadingNumbers returns the numbers at the beginning of a line; a comment follows them.
func leadingNumbers(line string) (all []int) {
	for _, f := range strings.Fields(line) {
		n, err := strconv.Atoi(f)
		if err != nil {
			return all
		}
		all = append(all, n)
	}
	return all
}
