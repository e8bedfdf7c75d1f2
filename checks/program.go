package checks

import (
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// mostProblems bounds what is taken from a program's output.
const mostProblems = 100

// The ways in which programs name a place, %s being the file:
//
//	file:3:7: message       file:3: message      compilers and linters; shells put a blank before the number
//	file(3,7): message                           tsc
//	File "file", line 3                          Python; what it means comes later
//	file:3                                       Node; what it means comes later
const placeForms = `^\s*(?:File ")?%s(?:", line |[:(]\s?)(\d+)(?:[:,](\d+))?\)?(?:(?::\s*|\s+)(.*))?$`

var namesError = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\w*(?:Error|Exception)\b.`) })

// Said reads what a program that found something wrong wrote about the file of that path: the problems with their lines,
// or one without where it names no line. Messages hold the file's base name in the place of its path.
func Said(file, output string) []Problem {
	base := filepath.Base(file)
	form := strings.Replace(placeForms, "%s", "(?:"+regexp.QuoteMeta(file)+"|"+regexp.QuoteMeta(base)+")", 1)
	place, err := regexp.Compile(form)
	if err != nil { // a name that is no UTF-8
		return []Problem{{Message: whole(output)}}
	}
	var found []Problem
	lines := strings.Split(output, "\n")
	for i, line := range lines {
		m := place.FindStringSubmatch(strings.TrimRight(line, "\r"))
		if m == nil || len(found) == mostProblems {
			continue
		}
		p := Problem{Message: strings.TrimSpace(m[3])}
		if p.Line, err = strconv.Atoi(m[1]); err != nil {
			continue
		}
		if m[2] != "" {
			p.Column, _ = strconv.Atoi(m[2]) // 0 where it is none
		}
		if p.Message == "" {
			p.Message = meaning(lines[i+1:])
		}
		found = append(found, p)
	}
	if len(found) == 0 {
		found = []Problem{{Message: whole(output)}}
	}
	for i := range found {
		found[i].Message = strings.ReplaceAll(found[i].Message, file, base)
	}
	return found
}

// meaning returns the line that tells what is wrong at a place that was named before.
func meaning(lines []string) string {
	last := ""
	for _, line := range lines {
		if namesError().MatchString(line) {
			return strings.TrimSpace(line)
		}
		if text := strings.TrimSpace(line); text != "" {
			last = text
		}
	}
	return last
}

// whole is all that was said, for want of something better.
func whole(output string) string {
	if text := strings.TrimSpace(output); text != "" {
		return text
	}
	return "The check failed and said nothing."
}
