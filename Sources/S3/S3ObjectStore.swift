package import Logging
package import ObjectStore

/// Objects in a bucket of S3, or of a store that speaks its protocol.
package final class S3ObjectStore: ObjectStore {
  package let configuration: S3Configuration
  private let transport: any S3Transport
  private let ledger: any ObjectUploadLedger

  /// - Parameters:
  ///   - environment: the variables of the process, with credentials, a region or an endpoint.
  ///   - transport: an ``HTTPClientTransport``, which the caller shuts down.
  ///   - ledger: where uploads in parts are noted.
  ///   - observe: called for each request and each file that is stored; it must not wait.
  package init(
    _ configuration: S3Configuration, environment: [String: String], transport: any S3Transport,
    ledger: any ObjectUploadLedger = MemoryUploadLedger(), logger: Logger,
    observe: @escaping @Sendable (S3Observation) -> Void = { _ in }
  ) throws(S3Configuration.Problem) {
    self.configuration = configuration
    self.transport = transport
    self.ledger = ledger
  }

  /// Stores, reads and deletes a small object, and finds out whether the store writes conditionally. To be called at the start.
  ///
  /// - Throws: an `ObjectStoreError`, of the kind `refused` if an operator must change something, which ``problem`` also says.
  package func probe() async throws { throw Self.missing }

  package func put(_ file: SourceFile, at key: ObjectKey) async throws -> StoredObject { throw Self.missing }

  package func put(_ bytes: [UInt8], at key: ObjectKey) async throws -> StoredObject { throw Self.missing }

  package func open(_ key: ObjectKey) async throws -> any ObjectReader { throw Self.missing }

  package func keys(below prefix: ObjectKey) async throws -> [ObjectKey] { throw Self.missing }

  package func delete(_ key: ObjectKey) async throws { throw Self.missing }

  package var freeBytes: Int64? { get async throws { nil } }

  package func link(to key: ObjectKey, validFor lifetime: Duration) async throws -> String? { throw Self.missing }

  private static var missing: ObjectStoreError { ObjectStoreError(.storage, "S3 is not supported yet.") }
}

/// What a store has done, for metrics.
package enum S3Observation: Sendable, Hashable {
  /// A request. The status is 0 if there was no answer; the operation is a word such as `PutObject`.
  case request(operation: String, status: Int, duration: Duration)
  /// An object was stored, after so many seconds with all tries.
  case uploaded(bytes: Int64, duration: Duration)
}
