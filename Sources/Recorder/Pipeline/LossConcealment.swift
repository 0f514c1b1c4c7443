package import Bitstream
import Codecs
package import Media
import NIOCore

/// Generates packets to replace lost audio, so that a file plays without a gap.
///
/// The last lost packet is reconstructed from the copy that the following packet may contain (in-band FEC, RFC 6716,
/// 2.1.7). Libopus conceals those before it: it continues the last audio and fades it out. The result is encoded again,
/// each packet independently, at about the sender's bitrate.
///
/// Nothing is decoded as long as nothing is lost: the last packets are kept, and a new decoder and encoder are primed
/// with them when there is something to repair.
package struct LossConcealment: Sendable {
  /// A packet that replaces a lost one.
  package struct Piece: Sendable, Hashable {
    package let frame: EncodedFrame
    package let kind: FrameRepair
    /// The duration in ticks of 48 kHz.
    package let ticks: Int
  }

  /// The maximum length that is repaired of one gap; the rest stays a gap.
  package static let maximumDuration = Duration.seconds(5)
  /// The number of packets that are kept to prime a decoder.
  static let memory = 8

  private struct Packet: Sendable {
    let frame: EncodedFrame
    let shape: OpusPacket
  }

  /// How many packets to generate, and the length of each.
  private struct Plan {
    let unit: Int
    let concealed: Int
    let isLastCorrected: Bool
  }

  private var recent: [Packet] = []
  private(set) var corrected: UInt64 = 0
  private(set) var concealed: UInt64 = 0

  package init() {}

  /// Returns replacements, in order, for the packets lost between the previous packet and this one; empty when none
  /// were lost.
  ///
  /// - Parameter limit: the maximum length to generate; never more than ``maximumDuration``.
  package mutating func take(
    _ frame: EncodedFrame, shape: OpusPacket, limit: Duration = Self.maximumDuration
  ) -> [Piece] {
    let pieces =
      plan(before: frame, shape: shape, limit: min(limit, Self.maximumDuration)).flatMap {
        try? make($0, before: frame)
      } ?? []
    for piece in pieces {
      switch piece.kind {
      case .corrected: corrected += 1
      case .concealed: concealed += 1
      }
      if let shape = piece.frame.header.opus { keep(Packet(frame: piece.frame, shape: shape)) }
    }
    keep(Packet(frame: frame, shape: shape))
    return pieces
  }

  /// Forgets the last packets, since packets of another codec follow.
  mutating func forget() {
    if !recent.isEmpty { recent = [] }
  }

  private mutating func keep(_ packet: Packet) {
    if recent.count == Self.memory { recent.removeFirst() }
    recent.append(packet)
  }

  /// Plans the repair. The gap's length is taken from the media times, but is never more than the lost packets can have
  /// filled: silence that the sender skipped, or an unreliable timestamp, is not audio to be generated.
  private func plan(before frame: EncodedFrame, shape: OpusPacket, limit: Duration) -> Plan? {
    guard let gap = frame.gap, gap.packetsLost > 0,
      ![.streamEnded, .reconnect, .diskStalled, .memoryFull, .paused].contains(gap.reason),
      // Packets dropped before they reached the recorder are repaired like network loss; frames that the recorder
      // dropped are not.
      gap.reason != .overloaded || gap.framesDropped == 0,
      let last = recent.last, frame.time.rate == last.frame.time.rate
    else { return nil }
    let length = last.shape.duration
    let unit = OpusEncoder.packetLengths.contains(length) ? length : length / last.shape.frames
    guard OpusEncoder.packetLengths.contains(unit) else { return nil }
    let (hole, isTooLong) = frame.time.ticks.subtractingReportingOverflow(last.frame.time.ticks &+ Int64(length))
    guard !isTooLong, hole > 0 else { return nil }
    // A timestamp may be slightly off.
    let room = (hole &+ Int64(unit / 4)) / Int64(unit)
    let lost = Int64(min(gap.packetsLost, 1 << 20)) * Int64(length / unit)
    let missing = min(room, lost)
    let count = Int(min(missing, limit.opusTicks / Int64(unit)))
    guard count > 0 else { return nil }
    let isLastCorrected = Int64(count) == missing && shape.carriesCopy
    return Plan(unit: unit, concealed: isLastCorrected ? count - 1 : count, isLastCorrected: isLastCorrected)
  }
}

extension LossConcealment {
  /// Audio before the gap that the encoder processes first, so that it does not start from silence.
  private static let leadIn = 1_920

  private func make(_ plan: Plan, before next: EncodedFrame) throws(CodecError) -> [Piece] {
    guard let last = recent.last else { return [] }
    let channels = last.shape.channels
    let decoder = try OpusDecoder(channels: channels)
    var samples: [Float] = []
    for packet in recent { samples += try decoder.decode(packet.frame.payload).samples }
    let units = plan.concealed + (plan.isLastCorrected ? 1 : 0)
    let leadUnits = min((Self.leadIn + plan.unit - 1) / plan.unit, samples.count / (plan.unit * channels))
    samples.removeFirst(samples.count - leadUnits * plan.unit * channels)
    for _ in 0..<plan.concealed { samples += try decoder.conceal(duration: plan.unit).samples }
    if plan.isLastCorrected { samples += try decoder.recover(duration: plan.unit, before: next.payload).samples }
    samples += try decoder.decode(next.payload).samples

    let encoder = try OpusEncoder(settings(channels: channels))
    // Decoded audio lags behind the encoder's input by the lookahead; starting that much later compensates for it.
    var position = encoder.lookahead * channels
    var pieces: [Piece] = []
    for index in 0..<(leadUnits + units) {
      var part = Array(samples.dropFirst(position).prefix(plan.unit * channels))
      part += [Float](repeating: 0, count: plan.unit * channels - part.count)
      position += part.count
      let payload = try encoder.encode(AudioSamples(samples: part, channels: channels))
      if index < leadUnits { continue }
      pieces.append(piece(payload, number: index - leadUnits, of: plan, after: last, before: next))
    }
    return pieces
  }

  private func piece(
    _ payload: ByteBuffer, number: Int, of plan: Plan, after last: Packet, before next: EncodedFrame
  ) -> Piece {
    let isCorrected = number == plan.concealed
    // The copy is of the packet right before the next one. With silence in the same gap, that is not where the gap
    // starts.
    let ticks =
      isCorrected
      ? next.time.ticks &- Int64(plan.unit)
      : last.frame.time.ticks &+ Int64(last.shape.duration + number * plan.unit)
    var frame = next
    frame.gap = nil
    frame.time = MediaTime(ticks: ticks, rate: next.time.rate)
    frame.payload = payload
    // As if it had had the same network delay as the packet after it. The sender's times are not reliable, so the
    // result is limited: it was sent after the packet before the gap, and is only useful if it arrived before the
    // packet after it.
    let arrival = next.arrived - next.time.duration(since: frame.time)
    frame.arrived = min(max(arrival, last.frame.arrived), max(next.arrived, last.frame.arrived))
    return Piece(frame: frame, kind: isCorrected ? .corrected : .concealed, ticks: plan.unit)
  }

  private func settings(channels: Int) -> OpusEncoder.Settings {
    let bytes = recent.reduce(0) { $0 + $1.frame.payload.readableBytes }
    let ticks = recent.reduce(0) { $0 + $1.shape.duration }
    var settings = OpusEncoder.Settings()
    settings.channels = channels
    settings.bitrate = min(max(bytes * 8 * AudioSamples.rate / max(1, ticks), 24_000 * channels), 256_000)
    settings.predicts = false
    return settings
  }
}
