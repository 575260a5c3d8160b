// Code generated from src/ffi by tests/header. DO NOT EDIT.

package aside

// The numbers of errors.
const (
	errorNull      = -1001
	errorLength    = -1002
	errorUnknown   = -1003
	errorDialect   = -1004
	errorOption    = -1005
	errorSize      = -1006
	errorBusy      = -1007
	errorOrder     = -1008
	errorMemory    = -1009
	errorRange     = -1010
	errorPanic     = -1011
	errorJoin      = -1012
	errorFilter    = -1013
	errorOriginal  = -1014
	errorAmbiguous = -1015
)

// Kind is the kind of an event.
type Kind uint32

const (
	// KindOpen: A span begins. The bytes are its opening marker; there are none if the stream starts inside the span.
	KindOpen Kind = 1
	// KindAttribute: An attribute of the marker that has just opened a span. It has no bytes of the stream.
	KindAttribute Kind = 2
	// KindText: Text of the channel. It is never empty, and never cuts a character of valid UTF-8.
	KindText Kind = 3
	// KindFraming: Bytes that belong to no text, such as the newline that a family puts around its markers.
	KindFraming Kind = 4
	// KindClose: A span ends. The bytes are the closing marker; there are none if the span ends without a closing
	// marker.
	KindClose Kind = 5
	// KindReclassify: All content so far was thinking, or all thinking so far was content: the event's channel is the
	// right one. The content was thinking if a closer of the thinking has come without an opener before it, in a dialect
	// with stray_close = "reclassify". The thinking was content if the stream has ended in thinking that was only
	// guessed (EndReason), or if the closer of a wrapper of the answer ends the thinking. The event has no bytes of the
	// stream, and is reported at most once in a stream.
	KindReclassify Kind = 6
	// KindBudget: The thinking exceeds its budget here. The event has no bytes of the stream and is between two
	// characters. It is reported once for each span or stream, as options.BudgetScope says.
	KindBudget Kind = 7
	// KindCall: A tool call begins. This and the kinds after it are reported only with options.Calls, from dialects that
	// say how calls are written. The bytes are the beginning of the call; there are none if the opener of its span was
	// the beginning.
	KindCall Kind = 8
	// KindCallName: The name of the call, whole. If it has no bytes, the name is the value of a header's field.
	KindCallName Kind = 9
	// KindCallID: An id of the call, whole. If the whole head of the call is its id, the id is reported in parts, with
	// the name between them.
	KindCallID Kind = 10
	// KindCallKey: A key of the arguments, whole. For arguments that are JSON, no keys are reported.
	KindCallKey Kind = 11
	// KindCallType: The word for the type of the next value, whole.
	KindCallType Kind = 12
	// KindCallValue: A value, or the arguments as JSON, as they are in the stream. It is reported in pieces that do not
	// cut a character.
	KindCallValue Kind = 13
	// KindCallValueEnd: The value ends. The bytes are the value's closer, if it has a closer. For arguments that are
	// JSON, no end of a value is reported.
	KindCallValueEnd Kind = 14
	// KindCallEnd: The call ends. The bytes are the call's last marker, if it has such a marker.
	KindCallEnd Kind = 15
)

// String returns the name, such as "open", or the number of an unknown Kind.
func (k Kind) String() string {
	return name(uint32(k), "", "open", "attribute", "text", "framing", "close", "reclassify", "budget", "call",
		"call_name", "call_id", "call_key", "call_type", "call_value", "call_value_end", "call_end")
}

// Channel is the purpose of a stretch of a stream.
type Channel uint32

const (
	// ChannelContent: Text for the reader.
	ChannelContent Channel = 0
	// ChannelThinking: The model's thinking. Some interfaces call it reasoning or reasoning_content.
	ChannelThinking Channel = 1
	// ChannelNarration: The model's remarks on what it is doing.
	ChannelNarration Channel = 2
	// ChannelTool: Tool calls.
	ChannelTool Channel = 3
)

// String returns the name, such as "content", or the number of an unknown Channel.
func (c Channel) String() string {
	return name(uint32(c), "content", "thinking", "narration", "tool")
}

// PartKind is the kind of a part of an answer. Later versions may add kinds: ignore those that you do not know.
type PartKind uint32

