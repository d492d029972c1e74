package prompt_test

import (
	"fmt"

	"loregate/internal/fault"
	"loregate/internal/prompt"
)

// A template renders the same text for the same values, and its hash identifies it.
func ExampleParse() {
	t, err := prompt.Parse([]byte(`{
		"metadata": {"id": "greeting", "version": "1.0.0", "name": "Greeting", "description": "Greets a traveller."},
		"template": "Greet [name], who comes from [place].",
		"variables": [
			{"name": "name", "description": "Name of the traveller.", "required": true},
			{"name": "place", "description": "Home of the traveller.", "required": false, "defaultValue": "afar"}
		]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(t.Render(map[string]string{"name": "Ada"}))
	_, err = t.Render(nil)
	fmt.Println(fault.KindOf(err).Code())
	fmt.Println(t.Hash()[:12])
	// Output:
	// Greet Ada, who comes from afar. <nil>
	// validation_error
	// 99c9c2f659c7
}
