internal import Synchronization

/// Where an object store notes uploads in parts that have begun, so that they go on after the end of the program.
///
/// An entry that is lost costs time only: the upload begins again, and the store keeps the parts of the former one until it is told to
/// delete them.
package protocol ObjectUploadLedger: Sendable {
  /// Returns the upload of an object that has begun and not ended; nil if there is none.
  ///
  /// - Returns: the text that was set last. Only the store understands it.
  func uploadID(of key: ObjectKey) async throws -> String?

  /// Notes an upload before its first part is sent. It replaces the one before.
  ///
  /// - Parameter uploadID: at most 2,048 bytes of ASCII.
  func set(_ uploadID: String, for key: ObjectKey) async throws

  /// Forgets an upload, if there is one.
  func remove(_ key: ObjectKey) async throws
}

/// A ledger that ends with the program.
package final class MemoryUploadLedger: ObjectUploadLedger {
  private let uploads = Mutex<[ObjectKey: String]>([:])

  package init() {}

  package func uploadID(of key: ObjectKey) async -> String? { uploads.withLock { $0[key] } }
  package func set(_ uploadID: String, for key: ObjectKey) async { uploads.withLock { $0[key] = uploadID } }
  package func remove(_ key: ObjectKey) async { uploads.withLock { $0[key] = nil } }
}
