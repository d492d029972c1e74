package op_test

import (
	"context"
	"testing"

	"loregate/internal/access"
	"loregate/internal/op"
)

// A small read must cost the engine no more than 25 µs over its handler.
func BenchmarkInvokeRead(b *testing.B) {
	l := newBench(b, nil)
	l.journal.records = make([]access.Record, 0, b.N+1)
	c, ctx := as(access.RoleUser), context.Background()
	in := []byte(`{"name":"Rivers","limit":20,"tags":["a","b"]}`)
	b.ReportAllocs()
	for b.Loop() {
		l.journal.records = l.journal.records[:0]
		if _, err := l.Invoke(ctx, c, op.Request{Operation: "get_card", Input: in, Transport: "mcp"}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCanonical1MiB(b *testing.B) {
	in := append(append([]byte(`{"content":"`), make([]byte, 1<<20)...), `"}`...)
	for i := 12; i < len(in)-2; i++ {
		in[i] = 'a' + byte(i%26)
	}
	b.SetBytes(int64(len(in)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := op.Canonical(in); err != nil {
			b.Fatal(err)
		}
	}
}
