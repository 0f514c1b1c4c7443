internal import ObjectStore
internal import Synchronization

/// An object of a store, read in blocks of 1 MiB, of which the last one is kept.
final class S3ObjectReader: ObjectReader {
  let size: Int64
  private let key: String
  private let caller: S3Caller
  private let block = Mutex<(start: Int64, bytes: [UInt8])?>(nil)

  private static let blockBytes: Int64 = 1 << 20
  /// How long a read is tried.
  static let patience = Duration.seconds(20)

  init(_ key: String, size: Int64, caller: S3Caller) {
    self.key = key
    self.size = size
    self.caller = caller
  }

  func read(from offset: Int64, count: Int) async throws -> [UInt8] {
    guard offset >= 0, offset < size, count > 0 else { return [] }
    let end = offset + min(Int64(count), size - offset)
    var bytes: [UInt8] = []
    while offset + Int64(bytes.count) < end {
      let position = offset + Int64(bytes.count)
      let (start, content) = try await block(at: position)
      let from = Int(position - start)
      guard from < content.count else { throw ObjectStoreError(.storage, "The object \(key) is shorter than it was.") }
      bytes += content[from..<min(content.count, from + Int(end - position))]
    }
    return bytes
  }

  private func block(at position: Int64) async throws -> (start: Int64, bytes: [UInt8]) {
    let start = position / Self.blockBytes * Self.blockBytes
    if let kept = block.withLock({ $0 }), kept.start == start { return kept }
    let range = start..<min(size, start + Self.blockBytes)
    do {
      let response = try await caller.perform(.get(key, range), patience: Self.patience)
      // A server may send the whole object if it is not larger.
      guard response.status == 206 || start == 0, response.body.count == range.count else {
        throw ObjectStoreError(.storage, "The store sent another part of \(key) than was asked for.")
      }
      let found = (start, response.body)
      block.withLock { $0 = found }
      return found
    } catch let failure as S3Failure {
      throw ObjectStoreError(failure, key: ObjectKey(key))
    }
  }
}
