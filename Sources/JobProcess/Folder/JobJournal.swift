internal import FoundationEssentials
internal import Glibc
internal import JobProtocol
internal import Media
internal import Synchronization

/// Writes the journal, on a thread of its own: entries in order, each by one write(2), with `seq` without holes.
///
/// While the disk accepts nothing, entries wait and are tried again.
final class JobJournal: Sendable {
  /// What an entry must be before the caller goes on.
  private struct Waiting: Sendable {
    var time: Int64
    var event: JournalEvent
    /// Called with whether the entry is on the disk. Such an entry is not tried again.
    var done: (@Sendable (Bool) -> Void)?
  }

  private struct State: Sendable {
    var queue: [Waiting] = []
    var isWriting = false
    var isClosed = false
    var hasEnded = false
    var dropped: Int64 = 0
  }

  /// What a journal says before the process continues it.
  struct Past: Sendable {
    var lastSeq: Int64 = 0
    var size: Int64 = 0
    /// Who is paused according to the last entry that says so; nil if none does.
    var paused: PauseState?
  }

  /// The maximum number of entries that wait.
  private static let maximumWaiting = 10_000
  /// The sizes above which entries about problems, and about users, are dropped: the rest is for what a service must know, such as pauses
  /// and the end.
  private static let problemLimit = Int64(JobFolder.maximumJournalBytes) / 4 * 3
  private static let userLimit = Int64(JobFolder.maximumJournalBytes) / 16 * 15
  /// The same for files, which are found in the folder too, and for joins after the first one.
  private static let fileLimit = Int64(JobFolder.maximumJournalBytes) / 32 * 31
  private static let retryDelay = Duration.seconds(1)

  let past: Past
  private let file: Int32
  private let state = Monitor(State())
  private let clock: @Sendable () -> Int64

  /// Continues the journal of a file. An incomplete last line is removed.
  ///
  /// - Parameters:
  ///   - file: is closed at the end.
  ///   - clock: the time in milliseconds since 1970.
  init(_ file: Int32, clock: @escaping @Sendable () -> Int64 = { JobClock.now }) throws(JobFailure) {
    self.file = file
    self.clock = clock
    do {
      past = try Self.read(file)
    } catch {
      Glibc.close(file)
      throw error
    }
    let (state, past) = (state, past)
    let isStarted = DedicatedThread.start("journal") { Self.run(file, past, state) }
    if !isStarted { throw JobFailure(.crashing, "No thread can be started.") }
  }

