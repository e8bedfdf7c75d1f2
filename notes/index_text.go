package notes

import (
	"bytes"
	"unicode/utf8"
)

// The columns of the database. The body comes first: of every other column the database must note with each word that
// the word stands there.
const (
	columnBody = iota
	columnTitle
	columnHeadings
	columnTags
	columnPath
	columnMatter
	columnCount
)

// segments are a note's tokens by column, each token followed by a space. The database cuts at the spaces.
type segments struct {
	tokens  tokenizer
	columns [columnCount][]byte
	words   vocabulary // the words that a repair may choose
}

// cut takes the note apart.
func (s *segments) cut(note *Note, text []byte) {
	for i := range s.columns {
		s.columns[i] = s.columns[i][:0]
	}
	block, body := splitFrontMatter(text)
	s.add(columnTitle, []byte(note.Title))
	for _, h := range note.Headings {
		s.add(columnHeadings, []byte(h.Text))
	}
	for _, list := range [][]string{note.Tags, note.Aliases} {
		for _, tag := range list {
			s.add(columnTags, []byte(tag))
		}
	}
	s.add(columnPath, []byte(pathText(note.Path)))
	s.add(columnMatter, block)
	s.add(columnBody, text[body:])
}

func (s *segments) add(column int, text []byte) {
	s.tokens.reset(text)
	out := s.columns[column]
	for s.tokens.next() {
		out = append(out, s.tokens.token...)
		out = append(out, ' ')
		if !s.tokens.paired {
			s.words.meet(s.tokens.token)
		}
	}
	s.columns[column] = out
}

// isVocabulary tells whether a token could be the neighbour of a word that is repaired.
func isVocabulary(token []byte) bool {
	if len(token) < 3 || len(token) > utf8.UTFMax*(maxWord+2) || bytes.ContainsFunc(token, isUnspaced) {
		return false
	}
	n := utf8.RuneCount(token)
	return n >= 3 && n <= maxWord+2
}
