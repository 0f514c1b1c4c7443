import Media
import ObjectStore
import Synchronization

/// A store that fails when a test says so, in front of a folder.
final class UnreliableStore: ObjectStore {
  enum Fault: Sendable {
    /// Nothing is stored.
    case away(ObjectStoreError.Kind)
    /// The object is stored, and the answer is lost.
    case answerLost
  }

  struct State: Sendable {
    var fault: Fault?
    /// The number of objects of which each was put.
    var puts: [String: Int] = [:]
    /// How long each put takes.
    var delay = Duration.zero
    var running = 0
    var maximumRunning = 0
  }

  let state = Mutex(State())
  let folder: FileObjectStore

  init(_ folder: FileObjectStore) { self.folder = folder }

  func set(_ fault: Fault?) { state.withLock { $0.fault = fault } }

  var puts: [String: Int] { state.withLock(\.puts) }

  private func faultOfPut(_ key: ObjectKey) async throws -> Fault? {
    let (fault, delay) = state.withLock { state in
      state.puts[key.text, default: 0] += 1
      state.running += 1
      state.maximumRunning = max(state.maximumRunning, state.running)
      return (state.fault, state.delay)
    }
    defer { state.withLock { $0.running -= 1 } }
    if delay > .zero { try await Task.sleep(for: delay) }
    if case .away(let kind) = fault { throw ObjectStoreError(kind, "The store is away.") }
    return fault
  }

  func put(_ file: SourceFile, at key: ObjectKey) async throws -> StoredObject {
    let fault = try await faultOfPut(key)
    let object = try await folder.put(file, at: key)
    if case .answerLost = fault { throw ObjectStoreError(.timeout, "There was no answer.") }
    return object
  }

  func put(_ bytes: [UInt8], at key: ObjectKey) async throws -> StoredObject {
    let fault = try await faultOfPut(key)
    let object = try await folder.put(bytes, at: key)
    if case .answerLost = fault { throw ObjectStoreError(.timeout, "There was no answer.") }
    return object
  }

  func open(_ key: ObjectKey) async throws -> any ObjectReader { try await folder.open(key) }
  func keys(below prefix: ObjectKey) async throws -> [ObjectKey] { try await folder.keys(below: prefix) }
  func delete(_ key: ObjectKey) async throws { try await folder.delete(key) }
  var freeBytes: Int64? { get async throws { nil } }
  var problem: String? {
    state.withLock { state in
      if case .away(.refused) = state.fault { "The store refuses it." } else { nil }
    }
  }
}
