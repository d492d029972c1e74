package op_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"loregate/internal/access"
	"loregate/internal/op"
)

// Concurrent calls do not see one another's input, although they share decoders.
func TestConcurrentCalls(t *testing.T) {
	b := newBench(t, func(c *op.Config) { c.Guard = access.NewGuard(access.Config{}) })
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 200 {
				name := fmt.Sprint("n", g, "x", i)
				bad := fmt.Sprintf(`{"name":%q,"%s":1}`, name, name)
				if _, err := b.Invoke(context.Background(), as(access.RoleUser),
					op.Request{Operation: "get_card", Input: []byte(bad)}); !strings.HasPrefix(faultsOf(err), name+": ") {
					t.Errorf("%s: %v", name, err)
				}
				a, err := b.Invoke(context.Background(), as(access.RoleUser),
					op.Request{Operation: "get_card", Input: []byte(`{"name":"` + name + `"}`)})
				if err != nil || !strings.Contains(string(a.Output), `"name":"`+name+`"`) {
					t.Errorf("%s: %v", name, err)
				}
			}
		})
	}
	wg.Wait()
}
