/// A place for finished files. An object is written once and never changed: a program that sees it sees all of it.
package protocol ObjectStore: Sendable {
  /// Stores a file. When the call returns, the object survives a loss of power.
  ///
  /// The call may be repeated: an object with the same content counts as stored.
  ///
  /// - Throws: an ``ObjectStoreError``, of the kind `exists` if the key has another content.
  func put(_ file: SourceFile, at key: ObjectKey) async throws -> StoredObject

  /// Stores bytes in the same way.
  func put(_ bytes: [UInt8], at key: ObjectKey) async throws -> StoredObject

  /// Opens an object for reading.
  ///
  /// - Throws: an ``ObjectStoreError``, of the kind `missing` if there is none.
  func open(_ key: ObjectKey) async throws -> any ObjectReader

  /// Returns the keys below a prefix, in order.
  func keys(below prefix: ObjectKey) async throws -> [ObjectKey]

  /// Deletes an object if there is one. When the call returns, nobody finds it, also after a loss of power.
  func delete(_ key: ObjectKey) async throws

  /// The bytes that are free; nil if there is no limit.
  var freeBytes: Int64? { get async throws }

  /// Returns a URL with which anybody can read an object for some time, without further credentials.
  ///
  /// - Parameter lifetime: in whole seconds, at most 7 days.
  /// - Returns: nil if the store has no such links, as a folder; then the object is read by ``open(_:)``.
  func link(to key: ObjectKey, validFor lifetime: Duration) async throws -> String?

  /// The scheme, the host and the port of all links; nil if the store has no links. No request is made for it.
  var linkOrigin: String? { get }

  /// The longest key that the store takes, in bytes.
  var maximumKeyBytes: Int { get }

  /// A sentence that says why the store refuses what is asked: rights, credentials, a wrong region. Nil while it refuses nothing.
  /// It needs an operator, so the service shows it at once.
  var problem: String? { get }

  /// Finds out whether the store allows all that is needed. To be called at the start, and now and then while there is a
  /// ``problem``.
  ///
  /// - Throws: an ``ObjectStoreError``, of the kind `refused` if an operator must change something.
  func probe() async throws
}

extension ObjectStore {
  package func link(to key: ObjectKey, validFor lifetime: Duration) async throws -> String? { nil }
  package var linkOrigin: String? { nil }
  package var maximumKeyBytes: Int { ObjectKey.maximumBytes }
  package var problem: String? { nil }
  package func probe() async throws {}
}

/// An object in a store.
package struct StoredObject: Sendable, Hashable {
  package var bytes: Int64
  /// 64 small hexadecimal digits.
  package var sha256: String

  package init(bytes: Int64, sha256: String) {
    self.bytes = bytes
    self.sha256 = sha256
  }
}

/// An open object.
package protocol ObjectReader: Sendable {
  /// The size of the object in bytes.
  var size: Int64 { get }

  /// Reads from a position.
  ///
  /// - Returns: at most `count` bytes; fewer only at the end of the object.
  func read(from offset: Int64, count: Int) async throws -> [UInt8]
}

extension ObjectReader {
  /// Reads a part in pieces of at most 256 KiB.
  ///
  /// - Parameter range: nil for all of it; what is beyond the end is left out.
  package func pieces(of range: Range<Int64>? = nil) -> ObjectPieces {
    let range = (range ?? 0..<size).clamped(to: 0..<max(0, size))
    return ObjectPieces(reader: self, range: range)
  }

  /// Reads the whole object.
  ///
  /// - Throws: an ``ObjectStoreError`` if it has more than `limit` bytes.
  package func readAll(limit: Int) async throws -> [UInt8] {
    guard size <= limit else {
      throw ObjectStoreError(.storage, "The object has \(size) bytes, more than \(limit).")
    }
    var all: [UInt8] = []
    for try await piece in pieces() { all += piece }
    return all
  }
}

/// A part of an object, in pieces.
package struct ObjectPieces: AsyncSequence, Sendable {
  package typealias Element = [UInt8]

  static let pieceSize = 256 << 10

  let reader: any ObjectReader
  let range: Range<Int64>

  package struct AsyncIterator: AsyncIteratorProtocol {
    let reader: any ObjectReader
    var rest: Range<Int64>

    package mutating func next() async throws -> [UInt8]? {
      guard !rest.isEmpty else { return nil }
      let count = Swift.min(rest.upperBound - rest.lowerBound, Int64(ObjectPieces.pieceSize))
      let piece = try await reader.read(from: rest.lowerBound, count: Int(count))
      guard !piece.isEmpty else { throw ObjectStoreError(.storage, "The object is shorter than it was.") }
      rest = Swift.min(rest.upperBound, rest.lowerBound + Int64(piece.count))..<rest.upperBound
      return piece
    }
  }

  package func makeAsyncIterator() -> AsyncIterator { AsyncIterator(reader: reader, rest: range) }
}
