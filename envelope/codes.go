package envelope

// Status says what happened to a call.
type Status string

// The statuses, in the order of the contract.
const (
	OK              Status = "ok"               // a read was answered
	Succeeded       Status = "succeeded"        // the write is on disk, durable, and has been read back
	Partial         Status = "partial"          // some items of a batch are done
	Invalid         Status = "invalid"          // the arguments break the schema or contradict each other
	Denied          Status = "denied"           // the policy says no
	Conflict        Status = "conflict"         // the file is not in the state that the caller observed
	NoMatch         Status = "no-match"         // old_text does not occur
	MultipleMatches Status = "multiple-matches" // old_text occurs more than once
	NotFound        Status = "not-found"        // nothing there, in a place that the caller may read
	Unavailable     Status = "unavailable"      // busy, rate limited or timed out before any effect
	Failed          Status = "failed"           // it cannot work as asked
	Unknown         Status = "unknown"          // a write may or may not have happened
)

// Statuses lists every status.
var Statuses = []Status{OK, Succeeded, Partial, Invalid, Denied, Conflict, NoMatch, MultipleMatches, NotFound, Unavailable, Failed, Unknown}

// Changed answers the one question that an agent has after a write: is the disk different because of this call?
type Changed string

// The values of changed.
const (
	Yes          Changed = "yes"
	No           Changed = "no"
	MaybeChanged Changed = "unknown"
)

// Next is the caller's best next move.
type Next string

// The next moves.
const (
	NextNone     Next = "none"
	Reread       Next = "reread"
	FixArguments Next = "fix-arguments"
	AddContext   Next = "add-context"
	AskUser      Next = "ask-user"
	Wait         Next = "wait"
	CheckOutcome Next = "check-outcome"
	Stop         Next = "stop"
)

// Stage names the door that stopped a call.
type Stage string

// The doors that a call walks through.
const (
	StageDecode       Stage = "decode"
	StageSchema       Stage = "schema"
	StageLimits       Stage = "limits"
	StagePolicy       Stage = "policy"
	StagePrecondition Stage = "precondition"
	StageExecute      Stage = "execute"
	StageVerify       Stage = "verify"
	StageEnvelope     Stage = "envelope"
)

// Code says why a call was stopped. Each code belongs to one status.
type Code string

// The codes, by status.
const (
	Required           Code = "required"
	UnknownParameter   Code = "unknown-parameter"
	Type               Code = "type"
	Length             Code = "length"
	Range              Code = "range"
	ItemCount          Code = "item-count"
	DuplicateParameter Code = "duplicate-parameter"
	BadEncoding        Code = "bad-encoding"
	NoChange           Code = "no-change"
	BadPattern         Code = "bad-pattern"

	PathNotAllowed    Code = "path-not-allowed"
	OutsideRoot       Code = "outside-root"
	OutsideScope      Code = "outside-scope"
	OutsideWriteScope Code = "outside-write-scope"
	NotARegularFile   Code = "not-a-regular-file"
	ApprovalRequired  Code = "approval-required"
	ApprovalDeclined  Code = "approval-declined"
	ProtectedName     Code = "protected-name"
	PrivateNote       Code = "private-note"
	ProgramNotAllowed Code = "program-not-allowed"
	CallerNotAllowed  Code = "caller-not-allowed"
	RetryStopped      Code = "retry-stopped"
	ShowsSecret       Code = "shows-secret"

	VersionChanged   Code = "version-changed"
	AlreadyApplied   Code = "already-applied"
	AlreadyExists    Code = "already-exists"
	OverlappingEdits Code = "overlapping-edits"
	ChangedSince     Code = "changed-since"

	TextNotFound   Code = "no-match"
	TextNotUnique  Code = "multiple-matches"
	PathNotFound   Code = "not-found"
	UnknownChange  Code = "unknown-change"
	UnknownRequest Code = "unknown-request"
	NoArtifact     Code = "unknown-artifact"
	Expired        Code = "expired"

	Busy              Code = "busy"
	RateLimited       Code = "rate-limited"
	TimedOut          Code = "timed-out"
	ChangedDuringCall Code = "changed-during-call"

	NotText       Code = "not-text"
	NotEncodable  Code = "not-encodable"
	ReadOnlyFile  Code = "read-only-file"
	TooLarge      Code = "too-large"
	IsDirectory   Code = "is-directory"
	NotADirectory Code = "not-a-directory"
	NotEmpty      Code = "not-empty"
	LinkLoop      Code = "link-loop"
	Permission    Code = "permission"
	DiskFull      Code = "disk-full"
	IO            Code = "io"
	Internal      Code = "internal" // a fault of ours

	OutcomeUnknown Code = "outcome-unknown"
)

// class is what a code means on the wire: its status, the usual next move and the door that usually gives it.
type class struct {
	Status Status
	Next   Next
	Stage  Stage
}

