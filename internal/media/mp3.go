package media

import "encoding/binary"

// isMPEGFrame reports whether bytes begin as a frame of MPEG audio of layer III: eleven bits that are set, the
// version, the layer, and rates that exist.
func isMPEGFrame(b []byte) bool { return frameSize(b) > 0 }

// The bit rates of layer III in kbit/s, and the sampling rates in Hz, by their index in a frame.
var (
	ratesV1  = [16]int{0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 0}
	ratesV2  = [16]int{0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160, 0}
	samplesV = [4][3]int{{11025, 12000, 8000}, {}, {22050, 24000, 16000}, {44100, 48000, 32000}}
)

// frameSize returns the bytes of the frame that a head of four bytes begins; 0 if it is no head of a frame of
// layer III.
func frameSize(b []byte) int64 {
	h := binary.BigEndian.Uint32(b)
	version, layer, rate, sampling := h>>19&3, h>>17&3, h>>12&15, h>>10&3
	if h>>21 != 0x7ff || version == 1 || layer != 1 || sampling == 3 {
		return 0
	}
	kbits, factor := ratesV2[rate], 72
	if version == 3 {
		kbits, factor = ratesV1[rate], 144
	}
	if kbits == 0 {
		return 0
	}
	return int64(factor*kbits*1000/samplesV[version][sampling] + int(h>>9&1))
}

// cleanMP3 copies the frames of an MP3, without the tags at its beginning and its end.
func cleanMP3(w *writer, r *reader) error {
	frames := 0
	for {
		head, err := r.Peek(10)
		if len(head) < 4 {
			if frames > 0 {
				return nil
			}
			return err
		}
		switch n := frameSize(head); {
		case n > 0:
			if frames++; w.copy(r, n) != nil {
				return nil // the last frame may be cut off
			}
		case string(head[:3]) == "ID3" && len(head) == 10:
			size := int64(head[6]&0x7f)<<21 | int64(head[7]&0x7f)<<14 | int64(head[8]&0x7f)<<7 | int64(head[9]&0x7f)
			if err := r.skip(10 + size); err != nil {
				return err
			}
		case frames > 0:
			return nil // tags, or bytes that no player knows
		default:
			if _, err := r.Discard(1); err != nil { // bytes between the tag and the first frame
				return err
			}
		}
	}
}