const (
	// PartKindThinking: The next text of the thinking.
	PartKindThinking PartKind = 0
	// PartKindContent: The next text of the answer itself.
	PartKindContent PartKind = 1
	// PartKindCall: A call begins: its id and its name.
	PartKindCall PartKind = 2
	// PartKindArguments: The next part of the arguments of a call. Joined, they are a JSON object if the call is whole.
	PartKindArguments PartKind = 3
	// PartKindCallEnd: A call ends.
	PartKindCallEnd PartKind = 4
	// PartKindMoved: All text that was reported in one channel belongs at the end of the other channel's text: content
	// that turned out to be thinking, because a closer of the thinking came without an opener, or thinking that turned
	// out to be the answer. Only with options.MayTakeBack. If the thinking is dropped, leave out the content that moves
	// to it.
	PartKindMoved PartKind = 5
	// PartKindBudget: The thinking exceeds its budget here.
	PartKindBudget PartKind = 6
)

// String returns the name, such as "thinking", or the number of an unknown PartKind.
func (p PartKind) String() string {
	return name(uint32(p), "thinking", "content", "call", "arguments", "call_end", "moved", "budget")
}

// Cause is the cause of the end of a span or a call.
type Cause uint32

const (
	// CauseMarker: The closing marker was read.
	CauseMarker Cause = 0
	// CauseImplied: A text was read that ends the span without being its closer.
	CauseImplied Cause = 1
	// CauseEndOfStream: The stream ended inside the span.
	CauseEndOfStream Cause = 2
	// CauseForced: ForceClose ended the span.
	CauseForced Cause = 3
	// CauseMalformed: The text of a tool call broke its grammar. No span ends with this cause.
	CauseMalformed Cause = 4
	// CauseEnded: The answer ended by itself inside a tool call, as the host has reported with EndReason. No span ends
	// with this cause, and no part of an answer has it.
	CauseEnded Cause = 5
)

// String returns the name, such as "marker", or the number of an unknown Cause.
func (c Cause) String() string {
	return name(uint32(c), "marker", "implied", "end_of_stream", "forced", "malformed", "ended")
}

// Start is the start of a stream.
type Start uint32

const (
	// StartDefault: The dialect decides.
	StartDefault Start = 0
	// StartContent: No span is open.
	StartContent Start = 1
	// StartThinking: The stream begins inside a thinking span, whose opener was in the prompt.
	StartThinking Start = 2
	// StartNarration: The stream begins inside a narration span.
	StartNarration Start = 3
	// StartTool: The stream begins inside a tool span.
	StartTool Start = 4
	// StartHeader: The stream begins inside a channel header, of a dialect that has headers.
	StartHeader Start = 5
	// StartCalls: For a rewriter that looks for calls, and a request with "tool_choice": "required": a grammar makes the
	// model write a list of tool calls without markers, after its thinking.
	StartCalls Start = 6
)

// String returns the name, such as "default", or the number of an unknown Start.
func (s Start) String() string {
	return name(uint32(s), "default", "content", "thinking", "narration", "tool", "header", "calls")
}

// CallsInThinking is the treatment of a tool call that begins inside the thinking.
type CallsInThinking uint32

const (
	// CallsInThinkingDialect: The dialect decides whether the call ends the thinking, interrupts it, or is text of it.
	CallsInThinkingDialect CallsInThinking = 0
	// CallsInThinkingNever: Every tool opener in the thinking is text.
	CallsInThinkingNever CallsInThinking = 1
	// CallsInThinkingAlways: The dialect decides, and a rewriter reports a call at once. Otherwise a rewriter waits
	// until it is clear whether the model means the call: text after the call shows that the call is part of the
	// thinking.
	CallsInThinkingAlways CallsInThinking = 2
)

// String returns the name, such as "dialect", or the number of an unknown CallsInThinking.
func (c CallsInThinking) String() string {
	return name(uint32(c), "dialect", "never", "always")
}

// StrayClose is the treatment of a closer of the thinking without an opener, after content.
type StrayClose uint32

