import Codecs
import FileSource
import Glibc
import Logging
import Media

/// Raw I420 pictures from a pipe, one at each beat of a rate. A writer that is slower makes a camera that stands still;
/// one that is faster waits.
final class RawPictures: PictureInput {
  private let mailbox: PictureMailbox
  private let size: PictureSize
  private let rate: PictureRate
  private var number: Int64 = 0
  private var bytes: [UInt8]?
  private var last: Picture

  static let usualRate = PictureRate(pictures: 30)

  init(_ mailbox: PictureMailbox, size: PictureSize, rate: PictureRate) {
    self.mailbox = mailbox
    self.size = size
    self.rate = rate
    last = Picture(size: size)
  }

  func peek() -> Int64? { mailbox.isOver ? nil : rate.time(of: number) }

  func advance() {
    number += 1
    if let next = mailbox.take() { bytes = next }
  }

  func picture() throws(InputRefusal) -> Picture {
    if let bytes {
      last = try Picture(bytes, size: size, layout: .i420)
      self.bytes = nil
    }
    return last
  }

  func rewind() throws(InputRefusal) { throw InputRefusal("standard input cannot be played again") }

  /// How long the first picture is waited for before anybody joins, in seconds.
  private static let patience = 2.0

  /// Begins to read.
  ///
  /// - Parameter descriptor: standard input, or what stands for it in a test.
  static func check(
    _ descriptor: Int32, size: PictureSize?, rate: PictureRate?, logger: Logger
  ) throws(InputRefusal) -> CheckedPictures {
    guard let size else { throw InputRefusal("raw pictures come from it, and their size must be given (--size)") }
    guard let rate = rate ?? usualRate, let pictureBytes = PixelLayout.i420.byteCount(for: size) else {
      throw InputRefusal("pictures of \(size) are not possible")
    }
    if isatty(descriptor) == 1 { throw InputRefusal("it is a terminal, and raw pictures are to come from it") }
    let reader = PipeReader(descriptor, pictureBytes: pictureBytes, logger: logger)
    var remarks: [String] = []
    switch reader.mailbox.waitForFirst(patience) {
    case nil:
      remarks.append("No picture has come from it yet; a black one is shown until one does.")
    case (isThere: false, let rest)?:
      throw InputRefusal("it ended after \(rest) bytes, and a picture of \(size) has \(pictureBytes)")
    case (isThere: true, _)? where reader.mailbox.first(startsWith: Array(Y4MHeader.signature.utf8)):
      throw InputRefusal("a Y4M file comes from it, and raw pictures are to")
    case (isThere: true, _)?:
      break
    }
    return CheckedPictures(
      summary: "raw pictures \(size), \(rate) a second", size: size, interval: rate.interval, extent: .unknown,
      remarks: remarks,
      // The reader lives as long as this can be opened.
      open: { _ in RawPictures(reader.mailbox, size: size, rate: rate) })
  }
}
