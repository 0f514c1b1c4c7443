package import Media
package import RTP

/// Notes when each packet of the transport arrived, and tells the sender every 100 ms: its congestion control lives on
/// this (draft-holmer-rmcat-transport-wide-cc-extensions-01).
///
/// Each feedback begins where the last one ended, so that every loss is told. A packet that comes after its place was
/// reported as lost is given by itself; nothing received is ever taken back.
package struct TransportFeedbackRecorder: Sendable {
  /// The time between two feedbacks.
  package static let interval: Duration = .milliseconds(100)
  /// How many numbers are remembered to tell duplicates.
  private static let memory = 1_024

  /// When the next feedback is due; nil while there is nothing to tell.
  package private(set) var deadline: MonotonicInstant?

  private let epoch: MonotonicInstant
  private var builder: TransportFeedbackBuilder
  private var unwrapper = SequenceNumberUnwrapper()
  private var seen = [Int64](repeating: .min, count: TransportFeedbackRecorder.memory)
  private var lastFeedback: MonotonicInstant?

  /// - Parameter epoch: the origin of the reference times; any instant not after the first arrival.
  package init(epoch: MonotonicInstant) {
    builder = TransportFeedbackBuilder(senderSSRC: 0)
    self.epoch = epoch
  }

  /// Notes a packet of any source of the transport, retransmissions and padding included; a second arrival is ignored.
  package mutating func received(sequenceNumber: UInt16, arrival: MonotonicInstant) {
    let sequence = unwrapper.unwrap(sequenceNumber)
    let position = Int(truncatingIfNeeded: sequence) & (Self.memory - 1)
    guard seen[position] != sequence else { return }
    seen[position] = sequence
    builder.add(sequenceNumber: sequenceNumber, arrival: arrival - epoch)
    if deadline == nil { deadline = max(arrival, (lastFeedback ?? arrival) + Self.interval) }
  }

  /// The feedback that is due now, or none.
  ///
  /// - Parameters:
  ///   - senderSSRC: our own source.
  ///   - mediaSSRC: one of the sender's sources: senders look for feedback that names one of theirs.
  package mutating func poll(
    senderSSRC: UInt32, mediaSSRC: UInt32, now: MonotonicInstant
  ) -> [TransportFeedback] {
    guard let due = deadline, due <= now else { return [] }
    deadline = nil
    lastFeedback = now
    builder.senderSSRC = senderSSRC
    builder.mediaSSRC = mediaSSRC
    return builder.build()
  }
}
