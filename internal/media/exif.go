package media

import (
	"bytes"
	"encoding/binary"
)

// maxEXIF is the part of EXIF data that is searched for the turn. In a JPEG it has 64 KB at most.
const maxEXIF = 64 << 10

// The tag of the turn of a picture, and its type, as TIFF numbers them.
const (
	tagTurn   = 0x0112
	typeShort = 3
)

// turnOf returns the turn that EXIF data tell, from 1 to 8; 0 if they tell none. The data are a TIFF file: the
// order of the bytes ("II" or "MM"), 42, and the offset of a list, which has a count and entries of tag, type,
// count and value.
func turnOf(exif []byte) int {
	if len(exif) < 8 {
		return 0
	}
	var order binary.ByteOrder = binary.LittleEndian
	if bytes.HasPrefix(exif, []byte("MM")) {
		order = binary.BigEndian
	} else if !bytes.HasPrefix(exif, []byte("II")) {
		return 0
	}
	at := int64(order.Uint32(exif[4:]))
	if at+2 > int64(len(exif)) {
		return 0
	}
	list := exif[at+2:]
	for range order.Uint16(exif[at:]) {
		if len(list) < 12 {
			return 0
		}
		if order.Uint16(list) == tagTurn && order.Uint16(list[2:]) == typeShort {
			if turn := int(order.Uint16(list[8:])); turn >= 1 && turn <= 8 {
				return turn
			}
			return 0
		}
		list = list[12:]
	}
	return 0
}

// exifOf returns EXIF data that only tell a turn.
func exifOf(turn int) []byte {
	be := binary.BigEndian
	b := append([]byte("MM\x00*"), 0, 0, 0, 8, 0, 1)
	b = be.AppendUint16(be.AppendUint16(b, tagTurn), typeShort)
	b = be.AppendUint16(be.AppendUint32(b, 1), uint16(turn))
	return append(b, 0, 0, 0, 0, 0, 0)
}
