package meaning_test

import (
	"fmt"

	"loregate/internal/meaning"
)

func Example() {
	commands := map[string]bool{"go": true, "take": true, "examine": true}
	verb, ok := meaning.Canonical("scrutinizes", meaning.Verb, 8, func(w string) bool { return commands[w] })
	fmt.Println(verb, ok)
	fmt.Println(meaning.Synonyms("shut", meaning.Verb)[0])
	// Output:
	// examine true
	// close
}
