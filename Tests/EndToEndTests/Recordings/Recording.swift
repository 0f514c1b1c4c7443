import Foundation
import TestSupport

/// A finished file, as read by programs of other projects.
struct Recording: Sendable {
  /// One stream of the file.
  struct Stream: Sendable {
    let kind: String
    let codec: String
    let width: Int?
    let height: Int?
    /// Presentation times of all packets in seconds, in file order.
    let times: [Double]
    /// The duration of the last packet in seconds, by ffprobe; 0 if unknown.
    let lastDuration: Double
    /// The sizes of all packets in bytes, in file order.
    let sizes: [Int]
    /// Whether each packet is a keyframe.
    let keyframes: [Bool]

    var first: Double { times.first ?? .nan }

    /// The longest time between two packets, in seconds.
    var longestGap: Double { zip(times.dropFirst(), times).map { $0 - $1 }.max() ?? 0 }

    var framesPerSecond: Double {
      guard let last = times.last, let first = times.first, last > first else { return 0 }
      return Double(times.count - 1) / (last - first)
    }

    var bitsPerSecond: Double {
      guard let last = times.last, let first = times.first, last > first else { return 0 }
      return 8 * Double(sizes.reduce(0, +)) / (last - first)
    }
  }

  struct NotReadable: Error, CustomStringConvertible {
    let file: String
    let reason: String

    var description: String { "\(file) cannot be read: \(reason)" }
  }

  let file: URL
  /// The container's duration in seconds.
  let duration: Double
  let container: String
  let streams: [Stream]

  /// Reads a file with ffprobe.
  init(_ file: URL) throws {
    let probed = try ExternalTool.run(
      "ffprobe",
      [
        "-v", "error", "-show_format", "-show_streams", "-show_entries",
        "packet=stream_index,pts_time,duration_time,size,flags", "-of", "json", file.path,
      ])
    guard probed.status == 0, probed.errors.isEmpty else {
      throw NotReadable(file: file.lastPathComponent, reason: probed.errors)
    }
    let found = try JSON(parsing: probed.output)
    let packets = Dictionary(grouping: found["packets"].list) { $0["stream_index"].int ?? -1 }
    self.file = file
    duration = found["format"]["duration"].double ?? .nan
    container = found["format"]["format_name"].string ?? ""
    streams = found["streams"].list.map { stream in
      let own = packets[stream["index"].int ?? -1] ?? []
      return Stream(
        kind: stream["codec_type"].string ?? "", codec: stream["codec_name"].string ?? "",
        width: stream["width"].int, height: stream["height"].int, times: own.compactMap { $0["pts_time"].double },
        lastDuration: own.last?["duration_time"].double ?? 0, sizes: own.compactMap { $0["size"].int },
        keyframes: own.map { $0["flags"].string?.hasPrefix("K") ?? false })
    }
  }

  var video: Stream? { streams.first { $0.kind == "video" } }

  var audio: Stream? { streams.first { $0.kind == "audio" } }

  /// Returns the errors that ffmpeg prints when it decodes the whole file; empty if there are none.
  ///
  /// It keeps the file's own timestamps: by default ffmpeg rounds them to a frame rate that it guesses, and then
  /// reports errors of its own making where a camera was irregular.
  func decodingErrors() throws -> String {
    let decoded = try ExternalTool.run(
      "ffmpeg", ["-v", "error", "-i", file.path, "-enc_time_base", "-1", "-f", "null", "-"])
    return decoded.status == 0 ? decoded.errors : "exit code \(decoded.status)\n\(decoded.errors)"
  }

  /// Returns the MD5 of each decoded frame: two recordings of the same bitstream have the same ones.
  func videoFrameDigests() throws -> [String] {
    let decoded = try ExternalTool.run(
      "ffmpeg", ["-v", "error", "-i", file.path, "-map", "0:v", "-fps_mode", "passthrough", "-f", "framemd5", "-"])
    return decoded.output.split(separator: "\n").filter { !$0.hasPrefix("#") }
      .compactMap { $0.split(separator: ",").last?.trimmingCharacters(in: .whitespaces) }
  }
}
