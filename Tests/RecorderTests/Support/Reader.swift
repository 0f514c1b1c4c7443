import Foundation
import Synchronization
import TestSupport

/// A file as read by programs other than ours.
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

  func packets(_ kind: String) throws -> [Packet] { try all().packets.filter { $0.codecType == kind } }

  func probe() throws -> Probe {
    let all = try all()
    return Probe(streams: all.streams, format: all.format)
  }

  private struct All: Decodable {
    var streams: [Probe.Stream]
    var format: Probe.Format
    var packets: [Packet]
  }

  /// The output of ffprobe for files that have not changed since: starting it takes longer than reading a small file.
  private static let known = Mutex<[Version: All]>([:])

  private struct Version: Hashable {
    var path: String
    var size: Int
    var number: Int
    var changed: Date

    init(of path: String) throws {
      let attributes = try FileManager.default.attributesOfItem(atPath: path)
      self.path = path
      size = attributes[.size] as? Int ?? 0
      number = attributes[.systemFileNumber] as? Int ?? 0
      changed = attributes[.modificationDate] as? Date ?? .distantPast
    }
  }

  private func all() throws -> All {
    let version = try Version(of: path)
    if let known = Self.known.withLock({ $0[version] }) { return known }
    let result = try ExternalTool.run(
      "ffprobe",
      [
        "-v", "error", "-show_streams", "-show_format", "-show_entries",
        "packet=codec_type,pts_time,duration_time,size,flags", "-of", "json", path,
      ])
    let all = try Self.decoder.decode(All.self, from: Data(result.output.utf8))
    Self.known.withLock { $0[version] = all }
    return all
  }

  /// Returns what ffmpeg complains about while it decodes the whole file; empty if nothing.
  func complaints(_ options: String...) throws -> String {
    let result = try ExternalTool.run("ffmpeg", ["-v", "error", "-i", path] + options + ["-f", "null", "-"])
    return result.errors + (result.status == 0 ? "" : "exit code \(result.status)")
  }

  /// Returns samples of one channel at 48 kHz, decoded by ffmpeg's own decoder or libopus.
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
