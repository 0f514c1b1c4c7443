internal import CYUV
internal import Codecs
internal import Media

/// The newest picture of a stream, in memory that is used again for the next one.
final class StoredPicture {
  private(set) var size = VideoSize(width: 0, height: 0)
  /// Grows with each picture.
  private(set) var number = 0
  /// Three planes one after the other, without padding.
  private var bytes: [UInt8] = []

  var isEmpty: Bool { number == 0 }

  func store(_ view: VideoFrameView) {
    size = view.size
    number += 1
    let (halfWidth, halfHeight) = ((size.width + 1) / 2, (size.height + 1) / 2)
    let colours = halfWidth * halfHeight
    let count = size.width * size.height + 2 * colours
    if bytes.count != count { bytes = [UInt8](repeating: 0, count: count) }
    bytes.withUnsafeMutableBufferPointer { bytes in
      guard let luma = bytes.baseAddress else { return }
      let blue = luma + size.width * size.height
      _ = I420Copy(
        view.luma.bytes, Int32(view.luma.stride), view.blue.bytes, Int32(view.blue.stride), view.red.bytes,
        Int32(view.red.stride), luma, Int32(size.width), blue, Int32(halfWidth), blue + colours, Int32(halfWidth),
        Int32(size.width), Int32(size.height))
    }
  }

  /// Forgets the picture, for example because a pause began.
  func clear() {
    size = VideoSize(width: 0, height: 0)
    bytes = []
  }

  /// Calls `body` with the planes.
  func withPlanes(
    _ body: (_ luma: UnsafePointer<UInt8>, _ blue: UnsafePointer<UInt8>, _ red: UnsafePointer<UInt8>) -> Void
  ) {
    guard size.width > 0 else { return }
    bytes.withUnsafeBufferPointer { bytes in
      guard let luma = bytes.baseAddress else { return }
      let blue = luma + size.width * size.height
      body(luma, blue, blue + (size.width + 1) / 2 * ((size.height + 1) / 2))
    }
  }
}
