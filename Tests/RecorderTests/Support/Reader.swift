import Foundation
import TestSupport

/// A file as programs see it that we did not write.
struct Reader {
  let path: String

  /// One packet as ffprobe lists it, in seconds.
  struct Packet: Decodable {
    var codecType: String
    var ptsTime: String?
    var durationTime: String?
    var size: String
    var flags: String

    var time: Double { ptsTime.flatMap(Double.init) ?? .nan }
    var isKeyframe: Bool { flags.contains("K") }
  }

  private struct Packets: Decodable { var packets: [Packet] }

  struct Probe: Decodable {
    struct Stream: Decodable {
      var codecName: String
      var width: Int?
      var height: Int?
      var channels: Int?
      var sampleRate: String?
    }
    struct Format: Decodable {
      var duration: String?
      var formatName: String
      var tags: [String: String]?

      var seconds: Double { duration.flatMap(Double.init) ?? .nan }
    }
    var streams: [Stream]
    var format: Format
  }

  private static var decoder: JSONDecoder {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    return decoder
  }

  func packets(_ kind: String) throws -> [Packet] {
    let result = try ExternalTool.run("ffprobe", ["-v", "error", "-show_packets", "-of", "json", path])
    return try Self.decoder.decode(Packets.self, from: Data(result.output.utf8)).packets.filter {
      $0.codecType == kind
    }
  }

  func probe() throws -> Probe {
    let result = try ExternalTool.run(
      "ffprobe", ["-v", "error", "-show_streams", "-show_format", "-of", "json", path])
    return try Self.decoder.decode(Probe.self, from: Data(result.output.utf8))
  }

  /// What ffmpeg complains about while it decodes the whole file; empty when it is content.
  func complaints(_ options: String...) throws -> String {
    let result = try ExternalTool.run("ffmpeg", ["-v", "error", "-i", path] + options + ["-f", "null", "-"])
    return result.errors + (result.status == 0 ? "" : "exit code \(result.status)")
  }

  /// Samples of one channel at 48 kHz, as ffmpeg's own decoder or libopus makes them.
  func samples(decoder: String = "libopus") throws -> [Float] {
    let raw = "\(path).f32"
    defer { try? FileManager.default.removeItem(atPath: raw) }
    _ = try ExternalTool.run(
      "ffmpeg", ["-v", "error", "-c:a", decoder, "-i", path, "-map", "a", "-ac", "1", "-f", "f32le", raw])
    let data = try Data(contentsOf: URL(fileURLWithPath: raw))
    return data.withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
  }

  func mkvinfo(_ options: String...) throws -> String {
    let result = try ExternalTool.run("mkvinfo", options + [path])
    return result.output + result.errors
  }

  func opusinfo() throws -> String {
    let result = try ExternalTool.run("opusinfo", [path])
    return result.output + result.errors + (result.status == 0 ? "" : "exit code \(result.status)")
  }
}
