import Media
import NIOCore

/// Reads an IVF file: a header of 32 bytes, then frames, each after its length and time. libvpx's own tools write this
/// format.
///
/// The header's number of frames is ignored: a live recorder cannot go back to write it. A file that ends in the middle
/// of a frame is played up to the last whole frame.
final class IVFReader: ContainerReader {
  let codec: Codec
  private let file: OpenFile
  private var position: UInt64
  /// The unit of a frame's time is `numerator`/`denominator` seconds.
  private let numerator: Int64
  private let denominator: Int64
  private let framing: (any VideoFraming)?
  private(set) var isTruncated = false

  static let maximumFrameBytes = 4 << 20
  private static let frameHeaderSize = 12
  private static let headerSize = 32

  /// Reads the file's header.
  init(_ file: OpenFile) throws(MediaFile.ReadError) {
    self.file = file
    let bytes = ByteBuffer(bytes: try file.bytes(Self.headerSize, from: 0))
    guard
      bytes.readableBytes == Self.headerSize,
      let headerSize: UInt16 = bytes.getInteger(at: 6, endianness: .little),
      let fourCC = bytes.getBytes(at: 8, length: 4),
      let rate: UInt32 = bytes.getInteger(at: 16, endianness: .little),
      let scale: UInt32 = bytes.getInteger(at: 20, endianness: .little)
    else { throw .damaged(position: 0, "its IVF header is cut off: it needs 32 bytes, and the file has \(file.size)") }
    let name = String(decoding: fourCC, as: UTF8.self)
    guard let codec = Codec(fourCC: name) else {
      let known = Codec.allCases.filter { $0.properties.fourCC != nil }.map(\.name).joined(separator: ", ")
      throw .unsupported(
        name == "H264"
          ? "its video is H.264, which is read from Matroska, but not from IVF"
          : "its IVF header names none of \(known)")
    }
    self.codec = codec
    framing = codec.properties.bitstream?.framing(codecPrivate: [])
    guard rate > 0, scale > 0 else {
      throw .unsupported("its IVF header states a rate of \(rate)/\(scale) frames a second")
    }
    guard headerSize >= UInt16(Self.headerSize) else {
      throw .damaged(position: 6, "its IVF header says that it is \(headerSize) bytes long")
    }
    position = UInt64(headerSize)
    numerator = Int64(scale)
    denominator = Int64(rate)
  }

  /// Times are exact except for the conversion to units.
  let timing = ContainerTiming(rounding: 1)

  func next() throws(MediaFile.ReadError) -> ContainerFrame? {
    let start = position
    let header = ByteBuffer(bytes: try file.bytes(Self.frameHeaderSize, from: start))
    guard
      let size: UInt32 = header.getInteger(at: 0, endianness: .little),
      let time: Int64 = header.getInteger(at: 4, endianness: .little)
    else {
      if header.readableBytes > 0 { isTruncated = true }
      return nil
    }
    guard size <= Self.maximumFrameBytes else {
      throw .damaged(position: start, "a frame claims \(size) bytes, and \(Self.maximumFrameBytes) are the maximum")
    }
    guard let units = units(time) else {
      throw .damaged(position: start, "a frame's time is beyond \(MediaTimebase.latestHours) h")
    }
    let payload = try file.bytes(Int(size), from: start + UInt64(Self.frameHeaderSize))
    guard payload.count == Int(size) else {
      isTruncated = true
      position = start + UInt64(Self.frameHeaderSize + payload.count)
      return nil
    }
    position = start + UInt64(Self.frameHeaderSize) + UInt64(size)
    let stored = ByteBuffer(bytes: payload)
    return ContainerFrame(time: units, payload: framing?.frame(stored) ?? stored, position: start)
  }

  /// Converts a frame's time to the nearest unit of `MediaTimebase.rate`; nil beyond the latest time.
  private func units(_ time: Int64) -> Int64? {
    let wide = time.multipliedFullWidth(by: numerator * Int64(MediaTimebase.rate))
    guard wide.high == (wide.low > UInt64(Int64.max) ? -1 : 0) else { return nil }
    let product = Int64(truncatingIfNeeded: wide.low)
    guard abs(product / denominator) <= MediaTimebase.latest else { return nil }
    let (whole, rest) = product.quotientAndRemainder(dividingBy: denominator)
    return whole + (rest >= denominator - rest ? 1 : 0)
  }
}
