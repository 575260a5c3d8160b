//! What a command line is made of where it is hard to read.

pub const SHELL_PIECES: [&str; 31] = [
    "'", "\"", "`", "$(", "${", ")", "}", "\\", "|", "||", "&", "&&", ";", "\n", "<<E", "<<", ">", "<(", "2>", "1>&",
    "#", " ", "bash -c ", "sudo ", "-u", "xargs", "x", "=", "é", "\0", "E",
];
