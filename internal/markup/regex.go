package markup

import (
	"cmp"
	"context"
	"io"
	"regexp"
	"regexp/syntax"
	"unicode/utf8"
)

const (
	// MaxPattern is the maximum length of the pattern of a regex patch, in characters.
	MaxPattern = 500
	// MaxRegexMatches is the maximum number of matches that a regex patch may replace.
	MaxRegexMatches = 100
	// maxRegexInput is the maximum length of the searched content, in bytes.
	maxRegexInput = 1 << 20
	// maxRegexWork limits the pattern size multiplied by the content size, the worst-case cost of
	// one search.
	maxRegexWork = 64 << 20
	// maxProgram is the maximum number of instructions of a pattern. Repetition counts multiply
	// them.
	maxProgram = 20_000
)

// replaceRegex replaces every match. It stops soon after ctx ends.
func (p Patch) replaceRegex(ctx context.Context, content string) (Result, error) {
	find, err := p.compilePattern(content)
	if err != nil {
		return Result{}, err
	}
	find.ctx = ctx
	return p.replaceAll(ctx, find, content)
}

func errTooSlow() error {
	return patchFault("pattern", "The pattern took too long on this content; make it simpler or the content shorter.")
}

// compilePattern checks the limits and compiles the pattern.
func (p Patch) compilePattern(content string) (*finder, error) {
	switch {
	case utf8.RuneCountInString(p.Pattern) > MaxPattern:
		return nil, patchFault("pattern", "The pattern is longer than %d characters.", MaxPattern)
	case p.MaxMatches < 0 || p.MaxMatches > MaxRegexMatches:
		return nil, patchFault("max_matches", "The value must be between 1 and %d.", MaxRegexMatches)
	case len(content) > maxRegexInput:
		return nil, patchFault("pattern",
			"The content is longer than the %d MiB that a pattern may search; use another mode.", maxRegexInput>>20)
	}
	parsed, err := syntax.Parse(p.Pattern, syntax.Perl)
	if err != nil {
		return nil, patchFault("pattern", "The pattern is not valid RE2: %s.", err)
	}
	if programSize(parsed) > maxProgram {
		return nil, patchFault("pattern", "The pattern repeats too much; use smaller counts.")
	}
	prog, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return nil, patchFault("pattern", "The pattern is not valid RE2: %s.", err)
	}
	if len(prog.Inst)*len(content) > maxRegexWork {
		return nil, patchFault("pattern", "The pattern repeats too much for content of this length; use smaller counts.")
	}
	first, err := regexp.Compile(p.Pattern)
	if err != nil {
		return nil, patchFault("pattern", "The pattern is not valid RE2: %s.", err)
	}
	// A search from a later offset needs the character before it, for \b and ^.
	next, err := regexp.Compile(`\A(?s:.)(?s:.*?)(` + p.Pattern + `)`)
	if err != nil {
		return nil, patchFault("pattern", "The pattern is not valid RE2: %s.", err)
	}
	return &finder{first: first, next: next, text: content}, nil
}

// programSize estimates the number of instructions of a pattern before it is compiled.
func programSize(re *syntax.Regexp) int {
	size := 1 + len(re.Rune)/8
	if re.Op == syntax.OpLiteral {
		size = len(re.Rune)
	}
	for _, sub := range re.Sub {
		size += programSize(sub)
	}
	if re.Op == syntax.OpRepeat {
		size *= max(re.Max, re.Min, 1)
	}
	return size
}

func (p Patch) replaceAll(ctx context.Context, find *finder, content string) (Result, error) {
	limit := cmp.Or(p.MaxMatches, MaxRegexMatches)
	var out []byte
	done, n := 0, 0
	for m := find.findNext(); m != nil; m = find.findNext() {
		if ctx.Err() != nil {
			return Result{}, errTooSlow()
		}
		if n++; n > limit {
			return Result{}, patchFault("max_matches",
				"The pattern matches more than %d times, so nothing is changed; narrow it or raise max_matches.", limit)
		}
		out = append(out, content[done:m[0]]...)
		if out = find.first.ExpandString(out, p.Replacement, content, m); len(out) > MaxPatchOutput {
			return Result{}, patchFault("replacement", "The result would be longer than %d MiB.", MaxPatchOutput>>20)
		}
		done = m[1]
	}
	if ctx.Err() != nil {
		return Result{}, errTooSlow()
	}
	if n == 0 {
		return Result{}, patchFault("pattern", "The pattern matches nothing in the content.")
	}
	return Result{Content: string(append(out, content[done:]...)), Matches: n}, nil
}

// finder returns the matches of a pattern one at a time, so that the caller can stop between them.
// They are the same as those of FindAllStringSubmatchIndex.
type finder struct {
	ctx         context.Context
	first, next *regexp.Regexp
	text        string
	at          int // start of the next search
	end         int // end of the last match; valid once started is set
	started     bool
}

// findNext returns the next match in the form of FindStringSubmatchIndex, or nil.
func (f *finder) findNext() []int {
	for f.at <= len(f.text) {
		m := f.searchAt()
		if m == nil {
			f.at = len(f.text) + 1
			return nil
		}
		abuts := f.started && m[0] == m[1] && m[0] == f.end
		f.started, f.end = true, m[1]
		f.at = m[1]
		if m[0] == m[1] {
			_, size := utf8.DecodeRuneInString(f.text[m[1]:])
			f.at += max(size, 1)
		}
		if !abuts {
			return m
		}
	}
	return nil
}

// searchAt searches from f.at on. The pattern can see the character before it.
func (f *finder) searchAt() []int {
	if f.at == 0 {
		return f.matchFrom(f.first, 0)
	}
	_, size := utf8.DecodeLastRuneInString(f.text[:f.at])
	from := f.at - size
	m := f.matchFrom(f.next, from)
	if m == nil {
		return nil
	}
	m = m[2:] // the first group is the user's pattern
	for i, v := range m {
		if v >= 0 {
			m[i] = v + from
		}
	}
	return m
}

// matchFrom searches the text from an offset on. It returns nil once the context has ended.
func (f *finder) matchFrom(re *regexp.Regexp, from int) []int {
	m := re.FindReaderSubmatchIndex(&checkedRunes{ctx: f.ctx, text: f.text[from:]})
	if f.ctx.Err() != nil {
		return nil
	}
	return m
}

// checkedRunes reads a text until its context ends. One step of a search may cost as much as the
// size of the program, so it checks the context every 64 characters.
type checkedRunes struct {
	ctx  context.Context
	text string
	read int
}

// ReadRune implements io.RuneReader.
func (r *checkedRunes) ReadRune() (rune, int, error) {
	if r.read++; r.text == "" || r.read%64 == 0 && r.ctx.Err() != nil {
		return 0, 0, io.EOF
	}
	c, size := utf8.DecodeRuneInString(r.text)
	r.text = r.text[size:]
	return c, size, nil
}
