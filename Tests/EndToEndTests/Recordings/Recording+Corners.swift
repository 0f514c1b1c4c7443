import Foundation
import TestSupport

extension Recording {
  /// The colours of the corners of a frame as ffmpeg shows it, top left, top right, bottom left and bottom right: `R`, `G`, `B`, `Y` for
  /// red, green, blue and yellow, `?` for another.
  ///
  /// - Parameter position: in seconds from the beginning of the file.
  func corners(at position: Double = 0) throws -> String {
    let output = file.deletingPathExtension().appendingPathExtension("corners.rgb")
    defer { try? FileManager.default.removeItem(at: output) }
    // Each corner becomes one pixel.
    let result = try ExternalTool.run(
      "ffmpeg",
      ["-v", "error", "-y", "-i", file.path, "-ss", "\(position)", "-frames:v", "1", "-an"]
        + ["-vf", "scale=8:8:flags=area", "-pix_fmt", "rgb24", "-f", "rawvideo", output.path])
    let bytes = [UInt8](try Data(contentsOf: output))
    guard result.status == 0, bytes.count == 192 else {
      throw NotReadable(file: file.lastPathComponent, reason: result.errors)
    }
    return [(1, 1), (6, 1), (1, 6), (6, 6)].map { x, y in
      let pixel = bytes[(y * 8 + x) * 3..<(y * 8 + x) * 3 + 3].map { $0 > 127 }
      return switch pixel {
      case [true, false, false]: "R"
      case [false, true, false]: "G"
      case [false, false, true]: "B"
      case [true, true, false]: "Y"
      default: "?"
      }
    }.joined()
  }
}
