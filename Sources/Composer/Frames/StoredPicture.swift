internal import CYUV
internal import Codecs
internal import Media

/// The newest picture of a stream, in memory that is used again for the next one.
final class StoredPicture {
  private(set) var image: VideoFrame?
  /// Grows with each picture.
  private(set) var number = 0

  /// - Parameter orientation: how the picture is turned.
  func store(_ view: VideoFrameView, turned orientation: VideoOrientation = .upright) {
    number += 1
    // Nobody else holds the planes while they are written, so that they are not copied.
    var image = self.image.take()
    let size = orientation.size(of: view.size)
    if image?.size != size { image = VideoFrame(size: size) }
    guard var image else { return }
    guard orientation == .upright else {
      if image.fill(with: view, turned: orientation) { self.image = image }
      return
    }
    let colours = Int32(image.colourStride)
    let (width, height) = (Int32(view.size.width), Int32(view.size.height))
    image.luma.withUnsafeMutableBufferPointer { luma in
      CopyPlane(view.luma.bytes, Int32(view.luma.stride), luma.baseAddress, width, width, height)
    }
    image.blue.withUnsafeMutableBufferPointer { blue in
      CopyPlane(view.blue.bytes, Int32(view.blue.stride), blue.baseAddress, colours, colours, (height + 1) / 2)
    }
    image.red.withUnsafeMutableBufferPointer { red in
      CopyPlane(view.red.bytes, Int32(view.red.stride), red.baseAddress, colours, colours, (height + 1) / 2)
    }
    self.image = image
  }

  /// Takes over a picture.
  func store(_ image: VideoFrame?) {
    number += 1
    self.image = image
  }

  /// Forgets the picture.
  func clear() { image = nil }
}
