package notes

import "bytes"

// Spot is a stretch of a text in bytes, from Start up to End.
type Spot struct{ Start, End int }

// Spots returns where words of the query stand in a text, for showing them to people.
func (q *Query) Spots(text string) []Spot {
	table := newAtomTable(q.atoms)
	t := tokenizer{text: []byte(text)}
	var spots []Spot
	for t.next() {
		_, found := table.find(t.token)
		for _, i := range table.prefixes {
			found = found || bytes.HasPrefix(t.token, []byte(q.atoms[i].text))
		}
		switch last := len(spots) - 1; {
		case !found:
		case last >= 0 && t.start <= spots[last].End:
			spots[last].End = max(spots[last].End, t.end)
		default:
			spots = append(spots, Spot{t.start, t.end})
		}
	}
	return spots
}
