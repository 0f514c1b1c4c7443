import BotPeer
import Call
import Console
import Media

/// Shows the state of each user's call once a second.
struct StatusTask {
  let call: RoomCall
  let console: Console
  let room: String

  func run() async {
    TerminalSize.onChange { [console] in console.redraw() }
    defer { console.clearStatus() }
    let begin = ContinuousClock.now
    var users = StatusLineUsers()
    var shown = 0
    while call.endReason == nil {
      // The line disappears soon after the call has ended.
      for _ in 0..<10 where call.endReason == nil { try? await MediaThread.loop.sleep(for: .milliseconds(100)) }
      let now = ContinuousClock.now
      let statistics = await call.peer.statistics()
      let recording = call.recordingProgress().map {
        StatusLine.Recording(bytes: $0.bytes, freeBytes: $0.freeBytes, isStalled: $0.isStalled, isPaused: $0.isPaused)
      }
      var line = StatusLine(
        room: room, elapsed: now - begin, recording: recording,
        users: users.next(statistics, shown: shown, at: now, name: call.name(of:)),
        transfers: await call.transferProgress())
      line.first = users.first
      shown = console.show(line) { [call] in call.endReason == nil }
    }
  }
}