const (
	// StrayCloseDialect: The dialect decides.
	StrayCloseDialect StrayClose = 0
	// StrayCloseText: A closer of the thinking in the content, after other text, is text: for a host that is sure that
	// its model does not think.
	StrayCloseText StrayClose = 1
	// StrayCloseDrop: Only the closer is removed, and the text on both sides of it stays content: for a host whose
	// prompt has ended the thinking.
	StrayCloseDrop StrayClose = 2
)

// String returns the name, such as "dialect", or the number of an unknown StrayClose.
func (s StrayClose) String() string {
	return name(uint32(s), "dialect", "text", "drop")
}

// EndReason is the reason why a stream ends, as far as its host knows it.
type EndReason uint32

const (
	// EndReasonUnknown: Not known.
	EndReasonUnknown EndReason = 0
	// EndReasonEnded: The model has ended its answer: "finish_reason":"stop".
	EndReasonEnded EndReason = 1
	// EndReasonCutOff: The answer was cut off, by a limit or an error: "finish_reason":"length".
	EndReasonCutOff EndReason = 2
)

// String returns the name, such as "unknown", or the number of an unknown EndReason.
func (e EndReason) String() string {
	return name(uint32(e), "unknown", "ended", "cut_off")
}

// NotWhole is the part of a call that is sent before the call is whole.
type NotWhole uint32

const (
	// NotWholeTell: The arguments, as they arrive. If a call breaks off, the client keeps the part that was sent.
	NotWholeTell NotWhole = 0
	// NotWholeHold: Nothing: a whole call is sent at once. A call that is not whole, was repaired, or is longer than may
	// be held is text.
	NotWholeHold NotWhole = 1
	// NotWholeText: Nothing until the call is whole, or longer than may be held; from then on, its arguments as they
	// arrive. A call that is held, and is not whole or was repaired, is text.
	NotWholeText NotWhole = 2
)

// String returns the name, such as "tell", or the number of an unknown NotWhole.
func (n NotWhole) String() string {
	return name(uint32(n), "tell", "hold", "text")
}

// UnknownTool is the treatment of a call of a tool that the request does not list.
type UnknownTool uint32

const (
	// UnknownToolText: The call is text.
	UnknownToolText UnknownTool = 0
	// UnknownToolDrop: The call is removed.
	UnknownToolDrop UnknownTool = 1
	// UnknownToolTell: The call is emitted like a call of a listed tool.
	UnknownToolTell UnknownTool = 2
)

// String returns the name, such as "text", or the number of an unknown UnknownTool.
func (u UnknownTool) String() string {
	return name(uint32(u), "text", "drop", "tell")
}

// ImpliedEnd is whether the end of a text that has ended by itself may end a call.
type ImpliedEnd uint32

const (
	// ImpliedEndOn: A call written as keys and values between markers is whole if the text ends after a value.
	ImpliedEndOn ImpliedEnd = 0
	// ImpliedEndOff: A call that the end of the text cuts off is never whole.
	ImpliedEndOff ImpliedEnd = 1
)

// String returns the name, such as "on", or the number of an unknown ImpliedEnd.
func (i ImpliedEnd) String() string {
	return name(uint32(i), "on", "off")
}

// LeadingTags is the reading of a tag of another family, such as <think>, at the beginning of a stream, after blanks at
// most.
type LeadingTags uint32

const (
	// LeadingTagsDialect: In a dialect of a model, the tag opens the thinking, and either the tag's own closer or the
	// dialect's closer ends it.
	LeadingTagsDialect LeadingTags = 0
	// LeadingTagsText: The tag is text: for a host that asks for such a tag in its prompt and looks for it itself.
	LeadingTagsText LeadingTags = 1
)

// String returns the name, such as "dialect", or the number of an unknown LeadingTags.
func (l LeadingTags) String() string {
	return name(uint32(l), "dialect", "text")
}

// BudgetUnit is the unit of a budget.
type BudgetUnit uint32

const (
	// BudgetUnitBytes: Bytes.
	BudgetUnitBytes BudgetUnit = 0
	// BudgetUnitCharacters: Characters.
	BudgetUnitCharacters BudgetUnit = 1
)

// String returns the name, such as "bytes", or the number of an unknown BudgetUnit.
func (b BudgetUnit) String() string {
	return name(uint32(b), "bytes", "characters")
}

// BudgetScope is the scope of a budget.
type BudgetScope uint32

