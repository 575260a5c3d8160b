// Code generated from src/ffi by tests/header. DO NOT EDIT.

package aside

// AnswerOptions are the options of an answer. The zero value has the defaults.
type AnswerOptions struct {
	// The span that is open at the first byte.
	Start Start
	// The treatment of a closer of the thinking without an opener, after content.
	StrayClose StrayClose
	// The treatment of a tool call that begins inside the thinking.
	CallsInThinking CallsInThinking
	// The reading of a tag that is not the dialect's own at the beginning of the text.
	LeadingTags LeadingTags
	// Whether the thinking is reported.
	Thinking Thinking
	// The part of a call that is reported before the call is whole. At most MaxHeld bytes of it are held.
	NotWhole NotWhole
	// The treatment of a call of a tool that is not in Tools.
	UnknownTool UnknownTool
	// Whether the end of a text that has ended by itself (EndReasonEnded) may end a call.
	ImpliedEnd ImpliedEnd
	// The request's Tools: a JSON array of objects with name and parameters, which may also be inside function, or with
	// name and input_schema, as in Anthropic's Messages. Their schemas have the types of the arguments. []: all calls
	// are content, which is right for a request without tools. Not set: every call is reported, and the types of its
	// arguments are not known.
	Tools []byte
	// The name of a tool. The text, without its thinking, is read as the arguments of a call of this tool: if a request
	// names a tool (tool_choice), a grammar makes the model write the arguments without markers. Not set: the text is
	// read as usual.
	StartCall string
	// The beginning of the id that is made for a call without one; index of the call follows it. UTF-8. Ids are unique
	// in a conversation only if each answer has a different beginning. Not set: call_.
	IDPrefix string
	// The maximum number of bytes of Tools that are read; a longer list is an error. Reading a list may need about 40
	// times its length in memory. 0: 4 MiB.
	MaxTools uint64
	// The maximum number of bytes of text that are held until it is clear whether they are a call, and of a value that
	// are held until its type is clear, at most 4 MiB of text. 0: 1 MiB.
	MaxHeld uint64
	// The maximum number of calls that are reported, such as 1 for "parallel_tool_calls": false; later calls are
	// content. 0: 1,024, the maximum.
	MaxCalls uint64
	// The limit of the thinking, beyond which PartKindBudget is reported. 0: there is no limit.
	Budget uint64
	// The unit of the budget.
	BudgetUnit BudgetUnit
	// The scope of the budget.
	BudgetScope BudgetScope
	// If true, mend arguments that have only one possible meaning; such a call counts as repaired. In JSON, a backslash
	// that does not begin an escape is escaped. If the schema asks for an array or an object and not for a string, a
	// string that contains it as JSON is decoded, and a Python literal between markers becomes JSON. If false, leave the
	// arguments unchanged.
	RepairArguments bool
	// If true, report the thinking as content if the text ends by itself and has neither content nor a call. At most
	// 16 MiB of thinking are kept for this. If false, such a text has no content.
	PromoteEmpty bool
	// If true, leave guessed thinking unchanged. If false, report thinking as content too, if the dialect only guessed
	// that the text starts in the thinking, and the text ends by itself in the thinking, without a marker that confirms
	// the guess.
	KeepGuessed bool
	// If true, report PartKindMoved if reported text belongs to the other channel, for a host that builds a whole
	// message. If false, content that turns out to be thinking stays content, and thinking that turns out to be the
	// answer is reported again as content.
	MayTakeBack bool
	// If true, leave calls in the content, as the model wrote them, for a host that passes the content to another
	// parser; Tools, StartCall, IDPrefix and the policies for calls then have no effect. If false, report calls.
	InlineCalls bool
}

