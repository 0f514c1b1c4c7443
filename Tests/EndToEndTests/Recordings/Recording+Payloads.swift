import Foundation
import TestSupport

extension Recording {
  /// Returns a digest of each packet's bytes in a file, without decoding: a recording must contain what was sent.
  ///
  /// - Parameter kind: `v` for video, `a` for audio.
  static func payloadDigests(of file: URL, _ kind: String = "v") throws -> [String] {
    let probed = try ExternalTool.run(
      "ffprobe",
      [
        "-v", "error", "-select_streams", kind, "-show_packets", "-show_data_hash", "md5", "-show_entries",
        "packet=data_hash", "-of", "csv=p=0", file.path,
      ])
    return probed.output.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
  }

  /// Returns the time in seconds of the first frame that a player shows after seeking to `time`; nil without one.
  func firstVideoFrameTime(from time: Double) throws -> Double? {
    let probed = try ExternalTool.run(
      "ffprobe",
      [
        "-v", "error", "-select_streams", "v", "-read_intervals", String(format: "%.3f%%+#1", time), "-show_packets",
        "-show_entries", "packet=pts_time", "-of", "csv=p=0", file.path,
      ])
    return probed.output.split(separator: "\n").first.flatMap { Double($0) }
  }
}
