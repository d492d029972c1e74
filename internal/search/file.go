package search

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/edsrzf/mmap-go"
	"github.com/google/uuid"

	"loregate/internal/disk"
)

// Position is what an index holds: all commits of a stream up to Seq, whose hash is Hash.
// Store and Stream say whose stream it is, so that an index is never taken for another's.
type Position struct {
	Store  string `json:"store"`
	Stream string `json:"stream"`
	Seq    uint64 `json:"seq"`
	Hash   string `json:"hash"`
}

// manifest is the file that says which segments make an index. It is replaced whole;
// files that it does not name are rubbish.
type manifest struct {
	Format   int          `json:"format"`
	Position Position     `json:"position"`
	Parts    []partOnDisk `json:"parts"`
}

type partOnDisk struct {
	Level int    `json:"level"`
	File  string `json:"file"`
	Sum   uint32 `json:"sum"` // CRC-32C of the file
	Dead  []byte `json:"dead,omitempty"`
}

const (
	manifestName   = "manifest.json"
	manifestFormat = 1
	segmentSuffix  = ".seg"
)

// ErrForeign is what Load answers where the files are of another stream, or of another
// format: they must be removed and made again.
var ErrForeign = errors.New("search: the index in the folder is another's")

// Save writes an index into a folder: the segments that are not there yet, then the
// manifest, then it removes the files that the manifest does not name. A folder is saved
// into by one process at a time; others may load from it meanwhile.
func (x *Index) Save(dir string, at Position) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	return disk.Explain(dir, x.save(dir, at))
}

func (x *Index) save(dir string, at Position) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	m := manifest{Format: manifestFormat, Position: at}
	for _, n := range slices.Sorted(maps.Keys(x.levels)) {
		for _, p := range x.levels[n].parts {
			if p.file == "" {
				if err := p.save(dir); err != nil {
					return err
				}
			}
			m.Parts = append(m.Parts, partOnDisk{n, p.file, p.sum, p.deadBytes()})
		}
	}
	b, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if err := writeFile(dir, manifestName, b); err != nil {
		return err
	}
	return removeOthers(dir, m)
}

// save writes a part's segment to a file of its own, and reads it from there from now on.
func (p *part) save(dir string) error {
	name := uuid.Must(uuid.NewV7()).String() + segmentSuffix
	if err := writeFile(dir, name, p.data); err != nil {
		return err
	}
	p.sum = crc32.Checksum(p.data, castagnoli)
	s, unmap, err := mapSegment(filepath.Join(dir, name))
	if err != nil {
		return err
	}
	p.segment, p.unmap, p.file = s, unmap, name
	return nil
}

func (p *part) deadBytes() (b []byte) {
	for _, word := range p.dead {
		b = binary.LittleEndian.AppendUint64(b, word)
	}
	return b
}

// writeFile writes a file so that it is whole on disk or not there under its name.
func writeFile(dir, name string, b []byte) error {
	f, err := os.CreateTemp(dir, name+".*") // 0600
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), filepath.Join(dir, name))
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// removeOthers removes what a manifest does not name.
func removeOthers(dir string, m manifest) error {
	list, err := os.ReadDir(dir)
	for _, e := range list {
		named := e.Name() == manifestName || slices.ContainsFunc(m.Parts, func(p partOnDisk) bool { return p.File == e.Name() })
		if !named {
			err = errors.Join(err, os.Remove(filepath.Join(dir, e.Name())))
		}
	}
	return err
}

// mapSegment opens a segment in a file. unmap ends that; the segment must not be used then.
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

// Load opens the index in a folder, where it is of a store and stream, and says what it
// holds. It answers fs.ErrNotExist where there is none, ErrForeign, or ErrDamaged.
// The segments themselves are not read through; Check does that.
func Load(dir, store, stream string) (_ *Index, _ Position, err error) {
	b, err := os.ReadFile(filepath.Join(dir, manifestName))
	if err != nil {
		return nil, Position{}, err
	}
	var m manifest
	if err := json.Unmarshal(b, &m); err != nil {
		return nil, Position{}, fmt.Errorf("%w: its manifest: %w", ErrDamaged, err)
	}
	if m.Format != manifestFormat || m.Position.Store != store || m.Position.Stream != stream {
		return nil, Position{}, ErrForeign
	}
	x := New()
	defer func() {
		if err != nil {
			err = errors.Join(err, x.Close())
		}
	}()
	for _, d := range m.Parts {
		p, err := loadPart(dir, d)
		if err != nil {
			return nil, Position{}, err
		}
		x.level(d.Level).take(p)
	}
	return x, m.Position, nil
}

func loadPart(dir string, d partOnDisk) (*part, error) {
	if d.Level <= 0 || filepath.Base(d.File) != d.File || filepath.Ext(d.File) != segmentSuffix {
		return nil, fmt.Errorf("%w: its manifest names %q", ErrDamaged, d.File)
	}
	s, unmap, err := mapSegment(filepath.Join(dir, d.File))
	if err != nil {
		return nil, err
	}
	p := &part{segment: s, unmap: unmap, file: d.File, sum: d.Sum}
	if len(d.Dead) != 0 && len(d.Dead) != (s.n+63)/64*8 {
		return nil, errors.Join(fmt.Errorf("%w: its manifest and %s do not fit", ErrDamaged, d.File), unmap())
	}
	for doc := range uint32(s.n) {
		if len(d.Dead) > 0 && d.Dead[doc/8]&(1<<(doc%8)) != 0 {
			p.kill(doc)
		}
	}
	return p, nil
}

// Check reads all saved segments through, and answers ErrDamaged where one is not as it was
// written.
func (x *Index) Check() error {
	x.mu.RLock()
	defer x.mu.RUnlock()
	for _, l := range x.levels {
		for _, p := range l.parts {
			if p.file != "" && crc32.Checksum(p.data, castagnoli) != p.sum {
				return fmt.Errorf("%w: %s has another checksum", ErrDamaged, p.file)
			}
		}
	}
	return nil
}

// Close lets go of the files. No call of Tidy may be under way, and the index must not be
// used any more.
func (x *Index) Close() (err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, l := range x.levels {
		for _, p := range l.parts {
			err = errors.Join(err, p.drop())
		}
	}
	x.levels = map[int]*level{}
	return err
}

// drop ends the use of a part that is in no index any more.
func (p *part) drop() error {
	if p.unmap == nil {
		return nil
	}
	return p.unmap()
}
