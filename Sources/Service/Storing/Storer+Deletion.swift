internal import ObjectStore
internal import SQLStore

extension Storer {
  /// Deletes the recordings whose deletion was asked for, and those that are too old.
  ///
  /// - Parameter retention: how long after the end of its job a recording is kept, in milliseconds; nil for ever.
  /// - Returns: how many were deleted; further ones may wait.
  /// - Throws: a ``StoringError``, an `ObjectStoreError` or an `SQLError`. The call can be repeated.
  @discardableResult
  package func deleteDue(retention: Int64?) async throws -> Int {
    if let retention { try await store.expireRecordings(age: retention) }
    var count = 0
    var failure: ObjectStoreError?
    var timeouts = 0
    for job in try await store.deletionsToDo(limit: Self.maximumDeletions) {
      do {
        try await delete(job)
        count += 1
      } catch let error as ObjectStoreError {
        // The other recordings do not wait for this one, unless the store is away: then each would take as long.
        failure = failure ?? error
        if error.kind == .timeout { timeouts += 1 }
        if timeouts == Self.maximumTimeouts { throw error }
      }
    }
    if let failure { throw failure }
    return count
  }

  /// The number of recordings that a call deletes at most.
  private static let maximumDeletions = 1_000
  /// After how many recordings without an answer of the store a call ends.
  private static let maximumTimeouts = 3

  /// Deletes all objects of a recording, `recording.json` first, and notes it.
  private func delete(_ job: JobRecord) async throws {
    try reached(.deletionBegun)
    if let path = job.objectPath.flatMap({ ObjectKey($0) }) {
      for number in (1...max(1, job.amendments + 1)).reversed() {
        if let document = path.appending(RecordingDocument.name(number)) { try await objects.delete(document) }
      }
      try reached(.documentDeleted)
      // Their parts are not listed among the keys.
      for key in try await store.uploads(below: path.text).compactMap({ ObjectKey($0) }) {
        try await objects.delete(key)
        try await store.forgetUpload(of: key.text)
      }
      // Also objects that were put and never noted.
      for key in try await objects.keys(below: path) {
        try await objects.delete(key)
        try reached(.objectDeleted)
      }
    }
    // Copies that stay on this machine for some time.
    for attempt in try await store.attempts(of: job.id) where attempt.storedAt != nil {
      try await removeFolder(of: attempt)
    }
    try await store.noteDeletion(of: job.id) { [reached] in try reached(.deletionNoting) }
    try reached(.deletionNoted)
  }
}
