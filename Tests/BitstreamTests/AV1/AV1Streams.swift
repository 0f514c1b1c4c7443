import Bitstream
import Foundation
import NIOCore
import TestSupport

/// Streams of AV1 that libaom wrote.
enum AV1Streams {
  /// The temporal units of a fixture, or of a file that an encoder has written, as they are stored.
  static func units(ofIVF file: ByteBuffer) -> [ByteBuffer] {
    var (rest, units) = (file, [ByteBuffer]())
    rest.moveReaderIndex(forwardBy: min(32, rest.readableBytes))
    while let size = rest.readInteger(endianness: .little, as: UInt32.self), rest.readInteger(as: UInt64.self) != nil,
      let unit = rest.readSlice(length: Int(size))
    {
      units.append(unit)
    }
    return units
  }

  static func fixture(_ name: String) throws -> [ByteBuffer] {
    units(ofIVF: try Fixture.bytes("av1/\(name).ivf", in: .module))
  }

  /// Returns a temporal unit of OBUs, each with its size.
  static func unit(_ obus: [AV1OBU]) -> ByteBuffer {
    var unit = ByteBuffer()
    for obu in obus { obu.write(into: &unit) }
    return unit
  }

  /// Has ffmpeg encode a test video of 128x96, and write it to an IVF file and to an MP4 file.
  static func encode(_ arguments: [String], frames: Int) throws -> (units: [ByteBuffer], mp4: [UInt8]) {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let (ivf, mp4) = (folder.appendingPathComponent("a.ivf"), folder.appendingPathComponent("a.mp4"))
    try ffmpeg(
      ["-f", "lavfi", "-i", "testsrc2=size=128x96:rate=10"] + arguments + ["-frames:v", "\(frames)", ivf.path])
    try ffmpeg(["-i", ivf.path, "-c", "copy", mp4.path])
    return (
      units(ofIVF: ByteBuffer(bytes: try Data(contentsOf: ivf))), [UInt8](try Data(contentsOf: mp4))
    )
  }

  private static func ffmpeg(_ arguments: [String]) throws {
    let result = try ExternalTool.run("ffmpeg", ["-hide_banner", "-v", "error", "-y"] + arguments)
    guard result.status == 0 else { throw Failure(text: result.errors) }
  }

  struct Failure: Error {
    let text: String
  }

  /// A sequence header: profile 0, level 2.0, 320x180, 8 bits, without tools, layers and ids.
  static let sequenceHeader = AV1Bits {
    // seq_profile, still_picture, reduced_still_picture_header, timing_info_present_flag, initial_display_delay_present_flag
    $0.write(0, 3)
    $0.write(0, 4)
    // operating_points_cnt_minus_1, operating_point_idc, seq_level_idx
    $0.write(0, 5)
    $0.write(0, 12)
    $0.write(0, 5)
    // The bits of width and height, both less 1; frame_id_numbers_present_flag
    $0.write(8, 4)
    $0.write(7, 4)
    $0.write(319, 9)
    $0.write(179, 8)
    $0.write(0, 1)
    // Block tools, frame tools, enable_order_hint
    $0.write(0, 3)
    $0.write(0, 4)
    $0.write(0, 1)
    // seq_choose_screen_content_tools, seq_choose_integer_mv
    $0.write(1, 1)
    $0.write(1, 1)
    // enable_superres, enable_cdef, enable_restoration
    $0.write(0, 3)
    // high_bitdepth, mono_chrome, color_description_present_flag, color_range, chroma_sample_position, separate_uv_delta_q
    $0.write(0, 7)
  }.bytes
}

/// A writer of bits, the most significant bit of each byte first.
struct AV1Bits {
  private var bits: [UInt8] = []

  init(_ write: (inout AV1Bits) -> Void) { write(&self) }

  mutating func write(_ value: Int, _ count: Int) {
    for position in (0..<count).reversed() { bits.append(UInt8(value >> position & 1)) }
  }

  /// The bits, with a 1 and zeros behind them up to whole bytes (trailing_bits).
  var bytes: ByteBuffer {
    var padded = bits + [1]
    while padded.count % 8 != 0 { padded.append(0) }
    return ByteBuffer(
      bytes: stride(from: 0, to: padded.count, by: 8).map { padded[$0..<$0 + 8].reduce(0) { $0 << 1 | $1 } })
  }
}
