package witness

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
)

// Config configures a Writer. All fields must be set.
type Config struct {
	Folder  string
	Process string // id of this process; no other process uses it
	Now     func() time.Time
	// Heads returns the heads of all streams, and of the process's access records.
	Heads func(ctx context.Context) ([]canon.StreamHead, access.LogHead, error)
	// Sign returns the signature of a statement.
	Sign func(ctx context.Context, statement []byte) (signature []byte, err error)
}

// Writer writes statements. Use it from one goroutine.
type Writer struct {
	Config
	file     string // name of the current file; "" if the next statement begins one
	day      string // of the current file
	number   int
	previous string
	streams  map[canon.StreamID]canon.Head // as stated in the current file
	records  access.LogHead
}

// NewWriter returns a Writer, and creates its folder if it does not exist.
func NewWriter(c Config) (*Writer, error) {
	if err := os.MkdirAll(c.Folder, 0o750); err != nil {
		return nil, fmt.Errorf("witness.folder: %w; name a folder that the program can write", err)
	}
	return &Writer{Config: c}, nil
}

// Write states the heads that have changed, durably. Without a change it writes nothing. After an error the next
// Write states the same heads again.
func (w *Writer) Write(ctx context.Context) error {
	heads, records, err := w.Heads(ctx)
	if err != nil {
		return err
	}
	now := w.Now().UTC()
	if day := now.Format(time.DateOnly); w.file == "" || day != w.day {
		w.file, w.day = "heads-"+now.Format("2006-01-02T150405.000000000")+"-"+w.Process+".jsonl", day
		w.number, w.previous = 0, ""
		w.streams, w.records = map[canon.StreamID]canon.Head{}, access.LogHead{}
	}
	changed := slices.DeleteFunc(heads, func(h canon.StreamHead) bool { return w.streams[h.Stream] == h.Head })
	for part := range slices.Chunk(changed, maxHeads) {
		if err := w.append(ctx, now, part, records); err != nil {
			return err
		}
	}
	if len(changed) == 0 && records != w.records {
		return w.append(ctx, now, nil, records)
	}
	return nil
}

func (w *Writer) append(ctx context.Context, now time.Time, heads []canon.StreamHead, records access.LogHead) error {
	s := Statement{At: now, Process: w.Process, Number: w.number + 1, Previous: w.previous,
		Streams: make([]streamHead, 0, len(heads))}
	for _, h := range heads {
		s.Streams = append(s.Streams, streamHead{h.Stream, h.Seq, h.Hash})
	}
	if records.Seq > 0 {
		s.Records = &records
	}
	text, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("witness: %w", err)
	}
	signature, err := w.Sign(ctx, text)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(line{text, string(signature)}); err != nil {
		return fmt.Errorf("witness: %w", err)
	}
	if err := appendFile(filepath.Join(w.Folder, w.file), b.Bytes()); err != nil {
		w.file = "" // it may end in half a line
		return fmt.Errorf("witness: %w", err)
	}
	w.number, w.previous, w.records = s.Number, hashText(text), records
	for _, h := range heads {
		w.streams[h.Stream] = h.Head
	}
	return nil
}

// appendFile appends a line to a file, durably.
func appendFile(path string, text []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o640)
	if err != nil {
		return err
	}
	if _, err = f.Write(text); err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}
