package op

import (
	"regexp"
	"slices"
	"strings"

	"loregate/internal/access"
	"loregate/internal/lazyregexp"
)

// namePattern matches the tool names that MCP clients accept. Our names are snake_case, except
// those that a contract prescribes otherwise.
var namePattern = lazyregexp.New(`^[a-z][a-z0-9]*(?:[_.-][a-z0-9]+)*$`)

// checkOperation adds the mistakes of a declaration to wrong.
func checkOperation(o *Operation, surface string, wrong *problems) {
	bad := func(format string, args ...any) { wrong.add("operation "+o.Name+": "+format, args...) }
	if !namePattern.MatchString(o.Name) || len(o.Name) < 2 || len(o.Name) > 64 {
		bad("the name must be words of lower-case letters and digits joined by _, - or ., 2 to 64 characters")
	}
	if o.Title == "" || o.Doc == "" {
		bad("Title and Doc must be set")
	}
	if !slices.Contains(o.Surfaces, surface) {
		bad("Surfaces must contain %s, which offers it", surface)
	}
	switch o.Effect {
	case access.Read, access.Write, access.Destroy, access.Propose:
	default:
		bad("Effect is needed")
	}
	if o.Target != "" && !o.declaresField(o.Target) {
		bad("Target %s is not an input field", o.Target)
	}
	if o.Player != "" && !o.declaresField(o.Player) {
		bad("Player %s is not an input field", o.Player)
	}
	if order := o.Out().PropertyOrder; o.Unwrap != "" && (len(order) == 0 || order[0] != o.Unwrap) {
		bad("Unwrap %s must be the first field of the output", o.Unwrap)
	}
	if o.BodyLimit > 0 && o.UploadField() == "" {
		bad("BodyLimit needs an input with a []byte field")
	}
	for _, name := range PropertyNames(o.In()) {
		if o.In().Properties[name].Description == "" {
			bad("input field %s needs a description in a jsonschema tag", name)
		}
	}
	for _, e := range o.Examples {
		if e.Title == "" {
			bad("an example has no Title")
		}
		if _, err := o.readInput(Request{Input: []byte(e.Input)}); err != nil {
			bad("example %q: %v", e.Title, err)
		}
	}
}

// Method returns the method of the operation's Route; "" without a route.
func (o *Operation) Method() string { m, _, _ := strings.Cut(o.Route, " "); return m }

// Path returns the path of the operation's Route, with {variables}; "" without a route.
func (o *Operation) Path() string { _, p, _ := strings.Cut(o.Route, " "); return p }

// Routes returns all REST addresses of the operation, its own first.
func (o *Operation) Routes() []OlderRoute {
	if o.Route == "" {
		return o.Older
	}
	return append([]OlderRoute{{Route: o.Route}}, o.Older...)
}

// PathVars returns the variables of a Route's path, in order.
func (o *Operation) PathVars() []string { return pathVars(o.Route) }

func pathVars(route string) []string {
	var vars []string
	for part := range strings.SplitSeq(route, "/") {
		if strings.HasPrefix(part, "{") && strings.HasSuffix(part, "}") {
			vars = append(vars, part[1:len(part)-1])
		}
	}
	return vars
}

// checkRoutes reports routes that are malformed, or equal apart from the names of their variables.
func checkRoutes(list []*Operation, wrong *problems) {
	taken := map[string]string{}
	variable := regexp.MustCompile(`\{[^}/]*\}`)
	for _, o := range list {
		bad := func(format string, args ...any) { wrong.add("operation "+o.Name+": route "+format, args...) }
		for _, r := range o.Routes() {
			method, path, _ := strings.Cut(r.Route, " ")
			if !slices.Contains([]string{"GET", "POST", "PUT", "PATCH", "DELETE"}, method) || !strings.HasPrefix(path, "/api/") {
				bad("%q must have the form METHOD /api/…", r.Route)
			}
			if method == "GET" && o.Effect != access.Read {
				bad("%q: the method GET is only for reads", r.Route)
			}
			for _, v := range pathVars(r.Route) {
				if !o.declaresField(v) {
					bad("%q: {%s} is not an input field", r.Route, v)
				}
			}
			key := variable.ReplaceAllString(r.Route, "{}")
			if other := taken[key]; other != "" {
				bad("%q is already the route of %s", r.Route, other)
			}
			taken[key] = o.Name
		}
	}
}

func checkResource(r *Resource, before []*Resource, wrong *problems) {
	if r.Name == "" || r.Title == "" || r.Doc == "" || r.MIME == "" || r.Read == nil || len(r.Surfaces) == 0 {
		wrong.add("resource %s: Name, Title, Doc, MIME, Surfaces and Read must be set", r.Template)
	}
	if slices.ContainsFunc(before, func(x *Resource) bool { return x.Template == r.Template || x.Name == r.Name }) {
		wrong.add("resource %s is declared twice", r.Name)
	}
}

func checkPrompt(p *Prompt, before []*Prompt, wrong *problems) {
	if p.Name == "" || p.Title == "" || p.Doc == "" || p.Render == nil || len(p.Surfaces) == 0 {
		wrong.add("prompt %s: Name, Title, Doc, Surfaces and Render must be set", p.Name)
	}
	if slices.ContainsFunc(before, func(x *Prompt) bool { return x.Name == p.Name }) {
		wrong.add("prompt %s is declared twice", p.Name)
	}
}
