package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"text/tabwriter"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/app"
	"loregate/internal/op"
)

type opsCmd struct {
	common
	JSON bool `help:"With schemas and examples, as JSON."`
}

func (o opsCmd) Run(ctx context.Context, out io.Writer) error {
	return o.with(ctx, func(a *app.App) error {
		operations := a.Ops.Operations(app.Operator(), "")
		if o.JSON {
			e := json.NewEncoder(out)
			e.SetIndent("", "  ")
			return e.Encode(describe(operations))
		}
		t := tabwriter.NewWriter(out, 2, 2, 2, ' ', 0)
		fmt.Fprintln(t, "OPERATION\tROLE\tEFFECT\tROUTE\tWHAT")
		for _, operation := range operations {
			least := operation.Least.String()
			if operation.Operator {
				least = "operator"
			}
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", operation.Name, least, operation.Effect, operation.Route, operation.Title)
		}
		return t.Flush()
	})
}

type described struct {
	Name     string `json:"name"`
	Title    string `json:"title"`
	Doc      string `json:"description"`
	Effect   string `json:"effect"`
	Least    string `json:"least_role"`
	Operator bool   `json:"operator,omitempty"`
	Route    string `json:"route,omitempty"`
	Input    any    `json:"input_schema"`
	Output   any    `json:"output_schema"`
}

func describe(operations []*op.Operation) []described {
	list := make([]described, len(operations))
	for i, o := range operations {
		list[i] = described{o.Name, o.Title, o.Doc, string(o.Effect), o.Least.String(), o.Operator, o.Route, o.In, o.Out}
	}
	return list
}

type callCmd struct {
	common
	Operation string `arg:"" help:"Operation, from loregate ops."`
	Input     string `arg:"" optional:"" default:"{}" help:"Arguments as a JSON object; - reads them from standard input."`
	Role      string `help:"Role to act in." enum:"user,gm,admin" default:"admin"`
	World     string `env:"LOREGATE_WORLD" help:"World by slug or UUID; default the only one." placeholder:"WORLD"`
	Key       string `help:"Idempotency key: the same key and input has no second effect." name:"idempotency-key"`
}

func (c callCmd) Run(ctx context.Context, out io.Writer) error {
	input := []byte(c.Input)
	if c.Input == "-" {
		var err error
		if input, err = io.ReadAll(io.LimitReader(os.Stdin, 64<<20)); err != nil {
			return err
		}
	}
	role, _ := access.ParseRole(c.Role) // kong checked it
	caller := app.Operator()
	if role < access.RoleAdmin {
		caller = app.Local(role)
		caller.Actor = access.Person
	}
	return c.with(ctx, func(a *app.App) error {
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

// printJSON indents JSON and keeps the order of its members.
func printJSON(out io.Writer, raw json.RawMessage) error {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(raw)
}
