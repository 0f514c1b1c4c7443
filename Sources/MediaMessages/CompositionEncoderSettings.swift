/// How the frames of a composition are encoded: at constant quality, with as much delay as the encoder wants, and always with the same
/// number of threads, so that the same frames give the same bytes on each machine.
package struct CompositionEncoderSettings: Sendable, Hashable {
  /// A codec of video.
  package let codec: TrackCodec
  /// 2 to 4096, even; at most 3840x2160 pixels.
  package let width: Int
  package let height: Int
  /// Frames in a second, as a fraction.
  package let numerator: Int
  package let denominator: Int
  /// 1 to 10; ``standardQuality`` is like a constant rate factor of 23 of x264.
  package let quality: Int
  /// Bits a second, over 2 s; nil without a limit.
  package let maximumBitrate: Int?
  /// The maximum distance between keyframes, in frames.
  package let keyframeDistance: Int

  package static let standardQuality = 6
  package static let maximumBitrates = 10_000...1_000_000_000

  /// Nil unless all is within the limits.
  package init?(
    codec: TrackCodec, width: Int, height: Int, numerator: Int, denominator: Int = 1,
    quality: Int = standardQuality, maximumBitrate: Int? = nil, keyframeDistance: Int
  ) {
    guard codec.kind == .video, (2...MediaLimits.side).contains(width), (2...MediaLimits.side).contains(height),
      width.isMultiple(of: 2), height.isMultiple(of: 2), width * height <= TrackEncoderRequest.maximumPixels,
      (1...1_000_000).contains(numerator), (1...1_000_000).contains(denominator), (1...10).contains(quality),
      maximumBitrate.map(Self.maximumBitrates.contains) ?? true, (1...100_000).contains(keyframeDistance)
    else { return nil }
    self.codec = codec
    self.width = width
    self.height = height
    self.numerator = numerator
    self.denominator = denominator
    self.quality = quality
    self.maximumBitrate = maximumBitrate
    self.keyframeDistance = keyframeDistance
  }

  /// The size of a frame in bytes: I420 without padding.
  package var frameBytes: Int { width * height + 2 * (width / 2) * (height / 2) }

  init(_ cursor: inout MessageCursor) throws(MessageError) {
    guard let codec = TrackCodec(rawValue: try cursor.byte()) else { throw MessageError("there is no such codec") }
    var numbers: [Int] = []
    for _ in 0..<7 { numbers.append(Int(try cursor.number())) }
    guard
      let settings = CompositionEncoderSettings(
        codec: codec, width: numbers[0], height: numbers[1], numerator: numbers[2], denominator: numbers[3],
        quality: numbers[4], maximumBitrate: numbers[5] == 0 ? nil : numbers[5], keyframeDistance: numbers[6])
    else { throw MessageError("the settings of an encoder are not within the limits") }
    self = settings
  }

  func write(to writer: inout MessageWriter) {
    writer.byte(codec.rawValue)
    for number in [width, height, numerator, denominator, quality, maximumBitrate ?? 0, keyframeDistance] {
      writer.number(number)
    }
  }
}

/// How the sound of a composition is encoded. The input has 48 kHz.
package struct SoundEncoderSettings: Sendable, Hashable {
  /// `aac` (AAC-LC) or `opus`.
  package let codec: TrackCodec
  /// Bits a second.
  package let bitrate: Int
  /// 1 or 2.
  package let channels: Int

  package static let codecs: [TrackCodec] = [.aac, .opus]
  package static let standardBitrate = 128_000
  package static let rate = 48_000

  /// Nil unless all is within the limits.
  package init?(codec: TrackCodec, bitrate: Int = standardBitrate, channels: Int = 2) {
    guard Self.codecs.contains(codec), (16_000...512_000).contains(bitrate), (1...2).contains(channels) else {
      return nil
    }
    self.codec = codec
    self.bitrate = bitrate
    self.channels = channels
  }

  init(_ cursor: inout MessageCursor) throws(MessageError) {
    guard let codec = TrackCodec(rawValue: try cursor.byte()),
      let settings = SoundEncoderSettings(
        codec: codec, bitrate: Int(try cursor.number()), channels: Int(try cursor.number()))
    else { throw MessageError("the settings of an encoder are not within the limits") }
    self = settings
  }

  func write(to writer: inout MessageWriter) {
    writer.byte(codec.rawValue)
    writer.number(bitrate)
    writer.number(channels)
  }
}
