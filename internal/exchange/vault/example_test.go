package vault_test

import (
	"context"
	"fmt"
	"testing/fstest"

	"loregate/internal/exchange"
	"loregate/internal/exchange/exchangetest"
	"loregate/internal/exchange/vault"
)

func Example() {
	world, owner := exchangetest.NewWorld()
	files := fstest.MapFS{
		"Places/Old Mill.md": {Data: []byte("The mill turns. %%The miller is a spy.%%")},
		"GM/The Spy.md":      {Data: []byte("He reports to the [[Old Mill]].")},
	}
	summary, err := vault.Import(context.Background(), world, owner, files,
		vault.Options{Options: exchange.Options{Label: "example"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(summary)
	// Output:
	// 2 files: 2 cards created, 0 updated, 0 unchanged, 2 lists of tags, 1 cards with hidden parts.
	// Players see 1 of these cards; 1 are for the GM, 0 for admins.
	// Links in texts: 1. 0 of them reach no note in the vault, 0 no card here.
	// Types of cards (--types WORD=TYPE changes them):
	//   folder Places: 1 Location
	// Players begin at "Old Mill" (--starter-location changes it).
	// Hidden, please confirm: these only look secret. They are for the GM until you repeat the import
	// with --open (players may see it) or --confirm (it is secret) and the words in quotes:
	//   folder "GM": 1 notes and files
	// Hidden by marks:
	//   comment "%%": 1 parts of notes
}