var classes = map[Code]class{
	Required:           {Invalid, FixArguments, StageSchema},
	UnknownParameter:   {Invalid, FixArguments, StageSchema},
	Type:               {Invalid, FixArguments, StageSchema},
	Length:             {Invalid, FixArguments, StageSchema},
	Range:              {Invalid, FixArguments, StageSchema},
	ItemCount:          {Invalid, FixArguments, StageSchema},
	DuplicateParameter: {Invalid, FixArguments, StageDecode},
	BadEncoding:        {Invalid, FixArguments, StageDecode},
	NoChange:           {Invalid, FixArguments, StageSchema},
	BadPattern:         {Invalid, FixArguments, StageSchema},

	PathNotAllowed:    {Denied, FixArguments, StagePolicy},
	OutsideRoot:       {Denied, AskUser, StagePolicy},
	OutsideScope:      {Denied, AskUser, StagePolicy},
	OutsideWriteScope: {Denied, AskUser, StagePolicy},
	NotARegularFile:   {Denied, Stop, StagePolicy},
	ApprovalRequired:  {Denied, AskUser, StagePolicy},
	ApprovalDeclined:  {Denied, Stop, StagePolicy},
	ProtectedName:     {Denied, AskUser, StagePolicy},
	PrivateNote:       {Denied, AskUser, StagePolicy},
	ProgramNotAllowed: {Denied, AskUser, StagePolicy},
	CallerNotAllowed:  {Denied, AskUser, StagePolicy},
	RetryStopped:      {Denied, Stop, StageLimits},
	ShowsSecret:       {Denied, AskUser, StagePrecondition},

	VersionChanged:   {Conflict, Reread, StagePrecondition},
	AlreadyApplied:   {Conflict, NextNone, StagePrecondition},
	AlreadyExists:    {Conflict, Reread, StagePrecondition},
	OverlappingEdits: {Conflict, FixArguments, StagePrecondition},
	ChangedSince:     {Conflict, Reread, StagePrecondition},

	TextNotFound:   {NoMatch, Reread, StagePrecondition},
	TextNotUnique:  {MultipleMatches, AddContext, StagePrecondition},
	PathNotFound:   {NotFound, FixArguments, StageExecute},
	UnknownChange:  {NotFound, FixArguments, StageExecute},
	UnknownRequest: {NotFound, FixArguments, StageExecute},
	NoArtifact:     {NotFound, FixArguments, StageExecute},
	Expired:        {NotFound, FixArguments, StageExecute},

	Busy:              {Unavailable, Wait, StageLimits},
	RateLimited:       {Unavailable, Wait, StageLimits},
	TimedOut:          {Unavailable, Wait, StageExecute},
	ChangedDuringCall: {Unavailable, Wait, StageExecute},

	NotText:       {Failed, AskUser, StageExecute},
	NotEncodable:  {Failed, FixArguments, StageExecute},
	ReadOnlyFile:  {Failed, AskUser, StageExecute},
	TooLarge:      {Failed, FixArguments, StageExecute},
	IsDirectory:   {Failed, FixArguments, StageExecute},
	NotADirectory: {Failed, FixArguments, StageExecute},
	NotEmpty:      {Failed, FixArguments, StageExecute},
	LinkLoop:      {Failed, FixArguments, StageExecute},
	Permission:    {Failed, AskUser, StageExecute},
	DiskFull:      {Failed, AskUser, StageExecute},
	IO:            {Failed, AskUser, StageExecute},
	Internal:      {Failed, AskUser, StageExecute},

	OutcomeUnknown: {Unknown, CheckOutcome, StageVerify},
}

// Status returns the status that the code belongs to, or "" for a code that is not in the contract.
func (c Code) Status() Status { return classes[c].Status }

// WarningCode names a kind of warning.
type WarningCode string

// The warnings.
const (
	Cut              WarningCode = "cut"                // the answer ends before its end; truncated tells how to go on
	HiddenCharacters WarningCode = "hidden-characters"  // bidi controls, zero-width or tag characters in the text
	Redacted         WarningCode = "redacted"           // secrets were replaced on their way out
	MixedLineEndings WarningCode = "mixed-line-endings" // the file has both LF and CRLF
	HardLinkBroken   WarningCode = "hard-link-broken"   // the file's other names keep the old content
	WeakGuarantee    WarningCode = "weak-guarantee"     // the file system offers no exchange, or a new file could not get all that the old one had
	IndexBuilding    WarningCode = "index-building"     // the notes index is not complete yet
	QueryRepaired    WarningCode = "query-repaired"     // a word that occurs nowhere was read as its nearest neighbour
	Skipped          WarningCode = "skipped"            // files that could not be searched or listed, counted by reason
	PastEnd          WarningCode = "past-end"           // the offset lies behind the last line
	ApprovalNeeded   WarningCode = "approval-needed"    // the write that was previewed will wait for a person's approval
	NotRecorded      WarningCode = "not-recorded"       // the write could not be added to the audit
	QueryUnread      WarningCode = "query-unread"       // a query, or signs in it, that ask for nothing here
)
