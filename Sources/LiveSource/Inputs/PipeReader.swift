import Glibc
import Logging
import Media

/// Reads frames from a pipe on a thread of its own, so that a writer that is slow holds up nobody.
///
/// What begins as a Y4M file does is read as one: a header line, then frames, each behind a line of its own. Anything else is raw
/// frames, one behind the other.
final class PipeReader: Sendable {
  let mailbox: VideoFrameMailbox

  /// What a frame's line begins with.
  private static let word = "FRAME"

  /// - Parameters:
  ///   - descriptor: stays open.
  ///   - raw: how raw frames lie in it; nil when they cannot be read.
  init(_ descriptor: Int32, raw: PipeFormat?, logger: Logger) {
    let mailbox = VideoFrameMailbox()
    self.mailbox = mailbox
    let isStarted = DedicatedThread.start("pipe reader") {
      do throws(InputError) {
        try Self.read(PipeBytes(descriptor, until: mailbox), raw, logger)
      } catch {
        mailbox.refuse(error)
      }
    }
    if !isStarted { mailbox.refuse(InputError("the system gives no thread")) }
  }

  deinit {
    mailbox.abandon()
  }

  private static func read(_ pipe: PipeBytes, _ raw: PipeFormat?, _ logger: Logger) throws(InputError) {
    let mailbox = pipe.mailbox
    let beginning = pipe.next(Y4MHeader.signature.utf8.count)
    if beginning.elementsEqual(Y4MHeader.signature.utf8) {
      let header = try header(pipe, beginning)
      let shape = try PipeFormat(header)
      guard mailbox.announce(.y4m(header)) else {
        throw InputError("raw frames were to come from it, and a Y4M file comes too late")
      }
      while !mailbox.isUseless, try isAnotherVideoFrame(pipe, logger) {
        guard put(pipe.next(shape.byteCount), of: shape, into: mailbox, logger) else { return }
      }
      return mailbox.end(rest: 0)
    }
    _ = mailbox.announce(.raw)
    guard let raw else { return mailbox.end(rest: beginning.count) }
    guard put(pipe.next(raw.byteCount, behind: beginning), of: raw, into: mailbox, logger) else { return }
    while !mailbox.isUseless, put(pipe.next(raw.byteCount), of: raw, into: mailbox, logger) {}
  }

  private static func header(_ pipe: PipeBytes, _ beginning: [UInt8]) throws(InputError) -> Y4MHeader {
    switch pipe.line(Y4MHeader.maximumLine - beginning.count) {
    case .whole(let line): return try Y4MHeader(parsing: beginning + line)
    case .cutOff: throw InputError("it ended within its Y4M header")
    case .tooLong: throw InputError("its Y4M header has no end within \(Y4MHeader.maximumLine) bytes")
    }
  }

  /// Reads the line before a frame of a Y4M file.
  ///
  /// - Returns: false at the end.
  private static func isAnotherVideoFrame(_ pipe: PipeBytes, _ logger: Logger) throws(InputError) -> Bool {
    let position = pipe.position
    let word = pipe.next(Self.word.utf8.count)
    guard Self.word.utf8.starts(with: word) else { throw InputError("at byte \(position) no frame begins") }
    if word.isEmpty { return false }
    switch pipe.line(Y4MFile.maximumLine - word.count) {
    case .whole: return true
    case .cutOff:
      if !pipe.mailbox.isUseless { logger.warning("Standard input ended within the line before a frame.") }
      return false
    case .tooLong: throw InputError("at byte \(position) a frame's line has no end")
    }
  }

  /// Hands a frame on.
  ///
  /// - Returns: false at the end, where it is not whole, and when nobody will take it.
  private static func put(
    _ videoFrame: [UInt8], of shape: PipeFormat, into mailbox: VideoFrameMailbox, _ logger: Logger
  ) -> Bool {
    if videoFrame.count == shape.byteCount { return mailbox.put(videoFrame) }
    if !videoFrame.isEmpty, !mailbox.isUseless {
      logger.warning(
        "Standard input ended in the middle of a frame: \(videoFrame.count) of \(shape.byteCount) bytes came.")
    }
    mailbox.end(rest: videoFrame.count)
    return false
  }
}
