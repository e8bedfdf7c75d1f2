package tools

import (
	"context"
	"time"

	"writ/contract"
	"writ/envelope"
)

var getOutcome = reads(contract.Contract{
	Name:  "get_outcome",
	Title: "What became of an earlier call",
	Doc: "Tell what became of an earlier call by its request_id: its status and the changes that it made. It turns unknown into knowledge, " +
		"also after a crash or a lost connection.",
	Codes: []envelope.Code{envelope.UnknownRequest},
}, runGetOutcome)

type getOutcomeIn struct {
	RequestID string `json:"request_id" min:"1" max:"64" doc:"request_id of the earlier answer"`
}

type getOutcomeOut struct {
	envelope.Notes
	Tool    string          `json:"tool"`
	Time    time.Time       `json:"time"`
	Outcome envelope.Status `json:"outcome" doc:"the status of that call, as far as it is known now"`
	Code    envelope.Code   `json:"code,omitempty"`
	Changes []listedChange  `json:"changes"`
}

func runGetOutcome(ctx context.Context, r Reader, in getOutcomeIn) (getOutcomeOut, error) {
	record, err := r.Log.Outcome(ctx, in.RequestID)
	if err != nil {
		return getOutcomeOut{}, err
	}
	out := getOutcomeOut{Tool: record.Tool, Time: record.Time.UTC().Truncate(time.Second), Outcome: record.Status, Code: record.Code, Changes: []listedChange{}}
	for _, c := range record.Changes {
		out.Changes = append(out.Changes, listed(c))
	}
	return out, nil
}
