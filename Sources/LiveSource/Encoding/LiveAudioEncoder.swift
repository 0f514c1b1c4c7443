package import Codecs
package import Media

/// Encodes audio to Opus packets of 20 ms, and adapts the bitrate and the error correction to the network path.
///
/// It is used by one thread and never waits.
package final class LiveAudioEncoder {
  /// The length of a packet in ticks of 48 kHz.
  package static let packetTicks = 960

  private static let codec = Codec.opus

  package let channels: Int
  private let owner: ParticipantID
  private let encoder: OpusEncoder
  private var bitrate: Int
  private var tuning = OpusLossTuning()
  /// The samples that do not fill a packet yet.
  private var waiting: [Float] = []
  /// The time of the first waiting sample.
  private var position: Int64?
  /// The time of the first sample of all: packets before it contain only codec delay.
  private var start: Int64 = 0

  /// The maximum gap that is filled with silence, so that packets stay consecutive: one second, in ticks of 48 kHz.
  private static let maximumFill = 48_000

  /// Times are clamped to this, 190,000 years.
  private static let farthest: Int64 = 1 << 58

  /// - Parameters:
  ///   - channels: 1 or 2.
  ///   - bitrate: of the payload, in bits a second.
  package init(
    channels: Int, owner: ParticipantID = ParticipantID(""), bitrate: Int = 48_000
  ) throws(CodecError) {
    var settings = OpusEncoder.Settings()
    settings.channels = channels
    settings.bitrate = bitrate
    self.channels = channels
    self.owner = owner
    self.bitrate = bitrate
    encoder = try OpusEncoder(settings)
  }

  /// Adapts to the network path from now on.
  ///
  /// - Parameters:
  ///   - bitrate: of the payload, in bits a second.
  ///   - fractionLost: the fraction of packets that are lost, 0 to 1.
  package func adapt(toBitrate bitrate: Int, fractionLost: Double, now: ContinuousClock.Instant) throws(CodecError) {
    let bitrate = min(max(6_000, bitrate), 510_000)
    if bitrate != self.bitrate {
      try encoder.setBitrate(bitrate)
      self.bitrate = bitrate
    }
    let before = tuning
    tuning.update(fractionLost: fractionLost, now: now)
    if tuning.correctsErrors != before.correctsErrors { try encoder.setCorrectsErrors(tuning.correctsErrors) }
    if tuning.expectedLoss != before.expectedLoss { try encoder.setExpectedLoss(tuning.expectedLoss) }
  }

  /// Encodes the next audio.
  ///
  /// - Parameters:
  ///   - audio: of any length, with the encoder's number of channels; what does not fill a packet waits for more.
  ///   - time: the time of its first sample in ticks of 48 kHz. Samples before the end of the previous audio are skipped.
  /// - Returns: the packets, each with the time at which its decoded audio begins: the codec's delay is subtracted.
  package func encode(
    _ audio: AudioSamples, time: Int64, now: ContinuousClock.Instant
  ) throws(CodecError) -> [EncodedFrame] {
    guard audio.channels == channels else {
      throw CodecError(
        "encode \(audio.count) ticks of audio", "it has \(audio.channels) channels instead of \(channels)")
    }
    append(audio, at: time)
    var frames: [EncodedFrame] = []
    var used = 0
    let size = Self.packetTicks * channels
    while waiting.count - used >= size, let position {
      let packet = try encoder.encode(AudioSamples(samples: Array(waiting[used..<used + size]), channels: channels))
      used += size
      self.position = position + Int64(Self.packetTicks)
      let heard = position - Int64(encoder.lookahead)
      if heard < start { continue }
      frames.append(
        EncodedFrame(
          owner: owner, codec: Self.codec, time: MediaTime(ticks: heard, rate: Self.codec.clockRate), payload: packet,
          isKeyframe: true, arrival: now))
    }
    waiting.removeFirst(used)
    return frames
  }

  private func append(_ audio: AudioSamples, at time: Int64) {
    let time = min(max(time, -Self.farthest), Self.farthest)
    guard let position else {
      position = time
      start = time
      waiting = audio.samples
      return
    }
    let end = position + Int64(waiting.count / channels)
    if time <= end {
      waiting.append(contentsOf: audio.samples.dropFirst(Int(min(end - time, Int64(audio.count))) * channels))
    } else if time - end <= Int64(Self.maximumFill) {
      waiting.append(contentsOf: [Float](repeating: 0, count: Int(time - end) * channels))
      waiting.append(contentsOf: audio.samples)
    } else {
      self.position = time
      waiting = audio.samples
    }
  }
}

/// Adapts Opus to packet loss: immediately when it is reported, and for some time after it has ended.
package struct OpusLossTuning: Sendable {
  /// The packet loss to prepare for, in per cent.
  package private(set) var expectedLoss = 0
  /// Whether each packet carries a copy of the previous one.
  package private(set) var correctsErrors = false

  /// The loss from which copies are worth their bits, and the loss below which they are not, in per cent.
  private static let worthwhile = 1.0
  private static let notWorthwhile = 0.5
  /// The maximum loss to prepare for: beyond it, the copies would leave no bits for the audio itself.
  private static let maximumLossPercentage = 40.0
  /// The time in which the weight of a reported loss halves, in seconds.
  private static let halfLife = 5.0

  private var loss = 0.0
  private var reported: ContinuousClock.Instant?

  package init() {}

  /// Updates the reported packet loss.
  ///
  /// - Parameter fraction: the fraction of packets lost, 0 to 1.
  package mutating func update(fractionLost fraction: Double, now: ContinuousClock.Instant) {
    let percent = fraction.isFinite ? min(max(0, fraction * 100), Self.maximumLossPercentage) : 0
    let passed = reported.map { max(0, (now - $0).seconds) } ?? 0
    reported = now
    // Approximately halves in `halfLife`, without a power function.
    let kept = loss * Self.halfLife / (Self.halfLife + passed)
    loss = max(percent, kept)
    correctsErrors = correctsErrors ? loss >= Self.notWorthwhile : loss >= Self.worthwhile
    expectedLoss = correctsErrors ? max(1, Int(loss.rounded(.up))) : 0
  }
}
