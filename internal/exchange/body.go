package exchange

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"loregate/internal/canon"
	"loregate/internal/marked"
)

// PlainBody returns a sheet body for a text that needs no conversion.
func PlainBody(text string) func(context.Context) (string, error) {
	return func(context.Context) (string, error) { return text, nil }
}

// HTMLBody returns a sheet body that converts a Markdown text to HTML when it is called. Its marked parts stay
// marked. If the conversion fails, it returns the Markdown and notConverted.
func HTMLBody(text string) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		out, err := marked.ToHTML(ctx, text)
		if err != nil && ctx.Err() == nil {
			return text, notConverted{err}
		}
		return out, err
	}
}

// notConverted is the error of a text that stays Markdown.
type notConverted struct{ error }

// FileData returns a function that reads an attachment when it is called.
func FileData(files fs.FS, file string) func() ([]byte, error) {
	return func() ([]byte, error) {
		if info, err := fs.Stat(files, file); err != nil || info.Size() > canon.MaxFile {
			if err == nil {
				err = fmt.Errorf("it is longer than %d bytes", canon.MaxFile)
			}
			return nil, err
		}
		data, err := fs.ReadFile(files, file)
		if err == nil && len(data) == 0 {
			err = errors.New("it is empty")
		}
		return data, err
	}
}
