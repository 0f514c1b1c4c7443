import Console
import Media
import Testing

@Suite("the status line")
struct StatusLineTests {
  private let anna = StatusLine.User(
    name: "3f2a91c0-1111-2222-3333-444455556666", state: .live,
    received: StatusLine.Flow(bitrate: 1_234_000, framesPerSecond: 29.97, loss: 0.0012),
    sent: StatusLine.Flow(bitrate: 64_000, framesPerSecond: nil, loss: 0))
  private let bob = StatusLine.User(name: "77b1c0de", state: .connecting)

  private var line: StatusLine {
    StatusLine(
      room: "100", elapsed: .seconds(3_912), recording: .init(bytes: 12_340_000, freeBytes: 45_100_000_000),
      users: [anna, bob])
  }

  @Test("it shows the time, what is recorded, the room, the users, and the state, bitrate, frame rate and loss of each")
  func whole() {
    #expect(
      line.text()
        == "1:05:12 recording 12.3 MB, 45.1 GB free, room 100, 2 users: "
        + "3f2a91c0 live ↓1.2 Mb/s 30 fps 0.1 % lost ↑64 kb/s 0.0 % lost, 77b1c0de connecting")
    #expect(StatusLine(room: "100", users: []).text() == "room 100, 0 users")
    #expect(
      StatusLine(room: "1", elapsed: .seconds(5), users: [], transfers: "1 file").text()
        == "0:00:05 room 1, 0 users, 1 file")
    let stalled = StatusLine(room: "1", recording: .init(bytes: 999, freeBytes: nil, isStalled: true), users: [])
    #expect(stalled.text() == "DISK STALLED 999 B, room 1, 0 users")
    let paused = StatusLine(room: "1", recording: .init(bytes: 999, freeBytes: nil, isPaused: true), users: [])
    #expect(paused.text() == "PAUSED 999 B, room 1, 0 users")
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

  @Test("a call is connected until media flows, and stalled when none flows that flowed, but not in its first 2 s")
  func states() {
    func state(_ seconds: Double, flows: Bool, hasFlowed: Bool) -> StatusLine.State {
      StatusLine.State(connectedFor: .seconds(seconds), flows: flows, hasFlowed: hasFlowed)
    }
    #expect(state(0, flows: false, hasFlowed: true) == .connected)
    #expect(state(1.9, flows: false, hasFlowed: true) == .connected)
    #expect(state(2, flows: false, hasFlowed: true) == .stalled)
    #expect(state(60, flows: false, hasFlowed: false) == .connected)
    #expect(state(0, flows: true, hasFlowed: true) == .live)
  }

  @Test("it fits any width, in which less is shown the narrower it is")
  func widths() {
    for columns in 0...200 {
      let text = line.text(columns: columns)
      #expect(DisplayText.width(text) <= columns)
    }
    #expect(line.text(columns: 200) == line.text())
    #expect(
      line.text(columns: 107)
        == "1:05:12 recording 12.3 MB, 45.1 GB free, room 100, 2 users: 3f2a91c0 live ↓1.2 Mb/s 0.1 % lost ↑64 kb/s +1")
    var quiet = line
    quiet.users = [anna, anna, bob]
    quiet.users[0].received?.loss = 0
    quiet.users[0].sent = nil
    #expect(quiet.text(columns: 79) == "1:05:12 rec 12.3 MB, 45.1 GB free, 3 users: 3f2a91c0 live ↓1.2 Mb/s 30 fps +2")
    #expect(quiet.text(columns: 49) == "1:05:12 rec 12.3 MB, 3 users: 3f2a91c0 live +2")
    #expect(line.text(columns: 12) == "1:05:12 rec ")
    #expect(StatusLine(room: "100", users: []).text(columns: 8) == "0 users")
  }

  @Test("in 80 columns every user has their turn, beside the time, the bytes and the free space")
  func turns() {
    var line = line
    line.users = (0..<7).map { StatusLine.User(name: "user\($0)", state: .live, received: anna.received) }
    var seen: Set<String> = []
    for _ in 0..<7 {
      let layout = line.layout(columns: 79)
      #expect(layout.shownUsers > 0 && layout.shownUsers < 7)
      #expect(layout.text.hasPrefix("1:05:12 rec") && layout.text.contains("12.3 MB, 45.1 GB free"))
      #expect(layout.text.hasSuffix(" +\(7 - layout.shownUsers)"))
      for number in 0..<7 where layout.text.contains("user\(number) live") { seen.insert("\(number)") }
      line.first = (line.first + layout.shownUsers) % 7
    }
    #expect(seen.count == 7)
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

@Suite("the lines at the bottom of a terminal")
struct TerminalBlockTests {
  @Test("a line overwrites the previous one, and a table all of its lines")
  func overwriting() {
    var block = TerminalBlock()
    #expect(block.erase(columns: 80) == "")
    #expect(block.show(["one"], columns: 80) == "\r\u{1B}[Kone")
    #expect(block.show(["two"], columns: 80) == "\r\u{1B}[Jtwo")
    #expect(block.show(["a", "b", "c"], columns: 80) == "\r\u{1B}[Ja\nb\nc")
    #expect(block.erase(columns: 80) == "\r\u{1B}[2A\u{1B}[J" && block.isEmpty)
  }

  @Test("a terminal that has become narrower has wrapped the line: all of its rows are erased")
  func narrower() {
    var block = TerminalBlock()
    _ = block.show([String(repeating: "x", count: 200)], columns: 100)
    #expect(block.widths == [99], "the last column stays empty")
    #expect(block.show(["y"], columns: 40) == "\r\u{1B}[2A\u{1B}[Jy")
    #expect(block.show(["z"], columns: 200) == "\r\u{1B}[Jz")
    #expect(block.show(["x"], columns: 0) == "\r\u{1B}[J")
  }
}
