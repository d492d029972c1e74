package search

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/edsrzf/mmap-go"
	"github.com/google/uuid"

	"loregate/internal/disk"
)

// Position is the position of an index's files in a world's history: the state whose changes they
// include, and the last commit of the world's stream at that time.
type Position struct {
	State
	Seq  uint64
	Hash string
}

// manifest is the JSON file that lists the segments of an index. It is always replaced as a whole;
// files that it does not name are leftovers.
type manifest struct {
	Format int          `json:"format"`
	At     Position     `json:"at"`
	Parts  []partOnDisk `json:"parts"`
}

type partOnDisk struct {
	Level int    `json:"level"`
	File  string `json:"file"`
	Sum   uint32 `json:"sum"` // CRC-32C of the file
	Dead  []byte `json:"dead,omitempty"`
}

const (
	manifestName   = "manifest.json"
	manifestFormat = 3
	segmentSuffix  = ".seg"
)

// Frozen is a snapshot of an index that can be saved.
type Frozen struct {
	x     *Index
	parts []frozenPart
}

type frozenPart struct {
	part   *part
	onDisk partOnDisk
}

// Freeze takes a snapshot of the index. Searches and changes may continue.
func (x *Index) Freeze() *Frozen {
	x.mu.RLock()
	defer x.mu.RUnlock()
	f := &Frozen{x: x}
	for _, n := range slices.Sorted(maps.Keys(x.levels)) {
		for _, p := range x.levels[n].parts {
			f.parts = append(f.parts, frozenPart{p, partOnDisk{Level: n, File: p.file, Sum: p.sum, Dead: p.deadBytes()}})
		}
	}
	return f
}

// Save writes a frozen index into a folder: first the segments that are not there yet, then the
// manifest. Then it removes the files that the manifest does not name, except keep. Only one
// process at a time may save into a folder; others may load from it meanwhile.
func (f *Frozen) Save(dir string, at Position, keep string) error {
	return disk.Explain(dir, f.saveFiles(dir, at, keep))
}

func (f *Frozen) saveFiles(dir string, at Position, keep string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	m := manifest{Format: manifestFormat, At: at}
	for i := range f.parts {
		p := &f.parts[i]
		if err := f.x.writeSegment(dir, p); err != nil {
			return err
		}
		m.Parts = append(m.Parts, p.onDisk)
	}
	b, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if err := disk.WriteBytes(filepath.Join(dir, manifestName), b); err != nil {
		return err
	}
	return removeOthers(dir, m, keep)
}

// writeSegment writes the segment of a part to a new file, unless the part has a file that exists.
// From then on the part is read from the file.
func (x *Index) writeSegment(dir string, p *frozenPart) error {
	if p.onDisk.File != "" {
		_, err := os.Stat(filepath.Join(dir, p.onDisk.File))
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		// The file was removed from outside. The mapping must stay valid while it is read.
		x.mu.RLock()
		defer x.mu.RUnlock()
		if !x.hasPart(p.part) {
			return fmt.Errorf("%w: %s was removed", ErrDamaged, p.onDisk.File)
		}
		return disk.WriteBytes(filepath.Join(dir, p.onDisk.File), p.part.data)
	}
	p.onDisk.File = uuid.Must(uuid.NewV7()).String() + segmentSuffix
	if err := x.withBytes(p.part, func(data []byte) error {
		p.onDisk.Sum = crc32.Checksum(data, castagnoli)
		return disk.WriteBytes(filepath.Join(dir, p.onDisk.File), data)
	}); err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.hasPart(p.part) || p.part.merging {
		return nil
	}
	s, unmap, err := mapSegment(filepath.Join(dir, p.onDisk.File))
	if err != nil {
		return err
	}
	if err := p.part.closeFile(); err != nil {
		return errors.Join(err, unmap())
	}
	p.part.segment, p.part.unmap, p.part.file, p.part.sum = s, unmap, p.onDisk.File, p.onDisk.Sum
	return nil
}

// isSaved reports whether all segments are stored in files.
func (x *Index) isSaved() bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	for _, l := range x.levels {
		if slices.ContainsFunc(l.parts, func(p *part) bool { return p.file == "" }) {
			return false
		}
	}
	return true
}

// errGone is returned by Save if a part was merged or removed meanwhile and can no longer be read.
var errGone = errors.New("search: a segment is gone")

