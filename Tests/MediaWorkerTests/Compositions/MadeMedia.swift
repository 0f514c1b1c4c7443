import Foundation
import MediaMessages
import MediaWorker
import Testing

/// Frames and sound that tests encode, and files that they write.
enum MadeMedia {
  /// A moving gradient with a square.
  static func paint(_ number: Int64, width: Int, height: Int, into memory: UnsafeMutableRawBufferPointer) {
    let moved = Int(number)
    for y in 0..<height {
      for x in 0..<width { memory[y * width + x] = UInt8(truncatingIfNeeded: 16 + (x + y + 3 * moved) % 200) }
    }
    let left = moved * 2 % (width - 32)
    for y in 16..<48 {
      for x in left..<left + 32 { memory[y * width + x] = 235 }
    }
    let start = width * height
    for index in 0..<2 * (width / 2) * (height / 2) {
      memory[start + index] = UInt8(truncatingIfNeeded: 128 + (index / 7 + moved) % 32)
    }
  }

  static func settings(
    _ codec: TrackCodec, width: Int = 320, height: Int = 180, rate: (Int, Int) = (30, 1), quality: Int = 6,
    maximumBitrate: Int? = nil, keyframeDistance: Int = 60
  ) throws -> CompositionEncoderSettings {
    try #require(
      CompositionEncoderSettings(
        codec: codec, width: width, height: height, numerator: rate.0, denominator: rate.1, quality: quality,
        maximumBitrate: maximumBitrate, keyframeDistance: keyframeDistance))
  }

  /// Encodes frames.
  static func video(
    _ settings: CompositionEncoderSettings, frames: Range<Int64> = 0..<90
  ) throws -> (packets: [EncodedPacket], track: ContainerSettings.Track) {
    let encoder = try CompositionEncoder(settings)
    var packets: [EncodedPacket] = []
    for number in frames {
      packets += try encoder.encode(frame: number) {
        paint(number, width: settings.width, height: settings.height, into: $0)
      }
    }
    packets += try encoder.finish()
    return (packets, encoder.track)
  }

  /// A tone of 440 Hz at the left and 660 Hz at the right, as long as wanted.
  static func tone(samples: Int) -> [Float] {
    (0..<samples).flatMap { index in
      [440.0, 660.0].map { Float(0.25 * sin(2 * Double.pi * $0 * Double(index) / 48_000)) }
    }
  }

  static func sound(
    _ codec: TrackCodec, samples: Int = 144_000
  ) throws -> (packets: [EncodedPacket], track: ContainerSettings.Track) {
    let encoder = try SoundEncoder(try #require(SoundEncoderSettings(codec: codec)))
    var packets = try encoder.encode(tone(samples: samples))
    packets += try encoder.finish()
    return (packets, encoder.track)
  }

  /// Writes a file, the packets in the order of decoding.
  static func write(
    _ settings: ContainerSettings, _ tracks: [[EncodedPacket]], to path: String
  ) throws {
    let descriptor = open(path, O_RDWR | O_CREAT | O_TRUNC, 0o600)
    try #require(descriptor >= 0)
    defer { close(descriptor) }
    let writer = try ContainerWriter(descriptor: descriptor, settings)
    let all = tracks.enumerated().flatMap { index, packets in
      let track = settings.tracks[index]
      return packets.map { (Double($0.dts) * Double(track.unitNumerator) / Double(track.unitDenominator), index, $0) }
    }
    for (_, index, packet) in all.sorted(by: { ($0.0, $0.1) < ($1.0, $1.1) }) { try writer.write(packet, track: index) }
    try writer.finish()
  }
}

/// A folder that ends with the test.
final class TemporaryFolder {
  let path: String

  init() throws {
    path = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func file(_ name: String) -> String { path + "/" + name }
}
