package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/app"
	"loregate/internal/fault"
	"loregate/internal/op"
)

type opsCmd struct {
	common
	listing
	Operation string `arg:"" optional:"" help:"The operation to describe, with its input and examples."`
}

var opsTable = table[*op.Operation]{"OPERATION ROLE EFFECT ROUTE TITLE", func(o *op.Operation) []string {
	return []string{o.Name, minRoleOf(o), string(o.Effect), o.Route, o.Title}
}}

func (o opsCmd) Run(ctx context.Context, out io.Writer) error {
	return o.withApp(ctx, func(a *app.App) error {
		operations := a.Ops.Operations(app.Operator(), "")
		if o.Operation != "" {
			one, err := operationNamed(operations, o.Operation)
			if err != nil {
				return err
			}
			if !o.JSON {
				return explainOperation(out, one)
			}
			operations = []*op.Operation{one}
		}
		if o.JSON {
			return table[operationInfo]{}.print(out, o.listing, describeOperations(operations))
		}
		return opsTable.print(out, o.listing, operations)
	})
}

// minRoleOf returns the lowest role that may call an operation, or "operator".
func minRoleOf(o *op.Operation) string {
	if o.Operator {
		return "operator"
	}
	return o.MinRole.String()
}

// operationNamed returns an operation by name. Its error suggests operations with similar names.
func operationNamed(operations []*op.Operation, name string) (*op.Operation, error) {
	var near []string
	for _, o := range operations {
		switch {
		case o.Name == name:
			return o, nil
		case plainName(o.Name) == plainName(name):
			near = append([]string{o.Name}, near...)
		case strings.Contains(plainName(o.Name), plainName(name)), isNearMiss(plainName(o.Name), plainName(name)):
			near = append(near, o.Name)
		}
	}
	e := fault.New(fault.NotFound, "there is no operation %q; loregate ops lists them", name)
	if len(near) > 0 {
		e = fault.New(fault.NotFound, "there is no operation %q; did you mean %s? loregate ops lists them", name,
			strings.Join(near[:min(3, len(near))], ", "))
	}
	return nil, e
}

// plainName returns a name in lower case and without separators, which people mix up.
func plainName(s string) string {
	return strings.NewReplacer("-", "", "_", "", ".", "").Replace(strings.ToLower(s))
}

// isNearMiss reports whether two names differ by one letter that is added, left out or replaced.
func isNearMiss(a, b string) bool {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	a, b = a[n:], b[n:]
	return a != "" && a[1:] == b || b != "" && b[1:] == a || a != "" && b != "" && a[1:] == b[1:]
}

// explainOperation prints how a person calls an operation from the command line.
func explainOperation(out io.Writer, o *op.Operation) error {
	fmt.Fprintf(out, "%s: %s\n\n%s\n\nLowest role %s, effect %s", o.Name, o.Title, o.Doc, minRoleOf(o), o.Effect)
	if o.Route != "" {
		fmt.Fprintf(out, ", %s", o.Route)
	}
	fmt.Fprint(out, "\n")
	if len(o.In().Properties) > 0 {
		fmt.Fprint(out, "\nTakes:\n")
		w := tabwriter.NewWriter(out, 2, 2, 2, ' ', 0)
		for _, name := range o.In().PropertyOrder {
			need := ""
			if slices.Contains(o.In().Required, name) {
				need = "(required) "
			}
			fmt.Fprintf(w, "  %s\t%s%s\n", name, need, o.In().Properties[name].Description)
		}
		if err := w.Flush(); err != nil {
			return err
		}
	}
	for _, e := range o.Examples {
		fmt.Fprintf(out, "\n%s:\n  loregate call %s %s\n", e.Title, o.Name, shellQuote(e.Input))
	}
	return nil
}

// shellQuote quotes JSON as one word of a shell.
func shellQuote(input string) string {
	var plain bytes.Buffer
	if json.Compact(&plain, []byte(input)) != nil {
		plain.WriteString(input)
	}
	return "'" + strings.ReplaceAll(plain.String(), "'", `'\''`) + "'"
}

type operationInfo struct {
	Name     string             `json:"name"`
	Title    string             `json:"title"`
	Doc      string             `json:"description"`
	Effect   string             `json:"effect"`
	MinRole  string             `json:"least_role"`
	Operator bool               `json:"operator,omitempty"`
	Route    string             `json:"route,omitempty"`
	Input    any                `json:"input_schema"`
	Output   any                `json:"output_schema"`
	Examples []describedExample `json:"examples"`
}

type describedExample struct {
	Title string          `json:"title"`
	Input json.RawMessage `json:"input"`
}

func describeOperations(operations []*op.Operation) []operationInfo {
	list := make([]operationInfo, len(operations))
	for i, o := range operations {
		list[i] = operationInfo{o.Name, o.Title, o.Doc, string(o.Effect), o.MinRole.String(), o.Operator, o.Route, o.In(),
			o.Out(), []describedExample{}}
		for _, e := range o.Examples {
			list[i].Examples = append(list[i].Examples, describedExample{e.Title, json.RawMessage(e.Input)})
		}
	}
	return list
}

type callCmd struct {
	common
	Operation string `arg:"" help:"Operation, from loregate ops."`
	Input     string `arg:"" optional:"" default:"{}" help:"Input as a JSON object. - reads it from standard input."`
	Role      string `help:"Role of the call: user, gm or admin." enum:"user,gm,admin" default:"admin"`
	World     string `env:"LOREGATE_WORLD" help:"World by slug or UUID. Default: the only world." placeholder:"WORLD"`
	Key       string `help:"Idempotency key. Repeating the call with the same key has no second effect." name:"idempotency-key" placeholder:"KEY"`
}

func (c callCmd) Run(ctx context.Context, out io.Writer) error {
	input := []byte(c.Input)
	if c.Input == "-" {
		var err error
		if input, err = io.ReadAll(io.LimitReader(os.Stdin, 64<<20)); err != nil {
			return err
		}
	}
	role, _ := access.ParseRole(c.Role) // the tag enum allows only roles
	caller := app.Operator()
	if role < access.RoleAdmin {
		caller = app.Local(role)
		caller.Actor = access.Person
	}
	return c.withApp(ctx, func(a *app.App) error {
		if _, err := operationNamed(a.Ops.All(), c.Operation); err != nil {
			return err
		}
		if err := a.EnsureWorld(ctx); err != nil {
			return err
		}
		answer, err := a.Ops.Invoke(ctx, caller, op.Request{Operation: c.Operation, Input: input, World: c.World,
			IdempotencyKey: c.Key, Correlation: uuid.NewString(), Transport: "cli", Progress: func(float64, float64, string) {}})
		if err != nil {
			return err
		}
		if answer.Reply.File != nil {
			_, err = out.Write(answer.Reply.File.Data)
			return err
		}
		return printJSON(out, answer.Output)
	})
}

// printValue prints a value as JSON.
func printValue(out io.Writer, v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return printJSON(out, raw)
}

// printJSON indents JSON and keeps the order of its members.
func printJSON(out io.Writer, raw json.RawMessage) error {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(raw)
}
