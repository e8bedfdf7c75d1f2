package tools

import (
	"strings"
	"testing"

	"writ/envelope"
)

func TestRestOfAPage(t *testing.T) {
	for _, c := range []struct {
		name            string
		page            page
		returned, total int
		next            int // -1: nothing is left
		says            string
	}{
		{"all is here", page{limit: 10}, 3, 3, -1, ""},
		{"the last page", page{offset: 10, limit: 10}, 2, 12, -1, ""},
		{"behind the end", page{offset: 20, limit: 10}, 0, 12, -1, "there are 12 matches"},
		{"nothing at all", page{limit: 10}, 0, 0, -1, ""},
		{"more to come", page{offset: 10, limit: 10}, 10, 30, 20, "offset 20"},
		{"further than an offset reaches", page{offset: 95, limit: 10, last: 100}, 10, 300, 0, "smaller part"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var n envelope.Notes
			got := c.page.rest(&n, c.returned, c.total, "matches")
			if c.next < 0 {
				if told := len(n.Warnings) > 0; got != nil || told != (c.says != "") || told && !strings.Contains(n.Warnings[0].Message, c.says) {
					t.Errorf("got %+v and %v", got, n.Warnings)
				}
				return
			}
			if got == nil || got.NextOffset != c.next || len(n.Warnings) != 1 || !strings.Contains(n.Warnings[0].Message, c.says) {
				t.Errorf("got %+v and %v", got, n.Warnings)
			}
		})
	}
}
