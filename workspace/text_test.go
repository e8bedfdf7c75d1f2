package workspace

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/encoding/htmlindex"
	"pgregory.net/rapid"

	"writ/contract"
	"writ/envelope"
)

func decode(t testing.TB, data, named string) *Text {
	t.Helper()
	text, err := DecodeText([]byte(data), named)
	if err != nil {
		t.Fatalf("DecodeText(%q, %q): %v", data, named, err)
	}
	return text
}

func wantCode(t testing.TB, err error, want envelope.Code) *envelope.Error {
	t.Helper()
	cause, ok := errors.AsType[*envelope.Error](err)
	if !ok || cause.Code != want {
		t.Fatalf("got error %v, want code %s", err, want)
	}
	if cause.Message == "" || strings.Contains(cause.Message, "%!") {
		t.Fatalf("bad message %q", cause.Message)
	}
	return cause
}

func TestDecodeText(t *testing.T) {
	for _, c := range []struct {
		name, data, named         string
		content, encoding, ending string
		bom, final                bool
		lines                     int
	}{
		{"empty", "", "", "", "utf-8", "none", false, false, 0},
		{"plain", "a\nb\n", "", "a\nb\n", "utf-8", "lf", false, true, 2},
		{"no final newline", "a\nb", "", "a\nb", "utf-8", "lf", false, false, 2},
		{"one line", "a", "", "a", "utf-8", "none", false, false, 1},
		{"only a newline", "\n", "", "\n", "utf-8", "lf", false, true, 1},
		{"all CRLF", "a\r\nb\r\n", "", "a\r\nb\r\n", "utf-8", "crlf", false, true, 2},
		{"CRLF, then LF", "a\r\nb\n", "", "a\r\nb\n", "utf-8", "mixed", false, true, 2},
		{"LF first, then CRLF", "\n\r\n", "", "\n\r\n", "utf-8", "mixed", false, true, 2},
		{"lone CRs end no line", "a\rb\r", "", "a\rb\r", "utf-8", "none", false, false, 1},
		{"a lone CR beside LFs", "a\rb\n", "", "a\rb\n", "utf-8", "lf", false, true, 1},
		{"UTF-8 with BOM", "\xef\xbb\xbfé\n", "", "é\n", "utf-8", "lf", true, true, 1},
		{"two BOMs: the second is content", "\xef\xbb\xbf\ufeffx", "", "\ufeffx", "utf-8", "none", true, false, 1},
		{"nothing but a BOM", "\xef\xbb\xbf", "", "", "utf-8", "none", true, false, 0},
		{"U+FFFD that is in the file", "a\ufffdb", "", "a\ufffdb", "utf-8", "none", false, false, 1},
		{"UTF-16 LE", "\xff\xfea\x00\r\x00\n\x00", "", "a\r\n", "utf-16le", "crlf", true, true, 1},
		{"UTF-16 BE with a pair", "\xfe\xff\xd8\x3d\xde\x00", "", "😀", "utf-16be", "none", true, false, 1},
		{"a BOM beats the policy", "\xff\xfea\x00", "gb18030", "a", "utf-16le", "none", true, false, 1},
		{"UTF-16 LE named, no BOM", "a\x00", "UTF-16LE", "a", "utf-16le", "none", false, false, 1},
		{"gb18030", "\xc4\xe3\xba\xc3\n", "gb18030", "你好\n", "gb18030", "lf", false, true, 1},
		{"gb2312 is a label of gbk", "\xc4\xe3", "GB2312", "你", "gbk", "none", false, false, 1},
		{"shift_jis", "\x93\xfa\x96\x7b", "Shift_JIS", "日本", "shift_jis", "none", false, false, 1},
		{"windows-1252", "\x93x\x94", "windows-1252", "“x”", "windows-1252", "none", false, false, 1},
		{"iso-8859-15", "\xa4", "ISO-8859-15", "€", "iso-8859-15", "none", false, false, 1},
		{"euc-kr", "\xb0\xa1", "euc-kr", "가", "euc-kr", "none", false, false, 1},
		{"big5", "\xa4\xa4", "big5", "中", "big5", "none", false, false, 1},
		{"utf-8 named", "é", "utf8", "é", "utf-8", "none", false, false, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := decode(t, c.data, c.named)
			if text.String() != c.content || string(text.Bytes()) != c.content {
				t.Errorf("content %q, want %q", text.String(), c.content)
			}
			if text.Encoding() != c.encoding || text.BOM() != c.bom || text.LineEndings() != c.ending {
				t.Errorf("got %s, BOM %v, endings %s", text.Encoding(), text.BOM(), text.LineEndings())
			}
			if text.Lines() != c.lines || text.FinalNewline() != c.final || text.AllCRLF() != (c.ending == "crlf") {
				t.Errorf("got %d lines, final newline %v, all CRLF %v", text.Lines(), text.FinalNewline(), text.AllCRLF())
			}
			back, err := text.rewrite(c.content)
			if err != nil || string(back) != c.data {
				t.Errorf("rewrite gives %q, %v; want %q", back, err, c.data)
			}
		})
	}
}