// withBytes calls f with the bytes of a frozen part. It prevents a mapped part from being unmapped
// meanwhile. If the part is being merged, it does this by holding the read lock during f, so
// changes wait.
func (x *Index) withBytes(p *part, f func(data []byte) error) error {
	x.mu.Lock()
	has, mapped, merging := x.hasPart(p), p.unmap != nil, p.merging
	data := p.data
	p.merging = merging || has && mapped
	x.mu.Unlock()
	switch {
	case !has && mapped:
		return errGone
	case !mapped:
		return f(data)
	case merging:
		x.mu.RLock()
		defer x.mu.RUnlock()
		if !x.hasPart(p) {
			return errGone
		}
		return f(data)
	}
	err := f(data)
	x.mu.Lock()
	defer x.mu.Unlock()
	if p.merging = false; p.left {
		err = errors.Join(err, p.closeFile())
	}
	return err
}

// hasPart reports whether a part is still in the index.
func (x *Index) hasPart(p *part) bool {
	for _, l := range x.levels {
		if slices.Contains(l.parts, p) {
			return true
		}
	}
	return false
}

func (p *part) deadBytes() (b []byte) {
	for _, word := range p.dead {
		b = binary.LittleEndian.AppendUint64(b, word)
	}
	return b
}

// removeOthers removes the files that a manifest does not name, except keep.
func removeOthers(dir string, m manifest, keep string) error {
	list, err := os.ReadDir(dir)
	for _, e := range list {
		named := e.Name() == manifestName || e.Name() == keep ||
			slices.ContainsFunc(m.Parts, func(p partOnDisk) bool { return p.File == e.Name() })
		if !named {
			err = errors.Join(err, os.Remove(filepath.Join(dir, e.Name())))
		}
	}
	return err
}

// mapSegment maps a segment file into memory. unmap ends the mapping; the segment must not be used
// afterwards.
func mapSegment(path string) (s *segment, unmap func() error, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || info.Size() == 0 {
		return nil, nil, errors.Join(err, fmt.Errorf("%w: %s is empty", ErrDamaged, path))
	}
	m, err := mmap.Map(f, mmap.RDONLY, 0)
	if err != nil {
		return nil, nil, err
	}
	if s, err = openSegment(m); err != nil {
		return nil, nil, errors.Join(err, m.Unmap())
	}
	return s, m.Unmap, nil
}

// Load opens the index in a folder and returns its position. It returns fs.ErrNotExist if there is
// no index or one of its segments was removed meanwhile, and ErrDamaged if a file has another
// format or is not as it was written.
func Load(dir string) (_ *Index, _ Position, err error) {
	b, err := os.ReadFile(filepath.Join(dir, manifestName))
	if err != nil {
		return nil, Position{}, err
	}
	var m manifest
	if err := json.Unmarshal(b, &m); err != nil || m.Format != manifestFormat {
		return nil, Position{}, errors.Join(fmt.Errorf("%w: its manifest is of format %d", ErrDamaged, m.Format), err)
	}
	x := New()
	defer func() {
		if err != nil {
			err = errors.Join(err, x.Clear())
		}
	}()
	for _, d := range m.Parts {
		p, err := loadPart(dir, d)
		if err != nil {
			return nil, Position{}, err
		}
		x.ensureLevel(d.Level).addPart(p)
	}
	return x, m.At, nil
}

func loadPart(dir string, d partOnDisk) (*part, error) {
	if d.Level <= 0 || filepath.Base(d.File) != d.File || filepath.Ext(d.File) != segmentSuffix {
		return nil, fmt.Errorf("%w: its manifest contains %q", ErrDamaged, d.File)
	}
	s, unmap, err := mapSegment(filepath.Join(dir, d.File))
	if err != nil {
		return nil, err
	}
	if crc32.Checksum(s.data, castagnoli) != d.Sum {
		return nil, errors.Join(fmt.Errorf("%w: %s has another checksum", ErrDamaged, d.File), unmap())
	}
	p := &part{segment: s, unmap: unmap, file: d.File, sum: d.Sum}
	if len(d.Dead) != 0 && len(d.Dead) != (s.n+63)/64*8 {
		return nil, errors.Join(fmt.Errorf("%w: its manifest and %s do not match", ErrDamaged, d.File), unmap())
	}
	for doc := range uint32(s.n) {
		if len(d.Dead) > 0 && d.Dead[doc/8]&(1<<(doc%8)) != 0 {
			p.markDead(doc)
		}
	}
	return p, nil
}

// closeFile unmaps the file of a part, if it has one. The part must not be in an index any more.
func (p *part) closeFile() error {
	if p.unmap == nil {
		return nil
	}
	return p.unmap()
}
