internal import ObjectStore

/// What is sent of a file: its digest, and its parts with theirs.
struct UploadPlan: Sendable, Hashable {
  struct Part: Sendable, Hashable {
    /// From 1.
    var number: Int
    var range: Range<Int64>
    var digest: String
  }

  var object: StoredObject
  var partBytes: Int64
  /// Empty for a file that is sent at once.
  var parts: [Part]

  /// The largest object that is sent at once, and the size of a part.
  static let partBytes: Int64 = 16 << 20
  private static let maximumParts: Int64 = 10_000

  /// Returns the size of parts: 16 MiB, or more whole MiB for a file with more than 10,000 of them.
  static func partBytes(of size: Int64) -> Int64 {
    let least = size / maximumParts + (size % maximumParts == 0 ? 0 : 1)
    return max(partBytes, ((least + (1 << 20) - 1) >> 20) << 20)
  }

  /// Reads a file; for a thread that may wait.
  ///
  /// - Throws: an `ObjectStoreError`, also if the file has changed since it was opened.
  init(_ file: SourceFile) throws {
    let size = Self.partBytes(of: file.size)
    var parts: [Part] = []
    var digest = ObjectDigest()
    var start: Int64 = 0
    var end: Int64 = 0
    func close() throws {
      guard let text = digest.end() else { throw ObjectStoreError(.storage, "OpenSSL has no SHA-256.") }
      parts.append(Part(number: parts.count + 1, range: start..<end, digest: text))
      digest = ObjectDigest()
      start = end
    }
    let isSplit = file.size > Self.partBytes
    let object = try file.read { bytes in
      guard isSplit else { return }
      var rest = bytes
      while !rest.isEmpty {
        let count = Int(min(Int64(rest.count), size - (end - start)))
        digest.update(UnsafeRawBufferPointer(rebasing: rest[..<count]))
        rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        end += Int64(count)
        if end - start == size { try close() }
      }
    }
    if end > start { try close() }
    guard object.bytes == file.size else {
      throw ObjectStoreError(.storage, "\(file.path) was changed while it was read.")
    }
    self.object = object
    partBytes = size
    self.parts = parts
  }
}

/// An upload in parts as the ledger has it.
struct NotedUpload: Sendable, Hashable {
  var sha256: String
  var partBytes: Int64
  var uploadID: String

  init(sha256: String, partBytes: Int64, uploadID: String) {
    self.sha256 = sha256
    self.partBytes = partBytes
    self.uploadID = uploadID
  }

  /// Nil for a text that ``text`` does not write.
  init?(_ text: String) {
    let words = text.split(separator: " ", omittingEmptySubsequences: false)
    guard words.count == 4, words[0] == "1", let partBytes = Int64(words[2]), partBytes > 0, !words[3].isEmpty else {
      return nil
    }
    self.init(sha256: String(words[1]), partBytes: partBytes, uploadID: String(words[3]))
  }

  var text: String { "1 \(sha256) \(partBytes) \(uploadID)" }
}
