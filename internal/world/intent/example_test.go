package intent_test

import (
	"fmt"

	"loregate/internal/world/command"
	"loregate/internal/world/intent"
)

func Example() {
	for _, text := range []string{"my cudgel meets the brute's skull", "does a longbow need two hands?"} {
		fmt.Printf("%q\n", intent.Classify(command.Parse(text)).Verb)
	}
	// Output:
	// "attack"
	// ""
}
