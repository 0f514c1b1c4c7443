import Logging
import ObjectStore
import S3
import SQLStore

/// An object store that is open, and what must be closed with it.
struct OpenedStore: Sendable {
  let objects: any ObjectStore
  private let transport: HTTPClientTransport?

  /// Opens the store with a URL.
  ///
  /// - Parameters:
  ///   - url: `file:///…` or `s3://…`.
  ///   - environment: the variables of the process, with credentials.
  /// - Throws: an error whose description is a sentence.
  static func open(
    url: String, _ options: ServiceConfiguration.S3Options, environment: [String: String],
    ledger: any ObjectUploadLedger, logger: Logger,
    observe: @escaping @Sendable (S3Observation) -> Void = { _ in }
  ) async throws -> OpenedStore {
    if let path = FileObjectStore.path(ofURL: url) {
      return OpenedStore(objects: try await FileObjectStore.open(path), transport: nil)
    }
    let configuration = try options.configuration(url: url)
    let transport = HTTPClientTransport()
    do {
      let store = try S3ObjectStore(
        configuration, environment: environment, transport: transport, ledger: ledger, logger: logger, observe: observe)
      return OpenedStore(objects: store, transport: transport)
    } catch {
      await transport.shutdown()
      throw error
    }
  }

  /// The store of a folder.
  static func open(folder: String) async throws -> OpenedStore {
    OpenedStore(objects: try await FileObjectStore.open(folder), transport: nil)
  }

  private init(objects: any ObjectStore, transport: HTTPClientTransport?) {
    self.objects = objects
    self.transport = transport
  }

  func close() async { await transport?.shutdown() }
}

/// Uploads in parts, in the database of the service.
struct DatabaseUploadLedger: ObjectUploadLedger {
  let store: JobStore

  func uploadID(of key: ObjectKey) async throws -> String? { try await store.upload(of: key.text) }
  func set(_ uploadID: String, for key: ObjectKey) async throws { try await store.noteUpload(uploadID, of: key.text) }
  func remove(_ key: ObjectKey) async throws { try await store.forgetUpload(of: key.text) }
}
