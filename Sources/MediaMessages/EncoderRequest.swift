/// What the encoder of H.264 in a worker is asked. There is one in a worker.
package enum EncoderRequest: Sendable, Hashable {
  /// Creates an encoder, in place of an earlier one.
  case open(EncoderSettings)
  /// Encodes a frame: I420 at the start of the shared memory, the planes one after the other without padding.
  ///
  /// - Parameters:
  ///   - time: in ticks of 90 kHz, above that of the last frame.
  ///   - bitrate: from this frame on, in bits a second.
  case encode(time: Int64, bitrate: Int, isKeyframe: Bool)

  init(_ cursor: inout MessageCursor) throws(MessageError) {
    switch try cursor.byte() {
    case 1: self = .open(try EncoderSettings(&cursor))
    case 2:
      self = .encode(
        time: try cursor.time(), bitrate: try cursor.number(upTo: EncoderSettings.maximumBitrate),
        isKeyframe: try cursor.flag())
    default: throw MessageError("there is no such request for an encoder")
    }
  }

  func write(to writer: inout MessageWriter) {
    switch self {
    case .open(let settings):
      writer.byte(1)
      settings.write(to: &writer)
    case .encode(let time, let bitrate, let isKeyframe):
      writer.byte(2)
      writer.time(time)
      writer.number(bitrate)
      writer.flag(isKeyframe)
    }
  }
}

/// How frames are encoded as H.264: constrained baseline, without delay, without B-frames.
package struct EncoderSettings: Sendable, Hashable {
  /// 2 to 4096, even.
  package let width: Int
  package let height: Int
  /// Frames in 1,000 s.
  package let millihertz: Int
  /// Bits a second.
  package let bitrate: Int
  /// The maximum distance between keyframes, in frames; 0 for keyframes on request only.
  package let keyframeDistance: Int
  /// The bits that a frame may take beyond its share, in milliseconds at the bitrate.
  package let bufferMilliseconds: Int
  /// Whether to spend more time for quality.
  package let isCareful: Bool

  package static let maximumBitrate = 1_000_000_000

  /// Nil unless all is within the limits.
  package init?(
    width: Int, height: Int, millihertz: Int, bitrate: Int, keyframeDistance: Int, bufferMilliseconds: Int,
    isCareful: Bool
  ) {
    guard (2...MediaLimits.side).contains(width), (2...MediaLimits.side).contains(height), width.isMultiple(of: 2),
      height.isMultiple(of: 2), (1...1_000_000).contains(millihertz), (1_000...Self.maximumBitrate).contains(bitrate),
      (0...1_000_000).contains(keyframeDistance), (1...10_000).contains(bufferMilliseconds)
    else { return nil }
    self.width = width
    self.height = height
    self.millihertz = millihertz
    self.bitrate = bitrate
    self.keyframeDistance = keyframeDistance
    self.bufferMilliseconds = bufferMilliseconds
    self.isCareful = isCareful
  }

  init(_ cursor: inout MessageCursor) throws(MessageError) {
    var numbers: [Int] = []
    for _ in 0..<6 { numbers.append(Int(try cursor.number())) }
    guard
      let settings = EncoderSettings(
        width: numbers[0], height: numbers[1], millihertz: numbers[2], bitrate: numbers[3],
        keyframeDistance: numbers[4], bufferMilliseconds: numbers[5], isCareful: try cursor.flag())
    else { throw MessageError("the settings of an encoder are not within the limits") }
    self = settings
  }

  func write(to writer: inout MessageWriter) {
    for number in [width, height, millihertz, bitrate, keyframeDistance, bufferMilliseconds] { writer.number(number) }
    writer.flag(isCareful)
  }
}

/// An encoded frame at the start of the shared memory, each NAL unit after its length in 4 bytes.
package struct EncoderOutput: Sendable, Hashable {
  package let bytes: Int
  package let isKeyframe: Bool
  /// The average quantizer, 0 to 51.
  package let quantizer: Int

  package init(bytes: Int, isKeyframe: Bool, quantizer: Int) {
    self.bytes = bytes
    self.isKeyframe = isKeyframe
    self.quantizer = quantizer
  }

  init(_ cursor: inout MessageCursor) throws(MessageError) {
    bytes = try cursor.number(upTo: MediaLimits.frameBytes)
    isKeyframe = try cursor.flag()
    quantizer = try cursor.number(upTo: 51)
  }

  func write(to writer: inout MessageWriter) {
    writer.number(bytes)
    writer.flag(isKeyframe)
    writer.number(quantizer)
  }
}
