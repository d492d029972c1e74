package godot4

import (
	"fmt"
	"slices"
	"strings"

	"loregate/internal/lazyregexp"
)

// section is a part of a text of Godot: a tag with fields in brackets, and properties.
type section struct {
	tag        string
	fields     map[string]string // as written
	properties map[string]string
}

// Check checks the files of a project: the grammar of scenes, settings and scripts, and that resources and
// parents that they name are there.
func Check(files map[string][]byte) error {
	for name, data := range files {
		var err error
		switch {
		case strings.HasSuffix(name, ".tscn"):
			err = checkScene(string(data), files)
		case strings.HasSuffix(name, ".import"), strings.HasSuffix(name, ".godot"):
			_, err = parseSections(string(data))
		case strings.HasSuffix(name, ".gd"):
			err = checkScript(string(data))
		}
		if err != nil {
			return fmt.Errorf("godot4: %s: %w", name, err)
		}
	}
	return nil
}

// parser reads the values of Godot's text format.
type parser struct {
	text string
	at   int
}

func (p *parser) skipSpace(more string) {
	for p.at < len(p.text) && strings.IndexByte(" \t"+more, p.text[p.at]) >= 0 {
		p.at++
	}
}

var (
	nameForm   = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_/:.]*`)
	numberForm = lazyregexp.New(`^-?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?`)
	stringForm = lazyregexp.New(`^[&^]?"([^"\\]|\\.)*"`)
)

// value reads one value: a string, a number, a word, a constructor, a list or a dictionary.
func (p *parser) value() (string, error) {
	p.skipSpace("\n")
	start := p.at
	rest := p.text[p.at:]
	if m := stringForm.FindString(rest) + ""; m != "" {
		p.at += len(m)
		return m, nil
	}
	if m := numberForm.FindString(rest); m != "" {
		p.at += len(m)
		return m, nil
	}
	switch {
	case strings.HasPrefix(rest, "["):
		return p.list(start, ']', false)
	case strings.HasPrefix(rest, "{"):
		return p.list(start, '}', true)
	}
	word := nameForm.FindString(rest)
	if word == "" {
		return "", fmt.Errorf("a value is needed at %.20q", rest)
	}
	p.at += len(word)
	if p.at < len(p.text) && p.text[p.at] == '(' {
		return p.list(start, ')', false)
	}
	if !slices.Contains([]string{"true", "false", "null", "inf", "nan"}, word) {
		return "", fmt.Errorf("%q is no value", word)
	}
	return word, nil
}

// list reads values between brackets; in a dictionary, each has a key.
func (p *parser) list(start int, end byte, keys bool) (string, error) {
	p.at++
	for {
		p.skipSpace("\n")
		if p.at < len(p.text) && p.text[p.at] == end {
			p.at++
			return p.text[start:p.at], nil
		}
		if _, err := p.value(); err != nil {
			return "", err
		}
		p.skipSpace("\n")
		if keys {
			if p.at >= len(p.text) || p.text[p.at] != ':' {
				return "", fmt.Errorf("a key has no value at %d", p.at)
			}
			p.at++
			if _, err := p.value(); err != nil {
				return "", err
			}
			p.skipSpace("\n")
		}
		switch {
		case p.at < len(p.text) && p.text[p.at] == ',':
			p.at++
		case p.at >= len(p.text) || p.text[p.at] != end:
			return "", fmt.Errorf("a list does not end at %d", p.at)
		}
	}
}

// assignment reads NAME = VALUE.
func (p *parser) assignment(into map[string]string) error {
	name := nameForm.FindString(p.text[p.at:])
	if name == "" {
		return fmt.Errorf("a name is needed at %.20q", p.text[p.at:])
	}
	p.at += len(name)
	p.skipSpace("")
	if p.at >= len(p.text) || p.text[p.at] != '=' {
		return fmt.Errorf("%q has no value", name)
	}
	p.at++
	v, err := p.value()
	if _, twice := into[name]; twice && err == nil {
		err = fmt.Errorf("%q is given twice", name)
	}
	into[name] = v
	return err
}

// parseSections reads a text. Properties before the first tag have a section without a tag.
func parseSections(text string) ([]section, error) {
	p := &parser{text: text}
	out := []section{{properties: map[string]string{}}}
	for {
		p.skipSpace("\n")
		if p.at >= len(p.text) {
			return out, nil
		}
		if p.text[p.at] != '[' {
			if err := p.assignment(out[len(out)-1].properties); err != nil {
				return nil, err
			}
			continue
		}
		p.at++
		s := section{tag: nameForm.FindString(p.text[p.at:]), fields: map[string]string{}, properties: map[string]string{}}
		p.at += len(s.tag)
		for p.skipSpace(""); p.at < len(p.text) && p.text[p.at] != ']'; p.skipSpace("") {
			if err := p.assignment(s.fields); err != nil {
				return nil, fmt.Errorf("[%s]: %w", s.tag, err)
			}
		}
		if s.tag == "" || p.at >= len(p.text) {
			return nil, fmt.Errorf("a section does not end")
		}
		p.at++
		out = append(out, s)
	}
}

