import BotPeer
import Foundation
import InspectionTestSupport
import LiveSource
import Logging
import Media
import RoomMessages
import Signalling
import Synchronization
import Testing

@testable import chatbot

extension RealTime {
  @Suite("a call with an observer")
  struct CheckedCallTests {
    /// An observer that ends the call 3 s after the last frame was sent, and stores the reason of the end.
    private final class RecordingObserver: CallObserver {
      let ending = Mutex<String?>(nil)
      let sent = Mutex(0)

      func received(_ event: SignallingEvent, at now: ContinuousClock.Instant) {}
      func received(_ event: PeerEvent, of participant: ParticipantID, at now: ContinuousClock.Instant) {}
      func receive(_ event: MediaEvent, of participant: ParticipantID, now: ContinuousClock.Instant) {}
      func sent(_ frame: EncodedFrame, at now: ContinuousClock.Instant) { sent.withLock { $0 += 1 } }
      func exchanged(_ message: ExchangedMessage, from sender: String, at now: ContinuousClock.Instant) {}
      func leaving(at now: ContinuousClock.Instant, because ending: Call.EndReason) {
        self.ending.withLock { $0 = "\(ending)" }
      }
      func watch(_ peer: Peer) async {
        var (last, sinceLast) = (0, 0)
        for _ in 0..<300 where last <= 3 || sinceLast < 30 {
          try? await Task.sleep(for: .milliseconds(100))
          let count = sent.withLock(\.self)
          sinceLast = count == last ? sinceLast + 1 : 0
          last = count
        }
      }
    }

    @Test("continues until the observer ends it, although the file has ended", .timeLimit(.minutes(1)))
    func fileEnds() async throws {
      let screen = try Screen()
      let console = screen.console(isQuiet: true)
      let log = console.logger("test", level: .error)
      let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).ivf")
      defer { try? FileManager.default.removeItem(at: file) }
      var source = SyntheticPeer()
      source.seconds = 0.5
      try Data(IVF.bytes(of: source)).write(to: file)

      let other = try await SelfCheck(console: console, log: log).start()
      var connectionSettings = ConnectionSettings(server: other.server)
      connectionSettings.room = SelfCheck.room
      connectionSettings.bindAddress = "127.0.0.1"
      var plan = CallPlan(connectionSettings)
      plan.camera = LiveCamera.Options(input: .file(file.path), loops: false, owner: ParticipantID("camera"))
      let onlooker = RecordingObserver()
      _ = try await Call(plan: plan, console: console, log: log, observer: onlooker).run(interruption: .never)
      await other.end()
      #expect(onlooker.sent.withLock { $0 } > 3, "the file was played")
      #expect(onlooker.ending.withLock { $0 } == "the check has ended")
    }
  }
}
