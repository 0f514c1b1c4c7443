import BotPeer
import Call
import Foundation
import InspectionTestSupport
import LiveSource
import Media
import NIOPosix
import Signalling
import SkyRTC
import Synchronization
import Testing

extension RealTime {
  @Suite("a call with an observer")
  struct CheckedCallTests {
    /// An observer that ends the call 3 s after the last frame was sent, and stores the reason of the end.
    private final class RecordingObserver: RoomCallObserver {
      let ending = Mutex<String?>(nil)
      let sent = Mutex(0)

      func sent(_ frame: EncodedFrame, at now: ContinuousClock.Instant) { sent.withLock { $0 += 1 } }
      func leaving(at now: ContinuousClock.Instant, because reason: RoomCall.EndReason) {
        ending.withLock { $0 = "\(reason)" }
      }
      func watch(_ peer: Peer) async -> String? {
        var (last, sinceLast) = (0, 0)
        for _ in 0..<300 where last <= 3 || sinceLast < 30 {
          try? await Task.sleep(for: .milliseconds(100))
          let count = sent.withLock(\.self)
          sinceLast = count == last ? sinceLast + 1 : 0
          last = count
        }
        return "the observer has seen enough"
      }
    }

    private func call(
      _ url: String, _ source: any FrameSource, observer: (any RoomCallObserver)? = nil
    ) async throws -> RoomCall {
      var settings = RoomCall.Settings()
      settings.peer.bindAddresses = ["127.0.0.1"]
      settings.media.waitsForConnection = observer != nil
      settings.media.endsWithSource = false
      let call = try await RoomCall(
        settings, client: try SkyRTCClient(url: url, room: "1"), source: source, observer: observer,
        on: MultiThreadedEventLoopGroup.singleton.next(), log: LogRecorder().logger)
      try await call.join()
      return call
    }

    @Test("continues until the observer ends it, although the file has ended", .timeLimit(.minutes(1)))
    func fileEnds() async throws {
      let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).ivf")
      defer { try? FileManager.default.removeItem(at: file) }
      var source = SyntheticPeer()
      source.seconds = 0.5
      try Data(IVF.bytes(of: source)).write(to: file)

      let server = SkyRTCServer(configuration: .init(host: "127.0.0.1", port: 0), logger: LogRecorder().logger)
      let url = try await server.start().webSocketURL
      let camera = ParticipantID("camera")
      let other = try await call(url, try LiveCamera.open(.init(input: .pattern, owner: camera)))
      let running = Task { await other.run() }
      let onlooker = RecordingObserver()
      let played = try LiveCamera.open(.init(input: .file(file.path), loops: false, owner: camera))
      let outcome = try await call(url, played, observer: onlooker).run()
      other.leave(because: "the other one has left")
      let otherOutcome = await running.value
      await server.shutdown()
      #expect(onlooker.sent.withLock { $0 } > 3, "the file was played")
      #expect(onlooker.ending.withLock { $0 } == "the observer has seen enough")
      #expect(outcome.endReason == .observerFinished("the observer has seen enough"))
      #expect(outcome.hasConnected && outcome.sourceFailure == nil)
      #expect(otherOutcome.endReason == .left("the other one has left") && otherOutcome.hasConnected)
    }
  }
}
