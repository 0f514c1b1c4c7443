public import Foundation
public import NIOCore

/// A stream of H.264 that ffmpeg makes, in the form of our frames: each NAL unit after its length in 4 bytes, without access unit
/// delimiters and filler, and the parameter sets in front of each keyframe.
public struct H264Stream: Sendable {
  /// The frames in decoding order.
  public let frames: [ByteBuffer]
  /// What ffmpeg decodes, in I420: one frame after another.
  public let decoded: Data

  /// - Parameters:
  ///   - size: for example `320x240`.
  ///   - seconds: the duration, at 30 frames a second.
  ///   - arguments: of ffmpeg for the encoder, for example `["-c:v", "libx264", "-profile:v", "main"]`.
  public static func make(
    size: String = "320x240", seconds: Double = 1, _ arguments: [String] = ["-c:v", "libx264", "-preset", "veryfast"]
  ) throws -> H264Stream {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let (stream, pixels) = (folder.appendingPathComponent("a.h264"), folder.appendingPathComponent("a.yuv"))
    try ffmpeg(
      ["-f", "lavfi", "-i", "testsrc2=size=\(size):rate=30:duration=\(seconds)"] + arguments + [
        "-bsf:v", "h264_metadata=aud=insert", "-f", "h264", stream.path,
      ])
    return try read(stream, pixels)
  }

  /// Reads a byte stream with access unit delimiters, and has ffmpeg decode it.
  public static func read(_ stream: URL) throws -> H264Stream {
    let pixels = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: pixels) }
    return try read(stream, pixels)
  }

  private static func read(_ stream: URL, _ pixels: URL) throws -> H264Stream {
    try ffmpeg([
      "-threads", "1", "-i", stream.path, "-fps_mode", "passthrough", "-pix_fmt", "yuv420p", "-f", "rawvideo",
      pixels.path,
    ])
    return H264Stream(
      frames: frames(annexB: [UInt8](try Data(contentsOf: stream))), decoded: try Data(contentsOf: pixels))
  }

  private static func ffmpeg(_ arguments: [String]) throws {
    let result = try ExternalTool.run("ffmpeg", ["-hide_banner", "-v", "error", "-y"] + arguments)
    guard result.status == 0 else { throw Failure(text: result.errors) }
  }

  public struct Failure: Error {
    public let text: String
  }

  /// Splits a byte stream (H.264, annex B) that has access unit delimiters into frames.
  public static func frames(annexB bytes: [UInt8]) -> [ByteBuffer] {
    var frames: [ByteBuffer] = []
    for unit in units(annexB: bytes) {
      let type = unit.first.map { $0 & 0x1F } ?? 0
      if type == 9 { frames.append(ByteBuffer()) }
      if (9...12).contains(type) { continue }
      if frames.isEmpty { frames.append(ByteBuffer()) }
      frames[frames.count - 1].writeInteger(UInt32(unit.count))
      frames[frames.count - 1].writeBytes(unit)
    }
    return frames
  }

  static func units(annexB bytes: [UInt8]) -> [ArraySlice<UInt8>] {
    var starts: [Int] = []
    var position = 0
    while position + 3 <= bytes.count {
      if bytes[position] == 0, bytes[position + 1] == 0, bytes[position + 2] == 1 {
        starts.append(position + 3)
        position += 3
      } else {
        position += 1
      }
    }
    return starts.enumerated().map { index, start in
      var end = index + 1 < starts.count ? starts[index + 1] - 3 : bytes.count
      while end > start, bytes[end - 1] == 0 { end -= 1 }
      return bytes[start..<end]
    }
  }
}
