package workspace

import (
	"encoding/binary"
	"regexp/syntax"
	"slices"
	"unicode"
	"unicode/utf8"
)

// An automaton tells quickly in which lines an expression can match. It carries out the program that regexp carries out
// too, on all lines in one pass, and remembers each step: after a while a character costs two look-ups in tables,
// where regexp keeps lists. It does not tell where in a line the match is, and takes a CR for the end of a line as well
// as for a character; so regexp has the last word on each line, and the automaton may only pass over lines without a
// match. That way the two can't disagree about what is found.

// automaton is what all machines for one expression share.
type automaton struct {
	prog    *syntax.Prog
	classes []runeClass
	table   []uint8 // the class of each rune below len(table)
	from    []rune  // where the intervals begin that have one class
	of      []uint8 // the class of each interval
	newline int     // class of the LF
	cr      int     // class of the CR
}

// runeClass are runes that no instruction tells apart.
type runeClass struct {
	example rune
	word    bool
}

const (
	maxInstructions = 4096
	maxClasses      = 128
	// maxComparisons bounds the work of finding the classes: instructions times intervals.
	maxComparisons = 1 << 18
	// basicPlane is how many runes have a place in the table.
	basicPlane = 1 << 16
)

// newAutomaton returns nil for an expression that is too large to be worth it.
func newAutomaton(tree *syntax.Regexp) *automaton {
	prog, err := syntax.Compile(tree)
	if err != nil || len(prog.Inst) > maxInstructions {
		return nil
	}
	a := &automaton{prog: prog}
	if !a.classify() {
		return nil
	}
	a.newline, a.cr = a.class('\n'), a.class('\r')
	return a
}

// classify divides all runes into classes.
func (a *automaton) classify() bool {
	tests := a.tests()
	a.from = borders(tests)
	if len(tests)*len(a.from) > maxComparisons {
		return false
	}
	known := map[string]uint8{}
	for _, r := range a.from {
		key := signature(tests, r)
		class, ok := known[key]
		if !ok {
			if len(a.classes) == maxClasses {
				return false
			}
			class = uint8(len(a.classes))
			known[key] = class
			a.classes = append(a.classes, runeClass{example: r, word: syntax.IsWordChar(r)})
		}
		a.of = append(a.of, class)
	}
	a.fillTable()
	return true
}

// fillTable makes the table as large as it needs to be to tell more than the last interval does.
func (a *automaton) fillTable() {
	a.table = make([]uint8, min(basicPlane, max(utf8.RuneSelf, int(a.from[len(a.from)-1]))))
	for i, from := range a.from {
		to := len(a.table)
		if i+1 < len(a.from) {
			to = min(to, int(a.from[i+1]))
		}
		for r := int(from); r < to; r++ {
			a.table[r] = a.of[i]
		}
	}
}

// tests returns the instructions that look at a rune, each kind once.
func (a *automaton) tests() []*syntax.Inst {
	var tests []*syntax.Inst
	known := map[string]bool{}
	for i := range a.prog.Inst {
		inst := &a.prog.Inst[i]
		switch inst.Op {
		case syntax.InstRune, syntax.InstRune1:
			key := string(inst.Rune) + string(rune(inst.Arg))
			if !known[key] {
				known[key] = true
				tests = append(tests, inst)
			}
		}
	}
	return tests
}

