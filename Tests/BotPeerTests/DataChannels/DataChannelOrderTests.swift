import Media
import NIOCore
import SCTP
import Synchronization
import Testing

@testable import BotPeer

@Suite("The order of a data channel's messages")
struct DataChannelOrderTests {
  @Test("messages that are sent while the channel gets its id keep their order, and the close comes last")
  func whileTheIDArrives() async throws {
    for _ in 0..<200 {
      let sent = Mutex<[String]>([])
      let channel = DataChannel(
        ParticipantID("anna"), DataChannelConfiguration(label: "file"),
        .init(
          send: { message, _ in
            if case .text(let text) = message { sent.withLock { $0.append(text) } }
          }, close: { _ in sent.withLock { $0.append("close") } }, resume: { _ in }))
      let isRunning = Atomic(false)
      async let sending: Void = {
        for number in 0..<400 {
          try channel.enqueue(.text("\(number)"))
          if number == 100 { isRunning.store(true, ordering: .releasing) }
        }
        channel.close()
      }()
      while !isRunning.load(ordering: .acquiring) { await Task.yield() }
      channel.didGetID(3, maximumMessageBytes: 1_000)
      try await sending
      #expect(sent.withLock { $0 } == (0..<400).map(String.init) + ["close"])
    }
  }
}
