import Codecs
import Foundation
import Media
import NIOCore
import Pattern
import TestSupport

/// The frames and the marks of the test pattern in recorded files.
///
/// Files are decoded into a folder of the caller, because those in a store must not change.
enum RecordedPattern {
  /// A frame that could be read.
  struct Frame: Sendable, Hashable {
    let number: Int
    /// When it was painted, in seconds since 1970.
    let time: Double
    /// How many frames directly before it in the file could not be read: an encoder with few bits blurs them.
    let unreadable: Int
  }

  /// A mark that could be read.
  struct Mark: Sendable, Hashable {
    /// The second since 1970 that it says.
    let second: Double
    /// Where it begins, in seconds of decoded audio.
    let position: Double
  }

  struct NotDecoded: Error, CustomStringConvertible {
    let file: String
    let errors: String

    var description: String { "\(file) cannot be decoded: \(errors)" }
  }

  /// Returns the frames of a file, in its order. Frames that are damaged or blurred, or show no pattern, are only counted.
  ///
  /// - Parameters:
  ///   - size: to which frames are scaled before they are read.
  ///   - scratch: a folder for temporary files.
  static func frames(in file: URL, size: VideoSize, scratch: URL) throws -> [Frame] {
    let raw = scratch.appendingPathComponent("\(UUID().uuidString).gray")
    defer { try? FileManager.default.removeItem(at: raw) }
    try decode(
      file, to: raw,
      [
        "-map", "0:v", "-fps_mode", "passthrough", "-s", "\(size.width)x\(size.height)", "-f", "rawvideo", "-pix_fmt",
        "gray",
      ])
    let reader = PatternReader()
    let length = size.width * size.height
    let input = try FileHandle(forReadingFrom: raw)
    defer { try? input.close() }
    var frames: [Frame] = []
    var unreadable = 0
    while let bytes = try input.read(upToCount: length), bytes.count == length {
      var frame = VideoFrame(size: size)
      frame.luma = Array(bytes)
      guard case .success(let reading) = reader.read(frame) else {
        unreadable += 1
        continue
      }
      frames.append(
        Frame(number: Int(reading.frameNumber), time: Double(reading.time) / 1_000, unreadable: unreadable))
      unreadable = 0
    }
    return frames
  }

  /// Returns the seconds since 1970 that the marks in a file's audio say.
  static func markedSeconds(in file: URL, near time: Double, scratch: URL) throws -> [Double] {
    try marks(in: file, near: time, scratch: scratch).map(\.second)
  }

  /// Returns the marks in a file's audio.
  ///
  /// - Parameter time: a time less than two minutes from all of them, in seconds since 1970.
  static func marks(in file: URL, near time: Double, scratch: URL) throws -> [Mark] {
    let raw = scratch.appendingPathComponent("\(UUID().uuidString).f32")
    defer { try? FileManager.default.removeItem(at: raw) }
    try decode(
      file, to: raw, ["-map", "0:a", "-ac", "1", "-ar", "48000", "-f", "f32le"], decoder: ["-c:a", "libopus"])
    let samples = try Data(contentsOf: raw).withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
    return marks(in: samples, near: time)
  }

  /// Returns the seconds since 1970 that the marks say in the copies of lost packets that the Opus packets of a file carry
  /// (RFC 6716, 2.1.7).
  static func copiedSeconds(in file: URL, near time: Double, scratch: URL) throws -> [Double] {
    let ogg = scratch.appendingPathComponent("\(UUID().uuidString).ogg")
    defer { try? FileManager.default.removeItem(at: ogg) }
    try decode(file, to: ogg, ["-map", "0:a", "-c", "copy", "-f", "ogg"])
    let decoder = try OpusDecoder(channels: 1)
    var samples: [Float] = []
    for packet in packets(ofOgg: [UInt8](try Data(contentsOf: ogg))) {
      // Packets without audio fill gaps.
      if packet.readableBytes > 2 { samples += try decoder.recover(duration: 960, before: packet).samples }
      let audio = try decoder.decode(packet)
      if packet.readableBytes <= 2 { samples += [Float](repeating: 0, count: audio.samples.count) }
    }
    return marks(in: samples, near: time).map(\.second)
  }

  /// Makes a file with the audio of the pattern from a second since 1970 on, in packets of Opus that carry copies of the packets
  /// before them.
  static func makeSpeech(_ file: URL, from second: Int, seconds: Int) throws {
    let raw = file.appendingPathExtension("f32")
    defer { try? FileManager.default.removeItem(at: raw) }
    try Data().write(to: raw)
    let output = try FileHandle(forWritingTo: raw)
    let pattern = PatternAudio()
    for number in second..<(second + seconds) {
      let audio = pattern.audio(from: Int64(number) * 48_000, count: 48_000)
      try output.write(contentsOf: audio.samples.withUnsafeBytes { Data($0) })
    }
    try output.close()
    try decode(
      raw, to: file,
      [
        // Without the hum, and with this bandwidth, copies are good enough for marks to be read in them.
        "-af", "highpass=f=500", "-cutoff", "8000", "-c:a", "libopus", "-application", "voip", "-b:a", "96k", "-vbr",
        "off",
        "-fec", "1", "-packet_loss", "20", "-frame_duration", "20",
      ], decoder: ["-f", "f32le", "-ar", "48000", "-ac", "1"])
  }

  private static func decode(_ file: URL, to output: URL, _ options: [String], decoder: [String] = []) throws {
    let decoded = try ExternalTool.run(
      "ffmpeg", ["-v", "error", "-y"] + decoder + ["-i", file.path] + options + [output.path], limit: 180)
    guard decoded.status == 0 else { throw NotDecoded(file: file.lastPathComponent, errors: decoded.errors) }
  }

  private static func marks(in samples: [Float], near time: Double) -> [Mark] {
    var reader = PatternAudioReader()
    let marks = reader.read(AudioSamples(samples: samples, channels: 1), at: 0) + reader.finish()
    return marks.map { mark in
      let whole = Int(time)
      let rest = (Int(mark.second) - whole % 256 + 512) % 256
      return Mark(
        second: Double(whole + (rest < 128 ? rest : rest - 256)),
        position: Double(mark.time) / Double(AudioSamples.rate))
    }
  }

  /// Returns the packets of the only stream of an Ogg file, without the two headers (RFC 3533, 6).
  private static func packets(ofOgg bytes: [UInt8]) -> [ByteBuffer] {
    var packets: [ByteBuffer] = []
    var packet = ByteBuffer()
    var position = 0
    while position + 27 <= bytes.count {
      let lengths = bytes[(position + 27)...].prefix(Int(bytes[position + 26]))
      position += 27 + lengths.count
      for length in lengths {
        packet.writeBytes(bytes[min(position, bytes.count)...].prefix(Int(length)))
        position += Int(length)
        if length == 255 { continue }
        packets.append(packet)
        packet = ByteBuffer()
      }
    }
    return Array(packets.dropFirst(2))
  }
}
