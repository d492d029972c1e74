package media

import (
	"encoding/binary"
	"io"
)

// The chunks that a WebP and a WAVE need.
var (
	webpChunks = map[string]bool{"VP8 ": true, "VP8L": true, "VP8X": true, "ANIM": true, "ANMF": true, "ALPH": true,
		"ICCP": true}
	waveChunks = map[string]bool{"fmt ": true, "data": true, "fact": true}
)

// The flags of VP8X for metadata.
const (
	flagEXIF = 0x08
	flagXMP  = 0x04
)

func cleanWebP(w *writer, r *reader) error { return cleanRIFF(w, r, webpChunks) }
func cleanWave(w *writer, r *reader) error { return cleanRIFF(w, r, waveChunks) }

// riffChunk is a chunk of a RIFF file: a name of four letters, the length (little-endian), the content, and a
// zero byte if the length is odd.
type riffChunk struct {
	name string
	n    int64
}

func (c riffChunk) size() int64 { return 8 + c.n + c.n&1 }

// cleanRIFF copies the chunks that keep names. The length of the file stands at its beginning, so it is read twice.
func cleanRIFF(w *writer, r *reader, keep map[string]bool) error {
	head, err := r.next(12)
	if err != nil {
		return err
	}
	end := 8 + int64(binary.LittleEndian.Uint32(head[4:]))
	size, turn, err := measureRIFF(r, end, keep)
	if err != nil {
		return err
	}
	w.put(head[:4], binary.LittleEndian.AppendUint32(nil, uint32(size)), head[8:])
	if _, err := r.seek.Seek(12, io.SeekStart); err != nil {
		return err
	}
	r.Reset(r.seek.(io.Reader))
	for at := int64(12); at < end; {
		c, err := readRIFF(r, end-at)
		if err != nil {
			return err
		}
		if at += c.size(); !keep[c.name] {
			err = r.skip(c.size() - 8)
		} else {
			err = w.copyRIFF(r, c, turn)
		}
		if err != nil {
			return err
		}
	}
	if turn > 1 {
		exif := exifOf(turn)
		w.put([]byte("EXIF"), binary.LittleEndian.AppendUint32(nil, uint32(len(exif))), exif)
	}
	return nil
}

// measureRIFF returns the length of the clean file, and the turn of its picture.
func measureRIFF(r *reader, end int64, keep map[string]bool) (size int64, turn int, err error) {
	size = 4
	for at := int64(12); at < end; {
		c, err := readRIFF(r, end-at)
		if err != nil {
			return 0, 0, err
		}
		at += c.size()
		if keep[c.name] {
			size += c.size()
		}
		left := c.size() - 8
		if c.name == "EXIF" && keep["VP8X"] {
			exif, err := r.next(int(min(c.n, maxEXIF)))
			if err != nil {
				return 0, 0, err
			}
			left -= int64(len(exif))
			turn = max(turn, turnOf(exif))
		}
		if err := r.skip(left); err != nil {
			return 0, 0, err
		}
	}
	if turn > 1 {
		size += 8 + int64(len(exifOf(turn)))
	}
	return size, turn, nil
}

// readRIFF reads the head of a chunk, which lies in the last bytes of the file.
func readRIFF(r *reader, left int64) (riffChunk, error) {
	head, err := r.next(8)
	if err != nil {
		return riffChunk{}, err
	}
	c := riffChunk{string(head[:4]), int64(binary.LittleEndian.Uint32(head[4:]))}
	if 8+c.n > left {
		return c, ErrBroken
	}
	return c, nil
}

// copyRIFF copies a chunk. The flags of a WebP tell afterwards what the file has.
func (w *writer) copyRIFF(r *reader, c riffChunk, turn int) error {
	w.put([]byte(c.name), binary.LittleEndian.AppendUint32(nil, uint32(c.n)))
	if c.name != "VP8X" {
		return w.copy(r, c.size()-8)
	}
	if c.n != 10 {
		return ErrBroken
	}
	content, err := r.next(10)
	if err != nil {
		return err
	}
	if content[0] &^= flagEXIF | flagXMP; turn > 1 {
		content[0] |= flagEXIF
	}
	w.put(content)
	return nil
}
