package secrecy_test

import (
	"fmt"

	"loregate/internal/secrecy"
)

func ExampleSplit() {
	parts := secrecy.Split("The mill turns. %%The miller is a spy.%%", secrecy.Markdown, func(m secrecy.Mark) bool {
		fmt.Println("found:", m.Rule)
		return true
	})
	fmt.Printf("players read: %q\nthe GM reads: %q\n", parts.Open, parts.Secret())
	// Output:
	// found: comment
	// players read: "The mill turns. "
	// the GM reads: "%%The miller is a spy.%%"
}
