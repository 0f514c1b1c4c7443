import Foundation
import TestSupport

/// The slices of H.264 streams, which are what an encoder made of the frames: parameter sets and delimiters may be written in several
/// ways.
enum H264Slices {
  struct NotRead: Error {
    let errors: String
  }

  /// Returns the slices (NAL units of the types 1 and 5) of a stream in Annex B.
  static func of(_ stream: Data) -> [Data] {
    var units: [Data] = []
    var start: Int?
    var position = 0
    let bytes = [UInt8](stream)
    while position + 3 <= bytes.count {
      guard bytes[position] == 0, bytes[position + 1] == 0, bytes[position + 2] == 1 else {
        position += 1
        continue
      }
      if let start { units.append(Data(bytes[start..<position])) }
      position += 3
      start = position
    }
    if let start { units.append(Data(bytes[start...])) }
    // A zero before a start code belongs to that.
    return units.map { unit in unit.prefix(unit.count - unit.reversed().prefix { $0 == 0 }.count) }
      .filter { [1, 5].contains(($0.first ?? 0) & 31) }
  }

  /// Returns the slices of the video of a recording.
  static func of(_ recording: Recording) throws -> [Data] {
    let stream = recording.file.deletingPathExtension().appendingPathExtension("h264")
    let made = try ExternalTool.run(
      "ffmpeg",
      [
        // It rounds times to a frame rate that it guesses, and reports errors of its own making.
        "-v", "fatal", "-y", "-i", recording.file.path, "-map", "0:v", "-c", "copy", "-bsf:v", "h264_mp4toannexb", "-f",
        "h264", stream.path,
      ])
    guard made.status == 0 else { throw NotRead(errors: made.errors) }
    return of(try Data(contentsOf: stream))
  }
}
