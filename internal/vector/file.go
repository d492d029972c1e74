package vector

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"loregate/internal/disk"
)

// header begins a file of vectors.
const header = "loregate vectors 1\n"

// maxFile is the size of the largest file that is read.
const maxFile = 1 << 30

// maxLength is the length of the longest vector.
const maxLength = 4096

// appendRecord appends a record; see the package's comment. All vectors have one length.
func appendRecord(b []byte, k key, list []vector) []byte {
	from := len(b)
	b = append(b, k[:]...)
	b = append(b, byte(len(list)))
	length := 0
	if len(list) > 0 {
		length = len(list[0].at)
	}
	b = binary.LittleEndian.AppendUint16(b, uint16(length))
	for _, v := range list {
		for _, n := range v.at {
			b = append(b, byte(n))
		}
	}
	return binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(b[from:]))
}

// readFile returns the vectors in a file by their keys, and whether the file is whole. A file that does not exist or
// that another version wrote has none.
func readFile(path string) (found map[key][]vector, whole bool, err error) {
	found = map[key][]vector{}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return found, false, nil
	}
	if err != nil {
		return found, false, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxFile))
	if err != nil {
		return found, false, err
	}
	b, ok := bytes.CutPrefix(b, []byte(header))
	if !ok {
		return found, false, nil
	}
	for len(b) > 0 {
		k, list, n := cutRecord(b)
		if n == 0 {
			return found, false, nil
		}
		found[k], b = list, b[n:]
	}
	return found, true, nil
}

// cutRecord returns the record at the beginning of b and its size, or 0 if it is broken.
func cutRecord(b []byte) (k key, list []vector, size int) {
	const head = len(k) + 3
	if len(b) < head {
		return k, nil, 0
	}
	count, length := int(b[len(k)]), int(binary.LittleEndian.Uint16(b[len(k)+1:]))
	size = head + count*length + crc32.Size
	if count > maxPieces || length > maxLength || len(b) < size ||
		crc32.ChecksumIEEE(b[:size-crc32.Size]) != binary.LittleEndian.Uint32(b[size-crc32.Size:]) {
		return k, nil, 0
	}
	copy(k[:], b)
	numbers := make([]int8, count*length)
	for i := range numbers {
		numbers[i] = int8(b[head+i])
	}
	for i := range count {
		list = append(list, newVector(numbers[i*length:][:length]))
	}
	return k, list, size
}

// replaceFile replaces a file by one with these vectors.
func replaceFile(path string, all map[key][]vector) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	b := []byte(header)
	for k, list := range all {
		b = appendRecord(b, k, list)
	}
	return disk.WriteBytes(path, b)
}

// appendFile adds records to a file that exists.
func appendFile(path string, records []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(records)
	return errors.Join(err, f.Close())
}
