package import Media
package import RTP

/// Records when each packet of the transport arrived, and reports to the sender every 100 ms: its congestion control
/// depends on this (draft-holmer-rmcat-transport-wide-cc-extensions-01).
///
/// Each feedback packet begins where the last one ended, so that every loss is reported. A packet that arrives after it was
/// reported as lost is reported individually; a received packet is never reported as lost later.
package struct TransportFeedbackRecorder: Sendable {
  /// The time between two feedback packets.
  package static let interval: Duration = .milliseconds(100)
  /// How many sequence numbers are remembered to detect duplicates.
  private static let memory = 1_024

  /// When the next feedback packet is due; nil while there is nothing to report.
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

  /// Records a packet of any source of the transport, retransmissions and padding included; a duplicate is ignored.
  package mutating func received(sequenceNumber: UInt16, arrival: MonotonicInstant) {
    let sequence = unwrapper.unwrap(sequenceNumber)
    let position = Int(truncatingIfNeeded: sequence) & (Self.memory - 1)
    guard seen[position] != sequence else { return }
    seen[position] = sequence
    builder.add(sequenceNumber: sequenceNumber, arrival: arrival - epoch)
    if deadline == nil { deadline = max(arrival, (lastFeedback ?? arrival) + Self.interval) }
  }

  /// Returns the feedback packets that are due now.
  ///
  /// - Parameters:
  ///   - senderSSRC: our own SSRC.
  ///   - mediaSSRC: one of the sender's SSRCs: senders accept only feedback that refers to one of theirs.
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