func TestDecodeTextRefuses(t *testing.T) {
	for _, c := range []struct{ name, data, named, says string }{
		{"Latin-1 as UTF-8", "caf\xe9", "", "policy"},
		{"cut UTF-8", "\xe4\xbd", "", "policy"},
		{"surrogate in UTF-8", "\xed\xa0\x80", "", "policy"},
		{"overlong UTF-8", "\xc0\x80", "", "policy"},
		{"NUL", "a\x00b", "", "binary"},
		{"NUL in UTF-16", "\xff\xfe\x00\x00", "", "binary"},
		{"UTF-32 LE looks like UTF-16 with NULs", "\xff\xfe\x00\x00a\x00\x00\x00", "", "binary"},
		{"UTF-16 of odd length", "\xff\xfea\x00b", "", "utf-16le"},
		{"UTF-16 with a lone high surrogate", "\xff\xfe\x3d\xd8a\x00", "", "utf-16le"},
		{"UTF-16 that ends in half a pair", "\xff\xfe\x3d\xd8", "", "utf-16le"},
		{"UTF-16 with a lone low surrogate", "\xfe\xff\xde\x00", "", "utf-16be"},
		{"UTF-8 with BOM that is not UTF-8", "\xef\xbb\xbf\xff", "", "UTF-8"},
		{"not valid in the named encoding", "\xff\xff", "gb18030", "gb18030"},
		{"a hole in the named code page", "\x81", "windows-1253", "windows-1253"},
		{"two characters from one unit", "\x88\x62", "big5", "big5"},
		{"ASCII named, but it is not", "\xe9", "us-ascii", "us-ascii"},
		{"named encoding with state", "\x1b$B", "iso-2022-jp", "depends"},
		{"another with state", "a", "hz-gb-2312", "depends"},
		{"utf-16 without order", "a\x00", "utf-16", "utf-16le"},
		{"unknown name", "a", "klingon", `"klingon"`},
		{"label for what must not be decoded", "a", "iso-2022-kr", "not"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := DecodeText([]byte(c.data), c.named)
			if cause := wantCode(t, err, envelope.NotText); !strings.Contains(cause.Message, c.says) {
				t.Errorf("message %q does not say %q", cause.Message, c.says)
			}
		})
	}
}

func TestDecodeTextCopiesNoUTF8(t *testing.T) {
	data := []byte("\xef\xbb\xbfabc")
	text, err := DecodeText(data, "")
	if err != nil {
		t.Fatal(err)
	}
	if &text.Bytes()[0] != &data[3] {
		t.Error("the content is a copy")
	}
}

func TestNamesOfEncodings(t *testing.T) {
	for in, want := range map[string]string{
		"GB18030": "gb18030", "sjis": "shift_jis", "latin1": "iso-8859-1", "cp1252": "windows-1252", "UTF8": "utf-8", "ks_c_5601-1987": "euc-kr",
	} {
		if c, err := charsetOf(in); err != nil || c.name != want {
			t.Errorf("%q is %q, %v; want %q", in, c.name, err, want)
		}
	}
	for _, bad := range []string{"", "nope", "iso-2022-jp", "utf-16", "replacement"} {
		if c, err := charsetOf(bad); err == nil {
			t.Errorf("%q is %q, want an error", bad, c.name)
		}
	}
}

