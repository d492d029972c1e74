package marked_test

import (
	"context"
	"fmt"

	"loregate/internal/marked"
)

// A comment and a secret of Markdown stay in the HTML of a card.
func Example() {
	html, err := marked.ToHTML(context.Background(), "The mayor %%a wererat%% smiles.\n\n> [!secret]\n> He bites.\n")
	fmt.Println(html, err)
	// Output:
	// <p>The mayor <!-- a wererat --> smiles.</p>
	// <div class="secret">
	// <blockquote>
	// <p>[!secret]
	// He bites.</p>
	// </blockquote>
	// </div> <nil>
}