// RewriterOptions are the options of a rewriter. The zero value has the defaults.
type RewriterOptions struct {
	// The span that is open at the first byte.
	Start Start
	// The treatment of a closer of the thinking without an opener, after content.
	StrayClose StrayClose
	// The treatment of a tool call that begins inside the thinking.
	CallsInThinking CallsInThinking
	// The reading of a tag that is not the dialect's own at the beginning of the text.
	LeadingTags LeadingTags
	// Whether the thinking is reported.
	Thinking Thinking
	// The part of a call that is reported before the call is whole. At most MaxHeld bytes of it are held.
	NotWhole NotWhole
	// The treatment of a call of a tool that is not in Tools.
	UnknownTool UnknownTool
	// Whether the end of a text that has ended by itself (EndReasonEnded) may end a call.
	ImpliedEnd ImpliedEnd
	// The request's Tools: a JSON array of objects with name and parameters, which may also be inside function, or with
	// name and input_schema, as in Anthropic's Messages. Their schemas have the types of the arguments. []: all calls
	// are content, which is right for a request without tools. Not set: every call is reported, and the types of its
	// arguments are not known.
	Tools []byte
	// The name of a tool. The text, without its thinking, is read as the arguments of a call of this tool: if a request
	// names a tool (tool_choice), a grammar makes the model write the arguments without markers. Not set: the text is
	// read as usual.
	StartCall string
	// The maximum number of bytes of Tools that are read; a longer list is an error. Reading a list may need about 40
	// times its length in memory. 0: 4 MiB.
	MaxTools uint64
	// The maximum number of bytes of text that are held until it is clear whether they are a call, and of a value that
	// are held until its type is clear, at most 4 MiB of text. 0: 1 MiB.
	MaxHeld uint64
	// The maximum number of calls that are reported, such as 1 for "parallel_tool_calls": false; later calls are
	// content. 0: 1,024, the maximum.
	MaxCalls uint64
	// If true, mend arguments that have only one possible meaning; such a call counts as repaired. In JSON, a backslash
	// that does not begin an escape is escaped. If the schema asks for an array or an object and not for a string, a
	// string that contains it as JSON is decoded, and a Python literal between markers becomes JSON. If false, leave the
	// arguments unchanged.
	RepairArguments bool
	// If true, report the thinking as content if the text ends by itself and has neither content nor a call. At most
	// 16 MiB of thinking are kept for this. If false, such a text has no content.
	PromoteEmpty bool
	// If true, leave guessed thinking unchanged. If false, report thinking as content too, if the dialect only guessed
	// that the text starts in the thinking, and the text ends by itself in the thinking, without a marker that confirms
	// the guess.
	KeepGuessed bool
	// The name of the field for the thinking.
	Field Field
	// The kind of body that is fed.
	Body Body
	// If true, nothing is split, and the output equals the input. If false, the text is split.
	Off bool
	// If true, make tool_calls from the calls that the model writes as text, if the dialect says how they are written,
	// and change the finish_reason from stop to tool_calls. After the first call that the server itself makes in a
	// choice, calls in the text of that choice stay in the text. A body, and Ollama's format, have whole calls only. If
	// false, calls stay in the text.
	Calls bool
	// The length of the longest event or JSON body that is read, in bytes; a longer one is forwarded unchanged. 0:
	// 16 MiB.
	MaxEvent uint64
	// The formats of the answers that are read; an answer of a different format is forwarded unchanged. Not set: all
	// formats.
	Formats Formats
	// The form of the thinking in the items of OpenAI Responses.
	ResponsesAs ResponsesAs
	// If true, mend faults in a stream of events that make clients fail or lose text: empty data: lines, comments inside
	// an event, an object over several lines, chunks without choices, and more. If false, leave the faults unchanged.
	Repair bool
	// If true, in chat completions, completions and Ollama's lines, send one chunk for each chunk of the server, the
	// thinking before the content, for clients that count chunks, even if Repair or Normalise would make two chunks. If
	// false, each chunk has text for one field.
	Merge bool
	// The differences between servers' answers that are removed. Not set: none.
	Normalise Shapes
	// If true, label the thinking blocks of Messages and the reasoning items of Responses that the rewriter makes, so
	// that they can be removed from a history. If false, their signatures are empty, and their ids begin with rs_.
	Label bool
	// The treatment of comments in a stream of events, for clients that fail on them.
	Comments Comments
}

// Stats has the counts of a rewriter since it was made, or since the last Reset.
type Stats struct {
	// Events that have data, lines of JSON, and bodies that were read whole.
	Events uint64
	// The number of Events that were sent changed, or with chunks before them.
	Changed uint64
	// Chunks and events that were written in addition to the server's.
	Added uint64
	// Faults of the stream that the option Repair has mended.
	Repaired uint64
	// Events and bodies that were forwarded unread because they were longer than the option MaxEvent.
	TooLong uint64
	// JSON objects that were forwarded unread because they are neither in a format that is read nor an error.
	Unread uint64
	// Answers whose thinking was to be sent as content too, and was too long for that.
	Unpromoted uint64
	// Events that repeat a whole text and lack some of it, because that text was longer than MaxEvent.
	Truncated uint64
	// Bytes of text that were sent as thinking. Text that a server splits itself is not counted.
	ThinkingBytes uint64
	// Bytes of text that were sent as content.
	ContentBytes uint64
	// Bytes of text, and of an unfinished event or body, that are held now. A finish would return them.
	Held uint64
	// Texts whose thinking the server splits itself.
	SplitByServer uint64
	// Whether the stream is forwarded unread because its first bytes are not text: it is compressed (gzip, zstd, zlib or
	// Brotli), or not in UTF-8. Ask the server for Accept-Encoding: identity, or decode the body before it is fed.
	// After the end of a stream, this describes that stream, until another begins.
	Encoded bool
	// Tool calls in the text that were sent as calls. Calls that the server itself has made are not counted.
	Calls uint64
	// Texts that a server repeats in Responses and that were split again, because their message differs from what was
	// sent before, or was too long to be kept.
	Contradicted uint64
}