// borders returns the runes from which on a test may answer otherwise than before.
func borders(tests []*syntax.Inst) []rune {
	all := []rune{0, '\n', '\n' + 1, '\r', '\r' + 1, '0', '9' + 1, 'A', 'Z' + 1, '_', '_' + 1, 'a', 'z' + 1}
	for _, inst := range tests {
		if len(inst.Rune) == 1 {
			all = append(all, inst.Rune[0], inst.Rune[0]+1)
			if syntax.Flags(inst.Arg)&syntax.FoldCase != 0 {
				all = appendFolds(all, inst.Rune[0])
			}
			continue
		}
		for i := 0; i+1 < len(inst.Rune); i += 2 {
			all = append(all, inst.Rune[i], inst.Rune[i+1]+1)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// appendFolds appends the borders around the other cases of r.
func appendFolds(borders []rune, r rune) []rune {
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		borders = append(borders, f, f+1)
	}
	return borders
}

// signature has a bit for each test that r passes, and for what else tells runes apart.
func signature(tests []*syntax.Inst, r rune) string {
	bits := make([]byte, 1, 1+len(tests)/8+1)
	switch {
	case r == '\n':
		bits[0] = 1
	case r == '\r':
		bits[0] = 2
	case syntax.IsWordChar(r):
		bits[0] = 3
	}
	for i, inst := range tests {
		if i%8 == 0 {
			bits = append(bits, 0)
		}
		if inst.MatchRune(r) {
			bits[len(bits)-1] |= 1 << (i % 8)
		}
	}
	return string(bits)
}

func (a *automaton) class(r rune) int {
	if int(r) < len(a.table) {
		return int(a.table[r])
	}
	i, found := slices.BinarySearch(a.from, r)
	if !found {
		i--
	}
	return int(a.of[i])
}

// machine runs an automaton. It belongs to one goroutine.
type machine struct {
	*automaton
	stride int
	steps  []int32 // by state and class, the state after it
	states []machineState
	known  map[string]int32 // states by what they are
	size   int              // instructions in all states
	resets int              // how often the states were thrown away
	// Scratch.
	stack, after []uint32
	mark         []uint32 // by instruction, the round in which it was met
	round        uint32
	key          []byte
}

// machineState is a place in the text: what has been met by then, and what was before it.
type machineState struct {
	insts []uint32 // where the program goes on, sorted
	prev  before
}

// before is what kind of rune stands before a place.
type before byte

const (
	nothing   before = iota // the line starts here
	wordRune                // a letter of a word
	otherRune               // another rune
)

// States are told by where their steps begin, so that a step is one addition. Two are none.
const (
	unknownState int32 = -iota // the step was not made yet: what a new table holds
	matchState                 // the line can match
)

const (
	maxStates    = 4096
	maxStateSize = 1 << 18
	// maxResets is after how many times that the states were thrown away it does not pay any more.
	maxResets = 64
)

func newMachine(a *automaton) *machine {
	if a == nil {
		return nil
	}
	m := &machine{automaton: a, stride: len(a.classes), mark: make([]uint32, len(a.prog.Inst))}
	m.clear()
	return m
}

func (m *machine) clear() {
	m.known, m.states, m.steps, m.size = map[string]int32{}, nil, nil, 0
	// The first state is that of the start of a line, and state 0 can't be told from an unknown step.
	m.addState(nil, otherRune)
	m.addState([]uint32{uint32(m.prog.Start)}, nothing)
}

// lineStart is the state at the start of each line.
func (m *machine) lineStart() int32 { return int32(m.stride) }

// next returns a place in the first line from from on that can match, its LF included, and -1 where there is none. from
// is the start of a line.
func (m *machine) next(text []byte, from int) int {
	if m.resets > maxResets {
		return from
	}
	state, table, steps := m.lineStart(), m.table[:utf8.RuneSelf], m.steps
	for i := from; i < len(text); {
		var class int
		width := 1
		if c := text[i]; c < utf8.RuneSelf {
			class = int(table[c])
		} else {
			var r rune
			r, width = utf8.DecodeRune(text[i:])
			class = m.class(r)
		}
		to := steps[int(state)+class]
		if to <= unknownState {
			if to == unknownState {
				to = m.step(state, class)
				steps = m.steps
			}
			if to == matchState {
				return i
			}
		}
		state = to
		i += width
	}
	if from < len(text) && text[len(text)-1] != '\n' && m.step(state, m.newline) == matchState {
		return len(text) - 1
	}
	return -1
}

// matches tells whether the line can match.
func (m *machine) matches(line []byte) bool {
	if len(line) == 0 {
		return true
	}
	return m.next(line, 0) >= 0
}

// step makes the step from a state over a rune of the class and remembers it.
func (m *machine) step(from int32, class int) int32 {
	resets := m.resets
	to := m.make(m.states[int(from)/m.stride], class)
	if m.resets == resets {
		m.steps[int(from)+class] = to
	}
	return to
}

// make returns the state after a rune of the class.
func (m *machine) make(s machineState, class int) int32 {
	if class == m.newline || class == m.cr {
		if m.run(s, emptyOps(s.prev, otherRune)|syntax.EmptyEndLine|syntax.EmptyEndText, -1) {
			return matchState
		}
		if class == m.newline {
			return m.lineStart()
		}
	}
	now := otherRune
	if m.classes[class].word {
		now = wordRune
	}
	if m.run(s, emptyOps(s.prev, now), m.classes[class].example) {
		return matchState
	}
	m.after = append(m.after, uint32(m.prog.Start)) // a match may start at each place
	slices.Sort(m.after)
	return m.addState(slices.Compact(m.after), now)
}

// emptyOps returns what holds between two runes.
func emptyOps(prev, now before) syntax.EmptyOp {
	var ops syntax.EmptyOp
	if prev == nothing {
		ops = syntax.EmptyBeginLine | syntax.EmptyBeginText
	}
	if (prev == wordRune) != (now == wordRune) {
		return ops | syntax.EmptyWordBoundary
	}
	return ops | syntax.EmptyNoWordBoundary
}

// run carries out the program from each instruction of s to the next rune, and tells whether it has matched before it.
// after then holds where the program goes on behind the rune r; -1 is none.
func (m *machine) run(s machineState, ops syntax.EmptyOp, r rune) (matched bool) {
	m.after = m.after[:0]
	m.stack = append(m.stack[:0], s.insts...)
	m.round++
	for len(m.stack) > 0 {
		pc := m.stack[len(m.stack)-1]
		m.stack = m.stack[:len(m.stack)-1]
		if m.mark[pc] == m.round {
			continue
		}
		m.mark[pc] = m.round
		inst := &m.prog.Inst[pc]
		switch inst.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			m.stack = append(m.stack, inst.Out, inst.Arg)
		case syntax.InstCapture, syntax.InstNop:
			m.stack = append(m.stack, inst.Out)
		case syntax.InstEmptyWidth:
			if syntax.EmptyOp(inst.Arg)&^ops == 0 {
				m.stack = append(m.stack, inst.Out)
			}
		case syntax.InstMatch:
			return true
		case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
			if r >= 0 && matchesRune(inst, r) {
				m.after = append(m.after, inst.Out)
			}
		}
	}
	return false
}

func matchesRune(inst *syntax.Inst, r rune) bool {
	return inst.Op == syntax.InstRuneAny || inst.Op == syntax.InstRuneAnyNotNL || inst.MatchRune(r)
}

// addState returns the state of that kind, a new one if there is none yet.
func (m *machine) addState(insts []uint32, prev before) int32 {
	m.key = append(m.key[:0], byte(prev))
	for _, pc := range insts {
		m.key = binary.LittleEndian.AppendUint32(m.key, pc)
	}
	if id, ok := m.known[string(m.key)]; ok {
		return id
	}
	if len(m.states) >= maxStates || m.size >= maxStateSize {
		m.resets++
		insts = slices.Clone(insts)
		m.clear()
		return m.addState(insts, prev)
	}
	id := int32(len(m.states) * m.stride)
	m.states = append(m.states, machineState{insts: slices.Clone(insts), prev: prev})
	m.steps = append(m.steps, make([]int32, m.stride)...)
	m.known[string(m.key)] = id
	m.size += len(insts)
	return id
}