const (
	// BudgetScopeSpan: Each thinking span has the whole budget.
	BudgetScopeSpan BudgetScope = 0
	// BudgetScopeStream: All thinking of the stream shares the budget.
	BudgetScopeStream BudgetScope = 1
)

// String returns the name, such as "span", or the number of an unknown BudgetScope.
func (b BudgetScope) String() string {
	return name(uint32(b), "span", "stream")
}

// Markers is the treatment of a part that contains a marker, in a join.
type Markers uint32

const (
	// MarkersRefuse: The call fails with ErrJoin.
	MarkersRefuse Markers = 0
	// MarkersEscape: The call breaks the markers, as Escape does.
	MarkersEscape Markers = 1
)

// String returns the name, such as "refuse", or the number of an unknown Markers.
func (m Markers) String() string {
	return name(uint32(m), "refuse", "escape")
}

// Field is the name of the field for the thinking.
type Field uint32

const (
	// FieldReasoningContent: reasoning_content.
	FieldReasoningContent Field = 0
	// FieldReasoning: reasoning.
	FieldReasoning Field = 1
	// FieldThinking: thinking.
	FieldThinking Field = 2
)

// String returns the name, such as "reasoning_content", or the number of an unknown Field.
func (f Field) String() string {
	return name(uint32(f), "reasoning_content", "reasoning", "thinking")
}

// Body is the kind of body that is fed to a rewriter.
type Body uint32

const (
	// BodyUnknown: The first byte that is not white space decides. JSON begins with {, an event stream never does.
	BodyUnknown Body = 0
	// BodyEvents: An event stream, text/event-stream.
	BodyEvents Body = 1
	// BodyJSON: One JSON object, application/json.
	BodyJSON Body = 2
	// BodyLines: JSON objects, each on a separate line, application/x-ndjson: Ollama's streams.
	BodyLines Body = 3
)

// String returns the name, such as "unknown", or the number of an unknown Body.
func (b Body) String() string {
	return name(uint32(b), "unknown", "events", "json", "lines")
}

// Formats is a set of formats of answers, each with the end of its path.
type Formats uint32

const (
	// FormatChat: Chat completions of OpenAI, /chat/completions.
	FormatChat Formats = 1
	// FormatCompletions: Completions of OpenAI, /completions.
	FormatCompletions Formats = 2
	// FormatResponses: OpenAI Responses, /responses.
	FormatResponses Formats = 4
	// FormatMessages: Anthropic Messages, /messages.
	FormatMessages Formats = 8
	// FormatOllama: Ollama's own format, /api/chat and /api/generate.
	FormatOllama Formats = 16
	// FormatAll: All formats, including the formats of later versions: all bits of an int. Any other value is refused if
	// it has a bit that belongs to no format.
	FormatAll Formats = 2147483647
)

// String returns the names of the set's bits, with commas between them, or "none" or "all".
func (f Formats) String() string {
	return names(uint32(f), "chat", "completions", "responses", "messages", "ollama")
}

// Shapes is a set of differences between the shapes of servers' answers, which a rewriter removes.
type Shapes uint32

const (
	// ShapeNone: No shape: the answer of a server stays unchanged.
	ShapeNone Shapes = 0
	// ShapeField: The thinking that a server sends as reasoning_content, reasoning, thinking, or as the text of
	// reasoning_details, is sent in the field options.Field.
	ShapeField Shapes = 1
	// ShapeLists: Content that is a list of texts and thinking becomes a string, with the thinking in its field.
	ShapeLists Shapes = 2
	// ShapeChunks: A chunk of a stream with thinking and content becomes two, the thinking first.
	ShapeChunks Shapes = 4
	// ShapeContent: The content after thinking that the server has split is split too: markers are removed, and a second
	// thinking is moved. In a chat's stream this includes ShapeChunks.
	ShapeContent Shapes = 8
	// ShapeAll: All shapes, including the shapes of later versions: all bits of an int. Any other value is refused if it
	// has a bit that belongs to no shape.
	ShapeAll Shapes = 2147483647
)

// String returns the names of the set's bits, with commas between them, or "none" or "all".
func (s Shapes) String() string {
	return names(uint32(s), "field", "lists", "chunks", "content")
}

