package import Media
internal import SQLStore
internal import Synchronization

/// The files on this machine that are complete and not yet in the object store: how many bytes, and since when.
package final class UnstoredFiles: Sendable {
  /// A file of an attempt.
  struct Name: Sendable, Hashable {
    var attemptID: String
    var name: UntrustedText
  }

  package struct Figures: Sendable, Hashable {
    package var count = 0
    package var bytes: Int64 = 0
    /// For how long the oldest one has waited; zero if there is none.
    package var oldest = Duration.zero
  }

  private struct Entry: Sendable {
    var job: JobID
    var bytes: Int64
    var since: MonotonicInstant
  }

  private let entries = Mutex<[Name: Entry]>([:])

  package init() {}

  /// - Parameter since: when the file was complete; the first call for a file counts.
  func add(_ name: Name, of job: JobID, bytes: Int64, since: MonotonicInstant = .now) {
    entries.withLock { entries in
      if entries[name] == nil { entries[name] = Entry(job: job, bytes: max(bytes, 0), since: since) }
    }
  }

  func remove(_ name: Name) { entries.withLock { $0[name] = nil } }

  /// Forgets the files of an attempt.
  func remove(attempt attemptID: String) {
    entries.withLock { entries in entries = entries.filter { $0.key.attemptID != attemptID } }
  }

  func remove(_ job: JobID) {
    entries.withLock { entries in entries = entries.filter { $0.value.job != job } }
  }

  package func figures(now: MonotonicInstant = .now) -> Figures {
    entries.withLock { entries in
      var figures = Figures()
      for entry in entries.values {
        figures.count += 1
        figures.bytes = figures.bytes.addingReportingOverflow(entry.bytes).partialValue
        figures.oldest = max(figures.oldest, now - entry.since)
      }
      return figures
    }
  }
}
