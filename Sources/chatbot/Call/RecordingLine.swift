import Media
import Recorder
import Synchronization

/// What the recorder is still to do, in order: so that a disk that is slow for a while holds up no answer to a newcomer.
///
/// It is bounded: who puts in more than ``limit`` steps waits until some are done.
final class RecordingLine: Sendable {
  enum Step: Sendable, Hashable {
    case begin(ParticipantID)
    case receive(MediaEvent, of: ParticipantID)
    case end(ParticipantID, LeaveReason)
  }

  /// About a minute of one participant.
  static let limit = 4096

  private let steps: AsyncStream<Step>
  private let input: AsyncStream<Step>.Continuation
  private let waiting = Atomic<Int>(0)

  init() {
    (steps, input) = AsyncStream.makeStream(of: Step.self)
  }

  /// Adds a step behind all others.
  func put(_ step: Step) async {
    waiting.add(1, ordering: .relaxed)
    input.yield(step)
    while waiting.load(ordering: .relaxed) > Self.limit {
      do { try await Task.sleep(for: .milliseconds(10)) } catch { return }
    }
  }

  /// Says that nothing follows.
  func finish() {
    input.finish()
  }

  /// Takes one step after the other, until ``finish()`` and the last one.
  func run(_ take: @Sendable (Step) async -> Void) async {
    for await step in steps {
      await take(step)
      waiting.subtract(1, ordering: .relaxed)
    }
  }
}
