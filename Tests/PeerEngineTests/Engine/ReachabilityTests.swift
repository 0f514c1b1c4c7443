import ICE
import Media
import NIOCore
import Testing

@testable import PeerEngine

@Suite("What a connection knows of the participant's reachability")
struct ReachabilityTests {
  private let start = MonotonicInstant.now

  @Test("what is known of the agent is computed again after each change of it, and kept otherwise")
  func changedAgent() {
    var generator = SystemRandomNumberGenerator()
    var cached = CachedAgent(ICEAgent(role: .controlling, credentials: .random(using: &generator)))
    #expect(cached.hasChanged && cached.isDue(now: start))
    _ = cached.poll(now: start, pace: CheckPacer())
    let isValid = cached.isValidated(local: EnginePair.aliceAddress, remote: EnginePair.bobAddress)
    #expect(!isValid && !cached.hasChanged && !cached.isDue(now: start + .seconds(60)))
    cached.agent.addLocalHost(EnginePair.aliceAddress, now: start)
    #expect(cached.hasChanged && cached.isDue(now: start))
    let (known, computed) = (cached.deadline, cached.agent.deadline)
    #expect(known == computed)
  }

  @Test("a trigger checks a silent path after 4 s, restarts after 5 s, and repeats that after 10 s")
  func trigger() {
    var trigger = ICERestartTrigger()
    func step(_ seconds: Double, heard: Double = 0, unansweredSince: Double? = nil) -> ICERestartTrigger.Step? {
      trigger.due(
        heard: start + .seconds(heard), unansweredSince: unansweredSince.map { start + .seconds($0) },
        now: start + .seconds(seconds))
    }
    #expect(step(3.9) == nil)
    #expect(step(4) == .check)
    #expect(step(4.9) == nil)
    #expect(step(5) == .restart(.silence(.seconds(5))))
    #expect(step(14.9) == nil)
    #expect(step(15) == .restart(.silence(.seconds(15))))
    let heard = start + .seconds(16)
    #expect(trigger.deadline(heard: heard, unansweredSince: nil) == start + .seconds(20))
    #expect(step(16, heard: 16) == nil)
    #expect(step(20, heard: 16) == .check)
    // A participant who answers the check is heard.
    #expect(step(21, heard: 20.25) == nil)
    #expect(step(25, heard: 20.25) == .check)
    #expect(step(25.5, heard: 20.25) == .restart(.silence(.milliseconds(5_250))))
    trigger.request(.pathLost)
    trigger.request(.requested)
    #expect(step(26, heard: 25.9) == nil, "two requested restarts are 2 s apart")
    #expect(step(27.5, heard: 27) == .restart(.pathLost))
    // What the participant sends arrives, but no check is answered.
    #expect(step(37.25, heard: 37, unansweredSince: 31) == nil, "10 s after the last restart")
    #expect(step(37.5, heard: 37, unansweredSince: 31) == .restart(.unansweredChecks(.milliseconds(6_500))))
    #expect(step(60, heard: 60, unansweredSince: 55.25) == nil)
    trigger.participantRestarted(now: start + .seconds(60))
    #expect(step(69.75, heard: 69, unansweredSince: 55.25) == nil, "the session that the participant began needs time")
    #expect(step(70, heard: 69, unansweredSince: 60) == .restart(.unansweredChecks(.seconds(10))))
  }

  @Test("silence leads to a check after 4 s, a restart after 5 s, an interruption after 8 s and the end after 30 s")
  func silence() {
    var monitor = SilenceMonitor()
    let evidence = SilenceMonitor.Evidence(
      heard: start, lastAnswered: start, unansweredSince: nil, hasLocalAddress: true)
    func step(_ seconds: Double) -> SilenceMonitor.Step {
      monitor.poll(evidence, in: .connected, now: start + .seconds(seconds))
    }
    let none = step(1)
    #expect(!none.checksPath && none.restart == nil && !none.isInterrupted && !none.isLost)
    #expect(monitor.deadline == start + .seconds(4))
    let check = step(4)
    #expect(check.checksPath && check.restart == nil)
    #expect(monitor.deadline == start + .seconds(5))
    let restart = step(5)
    #expect(!restart.checksPath && restart.restart == .silence(.seconds(5)) && !restart.isInterrupted)
    #expect(monitor.deadline == start + .seconds(8))
    let interrupted = step(8)
    #expect(interrupted.isInterrupted && !interrupted.isLost)
    let lost = step(30)
    #expect(lost.isLost)
  }

  @Test("a deadline of silence holds for one state, and until a restart is requested")
  func knownDeadline() {
    var monitor = SilenceMonitor()
    let evidence = SilenceMonitor.Evidence(heard: start, hasLocalAddress: true)
    #expect(!monitor.knowsDeadline(in: .connected))
    _ = monitor.poll(evidence, in: .connected, now: start)
    #expect(monitor.knowsDeadline(in: .connected) && !monitor.knowsDeadline(in: .disconnected))
    monitor.requestRestart(.requested)
    #expect(!monitor.knowsDeadline(in: .connected))
    #expect(monitor.deadline(of: evidence, in: .connected) == start)
    let step = monitor.poll(evidence, in: .connected, now: start)
    #expect(step.restart == .requested)
  }

  @Test("a participant who has left is gone after a goodbye, or when nothing has arrived for 2 s")
  func leaving() {
    let goodbye = ByteBuffer(bytes: [0x81, 203, 0, 1, 0, 0, 0, 7])
    var presence = ParticipantPresence()
    presence.controlArrived(goodbye, now: start)
    #expect(presence.hasReceivedBye && presence.deadline == nil && !presence.isGone(now: start + .seconds(60)))
    presence.mediaArrived(now: start + .seconds(1))
    presence.left(now: start + .seconds(2))
    #expect(!presence.hasReceivedBye && presence.deadline == start + .seconds(4))
    presence.dataArrived(now: start + .seconds(3))
    #expect(!presence.isGone(now: start + .seconds(4)) && presence.isGone(now: start + .seconds(5)))
    presence.controlArrived(goodbye, now: start + .seconds(3))
    #expect(presence.isGone(now: start + .seconds(3)))
    presence.returned()
    #expect(!presence.isGone(now: start + .seconds(60)))
  }
}
