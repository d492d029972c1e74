package command_test

import (
	"fmt"

	"loregate/internal/world/command"
)

func ExampleParse() {
	parsed := command.Parse("go north then look at the well")
	for _, act := range parsed.Intents {
		fmt.Printf("%s: %s%s\n", act.Verb, act.Direction, act.DirectObject)
	}
	fmt.Println(command.Parse("frobnicate").Question())
	// Output:
	// move: north
	// look: well
	// You are not sure how to "frobnicate". Try going somewhere, looking at something, taking it or talking to somebody.
}
