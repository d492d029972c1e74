package sqlstore

import (
	"bytes"
	"context"
	"fmt"
	"iter"

	"github.com/klauspost/compress/zstd"

	"loregate/internal/access"
)

var _ access.SegmentStore = (*Service)(nil)

// segmentPage is the number of segments read at once: bodies are up to about 1 MiB.
const segmentPage = 16

// packer and unpacker compress bodies to about a tenth, since records repeat one another. Both are
// safe for concurrent use.
var (
	packer, _ = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
		zstd.WithLowerEncoderMem(true), zstd.WithWindowSize(512<<10))
	unpacker, _ = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxBody),
		zstd.WithDecoderLowmem(true))
)

// maxBody is larger than a body of the largest number of the longest records.
const maxBody = 64 << 20

// zstdMagic is the beginning of a compressed body. Earlier programs stored bodies uncompressed;
// those begin with a brace.
var zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}

// unpackBody decompresses a stored body. It returns a damaged body as it is: a check of the records
// finds that it does not match its hash.
func unpackBody(kept []byte) []byte {
	if !bytes.HasPrefix(kept, zstdMagic) {
		return kept
	}
	body, err := unpacker.DecodeAll(kept, nil)
	if err != nil {
		return kept
	}
	return body
}

// AppendSegment stores a segment of access records.
func (s *Service) AppendSegment(ctx context.Context, one access.Segment) error {
	return s.db.Change(ctx, func(c Conn) error {
		added, err := addSegment(ctx, c, one) // the only round trip while others wait, except for a process's first segment
		if err != nil || added > 0 {
			return err
		}
		if _, err := c.Exec(ctx, "INSERT INTO access_processes (process) VALUES ($1) ON CONFLICT DO NOTHING",
			one.Process); err != nil {
			return err
		}
		if added, err = addSegment(ctx, c, one); err != nil || added > 0 {
			return err
		}
		same := false
		if err := Each(ctx, c, func(r Row) error { same = bytes.Equal(r.Bytes(0), one.Hash[:]); return nil },
			"SELECT hash FROM access_segments WHERE p = (SELECT p FROM access_processes WHERE process = $1) AND seq = $2",
			one.Process, one.Seq); err != nil {
			return err
		}
		if !same {
			return fmt.Errorf("store: process %s has another segment %d already", one.Process, one.Seq)
		}
		return nil
	})
}

// addSegment adds a segment if its process is known and the segment is not stored yet.
func addSegment(ctx context.Context, c Conn, one access.Segment) (int64, error) {
	return c.Exec(ctx, `INSERT INTO access_segments (p, seq, at, count, body, prev, hash)
		SELECT p, $2, $3, $4, $5, $6, $7 FROM access_processes WHERE process = $1 ON CONFLICT DO NOTHING`,
		one.Process, one.Seq, toNanos(one.At), one.Count, packer.EncodeAll(one.Body, nil), one.Prev[:], one.Hash[:])
}

// Segments yields a process's segments from a number on, in order.
func (s *Service) Segments(ctx context.Context, process string, from uint64) iter.Seq2[access.Segment, error] {
	return func(yield func(access.Segment, error) bool) {
		for {
			page, err := s.readSegments(ctx, process, from)
			if err != nil {
				yield(access.Segment{}, err)
				return
			}
			for _, one := range page {
				if !yield(one, nil) {
					return
				}
				from = one.Seq + 1
			}
			if len(page) < segmentPage {
				return
			}
		}
	}
}

func (s *Service) readSegments(ctx context.Context, process string, from uint64) (page []access.Segment, err error) {
	read := func(r Row) (access.Segment, error) {
		one := access.Segment{Process: process, Seq: uint64(r.Int(0)), At: timeFromNanos(r.Int(1)), Count: int(r.Int(2)),
			Body: unpackBody(r.Bytes(3))}
		copy(one.Prev[:], r.Bytes(4))
		copy(one.Hash[:], r.Bytes(5))
		return one, nil
	}
	err = s.db.Snapshot(ctx, func(c Conn) (err error) {
		page, err = queryAll(ctx, c, read, `SELECT seq, at, count, body, prev, hash FROM access_segments
			WHERE p = (SELECT p FROM access_processes WHERE process = $1) AND seq >= $2 ORDER BY seq LIMIT $3`, process, from, segmentPage)
		return err
	})
	return page, err
}

// Processes lists the processes that have segments, in the order of their first segment.
func (s *Service) Processes(ctx context.Context) (all []string, err error) {
	err = s.db.Snapshot(ctx, func(c Conn) (err error) {
		all, err = queryAll(ctx, c, func(r Row) (string, error) { return r.Text(0), nil },
			"SELECT process FROM access_processes ORDER BY p")
		return err
	})
	return all, err
}
