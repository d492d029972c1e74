package markup_test

import (
	"context"
	"fmt"

	"loregate/internal/markup"
)

func Example() {
	fmt.Println(markup.KeyOf("Games + Butterfly_Galaxii+Players"))
	fmt.Println(markup.Resolve("_left+GM", "Hero+backstory"))

	html, _ := markup.ToHTML(context.Background(), "See [[Hero|the *hero*]] <script>alert(1)</script>")
	fmt.Println(html)
	fmt.Println(markup.Text(html))
	// Output:
	// game+butterfly_galaxii+player
	// Hero+GM
	// <p>See [[Hero|the *hero*]] </p>
	// See the *hero*
}
