import Foundation
import Glibc
import Logging

/// Reads raw pictures from a pipe on a thread of its own, so that a writer that is slow holds up nobody.
final class PipeReader: Sendable {
  let mailbox: PictureMailbox

  /// How often the thread looks whether anybody still wants pictures, in milliseconds.
  private static let patience: Int32 = 250

  /// - Parameters:
  ///   - descriptor: stays open.
  ///   - pictureBytes: bytes of one picture.
  init(_ descriptor: Int32, pictureBytes: Int, logger: Logger) {
    let mailbox = PictureMailbox()
    self.mailbox = mailbox
    let thread = Thread { Self.read(descriptor, pictureBytes, into: mailbox, logger) }
    thread.name = "pipe reader"
    thread.start()
  }

  deinit {
    mailbox.abandon()
  }

  private static func read(_ descriptor: Int32, _ size: Int, into mailbox: PictureMailbox, _ logger: Logger) {
    while !mailbox.isUseless {
      let picture = picture(descriptor, size, mailbox)
      if picture.count == size {
        guard mailbox.put(picture) else { return }
        continue
      }
      if !picture.isEmpty {
        logger.warning("Standard input ended in the middle of a picture: \(picture.count) of \(size) bytes came.")
      }
      return mailbox.end(rest: picture.count)
    }
  }

  /// One picture; fewer bytes at the end.
  private static func picture(_ descriptor: Int32, _ size: Int, _ mailbox: PictureMailbox) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: size) { buffer, filled in
      filled = 0
      while filled < size, let start = buffer.baseAddress {
        // A read that nobody can end would keep this thread for ever.
        var wanted = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        let ready = poll(&wanted, 1, patience)
        if ready == 0 || (ready < 0 && errno == EINTR) {
          if mailbox.isUseless { return }
          continue
        }
        let got = Glibc.read(descriptor, start + filled, size - filled)
        if got > 0 {
          filled += got
        } else if got == 0 || (errno != EINTR && errno != EAGAIN) {
          return
        }
      }
    }
  }
}
