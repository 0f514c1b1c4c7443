import Codecs
import Media

extension VideoFrame {
  /// Creates a frame from uncompressed bytes.
  init(_ bytes: [UInt8], size: VideoSize, layout: PixelLayout) throws(InputError) {
    var failure: CodecError?
    let made = bytes.withUnsafeBytes { bytes -> VideoFrame? in
      do throws(CodecError) {
        return try VideoFrame(size: size, layout: layout, bytes: bytes)
      } catch {
        failure = error
        return nil
      }
    }
    if let failure { throw InputError(failure) }
    guard let made else { throw .changed }
    self = made
  }

  /// Converts full range to the limited range that codecs expect: luma 16 to 235, chroma 16 to 240 (ITU-R BT.601).
  mutating func narrowRange() {
    let lumaTable = (0..<256).map { (value: Int) in UInt8(clamping: 16 + (value * 219 + 127) / 255) }
    let colourTable = (0..<256).map { (value: Int) -> UInt8 in
      let colour = Double(value - 128) * 224 / 255
      return UInt8(clamping: 128 + Int(colour.rounded()))
    }
    luma.replaceValues(by: lumaTable)
    blue.replaceValues(by: colourTable)
    red.replaceValues(by: colourTable)
  }

  /// Returns the upper left part of the frame.
  ///
  /// - Parameter wanted: even sides, none larger than the frame's.
  func cropped(to wanted: VideoSize) -> VideoFrame {
    guard wanted != size, wanted.width <= size.width, wanted.height <= size.height else { return self }
    var part = VideoFrame(size: wanted)
    part.luma = Self.part(of: luma, stride: size.width, width: wanted.width, height: wanted.height)
    let (width, height) = (part.colourStride, (wanted.height + 1) / 2)
    part.blue = Self.part(of: blue, stride: colourStride, width: width, height: height)
    part.red = Self.part(of: red, stride: colourStride, width: width, height: height)
    return part
  }

  private static func part(of plane: [UInt8], stride: Int, width: Int, height: Int) -> [UInt8] {
    var part: [UInt8] = []
    part.reserveCapacity(width * height)
    for row in 0..<height { part.append(contentsOf: plane[row * stride..<row * stride + width]) }
    return part
  }
}

extension [UInt8] {
  fileprivate mutating func replaceValues(by table: [UInt8]) {
    withUnsafeMutableBufferPointer { values in
      table.withUnsafeBufferPointer { table in
        for index in values.indices { values[index] = table[Int(values[index])] }
      }
    }
  }
}
