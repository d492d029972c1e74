package blender

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"

	"loregate/internal/studio"
	"loregate/internal/studio/build"
)

//go:embed attach.py
var attachScript []byte

// AddOn returns an add-on for an open Blender. It listens on a port of this machine for one connection that
// knows the secret, of which the add-on has only the hash.
func AddOn(port int, secret string) []byte {
	sum := sha256.Sum256([]byte(secret))
	driver := bytes.TrimSuffix(bytes.TrimSpace(driverScript), []byte("main()"))
	return fmt.Appendf(nil, "%s\nPORT, SECRET = %d, %q\n\n%s", driver, port, hex.EncodeToString(sum[:]), attachScript)
}

// Attached is a connection to the add-on of an open Blender.
type Attached struct {
	conn    net.Conn
	answers *bufio.Reader
	adapter *Adapter
	folder  string // of textures
}

// Attach connects to the add-on. The secret works once. Close ends the connection.
func Attach(ctx context.Context, port int, secret string) (*Attached, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return nil, studio.Fail(studio.TargetGone,
			"no Blender listens on port %d; install the add-on of `loregate studio attach` in it", port).Because(err)
	}
	a := &Attached{conn: conn, answers: bufio.NewReaderSize(conn, 1<<16), adapter: New(Config{})}
	if _, err = a.ask(ctx, []byte(secret)); err == nil {
		a.folder, err = os.MkdirTemp("", "loregate-attach-")
	}
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	return a, nil
}

// Close ends the connection.
func (a *Attached) Close() error {
	_ = os.RemoveAll(a.folder) // the folder is temporary; a leftover is harmless
	return a.conn.Close()
}

// ask sends a line and returns the results of the answer.
func (a *Attached) ask(ctx context.Context, line []byte) ([]raw, error) {
	stop := context.AfterFunc(ctx, func() { _ = a.conn.Close() })
	defer stop()
	if _, err := a.conn.Write(append(line, '\n')); err != nil {
		return nil, studio.Fail(studio.TargetGone, "Blender ended the connection").Because(err)
	}
	text, err := a.answers.ReadBytes('\n')
	if err != nil {
		return nil, studio.Fail(studio.TargetGone, "Blender ended the connection").Because(err)
	}
	var said struct {
		OK          bool
		Code, Error string
		Results     []raw
	}
	if err := json.Unmarshal(text, &said); err != nil {
		return nil, fmt.Errorf("blender: answer of the add-on: %w", err)
	}
	if !said.OK {
		return nil, studio.Fail(studio.Validation, "Blender refused it: %s", said.Error)
	}
	return said.Results, nil
}

// Do does operations of the add-on's table: all, or none.
func (a *Attached) Do(ctx context.Context, ops ...raw) ([]raw, error) {
	return a.ask(ctx, mustJSON(map[string]any{"ops": ops}))
}

// Build builds a scene into the open file, as a collection with its name. Sky and light of the file stay. It is
// one step of Blender's undo.
func (a *Attached) Build(ctx context.Context, m *build.Model) error {
	files := folderFiles(a.folder)
	all, err := m.Script(&painter{ctx, files, a.adapter})
	if err != nil {
		return err
	}
	var ops []raw
	for _, o := range all {
		if bytes.HasPrefix(o, []byte(`{"op":"sky"`)) {
			continue
		}
		if o, err = locateBlob(o, files.Path); err != nil {
			return err
		}
		ops = append(ops, o)
	}
	_, err = a.Do(ctx, ops...)
	return err
}

// folderFiles keeps files in a folder by their hash.
type folderFiles string

// Put stores bytes.
func (f folderFiles) Put(_ context.Context, r io.Reader) (string, int64, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return "", 0, err
	}
	sum := studio.SumOf(data).String()
	return sum, int64(len(data)), os.WriteFile(filepath.Join(string(f), sum), data, 0o600)
}

// Path returns the path of stored bytes.
func (f folderFiles) Path(sum string) (string, error) {
	file := filepath.Join(string(f), sum)
	_, err := os.Stat(file)
	return file, err
}
