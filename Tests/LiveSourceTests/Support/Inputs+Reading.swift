import Codecs
import Foundation
import LiveSource
import Media

extension CheckedVideo {
  /// Returns all frames of one round, with their times.
  func all(limit: Int = 10_000) throws -> [(time: Int64, videoFrame: VideoFrame)] {
    let input = try open(CameraClock(wallClock: WallClock(moment: .now, secondsSince1970: 0)))
    var videoFrames: [(Int64, VideoFrame)] = []
    while videoFrames.count < limit, let time = try input.peek() {
      try input.advance()
      videoFrames.append((time, try input.videoFrame()))
    }
    return videoFrames
  }
}

extension CheckedAudio {
  /// Returns all samples of one round.
  func all() throws -> [Float] {
    let input = try open(CameraClock(wallClock: WallClock(moment: .now, secondsSince1970: 0)))
    var samples: [Float] = []
    while true {
      let audio = try input.read(1_000)
      samples += audio.samples
      if audio.count < 1_000 { return samples }
    }
  }
}

extension VideoFrame {
  /// All bytes, plane by plane.
  var bytes: [UInt8] { luma + blue + red }
}

/// Returns the peak signal-to-noise ratio of two byte arrays in dB; infinite if they are equal.
func peakSignalToNoise(_ one: [UInt8], _ other: [UInt8]) -> Double {
  guard one.count == other.count, !one.isEmpty else { return 0 }
  var sum = 0
  for index in one.indices {
    let difference = Int(one[index]) - Int(other[index])
    sum += difference * difference
  }
  let mean = Double(sum) / Double(one.count)
  return mean == 0 ? .infinity : 10 * log(255 * 255 / mean) / log(10)
}

/// Returns the signal-to-noise ratio of two sample arrays in dB, relative to the second.
func signalToNoise(_ one: [Float], _ other: [Float]) -> Double {
  let count = min(one.count, other.count)
  var (signal, noise) = (0.0, 0.0)
  for index in 0..<count {
    signal += Double(other[index]) * Double(other[index])
    let difference = Double(one[index] - other[index])
    noise += difference * difference
  }
  return noise == 0 ? .infinity : 10 * log(signal / noise) / log(10)
}

/// Converts little-endian bytes to floats.
func floats(_ bytes: [UInt8]) -> [Float] {
  stride(from: 0, to: bytes.count - 3, by: 4).map { start in
    Float(bitPattern: bytes[start..<start + 4].reversed().reduce(0) { $0 << 8 | UInt32($1) })
  }
}
