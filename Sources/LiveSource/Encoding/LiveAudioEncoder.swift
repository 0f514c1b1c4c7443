package import Codecs
package import Media

/// Makes Opus packets of 20 ms of audio, with as many bits and as much care for losses as the line requests.
///
/// One thread calls it. It waits for nothing.
package final class LiveAudioEncoder {
  /// The ticks of 48 kHz in a packet.
  package static let packetTicks = 960

  package let channels: Int
  private let owner: ParticipantID
  private let encoder: OpusEncoder
  private var bitrate: Int
  private var tuning = OpusLossTuning()
  /// Audio that does not fill a packet yet.
  private var waiting: [Float] = []
  /// The time of the first sample that waits.
  private var position: Int64?
  /// The time of the very first sample: packets before it are codec delay and nothing else.
  private var start: Int64 = 0

  /// A hole in the audio up to this length is filled with silence, so that packets follow each other.
  private static let maximumFill = 48_000

  /// Times beyond this, 190,000 years, are held to it.
  private static let farthest: Int64 = 1 << 58

  /// - Parameters:
  ///   - channels: 1 or 2.
  ///   - bitrate: bits a second of payload.
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

  /// What the path carries and loses from now on.
  ///
  /// - Parameters:
  ///   - bitrate: bits a second of payload.
  ///   - fractionLost: the share of packets that is lost, 0 to 1.
  package func adapt(toBitrate bitrate: Int, fractionLost: Double, now: ContinuousClock.Instant) throws(CodecError) {
    let bitrate = min(max(6_000, bitrate), 510_000)
    if bitrate != self.bitrate {
      try encoder.setBitrate(bitrate)
      self.bitrate = bitrate
    }
    let before = tuning
    tuning.follow(fractionLost: fractionLost, now: now)
    if tuning.correctsErrors != before.correctsErrors { try encoder.setCorrectsErrors(tuning.correctsErrors) }
    if tuning.expectedLoss != before.expectedLoss { try encoder.setExpectedLoss(tuning.expectedLoss) }
  }

  /// Makes packets of the next audio.
  ///
  /// - Parameters:
  ///   - audio: of any length, with the encoder's channels; what does not fill a packet waits for more.
  ///   - time: of its first sample, in ticks of 48 kHz. What lies before the end of the audio before is skipped.
  /// - Returns: the packets, each with the time at which its decoded audio begins: the codec's delay is taken off.
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
          owner: owner, codec: .opus, time: MediaTime(ticks: heard, rate: Codec.opus.clockRate), payload: packet,
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
