public import Media
internal import NIOCore

/// What happens to all participants, in order; for one reader.
///
/// It is bounded: when 4,096 events wait, media is skipped until fewer than 1,024 do, and video then starts again at a
/// keyframe. What is not media is never skipped.
public struct ParticipantEvents: AsyncSequence, Sendable {
  public typealias Element = ParticipantEvent

  typealias Producer = NIOAsyncSequenceProducer<
    ParticipantEvent, NIOAsyncSequenceProducerBackPressureStrategies.HighLowWatermark, FlowControl
  >

  private let sequence: Producer

  init(_ sequence: Producer) {
    self.sequence = sequence
  }

  public func makeAsyncIterator() -> Iterator {
    Iterator(base: sequence.makeAsyncIterator())
  }

  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let base: Producer.AsyncIterator

    public mutating func next() async -> ParticipantEvent? {
      await base.next()
    }
  }

  /// Tells the event loop that the reader has caught up.
  struct FlowControl: NIOAsyncSequenceProducerDelegate {
    let caughtUp: @Sendable () -> Void

    func produceMore() { caughtUp() }
    func didTerminate() {}
  }
}

/// A ``PeerEvent``, whose it is, and when it happened.
public struct ParticipantEvent: Sendable, Hashable {
  public var participant: ParticipantID
  public var event: PeerEvent
  /// When it happened; anyone who takes it may come to it later.
  public var time: ContinuousClock.Instant { moment.instant }
  private var moment: MonotonicInstant

  public init(participant: ParticipantID, event: PeerEvent, time: ContinuousClock.Instant) {
    self.participant = participant
    self.event = event
    moment = MonotonicInstant(time)
  }
}
