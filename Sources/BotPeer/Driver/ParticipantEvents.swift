public import Media
internal import NIOCore

/// The events of all participants, in order; for one reader.
///
/// The sequence is bounded: when 4,096 events wait, media is dropped until fewer than 1,024 wait, and video then
/// continues at a keyframe. Other events are never dropped.
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

  /// Notifies the event loop that the reader has caught up.
  struct FlowControl: NIOAsyncSequenceProducerDelegate {
    let consumerCaughtUp: @Sendable () -> Void

    func produceMore() { consumerCaughtUp() }
    func didTerminate() {}
  }
}

/// A `PeerEvent` with its participant and time.
public struct ParticipantEvent: Sendable, Hashable {
  public var participant: ParticipantID
  public var event: PeerEvent
  /// The time of the event, which may be earlier than that of its delivery.
  public var time: ContinuousClock.Instant { moment.instant }
  private var moment: MonotonicInstant

  public init(participant: ParticipantID, event: PeerEvent, time: ContinuousClock.Instant) {
    self.participant = participant
    self.event = event
    moment = MonotonicInstant(time)
  }

  init(participant: ParticipantID, event: PeerEvent, at moment: MonotonicInstant) {
    self.participant = participant
    self.event = event
    self.moment = moment
  }
}