// Thinking is whether the thinking is sent.
type Thinking uint32

const (
	// ThinkingKeep: The thinking is sent.
	ThinkingKeep Thinking = 0
	// ThinkingDrop: The thinking is left out, also if a server has split it itself. An answer of thinking alone ends
	// with empty content, or with its thinking as content if options.PromoteEmpty is set.
	ThinkingDrop Thinking = 1
	// ThinkingInline: The thinking stays in the content, with its markers: for hosts that pass the content to another
	// parser. Calls are taken out of the text, unless options.InlineCalls is set, and so are markers of other channels.
	// Thinking that a server has split itself is sent as thinking.
	ThinkingInline Thinking = 2
)

// String returns the name, such as "keep", or the number of an unknown Thinking.
func (t Thinking) String() string {
	return name(uint32(t), "keep", "drop", "inline")
}

// Thinks is whether a request says that the model should think.
type Thinks uint32

const (
	// ThinksUnknown: The request does not say, so the model decides.
	ThinksUnknown Thinks = 0
	// ThinksOn: The model should think.
	ThinksOn Thinks = 1
	// ThinksOff: The model should not think.
	ThinksOff Thinks = 2
)

// String returns the name, such as "unknown", or the number of an unknown Thinks.
func (t Thinks) String() string {
	return name(uint32(t), "unknown", "on", "off")
}

// ResponsesAs is the form of the thinking in the items of OpenAI Responses.
type ResponsesAs uint32

const (
	// ResponsesAsReasoningText: The content of a reasoning item, as reasoning_text: right for clients that send items
	// back.
	ResponsesAsReasoningText ResponsesAs = 0
	// ResponsesAsSummary: The summary of a reasoning item, as summary_text: for clients that show only summaries.
	ResponsesAsSummary ResponsesAs = 1
)

// String returns the name, such as "reasoning_text", or the number of an unknown ResponsesAs.
func (r ResponsesAs) String() string {
	return name(uint32(r), "reasoning_text", "summary")
}

// Comments is the treatment of comments in a stream of events, which servers send to keep a connection open.
type Comments uint32

const (
	// CommentsKeep: Comments stay.
	CommentsKeep Comments = 0
	// CommentsDrop: Comments are left out.
	CommentsDrop Comments = 1
	// CommentsChunk: Each comment becomes an event without text: a chunk in chat and legacy completions, a ping in
	// Messages. It is left out in formats without such an event, such as Responses, and before the first event unless
	// options.Formats names one format.
	CommentsChunk Comments = 2
)

// String returns the name, such as "keep", or the number of an unknown Comments.
func (c Comments) String() string {
	return name(uint32(c), "keep", "drop", "chunk")
}

// Hint is the change that a host should make to a request.
type Hint uint32

const (
	// HintIdentity: Send Accept-Encoding: identity to the server: no compressed answer can be read.
	HintIdentity Hint = 1
)

// String returns the name, such as "identity", or the number of an unknown Hint.
func (h Hint) String() string {
	return name(uint32(h), "", "identity")
}

// HistoryName is the place of the thinking of an earlier turn in its message.
type HistoryName uint32

const (
	// HistoryNameAsIs: The thinking stays where it is.
	HistoryNameAsIs HistoryName = 0
	// HistoryNameReasoningContent: Chat: the member reasoning_content.
	HistoryNameReasoningContent HistoryName = 1
	// HistoryNameReasoning: Chat: the member reasoning.
	HistoryNameReasoning HistoryName = 2
	// HistoryNameThinking: Chat: the member thinking.
	HistoryNameThinking HistoryName = 3
	// HistoryNameReasoningDetails: Chat: the member reasoning_details, a list with one entry of the type reasoning.text.
	HistoryNameReasoningDetails HistoryName = 4
	// HistoryNameParts: Chat: a part of the type thinking at the beginning of the content, which becomes a list.
	HistoryNameParts HistoryName = 5
	// HistoryNameReasoningText: Responses: the content of a reasoning item, as reasoning_text.
	HistoryNameReasoningText HistoryName = 6
	// HistoryNameSummary: Responses: the summary of a reasoning item, as summary_text.
	HistoryNameSummary HistoryName = 7
	// HistoryNameText: All formats: the text of the message, with the markers of options.Dialect. A message for which
	// that cannot be done stays unchanged.
	HistoryNameText HistoryName = 8
)

