import Codecs
import Foundation
package import Media
import NIOCore

/// The media that a participant sends in a call: moving frames and a tone, optionally with defects.
package struct SyntheticPeer {
  package static let size = VideoSize(width: 64, height: 48)

  package var id: String
  package var stream: Int
  package var seconds: Double
  /// When video and audio begin, in seconds of the call.
  package var videoFramesFrom: Double
  package var audioFrom: Double
  /// The intervals of the call, in seconds, in which packets are lost permanently, frames are black, and audio is silent.
  package var lostVideoFrames: Range<Double>?
  package var lostAudio: Range<Double>?
  package var black: Range<Double>?
  package var silent: Range<Double>?
  /// The keyframe interval, in frames.
  private let keyframeDistance = 30

  package init(
    id: String = "anna", stream: Int = 1, seconds: Double = 6, videoFramesFrom: Double = 0, audioFrom: Double = 0,
    lostVideoFrames: Range<Double>? = nil, lostAudio: Range<Double>? = nil, black: Range<Double>? = nil,
    silent: Range<Double>? = nil
  ) {
    self.id = id
    self.stream = stream
    self.seconds = seconds
    self.videoFramesFrom = videoFramesFrom
    self.audioFrom = audioFrom
    self.lostVideoFrames = lostVideoFrames
    self.lostAudio = lostAudio
    self.black = black
    self.silent = silent
  }

  /// A media event and its arrival time in seconds of the call.
  package typealias Arrival = (at: Double, event: MediaEvent)

  /// Any instant works, because no test reads the clock.
  package static let beginning = ContinuousClock.now

  package static func instant(_ seconds: Double) -> ContinuousClock.Instant {
    beginning + .microseconds(Int64((seconds * 1e6).rounded()))
  }

  package func arrivals() throws -> [Arrival] {
    let all = try videoFrames() + audio() + reports
    return all.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }.map(\.element)
  }

  private func isIn(_ range: Range<Double>?, _ time: Double) -> Bool { range?.contains(time) ?? false }

  private func frame(
    _ codec: Codec, ticks: Int64, payload: ByteBuffer, isKeyframe: Bool, lost: Int, at time: Double
  ) -> Arrival {
    var frame = EncodedFrame(
      owner: ParticipantID(id), stream: stream, codec: codec,
      time: MediaTime(ticks: ticks + 1_000_000, rate: codec.clockRate),
      payload: payload, isKeyframe: isKeyframe, size: isKeyframe && codec == .vp8 ? Self.size : nil,
      arrival: Self.instant(time + 0.01))
    if lost > 0 { frame.gap = MediaGap(.lost, packetsLost: lost) }
    return (time + 0.01, .frame(frame))
  }

  private func videoFrames() throws -> [Arrival] {
    guard videoFramesFrom < seconds else { return [] }
    var settings = VP8Encoder.Settings(size: Self.size)
    settings.bitrate = 150_000
    let encoder = try VP8Encoder(settings)
    var arrivals: [Arrival] = []
    var lost = 0
    for number in 0..<Int(((seconds - videoFramesFrom) * 30).rounded()) {
      let time = videoFramesFrom + Double(number) / 30
      if isIn(lostVideoFrames, time) {
        lost += 1
        continue
      }
      var videoFrame = VideoFrame(size: Self.size)
      if !isIn(black, time) {
        for y in 0..<Self.size.height {
          for x in 0..<Self.size.width {
            videoFrame.luma[y * Self.size.width + x] = UInt8(truncatingIfNeeded: 60 + (x + y + number * 4) % 128)
          }
        }
      }
      let ticks = Int64(number) * 3_000
      let isKeyframe = lost > 0 || number.isMultiple(of: keyframeDistance)
      guard let output = try encoder.encode(videoFrame, time: ticks, keyframe: isKeyframe) else { continue }
      arrivals.append(
        frame(.vp8, ticks: ticks, payload: output.payload, isKeyframe: output.isKeyframe, lost: lost, at: time))
      lost = 0
    }
    return arrivals
  }

  private func audio() throws -> [Arrival] {
    guard audioFrom < seconds else { return [] }
    var settings = OpusEncoder.Settings()
    settings.channels = 1
    settings.bitrate = 32_000
    let encoder = try OpusEncoder(settings)
    var arrivals: [Arrival] = []
    var lost = 0
    for number in 0..<Int(((seconds - audioFrom) * 50).rounded()) {
      let time = audioFrom + Double(number) / 50
      let loudness = isIn(silent, time) ? 0 : 0.3
      let samples = (number * 960..<(number + 1) * 960).map { sample in
        Float(loudness * sin(2 * Double.pi * 440 * Double(sample) / 48_000))
      }
      let payload = try encoder.encode(AudioSamples(samples: samples, channels: 1))
      if isIn(lostAudio, time) {
        lost += 1
        continue
      }
      arrivals.append(
        frame(.opus, ticks: Int64(number) * 960, payload: payload, isKeyframe: true, lost: lost, at: time))
      lost = 0
    }
    return arrivals
  }

  /// A sender report for each track, so that the recorder need not buffer for long.
  private var reports: [Arrival] {
    [(Codec.vp8, videoFramesFrom), (Codec.opus, audioFrom)].filter { $0.1 < seconds }.map { codec, begin in
      let time = begin + 0.3
      let ticks = 1_000_000 + Int64(0.3 * Double(codec.clockRate))
      let report = ClockReport(
        owner: ParticipantID(id), stream: stream, codec: codec, time: MediaTime(ticks: ticks, rate: codec.clockRate),
        ntp: UInt64((3_900_000_000 + time) * 4_294_967_296), arrival: Self.instant(time + 0.01))
      return (time + 0.01, .clock(report))
    }
  }
}
