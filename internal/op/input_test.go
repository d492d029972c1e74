package op_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/fault"
)

// faultsOf returns the field faults of an error, one a line.
func faultsOf(err error) string {
	var e *fault.Error
	if !errors.As(err, &e) {
		return fmt.Sprint(err)
	}
	var lines []string
	for _, f := range e.Fields {
		lines = append(lines, f.Field+": "+f.Error)
	}
	return strings.Join(lines, "\n")
}

func TestInputFaults(t *testing.T) {
	b := newBench(t, nil)
	for _, tc := range []struct{ name, input, want string }{
		{"missing", `{}`, `name: is required`},
		{"every fault is listed", `{"limit":0,"sort":"up","tags":["toolong",3],"ops":[{"name":"a"},{"name":"B","count":-1}]}`,
			"limit: must be at least 1\nsort: must be one of name, updated; did you mean \"updated\"?\ntags[0]: takes at most 5 characters, and has 7\n" +
				"tags[1]: must be a string, not the number 3\nops[1].name: does not have an allowed form: use small letters\nops[1].count: must be at least 0\nname: is required"},
		{"unknown, near", `{"name":"A","limt":3}`, `limt: is not known; did you mean "limit"?`},
		{"case is not folded", `{"Name":"A"}`, "Name: is not known; did you mean \"name\"?\nname: is required"},
		{"case is not folded by way of the Kelvin sign", "{\"name\":\"A\",\"tag\u212a\":[]}",
			"tag\u212a: is not known; did you mean \"tags\"?"},
		{"unknown, far", `{"name":"A","zzzzzz":3}`,
			`zzzzzz: is not known; the fields are name, limit, sort, depth, full, updated_since, tags, fields, ops, args, dry_run, if_match`},
		{"unknown below", `{"name":"A","ops":[{"name":"a","cuont":1}]}`, `ops[0].cuont: is not known; did you mean "count"?`},
		{"recursion is checked", `{"name":"A","ops":[{"name":"a","children":[{"name":"b","children":[{"name":"C"}]}]}]}`,
			`ops[0].children[0].children[0].name: does not have an allowed form: use small letters`},
		{"duplicates, each", `{"name":"A","name":"B","fields":{"x":1,"x":2}}`,
			"name: is given twice\nfields.x: is given twice"},
		{"an escape does not hide a duplicate", `{"name":"A","n\u0061me":"B"}`, "name: is given twice"},
		{"a string is no number", `{"name":"A","limit":"five"}`, `limit: must be a whole number, not a string`},
		{"a number beyond all", `{"name":"A","limit":1e999}`,
			`limit: the number 1e999 is out of range; the greatest is about 1.8e308`},
		{"a number beyond all where any JSON is taken", `{"name":"A","fields":{"x":[-1e999]}}`,
			`fields.x[0]: the number -1e999 is out of range; the greatest is about 1.8e308`},
		{"two names of one field", `{"name":"A","card_name":"B"}`,
			`card_name: is not known; the fields are name, limit, sort, depth, full, updated_since, tags, fields, ops, args, dry_run, if_match`},
		{"numeric, but no number", `{"name":"A","depth":"many"}`,
			`depth: must be a whole number, or its digits as a string, not a string`},
		{"a fraction is no whole number", `{"name":"A","limit":1.5}`, `limit: must be a whole number, not the number 1.5`},
		{"too great for its type", `{"name":"A","depth":99999999999999999999}`,
			`depth: the number is out of range; give a smaller one`},
		{"no time", `{"name":"A","updated_since":"yesterday"}`, `updated_since: must be a time such as 2026-01-31T18:00:00Z`},
		{"null for what is required", `{"name":null}`, `name: must be a string, not null`},
		{"too many", `{"name":"A","tags":["a","b","c","d"]}`, `tags: takes at most 3 items, and has 4`},
		{"too long by one", `{"name":"` + strings.Repeat("é", 21) + `"}`, `name: takes at most 20 characters, and has 21`},
		{"empty", `{"name":""}`, `name: must not be empty`},
		{"NUL", `{"name":"A\u0000"}`, `name: must not contain the character NUL`},
		{"world of a wrong type", `{"name":"A","world":3}`, `world: must be a string, not the number 3`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := b.call(as(access.RoleUser), "get_card", tc.input)
			if !errors.Is(err, fault.Invalid) {
				t.Fatalf("got %v, want a validation error", err)
			}
			if got := faultsOf(err); got != tc.want {
				t.Errorf("got\n%s\nwant\n%s", got, tc.want)
			}
		})
	}
}

func TestInputCompleted(t *testing.T) {
	b := newBench(t, nil)
	for _, tc := range []struct{ name, input, want string }{
		{"defaults", `{"name":"A"}`, `{"name":"A","limit":50,"sort":"name"}`},
		{"given values stay", `{"name":"A","limit":7,"sort":"updated"}`, `{"name":"A","limit":7,"sort":"updated"}`},
		{"the engine's own fields are dropped", `{"wait_for_previous":true,"_meta":{"x":1},"world":"a","name":"A"}`,
			`{"name":"A","limit":50,"sort":"name"}`},
		{"null is absent where optional", `{"name":"A","limit":null,"tags":null}`, `{"name":"A","limit":50,"sort":"name"}`},
		{"null stays where anything may be", `{"name":"A","fields":{"x":null}}`,
			`{"name":"A","limit":50,"sort":"name","fields":{"x":null}}`},
		{"numeric strings where the schema says so", `{"name":"A","depth":" 3 "}`,
			`{"name":"A","limit":50,"sort":"name","depth":3}`},
		{"whole floats are whole", `{"name":"A","limit":1e1,"depth":2.0}`, `{"name":"A","limit":10,"sort":"name","depth":2}`},
		{"a date is its first instant", `{"name":"A","updated_since":"2026-02-03"}`,
			`{"name":"A","limit":50,"sort":"name","updated_since":"2026-02-03T00:00:00Z"}`},
		{"as long as may be", `{"name":"` + strings.Repeat("é", 20) + `"}`, `{"name":"` + strings.Repeat("é", 20) +
			`","limit":50,"sort":"name"}`},
		{"text passes as it is", `{"name":"<b>&\u2028é"}`, "{\"name\":\"<b>&\u2028é\",\"limit\":50,\"sort\":\"name\"}"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			a, err := b.call(as(access.RoleUser), "get_card", tc.input)
			if err != nil {
				t.Fatal(err, faultsOf(err))
			}
			want := `{"seen":` + tc.want + `,"lines":[],"next_offset":null,"role":"user"}`
			if string(a.Output) != want {
				t.Errorf("got  %s\nwant %s", a.Output, want)
			}
		})
	}
}
