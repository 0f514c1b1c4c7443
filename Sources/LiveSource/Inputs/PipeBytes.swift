import Glibc

/// The bytes of a pipe, as long as anybody wants what is in them. One thread uses it.
final class PipeBytes {
  /// Whose frames they are to become.
  let mailbox: VideoFrameMailbox
  private let descriptor: Int32
  /// How many have been read.
  private(set) var position = 0

  /// How often is looked whether anybody still wants frames, in milliseconds.
  private static let patience: Int32 = 250

  init(_ descriptor: Int32, until mailbox: VideoFrameMailbox) {
    self.descriptor = descriptor
    self.mailbox = mailbox
  }

  /// The next bytes; fewer at the end.
  ///
  /// - Parameter beginning: what stands before them and counts as a part of them.
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

  /// What the next line turned out to be.
  enum Line {
    /// Without its end.
    case whole([UInt8])
    /// The pipe ended before it did.
    case cutOff
    case tooLong
  }

  /// The next line, of at most so many bytes with its end.
  func line(_ longest: Int) -> Line {
    var line: [UInt8] = []
    while line.count < longest {
      guard let byte = next(1).first else { return .cutOff }
      if byte == UInt8(ascii: "\n") { return .whole(line) }
      line.append(byte)
    }
    return .tooLong
  }

  /// Reads what is there; nil at the end.
  private func read(_ start: UnsafeMutablePointer<UInt8>, _ count: Int) -> Int? {
    while true {
      // A read that nobody can end would keep this thread for ever.
      var wanted = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      let ready = poll(&wanted, 1, Self.patience)
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
