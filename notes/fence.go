package notes

import "bytes"

// FrontMatter returns the lines between the fences of a note's front matter, and the number of the first of them,
// counted from 1; 0 where there is no front matter.
func FrontMatter(text []byte) (block []byte, line int) {
	block, body := splitFrontMatter(text)
	if body == 0 {
		return nil, 0
	}
	return block, bytes.Count(text[:openingFence(text)], []byte("\n")) + 1
}
