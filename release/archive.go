package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"io"
	"io/fs"
	"time"
)

// entry is a file in an archive.
type entry struct {
	name string
	data []byte
	mode fs.FileMode
}

// archive packs a program with its texts: a zip for Windows, a compressed tar elsewhere.
func (o *order) archive(b *build, texts []entry) error {
	files := append([]entry{{b.program(), b.binary, 0o755}}, texts...)
	pack, ending := tarOf, ".tar.gz"
	if b.system == "windows" {
		pack, ending = zipOf, ".zip"
	}
	data, err := pack(files, b.time)
	if err != nil {
		return err
	}
	return o.write(b.fileName(ending), data)
}

// tarOf packs files in their order, as nobody's, at one time.
func tarOf(files []entry, at time.Time) ([]byte, error) {
	var b bytes.Buffer
	compressed, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	w := tar.NewWriter(compressed)
	for _, f := range files {
		h := &tar.Header{Name: f.name, Size: int64(len(f.data)), Mode: int64(f.mode), ModTime: at, Typeflag: tar.TypeReg, Format: tar.FormatUSTAR}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.data); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	err = compressed.Close()
	return b.Bytes(), err
}

// zipOf does the same as a zip. Modes are kept, so that a program can be run where it was unpacked.
func zipOf(files []entry, at time.Time) ([]byte, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	w.RegisterCompressor(zip.Deflate, func(out io.Writer) (io.WriteCloser, error) { return flate.NewWriter(out, flate.BestCompression) })
	for _, f := range files {
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: at}
		h.SetMode(f.mode)
		part, err := w.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		if _, err := part.Write(f.data); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}
