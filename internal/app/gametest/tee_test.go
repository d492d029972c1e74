package gametest

import "io"

// tee passes all bytes that are read through it to seen.
type tee struct {
	io.ReadCloser
	seen func([]byte)
}

func (t tee) Read(p []byte) (int, error) {
	n, err := t.ReadCloser.Read(p)
	t.seen(p[:n])
	return n, err
}
