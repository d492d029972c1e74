package markup

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestBlocks reads the blocks of a text with each kind of line ends.
func TestBlocks(t *testing.T) {
	text := "# A\n\n    d\n\n> q\nlazy\n>\n\n- a\n\n  > [!x] y\n  > z\n- b\n  ```go\n  c\n  ```\n\n[^1]: > n\n    > m\n\n" +
		"<div>\n# e\n</div>\n\n***\nS\n---\n~~~\nopen\n\n"
	names := map[BlockKind]string{QuoteBlock: "quote", ListBlock: "list", ItemBlock: "item", FootnoteBlock: "footnote",
		ParagraphBlock: "paragraph", HeadingBlock: "heading", FenceBlock: "fence", CodeBlock: "code", HTMLBlock: "html",
		RuleBlock: "rule"}
	want := []string{
		`0 heading 1 in -1: "# A\n" [A]`,
		`1 code 0 in -1: "    d\n" [d]`,
		`2 quote 0 in -1: "> q\nlazy\n>\n" []`,
		`3 paragraph 0 in 2: "> q\nlazy\n" [q lazy]`,
		`4 list 0 in -1: "- a\n\n  > [!x] y\n  > z\n- b\n  ` + "```go\\n  c\\n  ```" + `\n" []`,
		`5 item 0 in 4: "- a\n\n  > [!x] y\n  > z\n" []`,
		`6 paragraph 0 in 5: "- a\n" [a]`,
		`7 quote 0 in 5: "  > [!x] y\n  > z\n" []`,
		`8 paragraph 0 in 7: "  > [!x] y\n  > z\n" [[!x] y z]`,
		`9 item 0 in 4: "- b\n  ` + "```go\\n  c\\n  ```" + `\n" []`,
		`10 paragraph 0 in 9: "- b\n" [b]`,
		`11 fence 0 in 9: "  ` + "```go\\n  c\\n  ```" + `\n" [c] ended`,
		`12 footnote 0 in -1: "[^1]: > n\n    > m\n" []`,
		`13 quote 0 in 12: "[^1]: > n\n    > m\n" []`,
		`14 paragraph 0 in 13: "[^1]: > n\n    > m\n" [n m]`,
		`15 html 0 in -1: "<div>\n# e\n</div>\n" [<div> # e </div>]`,
		`16 rule 0 in -1: "***\n" []`,
		`17 heading 2 in -1: "S\n---\n" [S]`,
		`18 fence 0 in -1: "~~~\nopen\n" [open ]`,
	}
	for _, ends := range []string{"\n", "\r\n", "\r"} {
		in := strings.ReplaceAll(text, "\n", ends)
		blocks, err := Blocks(in)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for i, b := range blocks {
			var lines []string
			for _, l := range b.Lines {
				lines = append(lines, in[l.From:l.To])
			}
			ended := ""
			if b.Ended {
				ended = " ended"
			}
			got = append(got, fmt.Sprintf("%d %s %d in %d: %q %v%s", i, names[b.Kind], b.Level, b.Parent,
				strings.ReplaceAll(in[b.From:b.To], ends, "\n"), lines, ended))
		}
		if !slices.Equal(got, want) {
			t.Errorf("line ends %q:\n%s\nwant\n%s", ends, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	for _, deep := range []string{strings.Repeat("> ", 200) + "a", strings.Repeat("- ", 200) + "a"} {
		if _, err := Blocks(deep); !errors.Is(err, ErrTooDeep) {
			t.Errorf("a text in 200 blocks: %v", err)
		}
	}
}
