import Bitstream
import Foundation
import NIOCore
import TestSupport
import Testing

/// A VP9 stream that libvpx has encoded, and what another parser finds in it.
struct VP9Stream {
  /// The bits of a frame's uncompressed header and the bytes of its compressed header.
  struct Extent: Equatable {
    let bits: Int
    let compressedHeaderSize: Int

    init(bits: Int, compressedHeaderSize: Int) {
      self.bits = bits
      self.compressedHeaderSize = compressedHeaderSize
    }

    init(_ parsed: VP9FrameHeader.Extent) {
      self.init(bits: parsed.bits, compressedHeaderSize: parsed.compressedHeaderSize)
    }
  }

  /// The units of the IVF file: frames and superframes.
  let units: [ByteBuffer]
  /// Those of all frames, by `trace_headers` of ffmpeg; frames that only show an earlier one are left out.
  let extents: [Extent]

  /// With two passes, options for frames that are not shown (alternate references).
  static let hidingFrames = ["-auto-alt-ref", "1", "-lag-in-frames", "25", "-cpu-used", "2"]

  /// Encodes 3 s of a test video with ffmpeg.
  ///
  /// - Parameter passes: with two, some frames are not shown.
  init(_ arguments: [String], size: String, passes: Int = 1) throws {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).ivf")
    defer { try? FileManager.default.removeItem(at: file) }
    let log = file.deletingPathExtension().path
    defer { try? FileManager.default.removeItem(atPath: "\(log)-0.log") }
    for pass in 1...passes {
      let output = pass == passes ? [file.path] : ["-f", "null", "-"]
      let result = try ExternalTool.run(
        "ffmpeg",
        ["-v", "error", "-f", "lavfi", "-i", "testsrc2=size=\(size):rate=15", "-t", "3", "-c:v", "libvpx-vp9"]
          + ["-b:v", "100k"] + arguments + (passes > 1 ? ["-pass", "\(pass)", "-passlogfile", log] : []) + output)
      try #require(result.status == 0, "\(result.errors)")
    }
    units = try Self.units(ByteBuffer(bytes: try Data(contentsOf: file)))
    let trace = try ExternalTool.run(
      "ffmpeg", ["-i", file.path, "-c", "copy", "-bsf:v", "trace_headers", "-f", "null", "-"])
    extents = trace.errors.split(separator: "\n").compactMap { line in
      guard line.contains("header_size_in_bytes") else { return nil }
      // [trace_headers @ 0x555608575cc0] 65          header_size_in_bytes       0000000000010101 = 21
      let words = line.drop { $0 != "]" }.split(separator: " ")
      guard words.count > 1, let position = Int(words[1]), let value = words.last.flatMap({ Int($0) }) else {
        return nil
      }
      return .init(bits: position + 16, compressedHeaderSize: value)
    }
  }

  /// Returns the units of an IVF file.
  static func units(_ file: ByteBuffer) throws -> [ByteBuffer] {
    var bytes = file
    bytes.moveReaderIndex(forwardBy: 32)
    var units: [ByteBuffer] = []
    while let length = bytes.readInteger(endianness: .little, as: UInt32.self) {
      bytes.moveReaderIndex(forwardBy: 8)
      let unit = bytes.readSlice(length: Int(length))
      units.append(try #require(unit))
    }
    return units
  }
}
