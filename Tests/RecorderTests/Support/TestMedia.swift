import Codecs
import Foundation
import Media
import NIOCore
import TestSupport

/// Real bitstreams for a recorder: moving video and a tone, with the times that a test needs.
enum TestMedia {
  /// One encoded frame or packet and its start, in ticks of its clock since the start of the stream.
  struct Piece: Sendable {
    var ticks: Int64
    var payload: ByteBuffer
    var isKeyframe = true
    var size: VideoSize?
    /// Whether it is shown before an earlier one.
    var isReordered = false
  }

  private struct VideoFrameKind: Hashable {
    var size: VideoSize
    var keyframeDistance: Int
  }

  private static let knownVideoFrames = GrowingSequences<VideoFrameKind, Piece?>()
  private static let knownTones = GrowingSequences<Int, Piece>()

  /// A diagonal pattern that moves, at 30 frames a second.
  static func videoFrames(
    _ seconds: Double, size: VideoSize = VideoSize(width: 160, height: 120), keyframeEvery distance: Int = 60
  ) throws -> [Piece] {
    let kind = VideoFrameKind(size: size, keyframeDistance: distance)
    let videoFrames = try knownVideoFrames[
      kind,
      {
        var settings = VP8Encoder.Settings(size: size)
        settings.bitrate = 200_000
        let encoder = try VP8Encoder(settings)
        return { index in
          var videoFrame = VideoFrame(size: size)
          for y in 0..<size.height {
            for x in 0..<size.width {
              videoFrame.luma[y * size.width + x] = UInt8(truncatingIfNeeded: 40 + (x + y + index * 2) % 160)
            }
          }
          let ticks = Int64(index) * 3_000
          let output = try encoder.encode(videoFrame, time: ticks, keyframe: index.isMultiple(of: distance))
          return output.map {
            Piece(ticks: ticks, payload: $0.payload, isKeyframe: $0.isKeyframe, size: $0.isKeyframe ? size : nil)
          }
        }
      }]
    return try videoFrames.prefix(Int(seconds * 30)).compactMap(\.self)
  }

  /// A tone of 440 Hz in packets of 20 ms.
  static func tone(_ seconds: Double, channels: Int = 1) throws -> [Piece] {
    let tone = try knownTones[
      channels,
      {
        var settings = OpusEncoder.Settings()
        settings.channels = channels
        settings.bitrate = 32_000
        settings.isForSpeech = true
        let encoder = try OpusEncoder(settings)
        return { index in
          let samples = (index * 960..<(index + 1) * 960).flatMap { sample in
            [Float](repeating: Float(0.4 * sin(2 * Double.pi * 440 * Double(sample) / 48_000)), count: channels)
          }
          let payload = try encoder.encode(AudioSamples(samples: samples, channels: channels))
          return Piece(ticks: Int64(index) * 960, payload: payload)
        }
      }]
    return try tone.prefix(Int(seconds * 50))
  }
}

/// A participant's media as events with arrival times, composed step by step.
struct Script {
  /// Any instant; tests never read the clock.
  static let beginning = MonotonicInstant.now

  let owner: ParticipantID
  private(set) var events: [(at: MonotonicInstant, event: MediaEvent)] = []

  init(_ owner: String = "anna") {
    self.owner = ParticipantID(owner)
  }

  /// Adds frames.
  ///
  /// - Parameters:
  ///   - stream: the number of the stream that they belong to.
  ///   - begin: when the first is captured, in seconds.
  ///   - base: the media time of the stream's start, in ticks.
  ///   - speed: the speed of the sender's media clock.
  ///   - delay: seconds from capture to arrival, by frame number.
  ///   - orientation: how a frame is turned, by its number.
  mutating func add(
    _ pieces: [TestMedia.Piece], codec: Codec, stream: Int = 1, begin: Double = 0, base: Int64 = 1_000_000,
    speed: Double = 1, delay: (Int) -> Double = { _ in 0.01 },
    orientation: (Int) -> VideoOrientation = { _ in .upright }
  ) {
    for (index, piece) in pieces.enumerated() {
      let captured = begin + Double(piece.ticks) / Double(codec.clockRate)
      let arrival = Self.beginning + .seconds(captured + delay(index))
      let time = MediaTime(
        ticks: base + Int64((Double(piece.ticks) * speed).rounded()), rate: codec.clockRate)
      var frame = EncodedFrame(
        owner: owner, stream: stream, codec: codec, time: time, payload: piece.payload, isKeyframe: piece.isKeyframe,
        size: piece.size, arrival: arrival)
      frame.orientation = orientation(index)
      frame.isReordered = piece.isReordered
      events.append((arrival, .frame(frame)))
    }
  }

  /// Adds sender reports for a stream that was added with the same `begin`, `base` and `speed`.
  ///
  /// - Parameter times: when they are sent, in seconds.
  mutating func addReports(
    _ codec: Codec, stream: Int = 1, at times: [Double], begin: Double = 0, base: Int64 = 1_000_000, speed: Double = 1,
    error: Double = 0
  ) {
    for time in times {
      let arrival = Self.beginning + .seconds(time + 0.01)
      let ticks = base + Int64(((time - begin) * Double(codec.clockRate) * speed).rounded())
      let ntp = UInt64((3_900_000_000 + time + error) * 4_294_967_296)
      events.append(
        (
          arrival,
          .clock(
            ClockReport(
              owner: owner, stream: stream, codec: codec, time: MediaTime(ticks: ticks, rate: codec.clockRate),
              ntp: ntp, arrival: arrival))
        ))
    }
  }

  mutating func add(_ event: MediaEvent, at time: Double) {
    events.append((Self.beginning + .seconds(time), event))
  }

  /// The events in the order of their arrival; those of one track that arrive together stay in decoding order.
  var inOrder: [(at: MonotonicInstant, event: MediaEvent)] {
    events.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }.map(\.element)
  }
}
