/// The steps of storing and deleting a recording. Each may be the last one before the service ends; storing then begins again.
package enum StoringStep: String, Sendable, Hashable, CaseIterable {
  case begun
  case pathFixed
  case journalRead
  case repairBegins
  case repairEnded
  case manifestsRead
  case fileBegins
  case filePut
  /// In the transaction that notes the file.
  case fileNoting
  case fileNoted
  case attemptStored
  case documentMade
  case documentPut
  /// In the transaction that notes `recording.json`.
  case documentNoting
  case documentNoted
  case folderRemoved

  case deletionBegun
  case documentDeleted
  case objectDeleted
  /// In the transaction that notes the deletion.
  case deletionNoting
  case deletionNoted
}

/// Why a recording was not stored. It can be tried again.
package struct StoringError: Error, Sendable, Hashable, CustomStringConvertible {
  /// A sentence.
  package let description: String

  package init(_ description: String) { self.description = description }
}
