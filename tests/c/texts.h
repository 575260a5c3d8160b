/* Texts that the C tests cut in every way, and the dialect that each is for. */
#ifndef TEXTS_H
#define TEXTS_H

static const struct {
    const char *dialect;
    const char *text;
    const char *content;
    const char *thinking;
} texts[] = {
    {"inline-think", "\n <think>re\xc3\xa4soning \xf0\x9f\xa7\xa0</think>answer <think>", "\n answer <think>",
     "re\xc3\xa4soning \xf0\x9f\xa7\xa0"},
    {"inline-think", "<think>still go</thin", "", "still go</thin"},
    {"inline-think", "<thi", "<thi", ""},
    {"thinking-tags", "a < b > c<thinking>one</ think >two<THOUGHT>three", "a < b > ctwo", "onethree"},
    {"thinking-tags", "<<thought>if a<</thought>visible \xff\xfe \xe4\xb8\xad", "<visible \xff\xfe \xe4\xb8\xad", "if a<"},
    {"thought-stream", "A <thinking thought=\"Ne&amp;ed\" confidence='0.9' /> B<thinking foo = \"1\">body</thinking>",
     "A  B", "body"},
    {"thought-stream", "<thinking thought=\"<thinking>x", "<thinking thought=\"", "x"},
    {"fenced-thinking", "So:\n```thinking\nplan\n```rs\nfn main() {}\n```\n``` \nVisible", "So:\n\nVisible",
     "plan\n```rs\nfn main() {}\n```\n"},
};

#define TEXTS (sizeof texts / sizeof *texts)

#endif
