package witness_test

import (
	"context"
	"fmt"
	"os"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/witness"
)

func ExampleRead() {
	folder, err := os.MkdirTemp("", "statements")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	w, err := witness.NewWriter(witness.Config{Folder: folder, Process: "p1", Now: time.Now,
		Heads: func(context.Context) ([]canon.StreamHead, access.LogHead, error) {
			return []canon.StreamHead{{Stream: "world:1", Head: canon.Head{Seq: 17}}}, access.LogHead{}, nil
		},
		Sign: func(context.Context, []byte) ([]byte, error) { return []byte("signature"), nil },
	})
	if err != nil {
		panic(err)
	}
	if err := w.Write(context.Background()); err != nil {
		panic(err)
	}
	stated, err := witness.Read(context.Background(), folder,
		func(context.Context, []byte, []byte) (string, error) { return "key", nil })
	if err != nil {
		panic(err)
	}
	fmt.Println(stated.Statements, stated.Streams["world:1"][0].Seq)
	// Output: 1 17
}
