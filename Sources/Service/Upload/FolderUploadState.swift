internal import FoundationEssentials
internal import Glibc
internal import JSON
internal import Media
internal import ObjectStore
internal import SQLStore
internal import Synchronization

/// What is known of the upload of a folder to one store. It is a hidden file of the folder, so that an upload that was ended goes on.
struct FolderUploadState: Sendable, Hashable, Codable {
  /// A file that is in the store.
  struct File: Sendable, Hashable, Codable {
    /// The path below the folder.
    var name: String
    var object: String
    var kind: String
    var bytes: Int64
    var sha256: String
    /// The time of the file's last change when it was read, in nanoseconds since 1970.
    var changed: Int64
  }

  static let currentVersion = 1

  var version = Self.currentVersion
  var store: String
  /// The names of the recording and of its attempt in keys.
  var recording: String
  var attempt: String
  /// The prefix of the keys.
  var path: String
  /// Milliseconds since 1970.
  var createdAt: Int64
  /// By the names of the files as they are in keys: names that look the same are not the same file.
  var files: [String: File] = [:]
  /// The number of descriptions that were written.
  var documents: Int64 = 0
  /// The keys that the last one lists.
  var described: [String] = []
  /// Uploads in parts that have begun, by their keys.
  var uploads: [String: String] = [:]
}

/// The file of a ``FolderUploadState``, which is also the ledger of uploads in parts. Its calls block for the time of a small file.
final class FolderUploadFile: ObjectUploadLedger {
  private let path: String
  private let state: Mutex<FolderUploadState>

  private static let limits = JSONLimits(bytes: 256 << 20, values: 10_000_000, depth: 8, nameRunOutsideASCII: 4_096)

  /// Reads the file of a folder and a store, or begins one.
  ///
  /// - Throws: a ``FolderUpload/Failure`` if the file is there and cannot be read.
  init(folder: String, store: String, path template: ObjectPathTemplate) throws(FolderUpload.Failure) {
    let digest = ObjectDigest.hex(of: Array(store.utf8)).prefix(16)
    path = "\(folder)/.upload-\(digest).json"
    do {
      if access(path, F_OK) == 0 {
        let text = try SourceFile(path: path).readAll(limit: Self.limits.bytes) ?? []
        let found = try JSONReader.decode(FolderUploadState.self, from: Data(text), within: Self.limits)
        guard found.version == FolderUploadState.currentVersion, found.store.utf8.elementsEqual(store.utf8),
          ObjectKey(found.path) != nil
        else { throw ObjectStoreError(.storage, "It is of another store or of another version.") }
        state = Mutex(found)
        return
      }
    } catch {
      throw FolderUpload.Failure(.unreadable, "\(path.printable(utf8Bytes: 500)) cannot be used: \(error)")
    }
    let now = Int64(Date().timeIntervalSince1970 * 1_000)
    let recording = JobID.random().text
    let values = ObjectPathTemplate.Values(
      createdAt: now, job: recording, kind: "record", project: FolderUpload.project, room: "")
    guard let prefix = template.path(values) else {
      throw FolderUpload.Failure(.usage, "The path of the keys is too long.")
    }
    state = Mutex(
      FolderUploadState(
        store: store, recording: recording, attempt: JobID.randomText(16), path: prefix.text, createdAt: now))
    do {
      // Before the first object: an upload that is ended now goes on with the same keys.
      try change { _ in }
    } catch {
      throw FolderUpload.Failure(.unreadable, "\(error)")
    }
  }

  var value: FolderUploadState { state.withLock { $0 } }

  /// Changes the state and writes it.
  func change(_ body: (inout FolderUploadState) -> Void) throws {
    try state.withLock { state in
      body(&state)
      try write(state)
    }
  }

  private func write(_ state: FolderUploadState) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let text = try encoder.encode(state)
    let draft = path + ".part"
    let file = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard file >= 0 else { throw failure("created") }
    defer { close(file) }
    var rest = Array(text)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw failure("written") }
      rest = rest.dropFirst(count)
    }
    guard fsync(file) == 0, rename(draft, path) == 0 else { throw failure("written") }
  }

  private func failure(_ call: String) -> ObjectStoreError {
    let reason = strerror(errno).map { String(cString: $0) } ?? "error \(errno)"
    return ObjectStoreError(
      errno == ENOSPC ? .full : .storage, "\(path.printable(utf8Bytes: 500)) cannot be \(call): \(reason).")
  }

  // MARK: The ledger

  func uploadID(of key: ObjectKey) async throws -> String? { state.withLock { $0.uploads[key.text] } }
  func set(_ uploadID: String, for key: ObjectKey) async throws { try change { $0.uploads[key.text] = uploadID } }
  func remove(_ key: ObjectKey) async throws {
    if state.withLock({ $0.uploads[key.text] }) != nil { try change { $0.uploads[key.text] = nil } }
  }
}
