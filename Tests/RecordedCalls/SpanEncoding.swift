import Codecs
import Foundation
import Media
import NIOCore

/// Has ffmpeg encode the video of a span in a codec for which there is no live encoder: all frames at once.
enum SpanEncoding {
  struct Failure: Error, CustomStringConvertible {
    let codec: Codec
    let reason: String

    var description: String { "ffmpeg does not encode \(codec.rawValue): \(reason)" }
  }

  /// Returns a frame of the stream for each frame of the span, in the form of `EncodedFrame`; none is reordered.
  ///
  /// - Parameters:
  ///   - frames: The frames, all of one size.
  ///   - keyframeDistance: The maximum distance between keyframes, in frames.
  static func stream(
    of frames: [VideoFrame], codec: Codec, framesPerSecond: Int, keyframeDistance: Int
  ) throws -> [ByteBuffer] {
    guard let size = frames.first?.size else { return [] }
    let encoder: [String]
    switch codec {
    case .av1:
      encoder = [
        "libaom-av1", "-usage", "realtime", "-cpu-used", "8", "-lag-in-frames", "0", "-crf", "30", "-f", "ivf",
      ]
    case .h265:
      let options = "log-level=error:bframes=0:aud=1:repeat-headers=1:info=0:pools=1:frame-threads=1"
      encoder = ["libx265", "-preset", "ultrafast", "-x265-params", options, "-f", "hevc"]
    default: throw Failure(codec: codec, reason: "it is encoded live")
    }
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let (input, output) = (folder.appendingPathComponent("in.yuv"), folder.appendingPathComponent("out"))
    var pixels = Data()
    for frame in frames { for plane in [frame.luma, frame.blue, frame.red] { pixels += plane } }
    try pixels.write(to: input)
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments =
      [
        "ffmpeg", "-v", "error", "-nostdin", "-f", "rawvideo", "-pix_fmt", "yuv420p", "-s",
        "\(size.width)x\(size.height)", "-r", "\(framesPerSecond)", "-i", input.path, "-g", "\(keyframeDistance)",
        "-c:v",
      ] + encoder + [output.path]
    process.standardInput = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw Failure(codec: codec, reason: "it ended with \(process.terminationStatus)")
    }
    let bytes = [UInt8](try Data(contentsOf: output))
    let stream = codec == .av1 ? temporalUnits(ivf: bytes) : accessUnits(annexB: bytes)
    guard stream.count == frames.count else {
      throw Failure(codec: codec, reason: "of \(frames.count) frames there are \(stream.count)")
    }
    return stream
  }

  /// Splits an IVF file into frames: a header of 32 bytes, and 12 bytes before each frame, of which the first four are its length.
  private static func temporalUnits(ivf bytes: [UInt8]) -> [ByteBuffer] {
    let framing = AV1Bitstream.framing(codecPrivate: [])
    var rest = ByteBuffer(bytes: bytes.dropFirst(32))
    var units: [ByteBuffer] = []
    while let length = rest.readInteger(endianness: .little, as: UInt32.self), rest.readSlice(length: 8) != nil,
      let stored = rest.readSlice(length: Int(length)), let unit = framing?.frame(stored)
    { units.append(unit) }
    return units
  }

  /// Splits a byte stream that has access unit delimiters into frames (H.265, annex B and 7.4.2.4.4).
  private static func accessUnits(annexB bytes: [UInt8]) -> [ByteBuffer] {
    var units: [ByteBuffer] = []
    for unit in ByteStreamUnits.ranges(in: bytes) {
      let type = bytes[unit.lowerBound] >> 1 & 0x3F
      if type == 35 { units.append(ByteBuffer()) }
      guard type != 35, var frame = units.popLast() else { continue }
      frame.writeInteger(UInt32(unit.count))
      frame.writeBytes(bytes[unit])
      units.append(frame)
    }
    return units
  }
}

/// The NAL units of a byte stream (H.264 and H.265, annex B).
enum ByteStreamUnits {
  /// Returns the range of each unit, without start codes and zero bytes behind it.
  static func ranges(in bytes: [UInt8]) -> [Range<Int>] {
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
    return starts.indices.map { index in
      let start = starts[index]
      var end = index + 1 < starts.count ? starts[index + 1] - 3 : bytes.count
      while end > start, bytes[end - 1] == 0 { end -= 1 }
      return start..<end
    }
  }
}
