package markup

import (
	"fmt"
	"strings"
	"testing"
)

func TestBlocks(t *testing.T) {
	text := "# A\n\n> q\nlazy\n>\n\n- a\n\n  > [!x] y\n  > z\n- b\n  ```go\n  c\n  ```\n\n~~~\nopen\n\n    d\n[^1]: > n\n    > m\n\n<div>\n# e\n</div>\n\n***\nS\n---\n"
	for _, ends := range []string{"\n", "\r\n", "\r"} {
		in := strings.ReplaceAll(text, "\n", ends)
		blocks, err := Blocks(in)
		if err != nil {
			t.Fatal(err)
		}
		var got strings.Builder
		for i, b := range blocks {
			fmt.Fprintf(&got, "%d %v in %d quotes %d level %d %q ended %v: %q", i, b.Kind, b.Parent, b.Quotes, b.Level, b.Info, b.Ended,
				strings.ReplaceAll(in[b.From:b.To], ends, "\n"))
			for _, l := range b.Lines {
				fmt.Fprintf(&got, " %q", in[l.From:l.To])
			}
			got.WriteByte('\n')
		}
		fmt.Println(got.String())
	}
}
