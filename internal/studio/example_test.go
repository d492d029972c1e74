package studio_test

import (
	"errors"
	"fmt"

	"loregate/internal/studio"
)

// A plan is a file that a person reviews before it is executed.
func ExampleParsePlan() {
	plan, err := studio.ParsePlan([]byte(`
name: A quay
seed: 7
calls:
  - tool: generate_scene
    target: blender
    with: {description: a small stone house by a river}
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, call := range plan.Calls {
		fmt.Println(plan.Name, plan.Seed, call.Tool)
	}
	_, err = studio.ParsePlan([]byte("name: A quay\nscript: import os"))
	var refusal *studio.Failure
	fmt.Println(errors.As(err, &refusal) && refusal.Code == studio.Validation)
	// Output:
	// A quay 7 generate_scene
	// true
}

// Behaviour is described in sentences of a fixed form.
func ExampleRules() {
	nodes, err := studio.Rules("When it is entered, say Mind the step.")
	fmt.Printf("%+v %v\n", nodes, err)
	_, err = studio.Rules("Run rm.")
	var refusal *studio.Failure
	fmt.Println(errors.As(err, &refusal) && refusal.Code == studio.Validation)
	// Output:
	// [{On:entered Every:0 Do:say Target: Text:Mind the step By:0}] <nil>
	// true
}
