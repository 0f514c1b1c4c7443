import Glibc

/// Reads the bytes of a pipe until the consumer of its frames is gone. It is used by one thread.
final class PipeBytes {
  /// The mailbox that receives the frames.
  let mailbox: VideoFrameMailbox
  private let descriptor: Int32
  /// The number of bytes read so far.
  private(set) var position = 0

  /// How often to check whether the consumer is gone, in milliseconds.
  private static let pollTimeout: Int32 = 250

  init(_ descriptor: Int32, until mailbox: VideoFrameMailbox) {
    self.descriptor = descriptor
    self.mailbox = mailbox
  }

  /// Reads the next bytes; fewer at the end.
  ///
  /// - Parameter beginning: bytes that were read before and are returned first.
  func next(_ count: Int, behind beginning: [UInt8] = []) -> [UInt8] {
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      filled = min(beginning.count, count)
      for index in 0..<filled { buffer[index] = beginning[index] }
      let given = filled
      while filled < count, let start = buffer.baseAddress, let got = read(start + filled, count - filled) {
        filled += got
      }
      position += filled - given
    }
    return bytes
  }

  /// The result of reading a text line.
  enum Line {
    /// The text line without its end.
    case whole([UInt8])
    /// The pipe ended before the line did.
    case cutOff
    case tooLong
  }

  /// Reads the next text line, of at most `longest` bytes including its end.
  func line(_ longest: Int) -> Line {
    var line: [UInt8] = []
    while line.count < longest {
      guard let byte = next(1).first else { return .cutOff }
      if byte == UInt8(ascii: "\n") { return .whole(line) }
      line.append(byte)
    }
    return .tooLong
  }

  /// Reads the available bytes; nil at the end.
  private func read(_ start: UnsafeMutablePointer<UInt8>, _ count: Int) -> Int? {
    while true {
      // A blocking read could not be interrupted and would keep this thread permanently.
      var wanted = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      let ready = poll(&wanted, 1, Self.pollTimeout)
      if ready == 0 || (ready < 0 && errno == EINTR) {
        if mailbox.isUseless { return nil }
        continue
      }
      let got = Glibc.read(descriptor, start, count)
      if got > 0 { return got }
      if got == 0 || (errno != EINTR && errno != EAGAIN) { return nil }
    }
  }
}
