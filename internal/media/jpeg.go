package media

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
)

// cleanJPEG copies the segments of a JPEG: 0xFF, the kind, and for most kinds a length and the content. A
// segment of a scan is followed by the picture's data, up to the next kind. Of the segments of applications only
// those stay that change the colours: JFIF without its small copy, the colour profile, and Adobe's.
func cleanJPEG(w *writer, r *reader) error {
	start, err := r.next(2)
	if err != nil {
		return err
	}
	w.put(start)
	kind, err := readJPEGKind(r)
	for err == nil {
		switch {
		case kind == 0xd9: // the end
			w.put([]byte{0xff, kind})
			return nil
		case kind < 0xc0 || kind >= 0xd0 && kind <= 0xd8 || kind >= 0xf0 && kind < 0xfe:
			return ErrBroken
		}
		if err = w.copySegment(r, kind); err != nil {
			return err
		}
		if kind == 0xda {
			kind, err = w.copyScan(r)
		} else {
			kind, err = readJPEGKind(r)
		}
	}
	return err
}

// readJPEGKind reads the beginning of a segment.
func readJPEGKind(r *reader) (byte, error) {
	b, err := r.ReadByte()
	if err == nil && b != 0xff {
		err = ErrBroken
	}
	for b == 0xff && err == nil {
		b, err = r.ReadByte()
	}
	return b, err
}

// copySegment copies a segment, or leaves it out.
func (w *writer) copySegment(r *reader, kind byte) error {
	size, err := r.next(2)
	if err != nil {
		return err
	}
	n := int(binary.BigEndian.Uint16(size)) - 2
	if n < 0 {
		return ErrBroken
	}
	if kind < 0xe0 { // tables and heads of frames and scans
		w.putSegmentHead(kind, n)
		return w.copy(r, int64(n))
	}
	content, err := r.next(n)
	if err != nil {
		return err
	}
	has := func(id string) bool { return bytes.HasPrefix(content, []byte(id)) }
	switch {
	case kind == 0xe0 && has("JFIF\x00") && n >= 14:
		content = append(content[:12:12], 0, 0)
	case kind == 0xe1 && has("Exif\x00\x00"):
		turn := turnOf(content[6:])
		if turn <= 1 {
			return nil
		}
		content = append([]byte("Exif\x00\x00"), exifOf(turn)...)
	case kind == 0xe2 && has("ICC_PROFILE\x00"):
	case kind == 0xee && has("Adobe") && n >= 12:
		content = content[:12]
	default:
		return nil
	}
	w.putSegmentHead(kind, len(content))
	w.put(content)
	return nil
}

func (w *writer) putSegmentHead(kind byte, n int) {
	w.put([]byte{0xff, kind, byte((n + 2) >> 8), byte(n + 2)})
}

// copyScan copies the data of a scan, and returns the kind of the segment behind them. In the data 0xFF is
// followed by a zero or by a mark of a restart.
func (w *writer) copyScan(r *reader) (kind byte, err error) {
	for w.err == nil {
		part, err := r.ReadSlice(0xff)
		if errors.Is(err, bufio.ErrBufferFull) {
			w.put(part)
			continue
		}
		if err != nil {
			w.put(part)
			return 0, err
		}
		w.put(part[:len(part)-1])
		for kind = 0xff; kind == 0xff && err == nil; {
			kind, err = r.ReadByte()
		}
		if err != nil || kind != 0 && (kind < 0xd0 || kind > 0xd7) {
			return kind, err
		}
		w.put([]byte{0xff, kind})
	}
	return 0, w.err
}
