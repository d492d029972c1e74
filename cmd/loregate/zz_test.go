package main

import (
	"bytes"
	"io"
	"os"
	"testing"
)

func TestZZ(t *testing.T) {
	d := os.Getenv("ZZ")
	os.Setenv("LOREGATE_DATA", d)
	run([]string{"world", "create", "w"}, io.Discard, io.Discard)
	for range 40 {
		r, w, _ := os.Pipe()
		os.Stdin = r
		w.WriteString(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/list"}
`)
		w.Close()
		var out bytes.Buffer
		run([]string{"mcp"}, &out, os.Stderr)
		if out.Len() < 10000 {
			t.Fatal(out.String())
		}
	}
}
