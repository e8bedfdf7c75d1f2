package checks

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
)

// findInXML finds the first place where an XML file is not well-formed. Entities of a document type are not known here.
func findInXML(text []byte) Found {
	x := &xmlWalk{text: text, decoder: xml.NewDecoder(bytes.NewReader(text))}
	x.decoder.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil } // it is decoded already
	for {
		begins := int(x.decoder.InputOffset())
		t, err := x.decoder.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			return x.fault(err)
		}
		if wrong := x.take(t); wrong != "" {
			return x.problem(begins, wrong)
		}
	}
	if x.roots == 0 {
		return x.problem(len(text), "no root element")
	}
	return Found{}
}

// xmlWalk looks for what the decoder lets pass: it takes a file for a stream of elements.
type xmlWalk struct {
	text    []byte
	decoder *xml.Decoder
	depth   int
	roots   int
	typed   bool // the file has a document type
}

// take returns what is wrong with a token where it stands, or "".
func (x *xmlWalk) take(t xml.Token) string {
	switch t := t.(type) {
	case xml.Directive:
		x.typed = true
	case xml.StartElement:
		if x.depth++; x.depth > 1 {
			return ""
		}
		if x.roots++; x.roots > 1 {
			return "a second root element"
		}
	case xml.EndElement:
		x.depth--
	case xml.CharData:
		if x.depth == 0 && len(bytes.TrimSpace(t)) > 0 {
			return "text outside the root element"
		}
	}
	return ""
}

func (x *xmlWalk) fault(err error) Found {
	message := err.Error()
	if e, ok := errors.AsType[*xml.SyntaxError](err); ok {
		message = e.Msg
	}
	if x.typed && strings.Contains(message, "entity") {
		return Found{Skipped: "The file uses entities of its document type, which is not read."}
	}
	return x.problem(int(x.decoder.InputOffset()), message)
}

func (x *xmlWalk) problem(offset int, message string) Found {
	line, column := position(x.text, offset)
	return Found{Problems: []Problem{{line, column, message}}}
}
