import Glibc

/// An open regular file, closed when the last reader releases it.
///
/// Readers use `pread`, which shares no position, so any number of them can read at once. A file that is renamed or
/// replaced while it plays stays the one that was checked.
package final class OpenFile: Sendable {
  package let descriptor: Int32
  /// The size when the file was opened; bytes beyond it are not read.
  package let size: UInt64

  /// - Parameter followsLink: whether the path may be a symbolic link.
  package init(_ path: String, followsLink: Bool = true) throws(MediaFile.ReadError) {
    // Without O_NONBLOCK, opening a named pipe would wait for a writer.
    descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | (followsLink ? 0 : O_NOFOLLOW))
    guard descriptor >= 0 else {
      size = 0
      throw .unreadable(errno: errno)
    }
    var facts = stat()
    guard fstat(descriptor, &facts) == 0 else {
      size = 0
      throw .unreadable(errno: errno)
    }
    guard facts.st_mode & S_IFMT == S_IFREG else {
      size = 0
      throw .notARegularFile
    }
    size = UInt64(clamping: facts.st_size)
  }

  deinit {
    if descriptor >= 0 { close(descriptor) }
  }

  /// Reads into a buffer from a position in the file.
  ///
  /// - Returns: the number of bytes read; less than the buffer's size only at the file's end.
  package func read(into buffer: UnsafeMutableRawBufferPointer, from position: UInt64) throws(MediaFile.ReadError)
    -> Int
  {
    guard let start = buffer.baseAddress, position < size else { return 0 }
    let wanted = min(buffer.count, Int(clamping: size - position))
    var done = 0
    while done < wanted {
      let got = pread(descriptor, start + done, wanted - done, off_t(clamping: position) + off_t(done))
      if got > 0 {
        done += got
      } else if got == 0 {
        break
      } else if errno != EINTR {
        throw .unreadable(errno: errno)
      }
    }
    return done
  }

  /// Returns the file's first bytes.
  package func beginning(_ count: Int) throws(MediaFile.ReadError) -> [UInt8] {
    try bytes(count, from: 0)
  }

  /// Returns bytes from a position in the file; fewer than requested only at its end. Allocates no more memory than
  /// there are bytes.
  package func bytes(_ count: Int, from position: UInt64) throws(MediaFile.ReadError) -> [UInt8] {
    let there = position < size ? Int(clamping: size - position) : 0
    var rejection: MediaFile.ReadError?
    let bytes = [UInt8](unsafeUninitializedCapacity: min(count, there)) { buffer, filled in
      do throws(MediaFile.ReadError) {
        filled = try read(into: UnsafeMutableRawBufferPointer(buffer), from: position)
      } catch {
        rejection = error
      }
    }
    if let rejection { throw rejection }
    return bytes
  }
}
