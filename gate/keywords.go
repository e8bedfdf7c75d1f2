package gate

import "slices"

// Most text holds no secret, and most rules begin with a word that it lacks. So all words of all rules are looked for at
// once, by one automaton after Aho and Corasick: a table that says for each state and each byte which state comes next.

// automaton finds words in text, upper and lower case alike.
type automaton struct {
	class [256]uint8 // of a byte, so that the table has one column for each that matters; 0: in no word
	next  []uint32   // by state and class; a state is named by where its row starts
	hits  uint32     // the first state in which words end; they do in all that follow
	ends  [][]int    // by number of the state: the words that end in it
	words []string
}

const columns = 64

// newAutomaton returns the automaton of words in lower case.
func newAutomaton(words []string) *automaton {
	a := &automaton{words: words}
	a.classify()
	a.grow()
	a.sort(a.join())
	return a
}

func (a *automaton) classify() {
	n := uint8(0)
	for _, word := range a.words {
		for i := range len(word) {
			c := word[i]
			if a.class[c] != 0 {
				continue
			}
			n++
			a.class[c] = n
			if 'a' <= c && c <= 'z' {
				a.class[c-'a'+'A'] = n
			}
		}
	}
	if n >= columns {
		panic("gate: the words of the secret rules have too many different characters")
	}
}

// grow makes the tree of the words.
func (a *automaton) grow() {
	a.addState()
	for number, word := range a.words {
		state := 0
		for i := range len(word) {
			at := state*columns + int(a.class[word[i]])
			if a.next[at] == 0 {
				a.next[at] = uint32(a.addState())
			}
			state = int(a.next[at])
		}
		a.ends[state] = append(a.ends[state], number)
	}
}

func (a *automaton) addState() int {
	a.next = append(a.next, make([]uint32, columns)...)
	a.ends = append(a.ends, nil)
	return len(a.ends) - 1
}

// join gives each state its way on where the tree has none: that of the longest end of it which is itself in the tree. It
// returns the states by their depth.
func (a *automaton) join() []uint32 {
	fallback := make([]uint32, len(a.ends))
	queue := []uint32{0}
	for i := 0; i < len(queue); i++ {
		state := queue[i]
		for c := 1; c < columns; c++ {
			at := int(state)*columns + c
			beside := uint32(0)
			if state != 0 {
				beside = a.next[int(fallback[state])*columns+c]
			}
			if child := a.next[at]; child != 0 {
				fallback[child] = beside
				a.ends[child] = append(a.ends[child], a.ends[beside]...)
				queue = append(queue, child)
			} else {
				a.next[at] = beside
			}
		}
	}
	return queue
}

// sort puts the states in which words end behind the others, so that one comparison tells them apart, and else leaves
// them by their depth: those near the root are met most, and lie together. It names each by its row, so that none has to
// be multiplied on the way.
func (a *automaton) sort(order []uint32) {
	slices.SortStableFunc(order, func(x, y uint32) int { return min(len(a.ends[x]), 1) - min(len(a.ends[y]), 1) })
	first := slices.IndexFunc(order, func(state uint32) bool { return len(a.ends[state]) > 0 })
	a.hits = uint32(first * columns)
	row := make([]uint32, len(order))
	for i, state := range order {
		row[state] = uint32(i * columns)
	}
	next, ends := make([]uint32, 0, len(a.next)), make([][]int, len(order))
	for i, state := range order {
		ends[i] = a.ends[state]
		for _, to := range a.next[state*columns : (state+1)*columns] {
			next = append(next, row[to])
		}
	}
	a.next, a.ends = next, ends
}

// each calls found for each place where a word starts, by the order of their ends.
func (a *automaton) each(text []byte, found func(start, word int)) {
	state, next, class, hits := uint32(0), a.next, &a.class, a.hits
	for i, c := range text {
		state = next[state+uint32(class[c])]
		if state >= hits {
			for _, word := range a.ends[state/columns] {
				found(i+1-len(a.words[word]), word)
			}
		}
	}
}
