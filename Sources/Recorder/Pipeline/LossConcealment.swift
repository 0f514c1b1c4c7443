import Bitstream
import Codecs
import Media
import NIOCore

/// Fills the places of lost audio packets, so that a file plays without a hole.
///
/// The last lost packet is rebuilt from the copy that the packet after it may carry (in-band FEC, RFC 6716, 2.1.7); those
/// before it are concealed by libopus, which carries the last audio on and lets it fade. What comes out is encoded again,
/// each packet for itself, at about the sender's bitrate.
///
/// Nothing is decoded as long as nothing is lost: the last packets are kept, and a fresh decoder and encoder are brought
/// into their state when there is something to repair.
struct LossConcealment: Sendable {
  /// A packet in a lost one's place.
  struct Piece: Sendable, Hashable {
    let frame: EncodedFrame
    let kind: FrameRepair
    /// In ticks of 48 kHz.
    let ticks: Int
  }

  /// The most that is repaired of one hole; the rest of it stays one.
  static let longest = Duration.seconds(5)
  /// Packets that are kept to bring a decoder into their state.
  static let memory = 8

  private struct Packet: Sendable {
    let frame: EncodedFrame
    let shape: OpusPacket
  }

  /// How many packets are to be made, and how long each is.
  private struct Plan {
    let unit: Int
    let concealed: Int
    let isLastCorrected: Bool
  }

  private var recent: [Packet] = []
  private(set) var corrected: UInt64 = 0
  private(set) var concealed: UInt64 = 0

  /// Makes what was lost between the packet before and this one, in order; nothing when nothing was.
  ///
  /// - Parameter limit: at most so much, and never more than ``longest``.
  mutating func take(_ frame: EncodedFrame, shape: OpusPacket, limit: Duration = Self.longest) -> [Piece] {
    let pieces =
      plan(before: frame, shape: shape, limit: min(limit, Self.longest)).flatMap { try? make($0, before: frame) } ?? []
    for piece in pieces {
      switch piece.kind {
      case .corrected: corrected += 1
      case .concealed: concealed += 1
      }
      if let shape = piece.frame.opus { keep(Packet(frame: piece.frame, shape: shape)) }
    }
    keep(Packet(frame: frame, shape: shape))
    return pieces
  }

  private mutating func keep(_ packet: Packet) {
    if recent.count == Self.memory { recent.removeFirst() }
    recent.append(packet)
  }

  /// The hole's length comes from the media times, and is never more than the lost packets can have filled: a silence that
  /// the sender skipped, or a timestamp that is not to be trusted, is not audio to be invented.
  private func plan(before frame: EncodedFrame, shape: OpusPacket, limit: Duration) -> Plan? {
    guard let gap = frame.gap, gap.packetsLost > 0, ![.reconnect, .diskStalled].contains(gap.reason),
      // What was dropped before it came here is repaired as what the network lost; what was dropped here is not.
      gap.reason != .overloaded || gap.framesDropped == 0,
      let last = recent.last, frame.time.rate == last.frame.time.rate
    else { return nil }
    let length = last.shape.duration
    let unit = OpusEncoder.packetLengths.contains(length) ? length : length / last.shape.frames
    guard OpusEncoder.packetLengths.contains(unit) else { return nil }
    let (hole, isTooLong) = frame.time.ticks.subtractingReportingOverflow(last.frame.time.ticks &+ Int64(length))
    guard !isTooLong, hole > 0 else { return nil }
    // A timestamp may be off by a little.
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
  /// Audio before the hole that the encoder hears first, so that it does not start in silence.
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
    // What is decoded of a packet lags behind what was encoded; with that much of a lead it comes out in its place.
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
    // The copy is of the packet right before the next one; with silence in the same hole that is not where the hole begins.
    let ticks =
      isCorrected
      ? next.time.ticks &- Int64(plan.unit)
      : last.frame.time.ticks &+ Int64(last.shape.duration + number * plan.unit)
    var frame = next
    frame.gap = nil
    frame.time = MediaTime(ticks: ticks, rate: next.time.rate)
    frame.payload = payload
    // As if it had taken as long on its way as the packet after it, which the sender's times may put anywhere. But it was sent
    // after the packet before the hole, and arrived at all only if before the one after it.
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
