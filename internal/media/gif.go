package media

// cleanGIF copies the parts of a GIF: the screen with its colours, the pictures, and of the extensions those
// that control a picture or repeat the animation. Comments, plain text and other data of applications are left
// out.
func cleanGIF(w *writer, r *reader) error {
	head, err := r.next(13) // signature, version, size, flags, background, aspect
	if err != nil {
		return err
	}
	w.put(head)
	if err := w.copy(r, colorTable(head[10])); err != nil {
		return err
	}
	for {
		kind, err := r.ReadByte()
		if err != nil {
			return err
		}
		switch kind {
		case 0x3b: // the end
			w.put([]byte{kind})
			return nil
		case 0x2c:
			err = w.copyGIFPicture(r)
		case 0x21:
			err = w.copyExtension(r)
		default:
			return ErrBroken
		}
		if err != nil {
			return err
		}
	}
}

// colorTable returns the bytes of the table of colours that flags announce.
func colorTable(flags byte) int64 {
	if flags&0x80 == 0 {
		return 0
	}
	return 3 << (flags&7 + 1)
}

func (w *writer) copyGIFPicture(r *reader) error {
	head, err := r.next(9) // place, size, flags
	if err != nil {
		return err
	}
	w.put([]byte{0x2c}, head)
	if err := w.copy(r, colorTable(head[8])+1); err != nil { // and the size of a code
		return err
	}
	return w.copyBlocks(r, true)
}

// copyExtension copies an extension that is needed.
func (w *writer) copyExtension(r *reader) error {
	head, err := r.next(2) // kind, length of the first block
	if err != nil {
		return err
	}
	first, err := r.next(int(head[1]))
	if err != nil {
		return err
	}
	loop := head[0] == 0xff && (string(first) == "NETSCAPE2.0" || string(first) == "ANIMEXTS1.0")
	if head[0] == 0xf9 && head[1] == 4 { // it controls the next picture
		w.put([]byte{0x21}, head, first, []byte{0})
		return w.copyBlocks(r, false)
	}
	if head[1] == 0 {
		return nil
	}
	if !loop {
		return w.copyBlocks(r, false)
	}
	return w.copyLoop(r, head, first)
}

// copyLoop copies the number of repetitions, which is a block of three bytes.
func (w *writer) copyLoop(r *reader, head, first []byte) error {
	n, err := r.ReadByte()
	if err != nil || n == 0 {
		return err
	}
	count, err := r.next(int(n))
	if err != nil {
		return err
	}
	if n == 3 && count[0] == 1 {
		w.put([]byte{0x21}, head, first, []byte{n}, count, []byte{0})
	}
	return w.copyBlocks(r, false)
}

// copyBlocks copies blocks, each after its length, up to one of length 0; or it reads over them.
func (w *writer) copyBlocks(r *reader, keep bool) error {
	for w.err == nil {
		n, err := r.ReadByte()
		if err != nil {
			return err
		}
		if keep {
			w.put([]byte{n})
		}
		if n == 0 {
			return nil
		}
		if keep {
			err = w.copy(r, int64(n))
		} else {
			err = r.skip(int64(n))
		}
		if err != nil {
			return err
		}
	}
	return w.err
}
