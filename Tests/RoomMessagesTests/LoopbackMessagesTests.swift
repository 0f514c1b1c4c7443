import DataMessages
import Logging
import Media
import NIOCore
import NIOPosix
import SCTP
import Synchronization
import Testing

@testable import BotPeer
@testable import PeerEngine
@testable import RoomMessages

@Suite("Messages that are looped back")
struct LoopbackMessagesTests {
  /// Collects the messages of a log.
  private final class Log: Sendable {
    let lines = Mutex<[String]>([])

    var logger: Logger { Logger(label: "test") { _ in Handler(log: self) } }

    private struct Handler: LogHandler {
      let log: Log
      var logLevel = Logger.Level.warning
      var metadata: Logger.Metadata = [:]

      subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
      }

      func log(event: LogEvent) { log.lines.withLock { $0.append("\(event.message)") } }
    }
  }

  @Test("a message that is larger than the user accepts is reported once, and the others are sent back")
  func tooLarge() async throws {
    let sent = Mutex<[Int]>([])
    let channel = DataChannel(
      ParticipantID("anna"), DataChannelConfiguration(label: "chat"), id: 1,
      limits: DataChannelLimits(maximumMessageBytes: 1_000), isOpenedByParticipant: true,
      .init(send: { message, _ in sent.withLock { $0.append(message.byteCount) } }, close: { _ in }, resume: { _ in }))
    let log = Log()
    let user = UserMessages(
      ParticipantID("anna"), plan: MessagePlan(), folder: nil, chat: nil,
      allowances: CallAllowances(maximumFileBytes: 1 << 20), noted: { _ in }, loopbackDelay: .zero,
      loop: MultiThreadedEventLoopGroup.singleton.any(), log: log.logger,
      name: nil, openChannel: { _ in channel })
    for size in [1_001, 1_000, 5_000, 1] { _ = channel.messages.append(.binary(ByteBuffer(repeating: 7, count: size))) }
    channel.messages.finish(discarding: false)
    await user.serve(channel)
    #expect(sent.withLock(\.self) == [1_000, 1])
    #expect(
      log.lines.withLock(\.self) == [
        "A message cannot be sent back. The message has 1001 bytes, and the participant accepts 1000."
      ])
  }
}
