import Glibc
import Logging
import Media

/// Reads pictures from a pipe on a thread of its own, so that a writer that is slow holds up nobody.
///
/// What begins as a Y4M file does is read as one: a header line, then pictures, each behind a line of its own. Anything else is raw
/// pictures, one behind the other.
final class PipeReader: Sendable {
  let mailbox: PictureMailbox

  /// What a picture's line begins with.
  private static let word = "FRAME"

  /// - Parameters:
  ///   - descriptor: stays open.
  ///   - raw: how raw pictures lie in it; nil when they cannot be read.
  init(_ descriptor: Int32, raw: PipeShape?, logger: Logger) {
    let mailbox = PictureMailbox()
    self.mailbox = mailbox
    let isStarted = DedicatedThread.start("pipe reader") {
      do throws(InputRefusal) {
        try Self.read(PipeBytes(descriptor, until: mailbox), raw, logger)
      } catch {
        mailbox.refuse(error)
      }
    }
    if !isStarted { mailbox.refuse(InputRefusal("the system gives no thread")) }
  }

  deinit {
    mailbox.abandon()
  }

  private static func read(_ pipe: PipeBytes, _ raw: PipeShape?, _ logger: Logger) throws(InputRefusal) {
    let mailbox = pipe.mailbox
    let beginning = pipe.next(Y4MHeader.signature.utf8.count)
    if beginning.elementsEqual(Y4MHeader.signature.utf8) {
      let header = try header(pipe, beginning)
      let shape = try PipeShape(header)
      guard mailbox.announce(.y4m(header)) else {
        throw InputRefusal("raw pictures were to come from it, and a Y4M file comes too late")
      }
      while !mailbox.isUseless, try isAnotherPicture(pipe, logger) {
        guard put(pipe.next(shape.byteCount), of: shape, into: mailbox, logger) else { return }
      }
      return mailbox.end(rest: 0)
    }
    _ = mailbox.announce(.raw)
    guard let raw else { return mailbox.end(rest: beginning.count) }
    guard put(pipe.next(raw.byteCount, behind: beginning), of: raw, into: mailbox, logger) else { return }
    while !mailbox.isUseless, put(pipe.next(raw.byteCount), of: raw, into: mailbox, logger) {}
  }

  private static func header(_ pipe: PipeBytes, _ beginning: [UInt8]) throws(InputRefusal) -> Y4MHeader {
    switch pipe.line(Y4MHeader.longestLine - beginning.count) {
    case .whole(let line): return try Y4MHeader(parsing: beginning + line)
    case .cutOff: throw InputRefusal("it ended within its Y4M header")
    case .tooLong: throw InputRefusal("its Y4M header has no end within \(Y4MHeader.longestLine) bytes")
    }
  }

  /// Reads the line before a picture of a Y4M file.
  ///
  /// - Returns: false at the end.
  private static func isAnotherPicture(_ pipe: PipeBytes, _ logger: Logger) throws(InputRefusal) -> Bool {
    let position = pipe.position
    let word = pipe.next(Self.word.utf8.count)
    guard Self.word.utf8.starts(with: word) else { throw InputRefusal("at byte \(position) no picture begins") }
    if word.isEmpty { return false }
    switch pipe.line(Y4MFile.longestLine - word.count) {
    case .whole: return true
    case .cutOff:
      if !pipe.mailbox.isUseless { logger.warning("Standard input ended within the line before a picture.") }
      return false
    case .tooLong: throw InputRefusal("at byte \(position) a picture's line has no end")
    }
  }

  /// Hands a picture on.
  ///
  /// - Returns: false at the end, where it is not whole, and when nobody will take it.
  private static func put(
    _ picture: [UInt8], of shape: PipeShape, into mailbox: PictureMailbox, _ logger: Logger
  ) -> Bool {
    if picture.count == shape.byteCount { return mailbox.put(picture) }
    if !picture.isEmpty, !mailbox.isUseless {
      logger.warning(
        "Standard input ended in the middle of a picture: \(picture.count) of \(shape.byteCount) bytes came.")
    }
    mailbox.end(rest: picture.count)
    return false
  }
}
