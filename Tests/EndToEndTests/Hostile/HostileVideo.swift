import Foundation
import TestSupport

/// IVF files that can be played and are hostile to a decoder.
enum HostileVideo {
  /// Returns keyframes of ten bytes, 100 each second, alternating between two large sizes. A decoder allocates memory for each.
  static func giants() -> Data {
    let frames = (0..<400).map { number in
      keyframeHead(width: number.isMultiple(of: 2) ? 4_080 : 4_096, height: number.isMultiple(of: 2) ? 4_080 : 4_096)
    }
    return file(frames, framesPerSecond: 100)
  }

  /// Returns keyframes of noise with changing sizes.
  static func noise(using generator: inout SeededGenerator) -> Data {
    let frames = (0..<120).map { _ in
      let side = [16, 64, 160, 320].randomElement(using: &generator) ?? 16
      let length = Int.random(in: 0...1_500, using: &generator)
      return keyframeHead(width: side, height: side) + HostileDatagram.noise(length, using: &generator)
    }
    return file(frames, framesPerSecond: 30)
  }

  /// Returns the first bytes of a keyframe (RFC 6386, 9.1), which a receiver inspects.
  private static func keyframeHead(width: Int, height: Int) -> [UInt8] {
    [
      0x10, 0, 0, 0x9D, 0x01, 0x2A, UInt8(width & 0xFF), UInt8(width >> 8), UInt8(height & 0xFF), UInt8(height >> 8),
    ]
  }

  private static func file(_ frames: [[UInt8]], framesPerSecond: UInt32) -> Data {
    var bytes: [UInt8] = Array("DKIF".utf8) + [0, 0, 32, 0] + Array("VP80".utf8) + [16, 0, 16, 0]
    bytes += little(framesPerSecond) + little(1) + little(UInt32(frames.count)) + little(0)
    for (number, frame) in frames.enumerated() {
      bytes += little(UInt32(frame.count)) + little(UInt32(number)) + little(0) + frame
    }
    return Data(bytes)
  }

  private static func little(_ number: UInt32) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
  }
}
