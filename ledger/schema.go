package ledger

// The database says whose it is and how it is laid out. A layout that an older program could misread has a higher
// schemaVersion, and the older program refuses the database.
const (
	applicationID = 0x77726974 // "writ"
	schemaVersion = 1
)

// What came later than the rest is made by the first that looks for it.
const (
	servedTable     = "CREATE TABLE IF NOT EXISTS served(one INTEGER PRIMARY KEY CHECK(one = 1), roots TEXT NOT NULL) STRICT;"
	attributesTable = "CREATE TABLE IF NOT EXISTS attributes(change INTEGER PRIMARY KEY, packed BLOB NOT NULL) STRICT;"
)

// approvalTables came later than the rest too. approvals has a row for each change that a person was or is to be asked
// about; changes is JSON, times are microseconds since 1970, 0 where there is none. binding is what an approval is good
// for; see [Approval]. approval_key has one row, the key by which questions are known again that went through a client's
// hands.
const approvalTables = `
CREATE TABLE IF NOT EXISTS approvals(
	id         TEXT PRIMARY KEY,
	binding    TEXT NOT NULL,
	caller     TEXT NOT NULL,
	client     TEXT NOT NULL,
	tool       TEXT NOT NULL,
	request_id TEXT NOT NULL,
	changes    TEXT NOT NULL,
	diff       TEXT NOT NULL,
	state      TEXT NOT NULL,
	asked      INTEGER NOT NULL,
	expires    INTEGER NOT NULL,
	questions  INTEGER NOT NULL,
	decided    INTEGER NOT NULL,
	decider    TEXT NOT NULL,
	way        TEXT NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS approvals_by_caller ON approvals(caller, state);
CREATE TABLE IF NOT EXISTS approval_key(one INTEGER PRIMARY KEY CHECK(one = 1), key BLOB NOT NULL) STRICT;
`

// The layout.
//
// changes.id is the number behind a change's name; see [nameOf]. outcome is NULL while the change is open. total is the
// sum of undo bytes of this row and all before it, so that what the rows after any point hold is one subtraction.
// Either image names the file that holds the new bytes of the splices, or they follow the splices; see [packUndo].
// reverts names the change that this one undoes, once it is done; reverted tells whether a change has been undone. batch
// is the change, of kind batch, that stands for all changes of one call. That one is open for as long as an atomic batch
// is; that of a batch whose changes stand alone is done from the start.
//
// kept has one row: undo data of changes up to id through are dropped.
//
// served names the roots that the paths are in, once a process has said which; see [Options].
//
// attributes holds what deleted files were beside their bytes. They count as undo data and go with them.
//
// calls.line is the audit row, byte for byte as it is exported, and hash its SHA-256. head has one row, the last call's
// number and hash, so that rows missing at the end are noticed too.
const schema = servedTable + attributesTable + approvalTables + `
CREATE TABLE changes(
	id          INTEGER PRIMARY KEY,
	batch       INTEGER,
	process     INTEGER NOT NULL,
	began       INTEGER NOT NULL,
	request_id  TEXT NOT NULL,
	tool        TEXT NOT NULL,
	caller      TEXT NOT NULL,
	fingerprint TEXT NOT NULL,
	kind        TEXT NOT NULL,
	path        TEXT NOT NULL,
	destination TEXT NOT NULL,
	before      TEXT NOT NULL,
	after       TEXT NOT NULL,
	mode        INTEGER NOT NULL,
	directories BLOB,
	temp        TEXT NOT NULL,
	outcome     TEXT,
	reverts     INTEGER,
	reverted    INTEGER NOT NULL DEFAULT 0,
	total       INTEGER NOT NULL,
	image       TEXT,
	undo        BLOB
) STRICT;
CREATE INDEX changes_by_request ON changes(request_id);
CREATE INDEX changes_by_fingerprint ON changes(fingerprint);
CREATE INDEX changes_open ON changes(process) WHERE outcome IS NULL;
CREATE INDEX changes_by_image ON changes(image) WHERE image IS NOT NULL;
CREATE INDEX changes_by_batch ON changes(batch) WHERE batch IS NOT NULL;
CREATE INDEX changes_that_revert ON changes(reverts) WHERE reverts IS NOT NULL;
CREATE TABLE kept(one INTEGER PRIMARY KEY CHECK(one = 1), through INTEGER NOT NULL) STRICT;
INSERT INTO kept VALUES(1, 0);
CREATE TABLE calls(
	seq        INTEGER PRIMARY KEY,
	request_id TEXT NOT NULL,
	line       TEXT NOT NULL,
	hash       BLOB NOT NULL
) STRICT;
CREATE INDEX calls_by_request ON calls(request_id);
CREATE TABLE head(one INTEGER PRIMARY KEY CHECK(one = 1), seq INTEGER NOT NULL, hash BLOB NOT NULL) STRICT;
INSERT INTO head VALUES(1, 0, zeroblob(32));
`
