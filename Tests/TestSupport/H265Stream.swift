public import Foundation
public import NIOCore

/// A stream of H.265 that ffmpeg makes, in the form of our frames: each NAL unit after its length in 4 bytes, without access unit
/// delimiters and filler, and the parameter sets in front of each keyframe.
public struct H265Stream: Sendable {
  /// The frames in decoding order.
  public let frames: [ByteBuffer]
  /// What ffmpeg decodes, in I420: one frame after another, in the order in which they are shown.
  public let decoded: Data

  /// - Parameters:
  ///   - size: for example `320x240`.
  ///   - seconds: the duration, at 30 frames a second.
  ///   - options: of x265, for example `bframes=0:keyint=30`.
  public static func make(size: String = "320x240", seconds: Double = 1, options: String = "bframes=0") throws
    -> H265Stream
  {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let (stream, pixels) = (folder.appendingPathComponent("a.h265"), folder.appendingPathComponent("a.yuv"))
    try ffmpeg([
      "-f", "lavfi", "-i", "testsrc2=size=\(size):rate=30:duration=\(seconds)", "-c:v", "libx265", "-preset",
      "ultrafast", "-x265-params", "log-level=error:pools=1:frame-threads=1:aud=1:info=0:\(options)", "-f", "hevc",
      stream.path,
    ])
    return try read(stream, pixels)
  }

  /// Has ffmpeg decode frames.
  public static func decode(_ frames: [ByteBuffer]) throws -> Data {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let (stream, pixels) = (folder.appendingPathComponent("a.h265"), folder.appendingPathComponent("a.yuv"))
    var bytes: [UInt8] = []
    for frame in frames {
      var rest = frame
      while let unit = rest.readLengthPrefixedSlice(as: UInt32.self) { bytes += [0, 0, 0, 1] + unit.readableBytesView }
    }
    try Data(bytes).write(to: stream)
    return try read(stream, pixels).decoded
  }

  private static func read(_ stream: URL, _ pixels: URL) throws -> H265Stream {
    try ffmpeg([
      "-threads", "1", "-f", "hevc", "-i", stream.path, "-fps_mode", "passthrough", "-pix_fmt", "yuv420p", "-f",
      "rawvideo", pixels.path,
    ])
    return H265Stream(
      frames: frames(annexB: [UInt8](try Data(contentsOf: stream))), decoded: try Data(contentsOf: pixels))
  }

  private static func ffmpeg(_ arguments: [String]) throws {
    let result = try ExternalTool.run("ffmpeg", ["-hide_banner", "-v", "error", "-y"] + arguments)
    guard result.status == 0 else { throw H264Stream.Failure(text: result.errors) }
  }

  /// Splits a byte stream (H.265, annex B) that has access unit delimiters into frames.
  public static func frames(annexB bytes: [UInt8]) -> [ByteBuffer] {
    var frames: [ByteBuffer] = []
    for unit in H264Stream.units(annexB: bytes) {
      let type = unit.first.map { $0 >> 1 & 0x3F } ?? 0
      if type == 35 { frames.append(ByteBuffer()) }
      if (35...38).contains(type) { continue }
      if frames.isEmpty { frames.append(ByteBuffer()) }
      frames[frames.count - 1].writeInteger(UInt32(unit.count))
      frames[frames.count - 1].writeBytes(unit)
    }
    return frames
  }
}
