package import JobProtocol
internal import Media
package import SQLStore

/// A file of an attempt that its journal says is closed.
package struct AttemptFile: Sendable, Hashable {
  package var job: JobID
  package var attempt: Int64
  package var attemptID: String
  /// The path of the attempt's folder, below the data folder.
  package var folder: String
  package var closed: JournalEvent.ClosedFile

  package init(job: JobID, attempt: Int64, attemptID: String, folder: String, closed: JournalEvent.ClosedFile) {
    self.job = job
    self.attempt = attempt
    self.attemptID = attemptID
    self.folder = folder
    self.closed = closed
  }

  var unstoredName: UnstoredFiles.Name { UnstoredFiles.Name(attemptID: attemptID, name: UntrustedText(closed.name)) }
}
