package gate

// Most text holds no secret, and most rules begin with a word that it lacks. So all words of all rules are looked for at
// once, by one automaton after Aho and Corasick: a table that says for each state and each byte which state comes next.

// automaton finds words in text, upper and lower case alike.
type automaton struct {
	class [256]uint8 // of a byte, so that the table has one column for each that matters; 0: in no word
	next  []uint16   // by state and class; the state with hit where a word ends in it
	ends  [][]int    // by state: the words that end in it
	words []string
}

const (
	columns = 64
	hit     = 1 << 15
)

// newAutomaton returns the automaton of words in lower case.
func newAutomaton(words []string) *automaton {
	a := &automaton{words: words}
	a.classify()
	a.grow()
	a.join()
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
				a.next[at] = uint16(a.addState())
			}
			state = int(a.next[at])
		}
		a.ends[state] = append(a.ends[state], number)
	}
	if len(a.ends) >= hit {
		panic("gate: the secret rules have too many words")
	}
}

func (a *automaton) addState() int {
	a.next = append(a.next, make([]uint16, columns)...)
	a.ends = append(a.ends, nil)
	return len(a.ends) - 1
}

// join gives each state its way on where the tree has none: that of the longest end of it which is itself in the tree.
func (a *automaton) join() {
	fallback := make([]uint16, len(a.ends))
	queue := []uint16{0}
	for len(queue) > 0 {
		state := queue[0]
		queue = queue[1:]
		for c := 1; c < columns; c++ {
			at := int(state)*columns + c
			beside := uint16(0)
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
	for i, state := range a.next {
		if len(a.ends[state]) > 0 {
			a.next[i] = state | hit
		}
	}
}

// each calls found for each place where a word starts, by the order of their ends.
func (a *automaton) each(text []byte, found func(start, word int)) {
	state := uint16(0)
	for i, c := range text {
		state = a.next[int(state&^hit)*columns+int(a.class[c])]
		if state&hit != 0 {
			for _, word := range a.ends[state&^hit] {
				found(i+1-len(a.words[word]), word)
			}
		}
	}
}
