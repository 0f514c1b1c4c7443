internal import Glibc
package import JobProtocol

/// Reads the journal of an attempt as it grows. Its calls block while they read.
package struct JournalTail: Sendable {
  private let path: String
  private var reader = JournalReader()
  private var offset: Int64 = 0
  /// Why the journal cannot be read any further; nil if it can.
  package private(set) var problem: String?

  /// The maximum number of bytes that one call reads.
  private static let maximumPart = 1 << 20

  package init(folder: AttemptDirectory) {
    path = "\(folder.path)/\(JobFolder.journal)"
  }

  /// Reads the entries that have become complete.
  ///
  /// - Returns: the entries, and whether there is more to read at once.
  package mutating func more() -> (entries: [JournalEntry], hasMore: Bool) {
    guard problem == nil else { return ([], false) }
    let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard file >= 0 else { return ([], false) }
    defer { close(file) }
    var bytes: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 1 << 16)
    while bytes.count < Self.maximumPart {
      let count = pread(file, &part, part.count, off_t(offset))
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { break }
      bytes += part[..<count]
      offset += Int64(count)
    }
    guard !bytes.isEmpty else { return ([], false) }
    var entries: [JournalEntry] = []
    do throws(JournalReader.BrokenLine) {
      // Line by line, so that the entries before a broken line count.
      var rest = bytes[...]
      while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
        entries += try reader.read(rest[...end])
        rest = rest[(end + 1)...]
      }
      entries += try reader.read(rest)
    } catch {
      problem = error.description
    }
    return (entries, problem == nil && bytes.count >= Self.maximumPart)
  }
}
