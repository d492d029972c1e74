// Package lazyregexp has regular expressions that are compiled when they are first used, so that a program that needs
// few of them starts fast.
package lazyregexp

import (
	"regexp"
	"sync"
)

// Regexp is a regular expression. Its methods are those of regexp.Regexp.
type Regexp struct{ compile func() *regexp.Regexp }

// New returns a regular expression. A wrong one panics when it is first used.
func New(expr string) *Regexp {
	return &Regexp{sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })}
}

// Get returns the compiled expression.
func (r *Regexp) Get() *regexp.Regexp { return r.compile() }

func (r *Regexp) String() string { return r.Get().String() }

func (r *Regexp) Match(b []byte) bool { return r.Get().Match(b) }

func (r *Regexp) MatchString(s string) bool { return r.Get().MatchString(s) }

func (r *Regexp) FindAll(b []byte, n int) [][]byte { return r.Get().FindAll(b, n) }

func (r *Regexp) FindAllIndex(b []byte, n int) [][]int { return r.Get().FindAllIndex(b, n) }

func (r *Regexp) FindSubmatch(b []byte) [][]byte { return r.Get().FindSubmatch(b) }

func (r *Regexp) FindString(s string) string { return r.Get().FindString(s) }

func (r *Regexp) FindStringIndex(s string) []int { return r.Get().FindStringIndex(s) }

func (r *Regexp) FindStringSubmatch(s string) []string { return r.Get().FindStringSubmatch(s) }

func (r *Regexp) FindStringSubmatchIndex(s string) []int { return r.Get().FindStringSubmatchIndex(s) }

func (r *Regexp) FindAllString(s string, n int) []string { return r.Get().FindAllString(s, n) }

func (r *Regexp) FindAllStringIndex(s string, n int) [][]int { return r.Get().FindAllStringIndex(s, n) }

func (r *Regexp) FindAllStringSubmatch(s string, n int) [][]string {
	return r.Get().FindAllStringSubmatch(s, n)
}

func (r *Regexp) FindAllStringSubmatchIndex(s string, n int) [][]int {
	return r.Get().FindAllStringSubmatchIndex(s, n)
}

func (r *Regexp) ReplaceAllString(s, with string) string { return r.Get().ReplaceAllString(s, with) }

func (r *Regexp) ReplaceAllLiteralString(s, with string) string {
	return r.Get().ReplaceAllLiteralString(s, with)
}

func (r *Regexp) ReplaceAllStringFunc(s string, f func(string) string) string {
	return r.Get().ReplaceAllStringFunc(s, f)
}

func (r *Regexp) Split(s string, n int) []string { return r.Get().Split(s, n) }

func (r *Regexp) SubexpIndex(name string) int { return r.Get().SubexpIndex(name) }

func (r *Regexp) NumSubexp() int { return r.Get().NumSubexp() }
