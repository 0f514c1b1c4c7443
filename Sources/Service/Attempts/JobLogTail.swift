internal import CFiles
internal import FoundationEssentials
internal import Glibc
internal import JSON
internal import JobProtocol
package import Logging
internal import Media

/// A line of the log of a job process: what it says, cleaned and cut, since it is written by a process that parses the media of
/// strangers.
package struct JobLogLine: Sendable, Hashable {
  package var level: Logger.Level
  package var message: String
  /// At most ``maximumFields``, without `job` and `attempt`, which the service knows better.
  package var fields: [String: String]

  private static let maximumFields = 20
  private static let maximumMessage = 2_000
  private static let maximumValue = 1_000

  /// Reads a line, `{"time": …, "level": …, "message": …, "fields": {…}}`.
  ///
  /// - Returns: nil if it is none.
  package init?(parsing line: some Sequence<UInt8>) {
    let limits = JSONLimits(bytes: JobLogTail.maximumLine, values: 200, depth: 3, nameBytes: 256)
    guard let value = try? JSONReader.decode(JSONValue.self, from: Data(line), within: limits),
      let message = value["message"]?.string
    else { return nil }
    level = value["level"]?.string?.ascii.flatMap { Logger.Level(rawValue: $0) } ?? .info
    self.message = message.string.printable(utf8Bytes: Self.maximumMessage)
    fields = [:]
    guard case .object(let given)? = value["fields"] else { return }
    for (name, value) in given.sorted(by: { $0.key < $1.key }) where fields.count < Self.maximumFields {
      guard Self.isName(name), name != "job", name != "attempt", let text = value.string else { continue }
      fields[name] = text.string.printable(utf8Bytes: Self.maximumValue)
    }
  }

  /// Letters, digits and the characters of names that the programs use; a space is one of them.
  private static func isName(_ name: String) -> Bool {
    (1...64).contains(name.utf8.count)
      && name.utf8.allSatisfy {
        (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0)
          || "-_. ".utf8.contains($0)
      }
  }
}

/// Reads the log of an attempt, `log.ndjson`, as it grows, also when its older half was dropped. Its calls block while they read.
package struct JobLogTail: Sendable {
  private let path: String
  private var offset: Int64 = 0
  /// The number of the file that was read last.
  private var inode: UInt64?
  private var rest: [UInt8] = []
  /// The last complete line, behind which reading goes on in a file that has replaced the one before.
  private var last: [UInt8] = []
  /// Whether what is there already is left out.
  private var skipsExisting: Bool

  static let maximumLine = 65_536
  /// The maximum number of bytes that one call reads.
  private static let maximumPart = 1 << 18

  /// - Parameter skippingExisting: whether to begin with what is written from the first call on, as with a process that an earlier
  ///   service started.
  package init(folder: AttemptDirectory, skippingExisting: Bool = false) {
    path = "\(folder.path)/\(JobFolder.log)"
    skipsExisting = skippingExisting
  }

  /// Reads the lines that have become complete; those that are none of a log are left out.
  package mutating func more() -> [JobLogLine] {
    let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard file >= 0 else { return [] }
    defer { close(file) }
    var version = cfiles_version()
    guard cfiles_read_open_version(file, &version) == 0, version.is_plain != 0 else { return [] }
    let (number, size) = (version.inode, version.bytes)
    if skipsExisting {
      skipsExisting = false
      (inode, offset) = (number, size)
      // Its last line may be incomplete: the rest of it is no line of a log, and is left out.
      return []
    }
    if inode != nil, inode != number || size < offset {
      (offset, rest) = (position(behind: last, in: file), [])
    }
    inode = number
    var lines: [JobLogLine] = []
    for byte in read(file) {
      guard byte == UInt8(ascii: "\n") else {
        // The end of a line that is too long is no JSON.
        if rest.count > Self.maximumLine { rest = [] }
        rest.append(byte)
        continue
      }
      if let line = JobLogLine(parsing: rest) { lines.append(line) }
      last = rest
      rest = []
    }
    return lines
  }

  private mutating func read(_ file: Int32) -> [UInt8] {
    var bytes: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 1 << 16)
    while bytes.count < Self.maximumPart {
      let count = pread(file, &part, part.count, off_t(offset))
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { break }
      bytes += part[..<count]
      offset += Int64(count)
    }
    return bytes
  }

  /// Returns where the line after this one begins; 0 if the file does not have it.
  private func position(behind line: [UInt8], in file: Int32) -> Int64 {
    guard !line.isEmpty else { return 0 }
    var (start, current) = (Int64(0), [UInt8]())
    var part = [UInt8](repeating: 0, count: 1 << 16)
    while start < Int64(JobFolder.maximumLogBytes) * 2 {
      let count = pread(file, &part, part.count, off_t(start))
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return 0 }
      for (index, byte) in part[..<count].enumerated() {
        guard byte == UInt8(ascii: "\n") else {
          if current.count > Self.maximumLine { current = [] }
          current.append(byte)
          continue
        }
        if current == line { return start + Int64(index) + 1 }
        current = []
      }
      start += Int64(count)
    }
    return 0
  }
}
