package lorebook

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"slices"
	"strings"

	"loregate/internal/fault"
)

var pngMagic = []byte("\x89PNG\r\n\x1a\n")

// textChunks are the chunks of a PNG file that may hold the text of a card.
var textChunks = []string{"tEXt", "zTXt", "iTXt", "eXIf"}

// splitPNG returns the card in a PNG file and the picture without any text. Of two cards, the one in
// the newer form ccv3 counts. The card is nil if the file has none.
func splitPNG(data []byte) (card, picture []byte, err error) {
	if !bytes.HasPrefix(data, pngMagic) {
		return nil, nil, fault.New(fault.Invalid, "the file is not a PNG picture")
	}
	picture = slices.Clone(pngMagic)
	var newest bool
	for rest := data[len(pngMagic):]; ; {
		if len(rest) < 12 {
			return nil, nil, fault.New(fault.Invalid, "the PNG picture is cut off")
		}
		size := binary.BigEndian.Uint32(rest)
		if uint64(size)+12 > uint64(len(rest)) {
			return nil, nil, fault.New(fault.Invalid, "the PNG picture is cut off")
		}
		kind, body, chunk := string(rest[4:8]), rest[8:8+size], rest[:12+size]
		rest = rest[12+size:]
		if !slices.Contains(textChunks, kind) {
			picture = append(picture, chunk...)
		}
		if kind == "IEND" {
			return card, picture, nil // bytes after the picture are left out
		}
		if key, text, ok := bytes.Cut(body, []byte{0}); ok && kind == "tEXt" {
			v3 := strings.EqualFold(string(key), "ccv3")
			if v3 || strings.EqualFold(string(key), "chara") && !newest {
				if card, err = base64.StdEncoding.DecodeString(strings.TrimSpace(string(text))); err != nil {
					return nil, nil, fault.New(fault.Invalid, "the card in the PNG picture is not base64").Because(err)
				}
				newest = newest || v3
			}
		}
	}
}
