package group_test

import (
	"context"
	"errors"
	"fmt"

	"loregate/internal/store/group"
)

// printer is a connection that prints its statements.
type printer struct{}

func (printer) run(sql string) error { fmt.Println(sql); return nil }

func (p printer) Begin() error       { return p.run("BEGIN") }
func (p printer) Save() error        { return p.run("SAVEPOINT one") }
func (p printer) StartWrite() string { return "INSERT" }
func (p printer) UndoWrite() error   { return p.run("ROLLBACK TO one") }
func (p printer) Commit() error      { return p.run("COMMIT") }
func (p printer) Rollback() error    { return p.run("ROLLBACK") }
func (p printer) Close()             {}

func (p printer) EndWrite(_ string, err error, _, _ bool) error { return err }

// ExampleGroup makes one write durable and undoes another.
func ExampleGroup() {
	ctx, g := context.Background(), group.New(printer{})
	defer g.Close()
	_ = g.Do(ctx, func(insert string) error { fmt.Println(insert); return nil })
	err := g.Do(ctx, func(string) error { return errors.New("the name is taken") })
	fmt.Println(err)
	// Output:
	// BEGIN
	// INSERT
	// COMMIT
	// BEGIN
	// ROLLBACK
	// the name is taken
}
