package builder

import (
	"fmt"
	"strings"

	"loregate/internal/studio/noise"
	"loregate/internal/studio/scene"
)

// scope holds the values that the expressions of recipes can name, and their random numbers.
type scope struct {
	lib     *library
	seed    uint64
	rnd     *noise.Source
	vars    []entry[float64]  // the innermost last
	aliases map[string]string // materials by the names that the recipe in use has for them
	err     error             // the first error
}

func (s *scope) fail(format string, args ...any) {
	if s.err == nil {
		s.err = fmt.Errorf("builder: "+format, args...)
	}
}

func (s *scope) set(name string, v float64) { s.vars = append(s.vars, entry[float64]{name, v}) }

// find returns the innermost variable of a name.
func (s *scope) find(name string) *entry[float64] {
	for i := len(s.vars) - 1; i >= 0; i-- {
		if s.vars[i].name == name {
			return &s.vars[i]
		}
	}
	s.fail("no value %q", name)
	return &entry[float64]{}
}

// eval returns a number, or the default if the recipe does not give it.
func (s *scope) eval(n number, byDefault float64) float64 {
	if n == nil {
		return byDefault
	}
	return n(s)
}

// evalAll returns exactly n numbers.
func (s *scope) evalAll(list []number, n int) []float64 {
	if len(list) != n {
		s.fail("%d numbers instead of %d", len(list), n)
	}
	out := make([]float64, n)
	for i := range min(n, len(list)) {
		out[i] = s.eval(list[i], 0)
	}
	return out
}

// evalVec returns a vector, or zero if the recipe does not give it.
func (s *scope) evalVec(v *[3]number) (out scene.Vec) {
	if v != nil {
		copy(out[:], s.evalAll(v[:], 3))
	}
	return out
}

// run calls f for each repetition whose condition holds, with the repetition's values in scope.
func (s *scope) run(c control, f func()) {
	s.repeat(c.Each, func() {
		mark := len(s.vars)
		for _, b := range c.Let {
			s.set(b.name, b.value(s))
		}
		if s.eval(c.When, 1) != 0 {
			f()
		}
		for _, b := range c.Next {
			v := b.value(s)
			s.find(b.name).value = v
		}
		s.vars = s.vars[:mark]
	})
}

// repeat calls f for each combination of the loops' values; the last loop is the innermost.
func (s *scope) repeat(loops ordered[values], f func()) {
	if len(loops) == 0 {
		f()
		return
	}
	names, of, mark := strings.Fields(loops[0].name), loops[0].value, len(s.vars)
	for i := range max(int(s.eval(of.count, 0)), len(of.rows)) {
		s.set("i", float64(i))
		row := []float64{float64(i)}
		if of.rows != nil {
			row = s.evalAll(of.rows[i], len(names))
		}
		for k := range min(len(names), len(row)) {
			s.set(names[k], row[k])
		}
		s.repeat(loops[1:], f)
		s.vars = s.vars[:mark]
	}
}
