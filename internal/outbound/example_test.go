package outbound_test

import (
	"context"
	"fmt"

	"loregate/internal/outbound"
)

func ExampleClient_Get() {
	u, err := outbound.ParseAddress("https://127.0.0.1/secrets")
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = outbound.New(outbound.Config{}).Get(context.Background(), u, 1<<20)
	fmt.Println(err)
	// Output: Get "https://127.0.0.1/secrets": dial tcp 127.0.0.1:443: outbound: the address is not public
}
