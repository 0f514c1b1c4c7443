internal import Glibc
package import Media

/// A log file that is renamed when it is full: `FILE` becomes `FILE.1`, that one `FILE.2`, and so on. It blocks; ``LogFile`` writes
/// from a thread.
///
/// A write that fails, for example because the disk is full, changes nothing: later ones are tried again, and the number of lines
/// that are missing is written then. When the file was deleted, or renamed by another program, the file at the path is opened again,
/// or created, a second later or when ours is full.
package struct RotatingFile: Sendable {
  /// Writes bytes as write(2) does, and returns their number, or the negative error number.
  package typealias Write = @Sendable (_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int

  /// What happens to a full file.
  package enum WhenFull: Sendable, Hashable {
    /// It is renamed, and so many are kept.
    case rename(kept: Int)
    /// Its older half is dropped: the newer half replaces it, beginning with a whole line.
    case dropOldestHalf
  }

  private let path: String
  private let maximumBytes: Int64
  private let whenFull: WhenFull
  private let write: Write
  private let now: @Sendable () -> MonotonicInstant
  private var descriptor: Int32
  private var size: Int64
  /// Whether the last line was written in part.
  private var isLineOpen = false
  /// Whether the file can be renamed; a pipe or a device cannot.
  private var isFile: Bool
  /// The number of lines that are missing before the next one.
  package private(set) var missingLines = 0
  private var lastError: Int32 = 0
  /// When it was last known that the path is our file.
  private var checkTime: MonotonicInstant

  /// How long it is taken for granted that the path is our file.
  private static let checkInterval = Duration.seconds(1)

  /// Opens a file, and appends to it if it exists.
  ///
  /// - Parameters:
  ///   - maximumBytes: the size at which the next file begins.
  ///   - whenFull: what happens to the file then.
  ///   - write: for tests, with a disk that fails.
  ///   - now: for tests, a clock.
  package init(
    path: String, maximumBytes: Int64, whenFull: WhenFull = .rename(kept: 5), write: @escaping Write = Self.systemWrite,
    now: @escaping @Sendable () -> MonotonicInstant = { .now }
  ) throws(OutputError) {
    self.path = path
    self.maximumBytes = max(1, maximumBytes)
    self.whenFull = whenFull
    self.write = write
    self.now = now
    checkTime = now()
    descriptor = -1
    size = 0
    isFile = true
    let error = open()
    if error != 0 { throw OutputError(number: error) }
  }

  @Sendable package static func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    let count = Glibc.write(descriptor, bytes.baseAddress, bytes.count)
    return count < 0 ? -Int(errno) : count
  }

  /// Opens the file at the path, and closes the one that was open.
  ///
  /// - Returns: 0, or the error number; then none is open.
  private mutating func open() -> Int32 {
    close()
    let file = Glibc.open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0o640)
    guard file >= 0 else { return errno }
    var status = stat()
    guard fstat(file, &status) == 0 else {
      let error = errno
      Glibc.close(file)
      return error
    }
    descriptor = file
    size = Int64(status.st_size)
    isFile = status.st_mode & S_IFMT == S_IFREG
    isLineOpen = false
    checkTime = now()
    return 0
  }

  /// Whether the path is the open file. Also updates the size, since other programs may write to the file.
  private mutating func isAtPath() -> Bool {
    checkTime = now()
    var (ours, found) = (stat(), stat())
    guard fstat(descriptor, &ours) == 0 else { return false }
    size = Int64(ours.st_size)
    // A path that cannot be examined cannot be opened either: the open file is continued.
    guard stat(path, &found) == 0 else { return errno != ENOENT && errno != ENOTDIR }
    return ours.st_ino == found.st_ino && ours.st_dev == found.st_dev
  }

  /// Writes a line.
  ///
  /// - Parameter note: makes the line that says how many lines are missing, and why.
  /// - Returns: 0, or the error number if the line is missing now.
  @discardableResult
  package mutating func write(line: String, note: (_ missing: Int, _ reason: String) -> String) -> Int32 {
    if descriptor < 0 {
      let error = open()
      if error != 0 { return countMissing(error) }
    }
    if isFile, now() - checkTime >= Self.checkInterval, !isAtPath() {
      let error = open()
      if error != 0 { return countMissing(error) }
    }
    var text = missingLines > 0 ? note(missingLines, reason) + "\n" : ""
    text += line + "\n"
    var error = makeRoom(for: Int64(text.utf8.count + (isLineOpen ? 1 : 0)))
    if error == 0 { error = writeAll((isLineOpen ? "\n" : "") + text) }
    if error != 0 { return countMissing(error) }
    missingLines = 0
    return 0
  }

  private var reason: String { strerror(lastError).map { String(cString: $0) } ?? "error \(lastError)" }

  private mutating func countMissing(_ error: Int32) -> Int32 {
    lastError = error
    missingLines += 1
    return error
  }

  private mutating func writeAll(_ text: String) -> Int32 {
    var left = Array(text.utf8)[...]
    while !left.isEmpty {
      let count = left.withUnsafeBytes { write(descriptor, $0) }
      if count > 0 {
        left = left.dropFirst(count)
        size += Int64(count)
      } else if count != -Int(EINTR) {
        isLineOpen = isLineOpen || left.count < text.utf8.count
        return count == 0 ? EIO : Int32(clamping: -count)
      }
    }
    isLineOpen = false
    return 0
  }

  /// Begins the next file if this one is full. If another program has renamed or deleted ours, the file at the path is opened
  /// instead.
  ///
  /// - Returns: 0, or the error number; then no file is open.
  private mutating func makeRoom(for bytes: Int64) -> Int32 {
    // The file at the path may be full as well.
    for _ in 0..<2 where isFile && size > 0 && size + bytes > maximumBytes {
      if isAtPath() { return rotate() }
      let error = open()
      if error != 0 { return error }
    }
    return 0
  }

  /// Renames the files, and begins the next one. If ours cannot be renamed, it is continued.
  private mutating func rotate() -> Int32 {
    guard case .rename(let kept) = whenFull else { return dropOldestHalf() }
    for number in stride(from: max(1, kept) - 1, to: 0, by: -1) {
      rename("\(path).\(number)", "\(path).\(number + 1)")
    }
    return rename(path, "\(path).1") == 0 ? open() : 0
  }

  /// Replaces the file by its newer half. Whoever reads the file sees the old one or the new one. If the disk does not accept the new
  /// one, the old one is continued.
  private mutating func dropOldestHalf() -> Int32 {
    let draft = path + ".new"
    guard writeNewerHalf(to: draft), rename(draft, path) == 0 else {
      unlink(draft)
      return 0
    }
    return open()
  }

  private func writeNewerHalf(to draft: String) -> Bool {
    let source = Glibc.open(path, O_RDONLY | O_CLOEXEC)
    guard source >= 0 else { return false }
    defer { Glibc.close(source) }
    let target = Glibc.open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o640)
    guard target >= 0 else { return false }
    defer { Glibc.close(target) }
    // The byte before the newer half ends a line, or is within one.
    var position = size - maximumBytes / 2 - 1
    var isWithinFirstLine = position >= 0
    var buffer = [UInt8](repeating: 0, count: 65_536)
    position = max(0, position)
    while true {
      let count = pread(source, &buffer, buffer.count, off_t(position))
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { return false }
      if count == 0 { return true }
      position += Int64(count)
      var bytes = buffer[..<count]
      if isWithinFirstLine {
        guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else { continue }
        bytes = bytes[(end + 1)...]
        isWithinFirstLine = false
      }
      while !bytes.isEmpty {
        let written = bytes.withUnsafeBytes { write(target, $0) }
        if written == -Int(EINTR) { continue }
        guard written > 0 else { return false }
        bytes = bytes.dropFirst(written)
      }
    }
  }

  /// Closes the file.
  package mutating func close() {
    if descriptor >= 0 { Glibc.close(descriptor) }
    descriptor = -1
  }
}
