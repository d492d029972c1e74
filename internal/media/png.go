package media

import (
	"encoding/binary"
	"hash/crc32"
)

// pngChunks are the chunks that a PNG needs to be shown, also as an animation. Those of text, time, EXIF and of
// programs are not among them.
var pngChunks = map[string]bool{"IHDR": true, "PLTE": true, "IDAT": true, "IEND": true, "tRNS": true, "gAMA": true,
	"cHRM": true, "sRGB": true, "iCCP": true, "sBIT": true, "bKGD": true, "pHYs": true, "cICP": true, "mDCV": true,
	"cLLI": true, "acTL": true, "fcTL": true, "fdAT": true}

// cleanPNG copies the chunks of a PNG: for each a length, a name of four letters, the content and a checksum. Of
// a chunk with EXIF, the turn stays.
func cleanPNG(w *writer, r *reader) error {
	signature, err := r.next(8)
	if err != nil {
		return err
	}
	w.put(signature)
	for first := true; ; first = false {
		head, err := r.next(8)
		if err != nil {
			return err
		}
		n, name := int64(binary.BigEndian.Uint32(head)), string(head[4:])
		switch {
		case n > 1<<31-1 || first != (name == "IHDR") || first && n != 13:
			return ErrBroken
		case name == "eXIf":
			err = w.putPNGTurn(r, n)
		case pngChunks[name]:
			w.put(head)
			err = w.copy(r, n+4)
		default:
			err = r.skip(n + 4)
		}
		if err != nil || name == "IEND" {
			return err
		}
	}
}

// putPNGTurn reads a chunk with EXIF and writes one that only has the turn.
func (w *writer) putPNGTurn(r *reader, n int64) error {
	exif, err := r.next(int(min(n, maxEXIF)))
	if err == nil {
		err = r.skip(n - int64(len(exif)) + 4)
	}
	turn := turnOf(exif)
	if err != nil || turn <= 1 {
		return err
	}
	content := exifOf(turn)
	body := append([]byte("eXIf"), content...)
	w.put(binary.BigEndian.AppendUint32(nil, uint32(len(content))), body,
		binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE(body)))
	return nil
}
