package secrecy_test

import (
	"testing"

	"loregate/internal/secrecy"
)

func TestTextIsReadWithoutParts(t *testing.T) {
	whole := secrecy.Text{Open: "The quay is long.\n\nThe road.\n", Parts: []secrecy.Passage{
		{At: 17, Text: " The cook is a spy."}, {At: 19, Text: "Ann\n\n"}}}
	for text, want := range map[string]string{
		"The quay is long. The cook is a spy.\n\nAnn\n\nThe road.\n":       "The quay is long.\n\nThe road.\n",
		"The quay is long. The cook is a spy. He sings.\n\nThe road.\n":    "The quay is long. He sings.\n\nThe road.\n",
		"The quay is long. The cook sings.\n\nThe road. It rains.\n":       "The quay is long. The cook sings.\n\nThe road. It rains.\n",
		"New.\n\n- the cook is a spy\n":                                    "New.\n\n\n",
		"@@ -1 +1 @@\n-The quay is long. The cook is a spy.\n+The quay.\n": "@@ -1 +1 @@\n-The quay is long.\n+The quay.\n",
		"Anna rows.": "Anna rows.",
		"":           "",
	} {
		if got := whole.Without(text, secrecy.Markdown); got != want {
			t.Errorf("%q is read as %q, want %q", text, got, want)
		}
	}
}
