import CommandSettings
import Testing

@Suite("the manual page")
struct ManualPageTests {
  @Test("it has each command with its options under their headings, and text that roff would read is escaped")
  func page() {
    var record = OptionDescription(.option, "record", valueName: "folder", section: "Recording")
    record.abstract = ".hidden\\files, and 'out'"
    var quiet = OptionDescription(.flag, "quiet", short: ["q"])
    quiet.abstract = "Print errors only."
    let call = CommandDescription(
      name: "call", abstract: "Join a call.", discussion: "chatbot call\n.SH no heading", options: [record, quiet])
    let hidden = CommandDescription(name: "manual", isHidden: true)
    let root = CommandDescription(
      name: "chatbot", abstract: "A headless participant.", subcommands: [call, hidden], defaultSubcommand: "call")
    let page = ManualPage(root, version: "1.2", sections: [.init(title: "Exit status", text: "0  success")])
    #expect(
      page.text == #"""
        .TH "CHATBOT" 1 "" "chatbot 1.2" "User Commands"
        .SH NAME
        chatbot \- A headless participant
        .SH SYNOPSIS
        \fBchatbot\fR [\fBcall\fR] [\fIoptions\fR]
        .SH DESCRIPTION
        A headless participant.
        .SH "CHATBOT CALL"
        Join a call.
        .PP
        .nf
        chatbot call
        \&.SH no heading
        .fi
        .SS "Recording"
        .TP
        \fB\-\-record\fR \fIfolder\fR
        \&.hidden\efiles, and 'out'
        .SS "Options"
        .TP
        \fB\-q\fR, \fB\-\-quiet\fR
        Print errors only.
        .SH "EXIT STATUS"
        .nf
        0  success
        .fi

        """#)
  }
}
