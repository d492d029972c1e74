package studio

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"loregate/internal/blob"
	"loregate/internal/lazyregexp"
)

// Kept stores bytes that belong to a target's state.
type Kept struct{ Blobs *blob.Store }

// fileKeeper stores the artifacts of a run.
type fileKeeper struct {
	Kept
	find  func(ctx context.Context, id string) (Artifact, error) // finds artifacts of earlier runs
	roots Policy
}

// maxArtifact bounds the size of one artifact, in bytes.
const maxArtifact = 2 << 30

// Put stores bytes and returns their hash and size.
func (k Kept) Put(ctx context.Context, r io.Reader) (string, int64, error) {
	ref, err := k.Blobs.Put(ctx, r, maxArtifact)
	return ref.Sum.String(), ref.Size, err
}

// fetchLimit bounds the time that Path waits for bytes that are stored elsewhere.
const fetchLimit = 10 * time.Minute

// Path returns the path of stored bytes, for programs that read files.
func (k Kept) Path(sum string) (string, error) {
	s, err := blob.ParseSum(sum)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(context.Background(), fetchLimit)
	defer cancel()
	path, err := k.Blobs.Path(ctx, s)
	if err != nil {
		return "", err
	}
	return filepath.Abs(path)
}

var unsafeInName = lazyregexp.New(`[^A-Za-z0-9._-]+`)

// FileName turns any text into a name that is valid on every file system.
func FileName(text string) string {
	name := strings.Trim(unsafeInName.ReplaceAllString(strings.ToLower(text), "-"), "-.")
	if name == "" {
		return "unnamed"
	}
	return name[:min(len(name), 60)]
}

// OutputFile describes a file that a call made.
type OutputFile struct {
	Kind    string
	Name    string
	Media   string
	Content *blob.Sum // hash of the part that a repeated run must reproduce; nil means all bytes
}

// Keep stores bytes as an artifact of the run and returns its id. In a dry run it stores nothing; a
// scene is held in memory, so that later calls of the run can be tried with it.
func (w *Work) Keep(ctx context.Context, n OutputFile, data []byte) (string, error) {
	return w.keepArtifact(ctx, n, bytes.NewReader(data))
}

func (w *Work) keepArtifact(ctx context.Context, n OutputFile, r io.Reader) (string, error) {
	id := fmt.Sprintf("%s.%d", w.run.ID, len(w.run.Artifacts)+len(w.run.held)+1)
	if w.Dry {
		return id, w.holdScene(id, n, r)
	}
	ref, err := w.files.Blobs.Put(ctx, r, maxArtifact)
	if err != nil {
		return "", Fail(IOFailed, "an artifact could not be stored").Because(err)
	}
	name := fmt.Sprintf("%d-%s", len(w.run.Artifacts)+1, FileName(n.Name))
	w.run.Artifacts = append(w.run.Artifacts, Artifact{ID: id, Name: FileName(n.Name), Kind: n.Kind,
		Path: path.Join("studio", "runs", w.run.ID.String(), name), SHA256: ref.Sum, Content: n.Content,
		Bytes: ref.Size,
		Media: n.Media})
	return id, nil
}

// heldFile is a file of a dry run.
type heldFile struct {
	Artifact
	data []byte
}

func (w *Work) holdScene(id string, n OutputFile, r io.Reader) error {
	if n.Kind != SpecKind {
		return nil
	}
	data, err := io.ReadAll(r)
	w.run.held = append(w.run.held, heldFile{Artifact{ID: id, Name: FileName(n.Name), Kind: n.Kind}, data})
	return err
}

// Artifact finds an artifact of this run, or one of an earlier run that this run's audience may
// see.
func (w *Work) Artifact(ctx context.Context, id string) (Artifact, error) {
	for _, a := range w.run.Artifacts {
		if a.ID == id {
			return a, nil
		}
	}
	for _, h := range w.run.held {
		if h.ID == id {
			return h.Artifact, nil
		}
	}
	return w.files.find(ctx, id)
}

// Bytes returns an artifact's bytes, checked against its hash.
func (w *Work) Bytes(ctx context.Context, a Artifact) ([]byte, error) {
	for _, h := range w.run.held {
		if h.ID == a.ID {
			return h.data, nil
		}
	}
	b, err := w.files.Blobs.Bytes(ctx, a.SHA256)
	if err != nil {
		return nil, Fail(IOFailed, "artifact %s could not be read", a.ID).Because(err)
	}
	return b, nil
}

// Report stores a measurement of a level as an artifact and sets its id in the result. absent lists
// the values that could not be measured.
func (w *Work) Report(ctx context.Context, level string, out ProfileOut, absent ...string) (ProfileOut, error) {
	b, err := json.MarshalIndent(struct {
		Level    string             `json:"level"`
		Measured map[string]float64 `json:"measured"`
		On       string             `json:"measured_on"`
		Absent   []string           `json:"not_measured,omitempty"`
	}{level, out.Measured, out.On, absent}, "", "  ")
	if err != nil {
		return out, err
	}
	out.Report, err = w.Keep(ctx, OutputFile{Kind: "report", Name: level + "-profile.json",
		Media: "application/json"},
		append(b, '\n'))
	return out, err
}

// MayWrite checks a path that a call wants to write; see Policy.
func (w *Work) MayWrite(at string, overwrite bool) error {
	return w.files.roots.checkWrite(at, overwrite)
}

// Write writes a file below the allowed roots; a dry run only checks the path.
func (w *Work) Write(at string, data []byte, overwrite bool) error {
	if w.Dry {
		return w.MayWrite(at, overwrite)
	}
	return w.files.roots.writeFile(at, data, overwrite)
}

// Pixels returns the hash of a picture's size and pixels, independent of its file format.
func Pixels(m image.Image) blob.Sum {
	b := m.Bounds()
	h := sha256.New()
	fmt.Fprintf(h, "%dx%d\n", b.Dx(), b.Dy())
	row := make([]byte, 0, 8*b.Dx())
	for y := b.Min.Y; y < b.Max.Y; y++ {
		row = row[:0]
		for x := b.Min.X; x < b.Max.X; x++ {
			r, g, b, a := m.At(x, y).RGBA()
			row = append(row, byte(r>>8), byte(r), byte(g>>8), byte(g), byte(b>>8), byte(b), byte(a>>8), byte(a))
		}
		h.Write(row)
	}
	return blob.Sum(h.Sum(nil))
}

// linkArtifacts puts the files of a finished run into its folder: links to the stored bytes, or
// copies where links are not possible.
func (s *Studio) linkArtifacts(ctx context.Context, run *Run) error {
	dir := filepath.Join(s.dir, "runs", run.ID.String())
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	var errs []error
	for _, a := range run.Artifacts {
		to := filepath.Join(dir, path.Base(a.Path))
		from, err := s.blobs.Path(ctx, a.SHA256)
		if err == nil {
			err = os.Link(from, to)
		}
		if err == nil || errors.Is(err, os.ErrExist) {
			continue
		}
		data, err := s.blobs.Bytes(ctx, a.SHA256)
		if err == nil {
			err = os.WriteFile(to, data, 0o600)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
