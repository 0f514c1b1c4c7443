import Codecs
import Media
import NIOCore
import Pattern

/// Paints and encodes the test pattern as a user sends it.
final class PatternCamera: SentTrack {
  private let video: SentVideo
  private let clock: SenderClock
  private let pattern: UInt16
  /// When it is sent, in seconds of the call.
  private let span: Range<Double>
  private var encoder: VideoEncoder?
  private var painter: PatternPainter?
  /// The size of the frames that are encoded.
  private var encodedSize: VideoSize?
  /// The number of the next frame since the beginning of the call.
  private var next: Int
  /// The frames that were not sent since the last one, and why.
  private var missing: (gap: SentGap, frames: Int)?
  /// The video of a span in a codec that is not encoded live.
  private struct StoredSpan {
    let codec: Codec
    /// The number of the first frame.
    let first: Int
    let end: Double
    let frames: [ByteBuffer]
  }

  private var stored: StoredSpan?
  /// The orientation of the last frame.
  private var orientation = VideoOrientation.upright

  init(_ video: SentVideo, clock: SenderClock, pattern: UInt16, stay: Range<Double>) {
    self.video = video
    self.clock = clock
    self.pattern = pattern
    span = (video.span ?? stay).clamped(to: stay)
    next = Int((clock.reading(at: span.lowerBound) * Double(video.framesPerSecond)).rounded(.up))
  }

  var codec: Codec { video.codec }

  func pieces(before time: Double) throws -> [SentPiece] {
    var pieces: [SentPiece] = []
    while true {
      let reading = Double(next) / Double(video.framesPerSecond)
      let captured = clock.time(of: reading)
      guard captured < min(time, span.upperBound) else { return pieces }
      if let piece = try piece(next, reading: reading, at: captured) { pieces.append(piece) }
      next += 1
    }
  }

  private func piece(_ number: Int, reading: Double, at time: Double) throws -> SentPiece? {
    if let gap = video.gaps.first(where: { $0.span.contains(time) }) {
      missing = (gap, (missing?.frames ?? 0) + 1)
      return nil
    }
    if let slow = video.slow, slow.contains(time), !number.isMultiple(of: video.framesPerSecond) { return nil }
    let change = video.changes.last { $0.at <= time }
    let (codec, size) = (change?.codec ?? video.codec, change?.size ?? video.size)
    let orientation = change?.orientation ?? .upright
    // To mirror and to turn is its own inverse.
    let camera = orientation.isMirrored ? orientation : VideoOrientation(quarterTurns: -orientation.rotation / 90)
    let sentSize = camera.size(of: size)
    if painter?.size != size { painter = PatternPainter(size: size, streamID: pattern) }
    // A recorder requests a keyframe when the orientation changes.
    let isTurned = orientation != self.orientation
    self.orientation = orientation
    let ticks = Int64((reading * Double(VideoEncoder.rate)).rounded())
    let encoded: (payload: ByteBuffer, isKeyframe: Bool)?
    if Codec.encodedLive.contains(codec) {
      if encoder?.codec != codec || encodedSize != sentSize {
        encoder = try VideoEncoder(codec, settings(sentSize))
        encodedSize = sentSize
      }
      let isFirst = missing != nil || isTurned || number.isMultiple(of: video.keyframeDistance)
      encoded = try frame(number, turned: camera).flatMap { try encoder?.encode($0, time: ticks, keyframe: isFirst) }
        .map { ($0.payload, $0.isKeyframe) }
    } else {
      encoder = nil
      let end = video.changes.first { $0.at > time }?.at ?? span.upperBound
      encoded = try stored(number, codec: codec, until: end, turned: camera)
    }
    guard var output = encoded else { return nil }
    if let damaged = video.damaged, damaged.contains(time) {
      output.payload = Self.damaged(output.payload, by: UInt64(number))
    }
    defer { missing = nil }
    return SentPiece(
      time: time, ticks: ticks, codec: codec, payload: output.payload, isKeyframe: output.isKeyframe,
      size: output.isKeyframe ? sentSize : nil, orientation: orientation,
      gap: missing.map { $0.gap.reported($0.frames) })
  }

  /// Returns the frame with a number as the camera sends it.
  private func frame(_ number: Int, turned camera: VideoOrientation) throws -> VideoFrame? {
    let shown = clock.shown(at: Double(number) / Double(video.framesPerSecond))
    return try painter?.videoFrame(frame: UInt32(truncatingIfNeeded: number), time: UInt64(clamping: shown))
      .turned(camera)
  }

  /// Returns the frame with a number in a codec that is not encoded live. The first of a span has all of the span encoded.
  ///
  /// - Parameter end: The end of the span, in seconds of the call.
  private func stored(
    _ number: Int, codec: Codec, until end: Double, turned camera: VideoOrientation
  ) throws -> (payload: ByteBuffer, isKeyframe: Bool)? {
    if stored?.codec != codec || stored?.end != end {
      var frames: [VideoFrame] = []
      while clock.time(of: Double(number + frames.count) / Double(video.framesPerSecond)) < end,
        let frame = try frame(number + frames.count, turned: camera)
      { frames.append(frame) }
      let stream = try SpanEncoding.stream(
        of: frames, codec: codec, framesPerSecond: video.framesPerSecond, keyframeDistance: video.keyframeDistance)
      stored = StoredSpan(codec: codec, first: number, end: end, frames: stream)
    }
    guard let stored, stored.frames.indices.contains(number - stored.first) else { return nil }
    let payload = stored.frames[number - stored.first]
    return (payload, codec.properties.bitstream?.header(of: payload)?.isKeyframe ?? false)
  }

  private func settings(_ size: VideoSize) -> VideoEncoder.Settings {
    var settings = VideoEncoder.Settings(size: size)
    settings.bitrate = video.bitrate
    settings.framesPerSecond = video.framesPerSecond
    settings.keyframeDistance = video.keyframeDistance
    settings.choosesKeyframes = false
    return settings
  }

  /// Returns a frame of which each hundredth byte or so has another value. Its headers stay.
  private static func damaged(_ payload: ByteBuffer, by seed: UInt64) -> ByteBuffer {
    var bytes = Array(payload.readableBytesView)
    var generator = SplitMix64(seed: seed)
    var position = 64
    while position < bytes.count {
      bytes[position] ^= UInt8(truncatingIfNeeded: generator.next()) | 1
      position += Int(generator.next() % 200) + 1
    }
    return ByteBuffer(bytes: bytes)
  }
}