  private static func read(_ file: Int32) throws(JobFailure) -> Past {
    var reader = JournalReader()
    var past = Past()
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = pread(file, &buffer, buffer.count, off_t(past.size))
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw .folder("The journal cannot be read: \(JobDirectory.words(errno)).") }
      past.size += Int64(count)
      do throws(JournalReader.BrokenLine) {
        // Without further bytes it says whether the last lines are broken.
        for entry in try reader.read(buffer[..<count]) {
          switch entry.event {
          case .started(let start): past.paused = start.paused
          case .paused(let change), .resumed(let change): past.paused = change.state
          default: break
          }
        }
      } catch {
        throw .folder("\(error)")
      }
      if count == 0 { break }
    }
    guard reader.incompleteBytes == 0 || ftruncate(file, off_t(reader.position)) == 0 else {
      throw .folder("The journal cannot be written: \(JobDirectory.words(errno)).")
    }
    past.size = reader.position
    past.lastSeq = reader.lastSeq
    return past
  }

  // MARK: Entries

  /// Adds an entry. Never blocks. Entries about users and problems take half of the queue at most, so that there is room for others while
  /// the disk accepts nothing.
  func append(_ event: JournalEvent) {
    let entry = Waiting(time: clock(), event: event)
    let maximum = Self.limit(of: event) == nil ? Self.maximumWaiting : Self.maximumWaiting / 2
    state.withLock { state in
      guard !state.isClosed, state.queue.count < maximum else {
        state.dropped += 1
        return
      }
      state.queue.append(entry)
    }
  }

  /// Adds an entry, and waits until it is on the disk.
  ///
  /// - Returns: false if it could not be written; then it never will be.
  func appendDurably(_ event: JournalEvent) async -> Bool {
    let time = clock()
    return await withCheckedContinuation { continuation in
      let isTaken = state.withLock { state in
        guard !state.isClosed, state.queue.count < Self.maximumWaiting else { return false }
        state.queue.append(Waiting(time: time, event: event) { continuation.resume(returning: $0) })
        return true
      }
      if !isTaken { continuation.resume(returning: false) }
    }
  }

  /// Counts an entry that was not added because there are too many of its kind.
  func leaveOut() { state.withLock { $0.dropped += 1 } }

  /// How many entries were left out because the journal is full, or because there were too many of their kind.
  var dropped: Int64 { state.withLock { $0.dropped } }

  /// Waits until all entries are written or left out, but not longer than the limit. It blocks.
  func drain(within limit: Duration = .seconds(5)) {
    _ = state.wait(atMost: limit) { state in state.queue.isEmpty && !state.isWriting ? true : nil }
  }

  /// Waits until the entries are written, but not longer than the limit, and ends the thread. It blocks.
  func close(within limit: Duration = .seconds(5)) {
    let state = state
    drain(within: limit)
    state.withLock { $0.isClosed = true }
    _ = state.wait(atMost: .seconds(1)) { state in state.hasEnded ? true : nil }
  }

  // MARK: The thread

  private static func run(_ file: Int32, _ past: Past, _ state: Monitor<State>) {
    var writer = Writer(file: file, size: past.size, lastSeq: past.lastSeq)
    while true {
      let next = state.wait { state -> [Waiting]? in
        guard state.queue.isEmpty else {
          defer { state.queue = [] }
          state.isWriting = true
          return state.queue
        }
        return state.isClosed ? [] : nil
      }
      guard let next, !next.isEmpty else { break }
      for entry in next { write(entry, by: &writer, state) }
      state.withLock { $0.isWriting = false }
    }
    Glibc.close(file)
    state.withLock { $0.hasEnded = true }
  }

  private static func write(_ entry: Waiting, by writer: inout Writer, _ state: Monitor<State>) {
    guard !isLeftOut(entry.event, at: writer.size) else {
      state.withLock { $0.dropped += 1 }
      entry.done?(false)
      return
    }
    guard let line = writer.line(of: entry.event, time: entry.time) else {
      // It would never be written, and nothing behind it.
      state.withLock { $0.dropped += 1 }
      entry.done?(false)
      return
    }
    while true {
      let isWritten = writer.write(line, durably: entry.done != nil)
      if isWritten || entry.done != nil {
        entry.done?(isWritten)
        return
      }
      // The disk may work again later.
      let isClosed = state.wait(atMost: retryDelay) { state in state.isClosed ? true : nil } ?? false
      if isClosed { return }
    }
  }

  private static func isLeftOut(_ event: JournalEvent, at size: Int64) -> Bool {
    limit(of: event).map { size >= $0 } ?? false
  }

  /// The size of the journal above which an entry is left out; nil if it never is.
  private static func limit(of event: JournalEvent) -> Int64? {
    switch event {
    case .problem: problemLimit
    case .participantJoined, .participantLeft, .stalled: userLimit
    case .joined, .fileClosed: fileLimit
    default: nil
    }
  }

  private struct Writer {
    let file: Int32
    var size: Int64
    var lastSeq: Int64

    /// - Returns: the next line; nil if the entry does not fit into one.
    func line(of event: JournalEvent, time: Int64) -> Data? {
      guard var line = try? JournalEntry(seq: lastSeq + 1, time: time, event: event).line,
        line.count <= JournalEntry.maximumBytes
      else { return nil }
      line.append(UInt8(ascii: "\n"))
      return line
    }

    /// - Returns: false if nothing of the line is in the file.
    mutating func write(_ line: Data, durably: Bool) -> Bool {
      var count = -1
      repeat {
        count = line.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
      } while count < 0 && errno == EINTR
      guard count == line.count, !durably || fdatasync(file) == 0 else {
        // A part of a line would join with the next one.
        if count > 0 { _ = ftruncate(file, off_t(size)) }
        return false
      }
      size += Int64(count)
      lastSeq += 1
      return true
    }
  }
}

/// The wall clock.
enum JobClock {
  /// Milliseconds since 1970-01-01 00:00 UTC.
  static var now: Int64 {
    Int64(WallClock.read().secondsSince1970 * 1_000)
  }
}