func TestSpliceRefusesWhatTheEncodingLacks(t *testing.T) {
	for _, c := range []struct{ name, data, named, with, says string }{
		{"euro in latin1", "abc", "iso-8859-1", "xx€yy", "€"},
		{"Han in windows-1252", "abc", "windows-1252", "好", "U+597D"},
		{"yen sign, which shift_jis would turn into a backslash", "abc", "shift_jis", "¥", "U+00A5"},
		{"NUL in UTF-8", "abc", "", "x\x00", "NUL"},
		{"a BOM of another encoding at the start", "abc", "windows-1252", "ÿþ", "utf-16le"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := decode(t, c.data, c.named).Splice(0, 1, c.with)
			if cause := wantCode(t, err, envelope.NotEncodable); !strings.Contains(cause.Message, c.says) {
				t.Errorf("message %q does not say %q", cause.Message, c.says)
			}
		})
	}
	if _, err := decode(t, "abc", "").Splice(0, 1, "\xff"); envelope.CodeOf(err) != envelope.BadEncoding {
		t.Errorf("bad UTF-8: %v", err)
	}
	if _, err := decode(t, "é", "").Splice(1, 2, "x"); err == nil {
		t.Error("a splice inside a character was planned")
	}
	if _, err := decode(t, "xÿþ", "utf-8").Splice(0, 1, ""); err != nil {
		t.Errorf("ÿþ in UTF-8 is no mark: %v", err)
	}
	if _, err := decode(t, "x\xff\xfe", "windows-1252").Splice(0, 1, ""); envelope.CodeOf(err) != envelope.NotEncodable {
		t.Errorf("a deletion that makes a mark of UTF-16: %v", err)
	}
}

func TestEncodeText(t *testing.T) {
	if raw, err := EncodeText("你好\n", "gb18030"); err != nil || string(raw) != "\xc4\xe3\xba\xc3\n" {
		t.Errorf("got %q, %v", raw, err)
	}
	if raw, err := EncodeText("a\n", ""); err != nil || string(raw) != "a\n" {
		t.Errorf("got %q, %v", raw, err)
	}
	_, err := EncodeText("好", "iso-8859-1")
	wantCode(t, err, envelope.NotEncodable)
	_, err = EncodeText("a", "klingon")
	wantCode(t, err, envelope.NotEncodable)
}

func TestMixedLineEndings(t *testing.T) {
	if w, ok := MixedLineEndings(decode(t, "a\r\nb\n", "").LineEndings()); !ok || w.Code != envelope.MixedLineEndings {
		t.Errorf("got %v, %v", w, ok)
	}
	if _, ok := MixedLineEndings(decode(t, "a\r\nb\r\n", "").LineEndings()); ok {
		t.Error("a warning for a file of CRLFs")
	}
}

// named are encodings of every kind that a policy may name; "" is UTF-8.
var named = []string{
	"", "utf-16le", "utf-16be", "gb18030", "gbk", "big5", "shift_jis", "euc-jp", "euc-kr", "windows-1252", "windows-1251",
	"windows-1258", "iso-8859-1", "iso-8859-15", "koi8-r", "macintosh", "windows-874", "x-user-defined", "ibm037",
}

// drawText draws a text that the encoding has, rich in what matters here: line ends, blanks and wide characters.
func drawText(t *rapid.T, label, encoding string) string {
	alphabet := []rune("ab \t\r\n\n\r€é“你好日本ｱ가힣яЖ中文の~\\|¥‾😀\u0301\ufeff\U000e0041")
	s := string(rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(alphabet), rapid.Rune()), 0, 40).Draw(t, label))
	return strings.Map(func(r rune) rune {
		if _, err := EncodeText(string(r), encoding); err != nil {
			return -1
		}
		return r
	}, s)
}

func TestSpliceChangesNothingBesideIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		encoding := rapid.SampledFrom(named).Draw(t, "encoding")
		raw, err := EncodeText(drawText(t, "content", encoding), encoding)
		if err != nil {
			t.Skip("starts with a mark of another encoding")
		}
		if mark := rapid.SampledFrom([]string{"", "\xef\xbb\xbf"}).Draw(t, "mark"); encoding == "" {
			raw = append([]byte(mark), raw...)
		}
		text, err := DecodeText(raw, encoding)
		if err != nil {
			t.Fatalf("own bytes %q are no text: %v", raw, err)
		}
		content := text.String()
		runes := []rune(content)
		from := rapid.IntRange(0, len(runes)).Draw(t, "from")
		to := rapid.IntRange(from, len(runes)).Draw(t, "to")
		start, end := len(string(runes[:from])), len(string(runes[:to]))
		with := drawText(t, "with", encoding)
		splices, err := text.Splice(start, end, with)
		if envelope.CodeOf(err) == envelope.NotEncodable {
			t.Skip("would start with a mark of another encoding")
		}
		if err != nil {
			t.Fatal(err)
		}

		after := ApplySplices(raw, splices)
		for _, s := range splices {
			if !bytes.Equal(after[:s.Offset], raw[:s.Offset]) {
				t.Fatalf("bytes before the splice changed: %q", after)
			}
			if !bytes.Equal(after[int(s.Offset)+len(s.New):], raw[s.Offset+s.Length:]) {
				t.Fatalf("bytes behind the splice changed: %q", after)
			}
		}
		again, err := DecodeText(after, encoding)
		if err != nil {
			t.Fatalf("%q is no text after the splice: %v", after, err)
		}
		want := content[:start] + with + content[end:]
		if !text.BOM() && again.BOM() {
			want = strings.TrimPrefix(want, "\ufeff") // the edit has written a mark
		}
		if again.String() != want {
			t.Fatalf("got %q, want %q", again.String(), want)
		}
		if back := ApplySplices(after, inverse(raw, splices)); !bytes.Equal(back, raw) {
			t.Fatalf("undo gives %q, want %q", back, raw)
		}
	})
}

// Splices in the legacy encodings rest on this: what the encoder writes for a character is read as that character.
func TestLegacyEncodingsAreFreeOfState(t *testing.T) {
	for _, name := range named {
		c := utf8Charset
		if name != "" {
			var err error
			if c, err = charsetOf(name); err != nil {
				t.Fatal(err)
			}
		}
		legacy, ok := c.codec.(legacyCodec)
		if !ok {
			continue
		}
		var all []byte
		var want []rune
		encoder := legacy.NewEncoder()
		for r := rune(1); r < 0x20000; r++ {
			if r > 0x600 && r%7 != 0 || !utf8.ValidRune(r) {
				continue // a sample of the Han characters will do
			}
			raw, err := encoder.Bytes([]byte(string(r)))
			if err != nil {
				continue
			}
			if one, err := legacy.NewDecoder().Bytes(raw); err != nil || string(one) != string(r) {
				continue // refused by encode
			}
			all = append(all, raw...)
			want = append(want, r)
		}
		got, err := legacy.NewDecoder().Bytes(all)
		if err != nil || string(got) != string(want) {
			t.Errorf("%s: %d characters in a row are not read as they were written", name, len(want))
		}
		if len(want) < 100 {
			t.Errorf("%s has only %d characters", name, len(want))
		}
	}
}

func TestEveryByteOfACodePageIsReadOrRefused(t *testing.T) {
	for _, name := range []string{"windows-1252", "windows-1255", "koi8-u", "iso-8859-6", "macintosh"} {
		enc, err := htmlindex.Get(name)
		if err != nil {
			t.Fatal(err)
		}
		for b := 1; b < 256; b++ {
			text, err := DecodeText([]byte{'a', byte(b)}, name)
			decoded, _ := enc.NewDecoder().Bytes([]byte{byte(b)})
			if hole := string(decoded) == "\ufffd"; hole != (err != nil) {
				t.Errorf("%s %#x: error %v", name, b, err)
			} else if !hole && text.String() != "a"+string(decoded) {
				t.Errorf("%s %#x: %q", name, b, text.String())
			}
		}
	}
}

func TestOverwrite(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		encoding := rapid.SampledFrom(named).Draw(t, "encoding")
		before, after := drawText(t, "before", encoding), drawText(t, "after", encoding)
		if rapid.Bool().Draw(t, "alike") {
			after = before + after + before
		}
		raw, err := EncodeText(before, encoding)
		if err != nil {
			t.Skip("starts with a mark of another encoding")
		}
		text, err := DecodeText(raw, encoding)
		if err != nil {
			t.Fatal(err)
		}
		splices, err := text.Overwrite(after)
		want, wantErr := text.rewrite(after)
		if (err != nil) != (wantErr != nil) {
			t.Fatalf("error %v, want %v", err, wantErr)
		}
		if got := ApplySplices(raw, splices); err == nil && !bytes.Equal(got, want) {
			t.Fatalf("got %q, want %q", got, want)
		}
	})
	text := decode(t, "the first\nold\nlast", "")
	if s, err := text.Overwrite("the first\nnew\nlast"); err != nil || len(s) != 1 || s[0].Offset != 10 || s[0].Length != 3 {
		t.Errorf("got %+v, %v", s, err)
	}
	if s, err := text.Overwrite(text.String()); err != nil || len(s) != 0 {
		t.Errorf("for the same content: %+v, %v", s, err)
	}
	_, err := text.Overwrite("\xff")
	wantCode(t, err, envelope.BadEncoding)
}

