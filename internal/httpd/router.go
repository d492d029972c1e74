package httpd

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// router finds the route of a request by its escaped path, segment by segment. It exists because
// http.ServeMux cleans paths and redirects, and card names may be ".", ".." or contain an encoded
// slash. A literal segment is preferred to a variable, method by method: GET /cards/batch is the
// card "batch" although POST /cards/batch is another operation.
type router struct{ root *branch }

type branch struct {
	literal  map[string]*branch
	variable *branch
	leaves   map[string]*leaf // by method
}

// leaf is a route: its pattern, its variables' names in order, and its handler.
type leaf struct {
	pattern string
	vars    []string
	serve   handler
}

func newRouter() *router { return &router{root: &branch{}} }

// add adds a route with a pattern "METHOD /a/{b}".
func (t *router) add(pattern string, h handler) error {
	method, path, ok := strings.Cut(pattern, " ")
	if !ok || !strings.HasPrefix(path, "/") {
		return fmt.Errorf("httpd: route %q must have the form METHOD /path", pattern)
	}
	at, l := t.root, &leaf{pattern: pattern, serve: h}
	for part := range strings.SplitSeq(path[1:], "/") {
		if name, isVar := strings.CutPrefix(part, "{"); isVar {
			l.vars = append(l.vars, strings.TrimSuffix(name, "}"))
			if at.variable == nil {
				at.variable = &branch{}
			}
			at = at.variable
			continue
		}
		if at.literal == nil {
			at.literal = map[string]*branch{}
		}
		if at.literal[part] == nil {
			at.literal[part] = &branch{}
		}
		at = at.literal[part]
	}
	if at.leaves == nil {
		at.leaves = map[string]*leaf{}
	}
	if other := at.leaves[method]; other != nil {
		return fmt.Errorf("httpd: routes %q and %q are the same", other.pattern, pattern)
	}
	at.leaves[method] = l
	return nil
}

// findRoute returns the route of a method and the values of its variables. If the path has only
// routes of other methods, allowed lists these methods.
func (t *router) findRoute(method, escaped string) (l *leaf, values []string, allowed []string) {
	parts, ok := splitPath(escaped)
	if !ok {
		return nil, nil, nil
	}
	if method == "HEAD" {
		method = "GET"
	}
	if l, values = t.root.findLeaf(method, parts, nil); l != nil {
		return l, values, nil
	}
	t.root.collectMethods(parts, &allowed)
	if slices.Contains(allowed, "GET") {
		allowed = append(allowed, "HEAD")
	}
	if len(allowed) > 0 {
		allowed = append(allowed, "OPTIONS")
	}
	slices.Sort(allowed)
	return nil, nil, slices.Compact(allowed)
}

func (b *branch) findLeaf(method string, parts, values []string) (*leaf, []string) {
	if len(parts) == 0 {
		return b.leaves[method], values
	}
	if next := b.literal[parts[0]]; next != nil {
		if l, v := next.findLeaf(method, parts[1:], values); l != nil {
			return l, v
		}
	}
	if b.variable != nil && parts[0] != "" {
		return b.variable.findLeaf(method, parts[1:], append(slices.Clip(values), parts[0]))
	}
	return nil, nil
}

func (b *branch) collectMethods(parts []string, into *[]string) {
	if len(parts) == 0 {
		for m := range b.leaves {
			*into = append(*into, m)
		}
		return
	}
	if next := b.literal[parts[0]]; next != nil {
		next.collectMethods(parts[1:], into)
	}
	if b.variable != nil && parts[0] != "" {
		b.variable.collectMethods(parts[1:], into)
	}
}

// maxSegments is more than any route has; longer paths are refused at once.
const maxSegments = 16

// splitPath returns the decoded segments of an escaped path: "%2F" is part of a segment, and "+"
// and "%2B" are both "+". A dot may be encoded twice: clients do that to keep "." and ".." from
// being resolved as path steps.
func splitPath(escaped string) ([]string, bool) {
	rest, ok := strings.CutPrefix(escaped, "/")
	if !ok || strings.Count(rest, "/") >= maxSegments {
		return nil, false
	}
	parts := strings.Split(rest, "/")
	for i, p := range parts {
		if !strings.Contains(p, "%") {
			continue
		}
		decoded, err := url.PathUnescape(p)
		if err != nil {
			return nil, false
		}
		parts[i] = twiceEncodedDots.Replace(decoded)
	}
	return parts, true
}

var twiceEncodedDots = strings.NewReplacer("%2E", ".", "%2e", ".")
