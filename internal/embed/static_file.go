package embed

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
)

// magic begins a model's file.
const magic = "loregate static model 1\n"

// errBroken is the error of a file that Write did not write, or that has changed since.
var errBroken = errors.New("the model's file is broken; install the model again")

// Write writes a model.
func (m *Model) Write(w io.Writer) error {
	header, err := json.Marshal(m.Info)
	if err != nil {
		return err
	}
	b := binary.LittleEndian.AppendUint32([]byte(magic), uint32(len(header)))
	b = append(b, header...)
	for _, t := range m.list {
		b = binary.LittleEndian.AppendUint16(b, uint16(len(t)))
		b = append(b, t...)
	}
	for _, s := range m.scales {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(s))
	}
	for _, n := range m.rows {
		b = append(b, byte(n))
	}
	sum := sha256.Sum256(b)
	_, err = w.Write(append(b, sum[:]...))
	return err
}

// ReadInfo returns the description of the model in a file, without checking the rest.
func ReadInfo(path string) (info Info, err error) {
	f, err := os.Open(path)
	if err != nil {
		return info, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, 1<<16))
	if err != nil {
		return info, err
	}
	info, _, err = cutInfo(b)
	return info, err
}

// ReadSum returns the SHA-256 at the end of a model's file, in hexadecimal. It identifies the model.
func ReadSum(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	var sum [sha256.Size]byte
	if _, err := f.Seek(-sha256.Size, io.SeekEnd); err != nil {
		return "", errBroken
	}
	_, err = io.ReadFull(f, sum[:])
	return hex.EncodeToString(sum[:]), err
}

// cutInfo returns the description at the beginning of a file, and what follows.
func cutInfo(b []byte) (info Info, rest []byte, err error) {
	b, ok := bytes.CutPrefix(b, []byte(magic))
	if !ok || len(b) < 4 {
		return info, nil, errBroken
	}
	n := uint64(binary.LittleEndian.Uint32(b))
	if uint64(len(b))-4 < n || json.Unmarshal(b[4:4+n], &info) != nil || info.Rows < 1 || info.Rows > maxRows ||
		info.Length < 1 || info.Length > maxLength || info.Rows*info.Length > maxNumbers {
		return info, nil, errBroken
	}
	return info, b[4+n:], nil
}

// ReadModel reads a model that Write wrote.
func ReadModel(path string) (*Model, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if len(b) < sha256.Size {
		return nil, errBroken
	}
	b, sum := b[:len(b)-sha256.Size], b[len(b)-sha256.Size:]
	if is := sha256.Sum256(b); !bytes.Equal(is[:], sum) {
		return nil, errBroken
	}
	info, b, err := cutInfo(b)
	if err != nil {
		return nil, err
	}
	if len(b) < 4*info.Rows+info.Rows*info.Length {
		return nil, errBroken
	}
	m := newModel(info)
	for i := range info.Rows {
		if len(b) < 2 || len(b) < 2+int(binary.LittleEndian.Uint16(b)) {
			return nil, errBroken
		}
		n := int(binary.LittleEndian.Uint16(b))
		token := string(b[2 : 2+n])
		if _, ok := m.tokens[token]; !ok {
			m.tokens[token] = uint32(i)
		}
		m.list, b = append(m.list, token), b[2+n:]
	}
	if len(b) != 4*info.Rows+info.Rows*info.Length {
		return nil, errBroken
	}
	for i := range m.scales {
		m.scales[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	for i, n := range b[4*info.Rows:] {
		m.rows[i] = int8(n)
	}
	return m, nil
}