func drawSplices(t *rapid.T, size int) []contract.Splice {
	var splices []contract.Splice
	for at := 0; at <= size && len(splices) < 5 && rapid.Bool().Draw(t, "another"); {
		from := rapid.IntRange(at, size).Draw(t, "from")
		to := rapid.IntRange(from, size).Draw(t, "to")
		with := rapid.SliceOfN(rapid.Byte(), 0, 5).Draw(t, "with")
		splices = append(splices, contract.Splice{Offset: int64(from), Length: int64(to - from), New: with})
		at = to
	}
	return splices
}

func TestInverseUndoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := rapid.SliceOfN(rapid.Byte(), 0, 30).Draw(t, "data")
		splices := drawSplices(t, len(data))
		after := ApplySplices(data, splices)
		undo := inverse(data, splices)
		if back := ApplySplices(after, undo); !bytes.Equal(back, data) {
			t.Fatalf("%v turns %q into %q, its inverse %v that into %q", splices, data, after, undo, back)
		}
		if again := ApplySplices(data, inverse(after, undo)); !bytes.Equal(again, after) {
			t.Fatalf("the inverse of the inverse gives %q, want %q", again, after)
		}
	})
}

func TestJoinSplices(t *testing.T) {
	a := []contract.Splice{{Offset: 4, Length: 2, New: []byte("x")}}
	b := []contract.Splice{{Offset: 0, Length: 4}}
	if joined, ok := JoinSplices(a, nil, b); !ok || string(ApplySplices([]byte("abcdefg"), joined)) != "xg" {
		t.Errorf("touching splices: %v, %v", joined, ok)
	}
	b[0].Length = 5
	if _, ok := JoinSplices(a, b); ok {
		t.Error("overlapping splices were joined")
	}
}

func FuzzDecodeText(f *testing.F) {
	for _, seed := range []string{"a\r\nb", "\xef\xbb\xbfx", "\xff\xfea\x00\x3d\xd8\x00\xde", "\xc4\xe3\x81\x30\x81\x30", "\x93\xfa", "\x88\x62"} {
		for i := range named {
			f.Add([]byte(seed), uint8(i))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, which uint8) {
		encoding := named[int(which)%len(named)]
		text, err := DecodeText(data, encoding)
		if err != nil {
			wantCode(t, err, envelope.NotText)
			return
		}
		if !utf8.Valid(text.Bytes()) || bytes.IndexByte(text.Bytes(), 0) >= 0 {
			t.Fatalf("content %q", text.Bytes())
		}
		back, err := text.rewrite(text.String())
		if err != nil || !bytes.Equal(back, data) {
			t.Fatalf("%q in %s is written back as %q, %v", data, text.Encoding(), back, err)
		}
	})
}

func FuzzInverse(f *testing.F) {
	f.Add([]byte("some data"), []byte{1, 2, 'x', 1, 0, 'y'})
	f.Fuzz(func(t *testing.T, data, script []byte) {
		var splices []contract.Splice
		at := 0
		for ; len(script) >= 3; script = script[3:] {
			from := at + int(script[0])
			to := from + int(script[1])
			if to > len(data) {
				break
			}
			splices = append(splices, contract.Splice{Offset: int64(from), Length: int64(to - from), New: bytes.Repeat(script[2:3], int(script[2]%4))})
			at = to
		}
		after := ApplySplices(data, splices)
		if back := ApplySplices(after, inverse(data, splices)); !bytes.Equal(back, data) {
			t.Fatalf("%v: back to %q, want %q", splices, back, data)
		}
	})
}

// rewrite returns the bytes of a file with content in place of its own, in the same encoding and behind the same byte
// order mark: what splices must come to.
func (t *Text) rewrite(content string) ([]byte, error) {
	raw, err := encodeText(t.charset, content)
	if err != nil {
		return nil, err
	}
	if t.bom > 0 {
		raw = append(t.raw[:t.bom:t.bom], raw...)
	}
	return raw, checkHead(t.charset, t.bom, raw)
}
