import Console
import Media
import Testing

@Suite("the status line")
struct StatusLineTests {
  let line = StatusLine(
    room: "100",
    users: [
      StatusLine.User(
        name: "3f2a91c0-1111-2222-3333-444455556666", state: .live,
        received: StatusLine.Flow(bitrate: 1_234_000, framesPerSecond: 29.97, loss: 0.0012),
        sent: StatusLine.Flow(bitrate: 64_000, framesPerSecond: nil, loss: 0)),
      StatusLine.User(name: "77b1c0de", state: .connecting),
    ])

  @Test("it shows the room, the users, and the state, bitrate, frame rate and loss of each")
  func whole() {
    #expect(
      line.text()
        == "room 100, 2 users: 3f2a91c0 live ↓1.2 Mb/s 30 fps 0.1 % lost ↑64 kb/s 0.0 % lost, 77b1c0de connecting")
    #expect(StatusLine(room: "100", users: []).text() == "room 100, 0 users")
  }

  @Test("a user with a name is shown by it and the beginning of the id")
  func givenNames() {
    let user = StatusLine.User(name: "0f3a9c77-5555", givenName: "Ann\u{1b}[31m of Essex and beyond", state: .connected)
    #expect(StatusLine(room: "100", users: [user]).text() == "room 100, 1 user: Ann[31m of Essex 0f3a9c connected")
  }

  @Test("it shows which media of a user was refused, and which of ours")
  func rejected() {
    let sections = [
      RejectedSection(
        index: 1, kind: "video", reason: .noSupportedCodec, offered: ["H264", "AV1"], supported: ["VP8"]),
      RejectedSection(index: 2, kind: "video", reason: .tooManySections),
      RejectedSection(index: 0, kind: "audio", reason: .rejectedByParticipant, offered: ["opus"]),
      RejectedSection(index: 3, kind: "video", reason: .tooManySections),
    ]
    let user = StatusLine.User(name: "anna", state: .connected, rejected: sections.map(StatusLine.words(of:)))
    #expect(
      StatusLine(room: "100", users: [user]).text()
        == "room 100, 1 user: anna connected (refused video H264, refused video, our audio refused)")
  }

  @Test("on a terminal it overwrites the previous one, and elsewhere it has no control characters")
  func terminal() {
    let shown = line.onTerminal(columns: 200)
    #expect(shown == "\r\(line.text())\u{1b}[K")
    #expect(!line.text().unicodeScalars.contains { $0.properties.generalCategory == .control })
  }

  @Test("it fits any width, and counts the users for whom there is no room")
  func widths() {
    for columns in 0...120 {
      let text = line.text(columns: columns)
      #expect(DisplayText.width(text) <= columns)
    }
    #expect(
      line.text(columns: 90)
        == "room 100, 2 users: 3f2a91c0 live ↓1.2 Mb/s 30 fps 0.1 % lost ↑64 kb/s 0.0 % lost, 1 more")
    #expect(line.text(columns: 40) == "room 100, 2 users")
    #expect(line.text(columns: 8) == "room 100")
    #expect(line.onTerminal(columns: 0) == "\r\u{1b}[K")
  }

  @Test("names from the network cannot control the terminal")
  func names() {
    let nasty = StatusLine(
      room: "a\u{1b}[2Jb\nc\r\u{202e}", users: [.init(name: "\u{0}\u{7}\u{9b}", state: .stalled)])
    #expect(nasty.text() == "room a[2Jbc, 1 user: ? stalled")
    let long = StatusLine(room: String(repeating: "房", count: 500), users: [])
    #expect(DisplayText.width(long.text(columns: 30)) <= 30)
  }

  @Test("a descriptor that is not a terminal has no width")
  func noTerminal() {
    #expect(Terminal.columns(-1) == nil)
  }
}