// String returns the name, such as "as_is", or the number of an unknown HistoryName.
func (h HistoryName) String() string {
	return name(uint32(h), "as_is", "reasoning_content", "reasoning", "thinking", "reasoning_details", "parts",
		"reasoning_text", "summary", "text")
}

// HistoryTurns is the turns whose thinking stays in a request.
type HistoryTurns uint32

const (
	// HistoryTurnsAll: All turns.
	HistoryTurnsAll HistoryTurns = 0
	// HistoryTurnsSinceUser: The turns since the last message of the user: the loop of tool calls that is running.
	HistoryTurnsSinceUser HistoryTurns = 1
	// HistoryTurnsNone: None: all thinking is removed.
	HistoryTurnsNone HistoryTurns = 2
)

// String returns the name, such as "all", or the number of an unknown HistoryTurns.
func (h HistoryTurns) String() string {
	return name(uint32(h), "all", "since_user", "none")
}

// HistoryMissing is the change to an assistant message without thinking.
type HistoryMissing uint32

const (
	// HistoryMissingLeave: The message stays unchanged.
	HistoryMissingLeave HistoryMissing = 0
	// HistoryMissingEmpty: The message gets an empty string under the name of the thinking, if its value is a string; in
	// Messages, an empty thinking block.
	HistoryMissingEmpty HistoryMissing = 1
	// HistoryMissingRemove: The member, block or item of empty thinking is removed.
	HistoryMissingRemove HistoryMissing = 2
)

// String returns the name, such as "leave", or the number of an unknown HistoryMissing.
func (h HistoryMissing) String() string {
	return name(uint32(h), "leave", "empty", "remove")
}

// HistoryMade is the treatment of blocks and items that a rewriter made, and the server did not.
type HistoryMade uint32

const (
	// HistoryMadeKeep: The blocks and items stay unchanged.
	HistoryMadeKeep HistoryMade = 0
	// HistoryMadeRemove: In Messages, unsigned thinking blocks are removed; if the server would then refuse the request,
	// its thinking is turned off. In Responses, made items lose their id, and references to them are removed.
	HistoryMadeRemove HistoryMade = 1
)

// String returns the name, such as "keep", or the number of an unknown HistoryMade.
func (h HistoryMade) String() string {
	return name(uint32(h), "keep", "remove")
}

// HistoryOutcome is whether the body of a request was read, or why it was returned unchanged.
type HistoryOutcome uint32

const (
	// HistoryOutcomeRead: The body was read, and may be unchanged.
	HistoryOutcomeRead HistoryOutcome = 0
	// HistoryOutcomeTooLong: The body is longer than options.MaxBody.
	HistoryOutcomeTooLong HistoryOutcome = 1
	// HistoryOutcomeNotUtf8: The body is not UTF-8.
	HistoryOutcomeNotUtf8 HistoryOutcome = 2
	// HistoryOutcomeNotRequest: The body is not a JSON object with a list of messages or items, or its nesting is deeper
	// than 128.
	HistoryOutcomeNotRequest HistoryOutcome = 3
	// HistoryOutcomeRepeated: A member appears twice, and servers differ in which of the two they read.
	HistoryOutcomeRepeated HistoryOutcome = 4
	// HistoryOutcomeStored: The server has the history: previous_response_id or conversation.
	HistoryOutcomeStored HistoryOutcome = 5
)

// String returns the name, such as "read", or the number of an unknown HistoryOutcome.
func (h HistoryOutcome) String() string {
	return name(uint32(h), "read", "too_long", "not_utf8", "not_request", "repeated", "stored")
}

// Change is the change of a stretch.
type Change uint32

const (
	// ChangeKept: The stretch is in the result, byte for byte.
	ChangeKept Change = 0
	// ChangeReplaced: Other bytes replace the stretch.
	ChangeReplaced Change = 1
	// ChangeLeftOut: The stretch is not in the result; a marker line may replace it.
	ChangeLeftOut Change = 2
)

// String returns the name, such as "kept", or the number of an unknown Change.
func (c Change) String() string {
	return name(uint32(c), "kept", "replaced", "left_out")
}
