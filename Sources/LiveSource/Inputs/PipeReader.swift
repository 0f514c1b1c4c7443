import Glibc
import Logging
import Media

/// Reads frames from a pipe on a dedicated thread, so that a slow writer delays nothing else.
///
/// Data that begins like a Y4M file is read as one: a header line, then frames, each after a header line of its own.
/// Any other data is raw frames, one after the other.
final class PipeReader: Sendable {
  let mailbox: VideoFrameMailbox

  /// The beginning of a frame's header line.
  private static let frameMarker = "FRAME"

  /// - Parameters:
  ///   - descriptor: is not closed.
  ///   - raw: the format of raw frames; nil if raw frames cannot be read.
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
    if !isStarted { mailbox.refuse(InputError("the system cannot create a thread")) }
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
        throw InputError("a Y4M header arrived too late, after raw frames were expected")
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

  /// Reads the header line of a frame in a Y4M file.
  ///
  /// - Returns: false at the end.
  private static func isAnotherVideoFrame(_ pipe: PipeBytes, _ logger: Logger) throws(InputError) -> Bool {
    let position = pipe.position
    let marker = pipe.next(Self.frameMarker.utf8.count)
    guard Self.frameMarker.utf8.starts(with: marker) else { throw InputError("no frame begins at byte \(position)") }
    if marker.isEmpty { return false }
    switch pipe.line(Y4MFile.maximumLine - marker.count) {
    case .whole: return true
    case .cutOff:
      if !pipe.mailbox.isUseless { logger.warning("Standard input ended within the header line of a frame.") }
      return false
    case .tooLong: throw InputError("the frame's header line at byte \(position) has no end")
    }
  }

  /// Puts a frame into the mailbox.
  ///
  /// - Returns: false at the end, if the frame is incomplete, and if the consumer is gone.
  private static func put(
    _ videoFrame: [UInt8], of shape: PipeFormat, into mailbox: VideoFrameMailbox, _ logger: Logger
  ) -> Bool {
    if videoFrame.count == shape.byteCount { return mailbox.put(videoFrame) }
    if !videoFrame.isEmpty, !mailbox.isUseless {
      logger.warning(
        "Standard input ended in the middle of a frame: \(videoFrame.count) of \(shape.byteCount) bytes were read.")
    }
    mailbox.end(rest: videoFrame.count)
    return false
  }
}
