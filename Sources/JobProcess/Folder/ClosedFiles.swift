internal import DataMessages
internal import Glibc
internal import JobProtocol
internal import Media
internal import NIOCore
internal import Synchronization

/// Computes the SHA-256 of closed files, one after another on a thread of low priority, and notes them in the journal.
final class ClosedFiles: Sendable {
  /// A file that is complete.
  struct File: Sendable, Hashable {
    /// Below the folder of media.
    var name: String
    var kind: JournalEvent.ClosedFile.Kind
    var user: String?
    var userName: String?
    var stream: Int?
    var segment: Int?
    var start: Int64?
    var duration: Int64?
  }

  private struct State: Sendable {
    var queue: [File] = []
    var isReading = false
    var isClosed = false
    /// The files that were noted, also before this process.
    var known: Set<String> = []
  }

  let folder: String
  private let journal: JobJournal
  private let state = Monitor(State())

  /// - Parameter folder: that of the media.
  init(folder: String, journal: JobJournal) {
    self.folder = folder
    self.journal = journal
    let (state, folder) = (state, folder)
    DedicatedThread.start("closed files", niceness: 10) { Self.run(state, folder, journal) }
  }

  deinit { state.withLock { $0.isClosed = true } }

  /// Notes a file, unless it is known. Never blocks.
  func add(_ file: File) {
    state.withLock { state in
      if state.known.insert(file.name).inserted { state.queue.append(file) }
    }
  }

  /// Waits until all files are in the journal, but not longer than the limit. It blocks.
  func finish(within limit: Duration = .seconds(600)) {
    _ = state.wait(atMost: limit) { state in state.queue.isEmpty && !state.isReading ? true : nil }
  }

  /// Adds the files of chat, summaries and reports, when nothing writes to them any more. Media and manifests that are not known
  /// were left unfinished.
  ///
  /// - Parameter former: the names of files that an earlier process of the job left.
  func addRest(except former: Set<String>) {
    for name in Self.names(in: folder).sorted() where !former.contains(name) {
      guard let kind = JournalEvent.ClosedFile.Kind(fileName: name) else { continue }
      add(File(name: name, kind: kind))
    }
  }

  /// The names of the regular files of a folder.
  static func names(in folder: String) -> Set<String> {
    guard let directory = opendir(folder) else { return [] }
    defer { closedir(directory) }
    var names: Set<String> = []
    while let entry = readdir(directory) {
      guard entry.pointee.d_type == UInt8(DT_REG) || entry.pointee.d_type == UInt8(DT_UNKNOWN) else { continue }
      let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != ".", name != ".." { names.insert(name) }
    }
    return names
  }

  private static func run(_ state: Monitor<State>, _ folder: String, _ journal: JobJournal) {
    while true {
      let next = state.wait { state -> File?? in
        if !state.queue.isEmpty {
          state.isReading = true
          return .some(state.queue.removeFirst())
        }
        return state.isClosed ? .some(nil) : nil
      }
      guard let file = next.flatMap({ $0 }) else { return }
      note(file, in: folder, journal)
      state.withLock { $0.isReading = false }
    }
  }

  private static func note(_ file: File, in folder: String, _ journal: JobJournal) {
    do {
      let (bytes, hash) = try digest(of: "\(folder)/\(file.name)")
      journal.append(
        .fileClosed(
          .init(
            name: file.name, kind: file.kind, user: file.user, userName: file.userName, stream: file.stream,
            segment: file.segment, start: file.start, duration: file.duration, bytes: bytes, sha256: hash)))
    } catch {
      journal.append(
        .problem(
          user: file.user, sentence: "\(file.name.printable(utf8Bytes: 255)) cannot be read: \(error.reason)."))
    }
  }

  struct ReadError: Error {
    let reason: String
  }

  /// Returns the size of a file and its SHA-256.
  static func digest(of path: String) throws(ReadError) -> (bytes: Int64, digest: String) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { throw ReadError(reason: JobDirectory.words(errno)) }
    defer { close(descriptor) }
    var hash = SHA256Hash()
    var total: Int64 = 0
    var buffer = ByteBuffer()
    while true {
      buffer.clear(minimumCapacity: 262_144)
      var failure: Int32 = 0
      let count = buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: 262_144) { space in
        let count = read(descriptor, space.baseAddress, space.count)
        if count < 0 { failure = errno }
        return max(0, count)
      }
      if failure == EINTR { continue }
      guard failure == 0 else { throw ReadError(reason: JobDirectory.words(failure)) }
      if count == 0 { break }
      total += Int64(count)
      hash.update(buffer)
    }
    let digest = hash.digest
    guard !digest.isEmpty else { throw ReadError(reason: "SHA-256 is not available") }
    return (total, digest)
  }
}
