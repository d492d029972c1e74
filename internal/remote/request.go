package remote

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/op"
)

// call is a request as it is sent, as often as it takes.
type call struct {
	method, url string
	header      map[string]string
	body        []byte
	again       bool // it may be sent again whatever became of it
}

// call maps an invocation to the operation's route: path variables, then the body of POST,
// PUT and PATCH, and for other methods the query.
func (e *Engine) call(o *op.Operation, r op.Request) (*call, error) {
	fields, err := fieldsOf(r.Input)
	if err != nil {
		return nil, err
	}
	c := &call{method: o.Method(), header: map[string]string{}}
	query := url.Values{}
	key := r.IdempotencyKey
	strip(o, fields, &key, query)
	if r.World != "" {
		query.Set("world", r.World)
	}
	if key != "" {
		c.header["Idempotency-Key"] = key
	}
	if r.Correlation != "" {
		c.header["X-Correlation-Id"] = r.Correlation
	}
	if r.Transport == "mcp" {
		c.header[op.ServedOver] = r.Transport
	}
	path, err := pathOf(o, fields)
	if err != nil {
		return nil, err
	}
	switch {
	case r.Upload != nil:
		addQuery(query, fields)
		c.body, c.header["Content-Type"] = r.Upload, "application/octet-stream"
	case c.method == "GET" || c.method == "DELETE":
		addQuery(query, fields)
	default:
		if c.body, err = json.Marshal(fields); err != nil {
			return nil, fault.New(fault.Invalid, "the input could not be encoded").Because(err)
		}
		c.header["Content-Type"] = "application/json"
	}
	c.url = e.base + path
	if len(query) > 0 {
		// A plus in a query is a plus: spaces travel as %20.
		c.url += "?" + strings.ReplaceAll(query.Encode(), "+", "%20")
	}
	c.again = o.Effect == access.Read || key != ""
	return c, nil
}

// fieldsOf reads an input strictly.
func fieldsOf(input json.RawMessage) (map[string]json.RawMessage, error) {
	fields := map[string]json.RawMessage{}
	if len(bytes.TrimSpace(input)) == 0 {
		return fields, nil
	}
	canonical, err := op.Canonical(input)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(canonical, &fields); err != nil || fields == nil {
		return nil, fault.New(fault.Invalid, "the input must be a JSON object")
	}
	return fields, nil
}

// strip takes out the fields that are no input of the operation but of the engine.
func strip(o *op.Operation, fields map[string]json.RawMessage, key *string, query url.Values) {
	take := func(name string) string {
		v, ok := fields[name]
		if !ok || o.In.Properties[name] != nil {
			return ""
		}
		delete(fields, name)
		var s string
		_ = json.Unmarshal(v, &s) // what is no string is dropped as the field is
		return s
	}
	take("wait_for_previous")
	take("_meta")
	if s := take("idempotency_key"); s != "" && o.Effect != access.Read {
		*key = s
	}
	if s := take("world"); s != "" && !o.NoWorld {
		query.Set("world", s)
	}
}

// pathOf fills a route's variables, and takes their fields out.
func pathOf(o *op.Operation, fields map[string]json.RawMessage) (string, error) {
	path := o.Path()
	for _, name := range o.PathVars() {
		text, ok := textOf(fields[name])
		if !ok || text == "" {
			return "", fault.BadField(name, "is missing")
		}
		delete(fields, name)
		path = strings.Replace(path, "{"+name+"}", segment(text), 1)
	}
	return path, nil
}

// segment escapes a text for a path. Dots alone are escaped twice, or they would be taken
// for steps on the way.
func segment(s string) string {
	if strings.Trim(s, ".") == "" {
		return strings.ReplaceAll(s, ".", "%252E")
	}
	return url.PathEscape(s)
}

// textOf is a scalar as text.
func textOf(v json.RawMessage) (string, bool) {
	switch {
	case len(v) == 0 || string(v) == "null":
		return "", false
	case v[0] == '"':
		var s string
		err := json.Unmarshal(v, &s)
		return s, err == nil
	}
	return string(v), v[0] != '{' && v[0] != '['
}

// addQuery puts fields into a query: items of a list one by one, objects as JSON.
func addQuery(query url.Values, fields map[string]json.RawMessage) {
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		v := fields[name]
		if text, ok := textOf(v); ok {
			query.Add(name, text)
			continue
		}
		var list []json.RawMessage
		switch {
		case len(v) == 0 || v[0] == 'n':
		case v[0] == '[' && json.Unmarshal(v, &list) == nil:
			for _, item := range list {
				if text, ok := textOf(item); ok {
					query.Add(name, text)
				}
			}
		default:
			query.Add(name, string(v))
		}
	}
}