var resourceForm = lazyregexp.New(`(Ext|Sub)Resource\("([^"]*)"\)`)

// checkScene checks a scene of format 3.
func checkScene(text string, files map[string][]byte) error {
	sections, err := parseSections(text)
	if err != nil {
		return err
	}
	if len(sections) < 2 || sections[1].tag != "gd_scene" || sections[1].fields["format"] != "3" {
		return fmt.Errorf("it does not begin with a gd_scene of format 3")
	}
	known, paths, resources := map[string]bool{}, map[string]bool{}, 0
	for _, s := range sections[2:] {
		id := strings.Trim(s.fields["id"], `"`)
		switch s.tag {
		case "ext_resource":
			path := strings.TrimPrefix(strings.Trim(s.fields["path"], `"`), "res://")
			if files[path] == nil {
				return fmt.Errorf("there is no file %q", path)
			}
			known["Ext "+id] = true
			resources++
		case "sub_resource":
			known["Sub "+id] = true
			resources++
		case "node":
			if err := checkNode(s, paths); err != nil {
				return err
			}
		default:
			return fmt.Errorf("[%s] is not known", s.tag)
		}
		for _, v := range []map[string]string{s.fields, s.properties} {
			for name, value := range v {
				for _, m := range resourceForm.FindAllStringSubmatch(value, -1) {
					if !known[m[1]+" "+m[2]] {
						return fmt.Errorf("%s names a resource %q that is not above it", name, m[2])
					}
				}
			}
		}
	}
	if steps := sections[1].fields["load_steps"]; steps != fmt.Sprint(resources+1) {
		return fmt.Errorf("load_steps is %s, and there are %d resources", steps, resources)
	}
	return nil
}

// checkNode checks that a node's parent is above it, and that its path is new.
func checkNode(s section, paths map[string]bool) error {
	name, parent, has := strings.Trim(s.fields["name"], `"`), strings.Trim(s.fields["parent"], `"`), s.fields["parent"] != ""
	path := name
	switch {
	case name == "" || strings.ContainsAny(name, `.:@/"%`):
		return fmt.Errorf("%q is no name of a node", name)
	case !has && len(paths) > 0:
		return fmt.Errorf("node %q has no parent, and is not the first", name)
	case !has:
		path = "."
	case !paths[parent]:
		return fmt.Errorf("node %q: there is no parent %q", name, parent)
	case parent != ".":
		path = parent + "/" + name
	}
	if paths[path] {
		return fmt.Errorf("node %q is there twice", path)
	}
	paths[path] = true
	return nil
}

// oldScript are forms of GDScript 1 that GDScript 2 refuses.
var oldScript = lazyregexp.New(`^\s*(export|onready|tool|remote|master|puppet)\b|\byield\(|\.connect\("[^"]*",\s*self`)

var topLevel = lazyregexp.New(`^(@\w+(\(.*\))? )*(@\w+|extends|class_name|signal|const|var|enum|func|static func|#)\b?`)

// checkScript checks a script of GDScript 2: its lines and their indentation by tabs, its brackets, and
// forms of the older version.
func checkScript(text string) error {
	depth, opened := 0, false
	for i, line := range strings.Split(text, "\n") {
		code := strings.TrimLeft(line, "\t")
		if strings.TrimSpace(code) == "" {
			continue
		}
		fail := func(what string) error { return fmt.Errorf("line %d: %s", i+1, what) }
		indent := len(line) - len(code)
		plain := stringInside.ReplaceAllString(code, `""`)
		switch {
		case oldScript.MatchString(line):
			return fail("is GDScript 1")
		case code[0] == ' ':
			return fail("is indented by spaces")
		case opened && indent != depth+1, !opened && indent > depth:
			return fail("has another indentation")
		case indent == 0 && !topLevel.MatchString(code):
			return fail("does not belong outside of a function")
		case !balanced(plain):
			return fail("has unbalanced brackets")
		}
		depth, opened = indent, strings.HasSuffix(strings.TrimSpace(plain), ":")
	}
	if opened {
		return fmt.Errorf("the last block is empty")
	}
	return nil
}

var stringInside = lazyregexp.New(`"([^"\\]|\\.)*"`)

func balanced(code string) bool {
	pairs := map[rune]rune{')': '(', ']': '[', '}': '{'}
	var open []rune
	for _, c := range code {
		switch c {
		case '(', '[', '{':
			open = append(open, c)
		case ')', ']', '}':
			if len(open) == 0 || open[len(open)-1] != pairs[c] {
				return false
			}
			open = open[:len(open)-1]
		}
	}
	return len(open) == 0
}
